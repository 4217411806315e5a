// Makes an adapter for an account, in this process or in its own, as its registration says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/adapter/call_runner.hpp"
#include "core/adapter/service_adapter.hpp"
#include "core/net/http.hpp"
#include "core/util/clock.hpp"
#include "host/plugins/abi_bridge/lent_host.hpp"
#include "host/plugins/plugin_registry.hpp"

namespace krux {

struct AdapterSetup {
  std::string service;
  std::string account_id;                          ///< empty while the connection is being verified
  std::uint32_t generation = 0;                    ///< 0 then
  std::optional<std::vector<std::string>> scopes;  ///< nothing when unknown
  std::string config_json = "{}";                  ///< the service's `adapter:` section
  std::shared_ptr<HttpClient> http;
  UploadReader* uploads = nullptr;              ///< outlives every call; nullptr: there are none
  std::string base_url;                         ///< what relative addresses of requests are relative to
  std::map<std::string, std::string> settings;  ///< the account's own
};

class AdapterRunners;

/// Any thread, but make() waits for a worker: never from a worker or an event loop. All that is passed outlives the
/// factory.
class PluginFactory {
 public:
  PluginFactory(const PluginRegistry& registry, CallRunner& runner, const Clock& clock,
                AdapterLog log = default_adapter_log(), std::int64_t create_timeout_ms = 10'000,
                const AdapterRunners* runners = nullptr);

  /// Throws krux::Error: ServiceUnavailable (no such adapter, or it could not be made; NotAuthenticated where it says
  /// so), InvalidInput when the configuration does not fit the adapter's schema.
  std::shared_ptr<ServiceAdapter> make(const AdapterSetup& setup) const;

  /// Whether make() would accept the configuration: empty, or a sentence.
  std::string config_problem(const std::string& service, const std::string& config_json) const;

 private:
  const PluginInfo& plugin_of(const std::string& service) const;
  void run_creation(const std::string& service, const CallContextPtr& call, std::function<void()> body) const;
  std::shared_ptr<ServiceAdapter> make_here(const PluginInfo& plugin, const AdapterSetup& setup,
                                            const CallContextPtr& call) const;
  std::shared_ptr<ServiceAdapter> make_remote(const PluginInfo& plugin, const AdapterSetup& setup,
                                              const CallContextPtr& call) const;

  const PluginRegistry& registry_;
  CallRunner& runner_;
  const Clock& clock_;
  const AdapterLog log_;
  const std::int64_t create_timeout_ms_;
  const AdapterRunners* const runners_;  ///< nullptr: no adapter has a process of its own
};

}  // namespace krux
