#include "host/runner/plugin_factory.hpp"

#include <fmt/format.h>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "host/plugins/abi_bridge/adapter_creation.hpp"
#include "host/plugins/abi_bridge/plugin_adapter.hpp"
#include "host/plugins/config_schema.hpp"
#include "host/runner/adapter_runners.hpp"
#include "host/runner/remote_adapter.hpp"

namespace krux {
namespace {

std::string scopes_json(const std::optional<std::vector<std::string>>& scopes) {
  if (!scopes) return {};
  std::string out = "[";
  for (const auto& scope : *scopes) out += (out.size() > 1 ? "," : "") + json_string(scope);
  return out + "]";
}

std::string settings_json(const std::map<std::string, std::string>& settings) {
  std::string out = "{";
  for (const auto& [name, value] : settings)
    out += (out.size() > 1 ? "," : "") + json_string(name) + ":" + json_string(value);
  return out + "}";
}

Error not_made(const std::string& service, const CallFailure& failure) {
  const auto type = failure.status == KRUX_AUTH      ? ErrorCode::kNotAuthenticated
                    : failure.status == KRUX_INVALID ? ErrorCode::kInvalidInput
                                                     : ErrorCode::kServiceUnavailable;
  return {type, fmt::format("The adapter of {} could not be started: {}", service, failure.message)};
}

}  // namespace

PluginFactory::PluginFactory(const PluginRegistry& registry, CallRunner& runner, const Clock& clock, AdapterLog log,
                             std::int64_t create_timeout_ms, const AdapterRunners* runners)
    : registry_(registry),
      runner_(runner),
      clock_(clock),
      log_(std::move(log)),
      create_timeout_ms_(create_timeout_ms),
      runners_(runners) {}

const PluginInfo& PluginFactory::plugin_of(const std::string& service) const {
  if (const auto* plugin = registry_.find(service)) return *plugin;
  throw Error(ErrorCode::kServiceUnavailable,
              fmt::format("No adapter for {} is loaded; `kruxos plugin list` says why.", service));
}

std::string PluginFactory::config_problem(const std::string& service, const std::string& config_json) const {
  return krux::config_problem(plugin_of(service).config_schema_json, config_json);
}

std::shared_ptr<ServiceAdapter> PluginFactory::make(const AdapterSetup& setup) const {
  const auto& plugin = plugin_of(setup.service);
  if (const auto problem = krux::config_problem(plugin.config_schema_json, setup.config_json); !problem.empty()) {
    throw invalid_input(problem);
  }
  const auto call = std::make_shared<CallContext>(CallOwner{setup.service, setup.account_id, setup.generation, {}, 0},
                                                  clock_, clock_.boot_ms() + create_timeout_ms_);
  return plugin.isolation == Isolation::kProcess ? make_remote(plugin, setup, call) : make_here(plugin, setup, call);
}

/// Runs `body` on a worker; throws when it does not come back in time, and it is the lost thread's then.
void PluginFactory::run_creation(const std::string& service, const CallContextPtr& call,
                                 std::function<void()> body) const {
  const auto end = runner_.run(call, nullptr, std::move(body));
  call->end();
  if (end == CallRunner::End::kReturned) return;
  throw not_made(service, call->failure().value_or(
                              CallFailure{KRUX_TIMEOUT, false, {}, "It did not finish in time.", std::nullopt}));
}

std::shared_ptr<ServiceAdapter> PluginFactory::make_here(const PluginInfo& plugin, const AdapterSetup& setup,
                                                         const CallContextPtr& call) const {
  const auto creation = std::make_shared<AdapterCreation>();
  creation->entry = plugin.entry;
  creation->account_id = setup.account_id;
  creation->generation = setup.generation;
  creation->scopes = scopes_json(setup.scopes);
  creation->config = setup.config_json;
  creation->base_url = setup.base_url;
  creation->settings = settings_json(setup.settings);
  creation->collections = plugin.collections;
  creation->host = std::make_shared<LentHost>(setup.service, setup.account_id, setup.http, setup.uploads, log_);
  creation->call = call;
  run_creation(setup.service, call, [creation] { creation->run(); });
  if (!creation->instance) throw not_made(setup.service, creation->failure);
  return make_plugin_adapter(creation->instance);
}

std::shared_ptr<ServiceAdapter> PluginFactory::make_remote(const PluginInfo& plugin, const AdapterSetup& setup,
                                                           const CallContextPtr& call) const {
  auto runner = runners_ ? runners_->find(setup.service) : nullptr;
  if (!runner) throw not_made(setup.service, {KRUX_UNAVAILABLE, true, {}, "It has no process here.", std::nullopt});
  RemoteAccount account{setup.service,
                        setup.account_id,
                        scopes_json(setup.scopes),
                        setup.config_json,
                        setup.generation,
                        plugin.collections,
                        setup.http,
                        setup.uploads,
                        setup.base_url,
                        settings_json(setup.settings)};
  const auto made = std::make_shared<CallResult<std::shared_ptr<ServiceAdapter>>>();
  run_creation(setup.service, call, [made, call, runner = std::move(runner), account = std::move(account)] {
    *made = make_remote_adapter(runner, account, call);
  });
  if (const auto* failure = std::get_if<CallFailure>(made.get())) throw not_made(setup.service, *failure);
  return std::get<std::shared_ptr<ServiceAdapter>>(*made);
}

}  // namespace krux
