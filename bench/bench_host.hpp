// A host process of this build with one adapter, in a directory of its own, and its operator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/process_figures.hpp"
#include "core/util/json.hpp"
#include "support/process.hpp"

namespace krux::bench {

/// One thread. Failures are wrong().
class BenchHost {
 public:
  std::string new_agent(const std::string& name = "bench") const;  ///< its key
  std::uint16_t port() const { return port_; }
  std::uint16_t health_port() const { return health_port_; }
  ProcessFigures host_figures() const { return process_figures(host_->pid()); }
  std::filesystem::path ledger() const { return directory_ / "data/kruxos.db"; }
  std::filesystem::path adapters() const { return directory_ / "adapters"; }
  void stop();
  /// A request to the operator's socket.
  JsonDocument operate(const std::string& verb, const std::string& path, const std::string& body = "") const;

 protected:
  /// Everything lies below `directory`.
  BenchHost(std::filesystem::path directory, std::string service);
  /// `settings` of the service are YAML, indented by four blanks.
  void configure(const std::string& settings) const;
  /// Returns once the host is ready. `env` comes besides HOME and PATH.
  void launch(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& env = {});
  /// How far the sync of the service's only account is.
  JsonDocument sync_status() const { return sync_status(service_); }
  JsonDocument sync_status(const std::string& service) const;
  /// A further adapter beside the first.
  void add_service(const std::string& service, const char* adapter, const char* definition) const;

  const std::filesystem::path directory_;
  std::unique_ptr<test::Process> host_;
  std::vector<std::string> launcher_;  ///< stands before the host's command

 private:
  const std::string service_;
  std::uint16_t port_ = 0, health_port_ = 0;
};

}  // namespace krux::bench
