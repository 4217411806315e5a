// The adapter for the tools of one upstream MCP server.
#pragma once
#include <kruxos/adapter.hpp>

#include <memory>
#include <string>

#include "link.hpp"
#include "pins.hpp"
#include "tool_result.hpp"
#include "wrapped.hpp"

namespace mcp {

/// What an error of a tool says of a write. A server may have done half of it.
enum class ToolErrors { kUnknown, kRefused };

class ToolsAdapter : public kruxos::ReadAdapter,
                     public kruxos::WriteExecutor,
                     public kruxos::SyncAdapter,
                     public kruxos::AccountAdapter {
 public:
  ToolsAdapter(kruxos::Host host, std::shared_ptr<const Wrapped> wrapped, std::unique_ptr<Link> link,
               ToolErrors errors);

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params_json) override;
  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;
  /// Compares the server's tools with what was agreed to; keeps nothing.
  kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override;
  kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t last) override;
  kruxos::Identity verify(const kruxos::Call& call) override;
  void revoke(const kruxos::Call& call) override;

 protected:
  ~ToolsAdapter() = default;  // the class that an adapter's entry names is final

 private:
  const WrappedTool& tool(std::string_view capability) const;
  ToolResult ask(const kruxos::Call& call, const WrappedTool& called, Request request);

  const kruxos::Host host_;
  const std::shared_ptr<const Wrapped> wrapped_;
  const std::unique_ptr<Link> link_;
  const ToolErrors errors_;
  Pins pins_;
  std::vector<std::string> told_;  ///< tools beyond the wrapped ones, as they were logged last; a sync's alone
};

}  // namespace mcp
