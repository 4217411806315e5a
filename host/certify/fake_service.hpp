// The author's fake service, as a process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/bundle/manifest.hpp"
#include "core/definition/definition.hpp"
#include "host/certify/child_process.hpp"
#include "host/certify/service_requests.hpp"

namespace krux::certify {

/// One thread.
class FakeService {
 public:
  /// Nothing is started yet. `log` takes what it prints.
  FakeService(const BundleManifest& manifest, ServiceDefinition definition, std::shared_ptr<HttpTransport> transport,
              std::filesystem::path log);

  /// Starts it on a free port and prepares it. Throws CheckFailed, with the end of what it printed.
  void start();
  bool running() { return process_ && process_->running(); }
  bool ends_within(std::int64_t ms) { return !process_ || process_->ends_within(ms); }
  void stop() { process_.reset(); }

  std::uint16_t port() const { return port_; }
  const std::string& token() const { return token_; }

 private:
  void await_ready();

  const BundleManifest& manifest_;
  const ServiceDefinition definition_;
  const std::shared_ptr<HttpTransport> transport_;
  const std::filesystem::path log_;
  const std::string token_;
  std::uint16_t port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace krux::certify
