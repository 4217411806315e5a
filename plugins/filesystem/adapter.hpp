// The adapter for files: each agent has a directory of its own, and sees nothing else.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>

#include <string>

#include "changes.hpp"
#include "options.hpp"
#include "workspace/home.hpp"

namespace filesystem {

class FilesystemAdapter final : public kruxos::ReadAdapter,
                                public kruxos::WriteExecutor,
                                public kruxos::RollbackCapable {
 public:
  FilesystemAdapter(kruxos::Host host, const kruxos::Account& account);
  static kruxos::Description describe();

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params_json) override;
  /// Paths as they are shown, so that two spellings of one are one.
  std::string resolve(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view operation,
                      std::string_view params_json) override;

  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    return changes_.execute(call, write);
  }
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    return changes_.find_effect(call, write);
  }

  bool supports_rollback(std::string_view operation) override { return Changes::is_change(operation); }
  /// What was there before is kept by the write itself, in the step that puts something else in its place.
  std::string create_rollback_point(const kruxos::Call&, const kruxos::BufferedWrite& write) override {
    return kruxos::kit::ObjectWriter().text("slot", write.write_id).done();
  }
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override {
    return changes_.rollback(call, request);
  }
  kruxos::EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override {
    return changes_.find_rollback(call, request);
  }

 private:
  const Options options_;
  const workspace::Homes homes_;
  Changes changes_;
};

}  // namespace filesystem
