// Connections and their syncs, as the operator sees them.
#include <fmt/format.h>

#include <algorithm>

#include "core/definition/scopes.hpp"
#include "core/oauth/authorization.hpp"
#include "core/replica/replica.hpp"
#include "core/util/json_out.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "host/operator/operator_service.hpp"
#include "host/operator/problems_output.hpp"

namespace krux {
namespace {

std::vector<std::string> missing_scopes(const ServiceDefinition& definition, const Connection& connection) {
  if (!connection.scopes_known) return {};
  const auto* profile = definition.oauth.find_profile(connection.profile);
  return missing_from(definition.oauth.implied_scopes, connection.scopes,
                      profile ? profile->scopes : definition.connect_scopes);
}

/// `instead`: the state where it is none of the ordinary ones.
void put_connection(JsonWriter& out, const ServiceDefinition& definition, const Connection& c,
                    const std::string& instead) {
  put(out, "service", c.service);
  put(out, "account_id", c.account_id);
  put(out, "account_name", c.display_name);
  put(out, "name", c.name);
  put(out, "adapter", c.adapter);
  put(out, "base_url", c.base_url);
  put_key(out, "settings");
  out.StartObject();
  for (const auto& [name, value] : c.settings) put(out, name, value);
  out.EndObject();
  put(out, "profile", c.profile);
  put(out, "flow", c.flow);
  put(out, "expires_at_ms", c.expires_at_ms);
  put(out, "refreshes", c.refreshable);
  put(out, "generation", std::int64_t{c.generation});
  put(out, "state", !instead.empty() ? instead.c_str() : c.needs_attention ? "needs attention" : "connected");
  put(out, "connected_at_ms", c.connected_at_ms);
  put(out, "scopes", c.scopes);
  put(out, "missing_scopes", missing_scopes(definition, c));
  put(out, "problem", c.attention);
}

void put_progress(JsonWriter& out, const SyncStatus& s) {
  put(out, "phase", to_string(s.phase));
  put(out, "full", s.full);
  put(out, "parts_done", static_cast<std::int64_t>(s.parts_done));
  put(out, "parts_total", static_cast<std::int64_t>(s.parts_total));
}

const char* to_string(OAuthFlow::ClientSecret secret) {
  return secret == OAuthFlow::ClientSecret::kRequired ? "required"
         : secret == OAuthFlow::ClientSecret::kNone   ? "none"
                                                      : "optional";
}

std::string redirect_uri_of(const OAuthFlow& flow, std::uint16_t port, const ServiceConfig::OAuth& config) {
  if (!config.redirect_uri.empty()) return config.redirect_uri;
  if (!flow.redirect_uri.empty()) return flow.redirect_uri;
  return fmt::format("http://{}{}{}", flow.redirect_host, port == 0 ? "" : fmt::format(":{}", port), kCallbackPath);
}

/// What accounts may have of their own.
void put_account_terms(JsonWriter& out, const AccountTerms& terms) {
  put_key(out, "accounts");
  out.StartObject();
  put(out, "base_url", to_string(terms.base_url));
  put(out, "base_url_description", terms.base_url_description);
  put(out, "base_hosts", terms.base_hosts);
  put_objects(out, "settings", terms.settings, [&](const AccountSetting& setting) {
    put(out, "name", setting.name);
    put(out, "description", setting.description);
    put(out, "required", setting.required);
    put(out, "one_of", setting.one_of);
  });
  out.EndObject();
}

/// How the service is connected in the browser; nothing where it is not.
void put_oauth(JsonWriter& out, const OperatorService::Parts& parts, const ServiceDefinition& definition) {
  put(out, "takes_token", !definition.connect_token_pattern.empty());
  const auto& oauth = definition.oauth;
  if (oauth.flows.empty()) return;
  const auto at = parts.config.services.find(definition.service);
  const auto config = at == parts.config.services.end() ? ServiceConfig::OAuth{} : at->second.oauth;
  const auto port = config.callback_port.value_or(oauth.callback_port);
  put_key(out, "oauth");
  out.StartObject();
  put(out, "client_id", config.client_id);
  put(out, "help", oauth.help);
  put(out, "default_profile", oauth.default_profile);
  put_objects(out, "flows", oauth.flows, [&](const OAuthFlow& flow) {
    put(out, "name", flow.name);
    put(out, "description", flow.description);
    put(out, "client_secret", to_string(flow.client_secret));
    put(out, "redirect_uri", redirect_uri_of(flow, port, config));
  });
  put_objects(out, "profiles", oauth.profiles, [&](const OAuthProfile& profile) {
    put(out, "name", profile.name);
    put(out, "description", profile.description);
    put(out, "scopes", profile.scopes);
    put(out, "without", profile.without);
  });
  out.EndObject();
}

std::vector<Connection> of_service(std::vector<Connection> all, const std::string& service) {
  std::erase_if(all, [&](const Connection& c) { return c.service != service; });
  return all;
}

/// How many records the replica could not take, and the last of them.
void put_left_out(JsonWriter& out, const Replica& replica) {
  constexpr std::int64_t shown = 10;
  put(out, "left_out", replica.state().left_out);
  put_objects(out, "left_out_last", replica.left_out(shown), [&](const LeftOutRecord& record) {
    put(out, "collection", record.collection);
    put(out, "id", record.id);
    put(out, "reason", record.reason);
    put(out, "since_ms", record.since_ms);
    put(out, "seen_ms", record.seen_ms);
  });
}

}  // namespace

void OperatorService::must_be_loaded(const std::string& service) {
  if (parts_.accounts.service(service)) return;
  throw not_found(
      fmt::format("There is no service {} here: kruxos plugin list shows the adapters and why some are refused.",
                  printable(service)));
}

std::string OperatorService::state_instead(const Connection& c) {
  if (parts_.accounts.is_leaving(c.service, c.account_id)) return "disconnecting";
  if (parts_.accounts.find({c.service, c.account_id, c.generation})) return "";
  return parts_.vault.locked() ? "vault locked" : "not served";
}

void OperatorService::put_services(JsonWriter& out) {
  const auto services = parts_.accounts.services();
  const auto connections = parts_.vault.connections();
  const auto syncs = parts_.scheduler.status();
  put_key(out, "services");
  out.StartArray();
  for (const auto& service : services) {
    const auto& name = service.definition->service;
    const auto mine = of_service(connections, name);
    if (mine.empty()) {
      out.StartObject();
      put(out, "service", name);
      put(out, "adapter_version", service.adapter_version);
      put(out, "state", "not connected");
      out.EndObject();
    }
    for (const auto& connection : mine) {
      const auto account = parts_.accounts.find({name, connection.account_id, connection.generation});
      out.StartObject();
      put(out, "adapter_version", service.adapter_version);
      put_connection(out, *service.definition, connection, state_instead(connection));
      put(out, "synced_at_ms", account ? account->replica->state().last_sync_ms : 0);
      if (account && account->adapter->roles().sync) put(out, "whole", account->replica->state().whole);
      for (const auto& sync : syncs) {
        if (account && sync.account == account->ref) put_progress(out, sync);
      }
      put(out, "problems", static_cast<std::int64_t>(account ? account->replica->problems().size() : 0));
      put(out, "left_out", account ? account->replica->state().left_out : 0);
      out.EndObject();
    }
  }
  out.EndArray();
}

void OperatorService::put_connections(JsonWriter& out, const std::string& only) {
  put_key(out, "connections");
  out.StartArray();
  for (const auto& service : parts_.accounts.services()) {
    const auto& name = service.definition->service;
    if (!only.empty() && name != only) continue;
    const auto mine = of_service(parts_.vault.connections(), name);
    if (mine.empty()) {
      out.StartObject();
      put(out, "service", name);
      put(out, "state", "not connected");
      out.EndObject();
    }
    for (const auto& connection : mine) {
      out.StartObject();
      put_connection(out, *service.definition, connection, state_instead(connection));
      out.EndObject();
    }
  }
  out.EndArray();
}

std::string OperatorService::connections() {
  return json_object([&](JsonWriter& out) { put_connections(out, ""); });
}

std::string OperatorService::connection(const std::string& service) {
  must_be_loaded(service);
  return json_object([&](JsonWriter& out) {
    put_key(out, "connection");
    out.StartObject();
    put(out, "service", service);
    put(out, "help", parts_.services.connect_help(service));
    put_account_terms(out, parts_.accounts.service(service)->definition->accounts);
    put_oauth(out, parts_, *parts_.accounts.service(service)->definition);
    put_connections(out, service);
    out.EndObject();
  });
}

std::string OperatorService::connect(const std::string& service, const Secret& token, const std::string& account,
                                     const AccountOwn& own, const std::string& who) {
  must_be_loaded(service);
  const auto connected = parts_.services.connect(service, token, account, own);
  const auto& connection = connected.connection;
  log_event(
      spdlog::level::info, {"connected", service, connection.account_id, "", ""},
      fmt::format("{} connected {} {}, generation {}", who, service, connection.account_id, connection.generation));
  const auto definition = parts_.accounts.service(service)->definition;
  return json_object([&](JsonWriter& out) {
    put_key(out, "connection");
    out.StartObject();
    put_connection(out, *definition, connection, "");
    out.EndObject();
  });
}

std::string OperatorService::begin_oauth(const std::string& service, OAuthBegin asked, const std::string& who) {
  must_be_loaded(service);
  auto plan = parts_.services.plan_oauth(service, {asked.account, asked.profile, asked.flow, asked.client_id,
                                                   std::move(asked.client_secret), std::move(asked.own)});
  const auto attempt = parts_.attempts.begin(std::move(plan));
  log_event(spdlog::level::info, {"connecting", service, "", "", ""},
            fmt::format("{} begins to connect an account of {}, attempt {}", who, service, attempt.attempt_id));
  return attempt_json(attempt);
}

std::string OperatorService::oauth_attempt(const std::string& service, const std::string& attempt_id) {
  return attempt_json(parts_.attempts.get(service, attempt_id));
}

std::string OperatorService::answer_oauth(const std::string& service, const std::string& attempt_id,
                                          const Secret& address) {
  return attempt_json(parts_.attempts.answer(service, attempt_id, address.reveal()));
}

std::string OperatorService::cancel_oauth(const std::string& service, const std::string& attempt_id) {
  return attempt_json(parts_.attempts.cancel(service, attempt_id));
}

std::string OperatorService::attempt_json(const OAuthAttemptView& attempt) {
  const auto service = parts_.accounts.service(attempt.service);
  return json_object([&](JsonWriter& out) {
    put_key(out, "attempt");
    out.StartObject();
    put(out, "attempt_id", attempt.attempt_id);
    put(out, "service", attempt.service);
    put(out, "profile", attempt.profile);
    put(out, "flow", attempt.flow);
    put(out, "state", attempt.state);
    put(out, "message", attempt.message);
    put(out, "authorize_url", attempt.authorize_url);
    put(out, "redirect_uri", attempt.redirect_uri);
    put(out, "not_listening", attempt.not_listening);
    put(out, "expires_at_ms", attempt.expires_at_ms);
    if (attempt.connected && service) {
      put_key(out, "connection");
      out.StartObject();
      put_connection(out, *service->definition, attempt.connected->connection, "");
      out.EndObject();
    }
    out.EndObject();
  });
}

void OperatorService::put_sync(JsonWriter& out, const std::string& service) {
  auto all = parts_.scheduler.status();
  std::erase_if(all, [&](const SyncStatus& s) { return s.account.service != service; });
  put_key(out, "sync");
  out.StartObject();
  put(out, "service", service);
  put_objects(out, "accounts", all, [&](const SyncStatus& s) {
    const auto account = parts_.accounts.find(s.account);
    put(out, "account_id", s.account.account_id);
    put(out, "account_name", account ? account->display_name : s.account.account_id);
    put(out, "name", account ? account->name : "");
    put_progress(out, s);
    put(out, "passes", static_cast<std::int64_t>(s.passes));
    put(out, "failures_in_a_row", static_cast<std::int64_t>(s.failures_in_a_row));
    put(out, "last_error", s.last_error);
    put(out, "next_at_ms", s.next_ms);
    if (!account) return;
    put(out, "synced_at_ms", account->replica->state().last_sync_ms);
    put(out, "complete_through_ms", account->replica->state().complete_through_ms);
    put(out, "whole", account->replica->state().whole);
    put_key(out, "records");
    out.StartObject();
    for (const auto& [collection, count] : account->replica->counts()) put(out, collection, count);
    out.EndObject();
    const auto building = account->replica->building();
    if (!building.empty()) {
      put_key(out, "building");
      out.StartObject();
      for (const auto& [collection, count] : building) put(out, collection, count);
      out.EndObject();
    }
    put_problems(out, account->replica->problems());
    put_left_out(out, *account->replica);
  });
  out.EndObject();
}

std::string OperatorService::sync_status(const std::string& service) {
  must_be_loaded(service);
  return json_object([&](JsonWriter& out) { put_sync(out, service); });
}

std::string OperatorService::sync_now(const std::string& service, const std::string&) {
  must_be_loaded(service);
  // What is reported is from before the kick, so that whoever waits for a new pass can tell it from the last one.
  auto before = sync_status(service);
  if (!parts_.scheduler.sync_now(service)) {
    throw not_connected(fmt::format("{0} is not connected; connect it with: kruxos connect {0}", service));
  }
  return before;
}

}  // namespace krux
