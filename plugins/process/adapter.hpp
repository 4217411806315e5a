// The adapter for programs: an agent's commands, confined to its workspace.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>

#include <string>

#include "options.hpp"
#include "supervisor.hpp"
#include "workspace/home.hpp"

namespace process {

class ProcessAdapter final : public kruxos::ReadAdapter, public kruxos::WriteExecutor {
 public:
  ProcessAdapter(kruxos::Host host, const kruxos::Account& account);
  static kruxos::Description describe();

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params_json) override;
  /// What could not be started is refused before a person is asked about it.
  std::string resolve(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view operation,
                      std::string_view params_json) override;
  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;

 private:
  std::string run(const kruxos::Call& call, const kruxos::BufferedWrite& write);
  std::string await_result(const kruxos::Call& call, const workspace::Home& home, const std::string& id);
  std::string kill(const kruxos::Call& call, const kruxos::BufferedWrite& write);
  std::string list(const kruxos::Call& call, const workspace::Home& home) const;
  std::string output(const kruxos::Call& call, const workspace::Home& home, const kruxos::kit::Json& params) const;

  const Options options_;
  const workspace::Homes homes_;
  Supervisor supervisor_;
};

}  // namespace process
