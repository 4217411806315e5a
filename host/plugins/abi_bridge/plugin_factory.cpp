#include "host/plugins/abi_bridge/plugin_factory.hpp"

#include <fmt/format.h>

#include "core/util/json.hpp"
#include "host/plugins/abi_bridge/lent_call.hpp"
#include "host/plugins/abi_bridge/plugin_adapter.hpp"
#include "host/plugins/config_schema.hpp"

namespace krux {
namespace {

std::string scopes_json(const std::optional<std::vector<std::string>>& scopes) {
  if (!scopes) return {};
  std::string out = "[";
  for (const auto& scope : *scopes) out += (out.size() > 1 ? "," : "") + json_string(scope);
  return out + "]";
}

/// What the worker's thread needs to create an adapter, and what comes of it. An adapter that nobody takes, since its
/// creation was abandoned, goes with it.
struct Creation {
  const krux_plugin_entry* entry = nullptr;
  std::string account_id, scopes, config;
  std::uint32_t generation = 0;
  std::vector<CollectionSpec> collections;
  std::shared_ptr<LentHost> host;
  CallContextPtr call;
  std::shared_ptr<AdapterInstance> instance;
  CallFailure failure;

  void run() {
    const LentCall lent(call);
    const krux_account account{sizeof(krux_account), generation, to_abi(account_id), to_abi(scopes), to_abi(config)};
    auto* made = entry->create(host->table(), lent.table(), &account);
    if (!made) {
      failure = lent.failure(KRUX_INTERNAL);
      return;
    }
    try {
      instance = std::make_shared<AdapterInstance>(made, host, std::move(collections));
    } catch (const std::exception& e) {
      failure.message = e.what();
    }
  }
};

Error not_made(const std::string& service, const CallFailure& failure) {
  const auto type = failure.status == KRUX_AUTH      ? "NotAuthenticated"
                    : failure.status == KRUX_INVALID ? "InvalidInput"
                                                     : "ServiceUnavailable";
  return {type, fmt::format("The adapter of {} could not be started: {}", service, failure.message)};
}

}  // namespace

PluginFactory::PluginFactory(const PluginRegistry& registry, CallRunner& runner, const Clock& clock, AdapterLog log,
                             std::int64_t create_timeout_ms)
    : registry_(registry),
      runner_(runner),
      clock_(clock),
      log_(std::move(log)),
      create_timeout_ms_(create_timeout_ms) {}

const PluginInfo& PluginFactory::plugin_of(const std::string& service) const {
  if (const auto* plugin = registry_.find(service)) return *plugin;
  throw Error("ServiceUnavailable",
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
  const auto creation = std::make_shared<Creation>();
  creation->entry = plugin.entry;
  creation->account_id = setup.account_id;
  creation->generation = setup.generation;
  creation->scopes = scopes_json(setup.scopes);
  creation->config = setup.config_json;
  creation->collections = plugin.collections;
  creation->host = std::make_shared<LentHost>(setup.service, setup.account_id, setup.http, log_);
  creation->call = std::make_shared<CallContext>(CallOwner{setup.service, setup.account_id, setup.generation, {}, 0},
                                                 clock_, clock_.boot_ms() + create_timeout_ms_);
  const auto end = runner_.run(creation->call, nullptr, [creation] { creation->run(); });
  creation->call->end();
  if (end == CallRunner::End::kAbandoned) {  // `creation` is the lost thread's now
    throw not_made(setup.service, creation->call->failure().value_or(CallFailure{
                                      KRUX_TIMEOUT, false, {}, "It did not finish in time.", std::nullopt}));
  }
  if (!creation->instance) throw not_made(setup.service, creation->failure);
  return std::make_shared<PluginAdapter>(creation->instance);
}

}  // namespace krux
