#include "host/accounts/service_host.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/definition/base_url.hpp"
#include "core/definition/quota_rules.hpp"
#include "core/definition/scopes.hpp"
#include "core/net/account_http.hpp"
#include "core/net/request_meters.hpp"
#include "core/net/url.hpp"
#include "core/oauth/token_meters.hpp"
#include "core/replica/open_replica.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/plugins/metered_adapter.hpp"

namespace krux {
namespace {

std::vector<QuotaRule> quota_of(const ServiceDefinition& definition, const ServiceConfig& config) {
  return changed_quota(definition.quota, config.quota.value_or(std::vector<QuotaRule>{}));
}

}  // namespace

std::string adapter_in_words(const std::string& adapter) {
  if (adapter == kAdapterMock) return "a mock";
  return adapter == kAdapterBundle ? "an installed bundle" : "the adapter of the plugins directory";
}

void ServiceHost::start() {
  publish_services();
  resume_disconnections();
  serve_connections();
}

void ServiceHost::unlocked() {
  parts_.alerts.settle("vault_locked");
  parts_.tokens.wake();
  serve_connections();
}

void ServiceHost::serve_connections() {
  if (parts_.vault.locked()) {
    for (const auto& c : parts_.vault.connections()) parts_.accounts.set_unserved(c.service, vault_is_locked().what());
    parts_.alerts.raise({"critical", "vault_locked", "", "", "",
                         "The vault is locked: nothing is synced and sent until it is unlocked with: kruxos vault "
                         "unlock. Writes that were accepted wait.",
                         true});
    return;
  }
  connect_by_configuration();
  for (const auto& connection : parts_.vault.connections()) {
    if (is_served(connection.service) && !is_configured(connection)) {
      spdlog::info("{} is not served: the configuration has no services.{}", connection.service, connection.service);
      continue;
    }
    if (!is_served(connection.service)) {
      spdlog::warn("{} {} is connected, but no adapter for {} is loaded: see kruxos plugin list", connection.service,
                   connection.account_id, connection.service);
      continue;
    }
    try {
      activate(connection);
    } catch (const std::exception& error) {
      parts_.accounts.set_unserved(connection.service, why_another_adapter(connection));
      parts_.alerts.raise(
          {"critical", "account_not_served", connection.service, connection.account_id, "",
           fmt::format("{} {} is not served: {}", connection.service, connection.account_id, error.what()), true});
    }
  }
}

/// A service that needs no token is connected where the configuration names it, and served as long as it does.
bool ServiceHost::is_configured(const Connection& c) const {
  return !definition_of(c.service)->needs_no_token() || parts_.config.services.contains(c.service);
}

const char* ServiceHost::adapter_of(const std::string& service) const {
  const auto* plugin = parts_.plugins.find(service);
  if (plugin && plugin->mock) return kAdapterMock;
  return plugin && plugin->origin == PluginInfo::Origin::kBundle ? kAdapterBundle : kAdapterPlugin;
}

/// Writes were accepted for the adapter that the account was connected through, and its replica is what that one put:
/// another one in its place gets neither. Empty where it is the same one, in whatever version.
std::string ServiceHost::why_another_adapter(const Connection& c) const {
  const auto* now = adapter_of(c.service);
  if (is_same_adapter(c, now)) return {};
  const auto why = fmt::format(
      "{0} was connected through {1}, and this host runs {2} in its place. Nothing is read, synced or sent for it, and "
      "nothing of it is lost: the operator puts {1} back and starts the host again",
      c.service, adapter_in_words(c.adapter), adapter_in_words(now));
  if (std::string_view(now) == kAdapterMock) return why + '.';
  return why + fmt::format(", or connects it again through {}: kruxos connect {}.", adapter_in_words(now), c.service);
}

bool ServiceHost::is_served(const std::string& service) const {
  return parts_.accounts.service(service).has_value();
}

void ServiceHost::publish_services() {
  std::vector<ActiveService> services;
  for (const auto& plugin : parts_.plugins.all()) {
    if (plugin.state != PluginInfo::State::kLoaded || !config_of(plugin.service).enabled) continue;
    const auto definition = parts_.definitions.find(plugin.service);
    if (definition) services.push_back({definition, plugin.version});
  }
  parts_.accounts.set_services(std::move(services));
}

void ServiceHost::refresh_definitions() {
  const std::lock_guard publishing(publishing_);
  publish_services();
  for (const auto& account : parts_.accounts.accounts()) {
    const auto definition = parts_.definitions.find(account->ref.service);
    if (!definition || definition == account->definition) continue;
    auto changed = std::make_shared<ActiveAccount>(*account);
    changed->definition = definition;
    parts_.accounts.publish(std::move(changed));
  }
  parts_.executor.wake();
}

std::shared_ptr<const ServiceDefinition> ServiceHost::definition_of(const std::string& service) const {
  const auto active = parts_.accounts.service(service);
  if (!active) {
    throw invalid_input(
        fmt::format("There is no service \"{}\" here: kruxos plugin list shows the adapters and why some are refused.",
                    printable(service)));
  }
  return active->definition;
}

const ServiceConfig& ServiceHost::config_of(const std::string& service) const {
  static const ServiceConfig defaults;
  const auto at = parts_.config.services.find(service);
  return at == parts_.config.services.end() ? defaults : at->second;
}

/// Those that the definition names, and those that the operator lists where it says so.
std::vector<std::string> ServiceHost::hosts_of(const ServiceDefinition& definition) const {
  auto hosts = definition.hosts;
  if (definition.hosts_from.empty()) return hosts;
  const auto key = fmt::format("services.{}.adapter.{}", definition.service, definition.hosts_from);
  const auto config = parse_json(config_of(definition.service).adapter_config_json, "the adapter's configuration");
  const auto listed = config.FindMember(definition.hosts_from.c_str());
  if (listed == config.MemberEnd()) return hosts;
  if (!listed->value.IsArray()) throw ConfigError(key + ": a list of hosts is expected.");
  for (const auto& host : listed->value.GetArray()) {
    const auto name = host.IsString() ? std::string(view(host)) : std::string();
    if (const auto why = why_not_host(name); !why.empty()) throw ConfigError(key + ": " + why);
    hosts.push_back(name);
  }
  return hosts;
}

std::string ServiceHost::base_url_of(const ServiceDefinition& definition, const std::string& own) const {
  if (!own.empty()) return own;
  const auto& configured = config_of(definition.service).api_base_url;
  return configured.empty() ? definition.api_base_url : configured;
}

std::string ServiceHost::connect_help(const std::string& service) const {
  return definition_of(service)->connect_help;
}

std::shared_ptr<AccountHttp> ServiceHost::make_http(const ServiceDefinition& definition, const std::string& account_id,
                                                    const AccountOwn& own, AccountHooks hooks) const {
  AccountHttpOptions options{definition.service, base_url_of(definition, own.base_url), hosts_of(definition),
                             quota_of(definition, config_of(definition.service))};
  options.auth = definition.auth;
  options.safe_posts = definition.safe_posts;
  if (const auto user = own.settings.find(definition.auth.user); user != own.settings.end())
    options.auth_user = user->second;
  std::shared_ptr<RequestMeter> meter;
  if (parts_.registry) meter = std::make_shared<RequestMeter>(*parts_.registry, definition.service, account_id);
  hooks.observe = [service = definition.service, account_id, meter, has_token = !definition.needs_no_token(),
                   &use = parts_.token_use](const RequestRecord& r) {
    if (r.status != 0 && has_token) use.used(service, account_id);
    if (meter) meter->sent(r);
    spdlog::debug("{} {} {} -> {} in {} ms, {} bytes, outcome {}", service, r.method, r.path, r.status, r.ms, r.bytes,
                  r.outcome);
  };
  return std::make_shared<AccountHttp>(std::move(options), parts_.transport, parts_.clock, std::move(hooks));
}

std::shared_ptr<ServiceAdapter> ServiceHost::make_adapter(const AdapterSetup& setup) const {
  return metered(parts_.factory.make(setup), setup.service, parts_.adapter_meters);
}

std::map<std::string, double> ServiceHost::quota_left(const AccountRef& account) const {
  const std::lock_guard lock(clients_mutex_);
  const auto known = clients_.find({account.service, account.account_id});
  const auto client = known == clients_.end() ? nullptr : known->second.lock();
  return client ? client->quota_left() : std::map<std::string, double>{};
}

/// What sends an account's token along; nothing where the service needs none.
AccountHooks ServiceHost::token_hooks(const ServiceDefinition& definition, const AccountRef& account,
                                      const std::string& origin) const {
  AccountHooks hooks;
  if (definition.needs_no_token()) return hooks;
  hooks.token = [&vault = parts_.vault, account, origin]() -> std::optional<BoundToken> {
    const auto token = vault.token(account.service, account.account_id, account.generation);
    if (!token) return std::nullopt;
    return BoundToken{make_secret(token->reveal()), origin};
  };
  hooks.ensure = [&tokens = parts_.tokens, account](const CallContextPtr& call) {
    return tokens.ensure(account, call);
  };
  hooks.renew = [&tokens = parts_.tokens, account](const CallContextPtr& call, std::string_view used) {
    return tokens.renew(account, used, call);
  };
  return hooks;
}

AdapterSetup ServiceHost::setup_of(const ServiceDefinition& definition, const Connection& c,
                                   std::shared_ptr<AccountHttp> http) const {
  std::optional<std::vector<std::string>> scopes;
  if (c.scopes_known) scopes = with_implied(definition.oauth.implied_scopes, c.scopes);
  return {c.service,
          c.account_id,
          c.generation,
          std::move(scopes),
          config_of(c.service).adapter_config_json,
          std::move(http),
          &parts_.uploads,
          base_url_of(definition, c.base_url),
          c.settings};
}

/// Makes the adapter, opens the replica, publishes the account, begins its sync.
void ServiceHost::activate(const Connection& c) {
  const std::lock_guard publishing(publishing_);
  const auto definition = definition_of(c.service);
  if (const auto why = why_another_adapter(c); !why.empty()) throw Error(ErrorCode::kServiceUnavailable, why);
  const AccountOwn own{c.base_url, c.settings};
  if (const auto why = why_not_own(*definition, own); !why.empty())
    throw Error(ErrorCode::kServiceUnavailable,
                fmt::format("{} Connect the account again: kruxos connect {} --account {}", why, c.service, c.name));
  if (c.adapter.empty()) parts_.vault.note_adapter(c.service, c.account_id, adapter_of(c.service));
  auto account = std::make_shared<ActiveAccount>();
  account->ref = {c.service, c.account_id, c.generation};
  account->display_name = c.display_name;
  account->name = c.name;
  account->profile = c.profile;
  account->scopes = c.scopes;
  account->scopes_known = c.scopes_known;
  if (const auto* plugin = parts_.plugins.find(c.service)) {
    account->acts_by_http = plugin->acts_by_http;
    account->isolated = plugin->isolation == Isolation::kProcess;
  }
  account->definition = definition;
  account->health = std::make_shared<AdapterHealth>([&alerts = parts_.alerts, ref = account->ref] {
    alerts.raise({"critical", "adapter_quarantined", ref.service, ref.account_id, "",
                  fmt::format("The adapter of {0} did not return from two calls in a row and is no longer called: "
                              "reads are refused and writes wait. Try it again with: kruxos plugin release {0}",
                              ref.service),
                  true});
  });
  const auto http = make_http(*definition, c.account_id, own, token_hooks(*definition, account->ref, c.token_origin));
  account->adapter = make_adapter(setup_of(*definition, c, http));
  {
    const std::lock_guard lock(clients_mutex_);
    clients_[{c.service, c.account_id}] = http;
  }
  // The old generation's sync must have let go of the replica before the new one opens it.
  parts_.scheduler.remove(c.service, c.account_id);
  account->replica = open_replica_of(c);
  parts_.accounts.publish(account);
  if (parts_.token_meters) parts_.token_meters->begin(c.service, c.account_id);
  for (const char* kind : {"account_not_served", "adapter_quarantined"}) {
    parts_.alerts.settle(kind, c.service, c.account_id);
  }
  if (account->adapter->roles().sync && !parts_.accounts.is_leaving(c.service, c.account_id)) {
    parts_.scheduler.add(account, sync_interval_of(*definition));
  }
  parts_.executor.wake();
}

std::int64_t ServiceHost::sync_interval_of(const ServiceDefinition& definition) const {
  return config_of(definition.service).sync_interval_ms.value_or(definition.sync_interval_ms);
}

std::shared_ptr<Replica> ServiceHost::open_replica_of(const Connection& c) {
  auto opened = open_replica(parts_.directory.replica(c.service, c.account_id),
                             parts_.plugins.find(c.service)->collections, parts_.clock);
  if (!opened.set_aside.empty()) {
    const auto message = fmt::format(
        "The replica of {} {} was damaged. It was moved to {} and everything is synced anew; writes are not affected. "
        "Check the disk, then delete the moved file.",
        c.service, c.account_id, opened.set_aside.string());
    parts_.alerts.raise({"warning", "replica_damaged", c.service, c.account_id, "", message, false});
  }
  opened.store->tell(parts_.record_watches, c.service);
  return std::move(opened.store);
}

bool ServiceHost::release(const std::string& service) {
  bool any = false;
  for (const auto& account : parts_.accounts.accounts()) {
    if (account->ref.service != service || !account->health->quarantined()) continue;
    account->health->release();
    parts_.alerts.settle("adapter_quarantined", service, account->ref.account_id);
    any = true;
  }
  parts_.executor.wake();
  parts_.scheduler.sync_now(service);
  return any;
}

/// The last step of a connection that was replaced has nothing to say about the new token.
bool ServiceHost::is_current(const AccountRef& account) const {
  const auto known = parts_.vault.connections();
  return std::any_of(known.begin(), known.end(), [&](const Connection& c) {
    return AccountRef{c.service, c.account_id, c.generation} == account;
  });
}

bool ServiceHost::note_attention(const AccountRef& account, const std::string& why) {
  if (!is_current(account)) return true;
  if (!why.empty() && parts_.tokens.suspect(account)) return false;
  mark(account, why);
  return true;
}

void ServiceHost::note_changed(const AccountRef& account, const std::vector<std::string>& parts) {
  if (!is_current(account)) return;
  // The one that is open may name others.
  parts_.alerts.settle("service_changed", account.service, account.account_id);
  if (parts.empty()) return;
  constexpr std::size_t most_named = 10;
  std::string sentences;
  for (std::size_t i = 0; i < std::min(parts.size(), most_named); ++i) sentences += ' ' + parts[i];
  if (parts.size() > most_named) sentences += fmt::format(" And {} more.", parts.size() - most_named);
  parts_.alerts.raise({"warning", "service_changed", account.service, account.account_id, "",
                       fmt::format("{} is not what you have agreed to any more.{}", account.service, sentences), true});
}

void ServiceHost::mark(const AccountRef& account, const std::string& why) {
  parts_.vault.set_attention(account.service, account.account_id, why);
  if (why.empty()) {
    parts_.alerts.settle("not_authenticated", account.service, account.account_id);
    return parts_.executor.connection_restored(account);
  }
  parts_.alerts.raise(
      {"critical", "not_authenticated", account.service, account.account_id, "",
       fmt::format("{0} no longer accepts the token of {1}: {2} Reads go on from the replica, writes wait. "
                   "Connect it again: kruxos connect {0}",
                   account.service, account.account_id, why),
       true});
}

}  // namespace krux
