// The host, its adapters, agents and alerts.
#include "host/operator/operator_service.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "core/replica/replica.hpp"
#include "core/util/durations.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "core/write/cancel_writes.hpp"
#include "host/bundles/loading.hpp"
#include "host/plugins/verify.hpp"

namespace krux {
namespace {

/// An operator who is told of the failure alone would take the agent for one that is still let in.
Error not_all_cancelled(const Agent& agent, const Error& error) {
  return {error.type(),
          fmt::format("{0} is revoked, but its waiting writes could not all be cancelled: {1} Cancel the rest with: "
                      "kruxos agent revoke {0}",
                      agent.name, error.what()),
          error.retryable()};
}

void put_listener(JsonWriter& out, std::string_view name, const std::string& host, std::uint16_t port, bool tls) {
  put_key(out, name);
  out.StartObject();
  put(out, "host", host);
  put(out, "port", std::int64_t{port});
  put(out, "tls", tls);
  out.EndObject();
}

void put_counts(JsonWriter& out, const WriteCounts& counts) {
  put_key(out, "writes");
  out.StartObject();
  put(out, "pending_approval", counts.pending_approval);
  put(out, "held", counts.held);
  put(out, "held_as_copy", counts.held_as_copy);
  put(out, "buffered", counts.buffered);
  put(out, "executing", counts.executing);
  put(out, "unknown", counts.unknown);
  put(out, "dead_letter", counts.dead_letter);
  for (const auto* name : {"needs_operator", "needs_person"}) put(out, name, counts.needs_operator);
  put(out, "completed", counts.completed);
  put(out, "failed", counts.failed);
  out.EndObject();
}

std::string quarantine_words(const std::string& service) {
  return fmt::format(
      "Two of its calls in a row did not return in time. Have it called again with: kruxos plugin "
      "release {}. If that happens again, tell its author.",
      service);
}

}  // namespace

std::string OperatorService::status() {
  const auto listening = parts_.listening();
  const auto open = parts_.alerts.list(true, 500).size();
  const auto agents = parts_.agents.list();
  const auto live = std::count_if(agents.begin(), agents.end(), [](const Agent& a) { return !a.revoked; });
  const auto& server = parts_.config.server;
  return json_object([&](JsonWriter& out) {
    put(out, "status", listening.status);
    put(out, "ready", listening.ready);
    put(out, "version", KRUXOS_VERSION);
    put(out, "pid", std::int64_t{getpid()});
    put(out, "uptime_ms", parts_.clock.boot_ms() - started_boot_ms_);
    put_listener(out, "gateway", server.host, listening.gateway_port, !server.tls_certificate.empty());
    put_listener(out, "health", "127.0.0.1", listening.health_port, false);
    if (listening.page_port != 0) put_listener(out, "page", "127.0.0.1", listening.page_port, false);
    put(out, "data_dir", parts_.config.data_dir.string());
    put(out, "agents", static_cast<std::int64_t>(live));
    put(out, "agents_paused", paused_by_themselves());
    put_pause_of_all(out);
    put_counts(out, parts_.writes.ledger.counts());
    put_key(out, "vault");
    out.StartObject();
    put(out, "locked", parts_.vault.locked());
    out.EndObject();
    put_key(out, "alerts");
    out.StartObject();
    put(out, "open", static_cast<std::int64_t>(open));
    out.EndObject();
    put_services(out);
  });
}

std::string OperatorService::config() {
  return config_json(parts_.config);
}

std::string OperatorService::agents() {
  return json_object([&](JsonWriter& out) {
    put_objects(out, "agents", parts_.agents.list(), [&](const Agent& agent) { put_agent(out, agent); });
    put_pause_of_all(out);
  });
}

std::string OperatorService::agent(const std::string& name_or_id) {
  const auto agent = parts_.agents.find(name_or_id);
  if (!agent)
    throw not_found(fmt::format("There is no agent {}: kruxos agent list shows them.", printable(name_or_id)));
  return agent_json(*agent, "");
}

std::string OperatorService::create_agent(const std::string& name, const std::string& who) {
  const auto made = parts_.agents.create(name);
  spdlog::info("{} created agent {} ({})", who, made.agent.name, made.agent.agent_id);
  return agent_json(made.agent, made.key);
}

std::string OperatorService::rotate_agent(const std::string& name_or_id, std::int64_t grace_ms,
                                          const std::string& who) {
  agent(name_or_id);
  const auto made = parts_.agents.rotate(name_or_id, grace_ms);
  spdlog::info("{} gave agent {} a new key{}", who, made.agent.name,
               grace_ms == 0 ? "" : fmt::format("; the old one ends in {}", span_in_words(grace_ms)));
  // Who has taken the key may have signed in by the operator's good faith in it.
  parts_.sign_in.end_of_agent(made.agent.agent_id, "its agent's key was replaced by " + who);
  return agent_json(made.agent, made.key);
}

std::string OperatorService::revoke_agent(const std::string& name_or_id, const std::string& who) {
  agent(name_or_id);
  // The key first, so that no new write comes after those that are cancelled.
  const auto revoked = parts_.agents.revoke(name_or_id);
  spdlog::info("{} revoked agent {}", who, revoked.name);
  parts_.sign_in.end_of_agent(revoked.agent_id, "its agent was revoked by " + who);
  CancelledWrites writes;
  try {
    writes = cancel_writes_of(parts_.writes.ledger, revoked.agent_id, who);
  } catch (const Error& error) {
    throw not_all_cancelled(revoked, error);
  }
  spdlog::info("{} writes of agent {} were cancelled, {} are left", writes.cancelled, revoked.name, writes.left);
  return json_object([&](JsonWriter& out) {
    put_one_agent(out, revoked);
    put(out, "cancelled_writes", writes.cancelled);
    put(out, "writes_left", writes.left);
  });
}

std::string OperatorService::plugins() {
  return json_object([&](JsonWriter& out) {
    put(out, "directory", parts_.config.plugins_dir.string());
    put(out, "bundles_directory", parts_.config.bundles_dir.string());
    put_objects(out, "plugins", parts_.plugins.all(), [&](const PluginInfo& plugin) {
      put(out, "file", plugin.file.string());
      put(out, "service", plugin.service);
      put(out, "prefix", plugin.prefix);
      put(out, "version", plugin.version);
      put(out, "abi_minor", std::int64_t{plugin.abi_minor});
      const std::string_view state = state_of(plugin);
      put(out, "state", state);
      put(out, "reason", state == "quarantined" ? quarantine_words(plugin.service) : plugin.reason);
      put(out, "sha256", plugin.sha256);
      put(out, "isolation", plugin.isolation == Isolation::kProcess ? "process" : "in_process");
      put(out, "origin", plugin.origin == PluginInfo::Origin::kBundle ? "bundle" : "directory");
      put(out, "mock", plugin.mock);
      put(out, "connections", connections_of(plugin.service));
      put(out, "unfinished_writes", unfinished_writes_of(plugin.service));
      put_process(out, plugin);
    });
    put_objects(out, "next_start", bundles_ahead(parts_.config.data_dir, parts_.plugins), [&](const auto& bundle) {
      put(out, "service", bundle.service);
      put(out, "version", bundle.version);
      put(out, "change", bundle.removed ? "removed" : "installed");
    });
  });
}

/// Also of an adapter that is refused: they wait for it.
std::int64_t OperatorService::connections_of(const std::string& service) const {
  const auto all = parts_.vault.connections();
  return std::count_if(all.begin(), all.end(), [&](const Connection& c) { return c.service == service; });
}

/// 500 at most.
std::int64_t OperatorService::unfinished_writes_of(const std::string& service) const {
  WriteFilter open;
  open.service = service;
  open.limit = 500;
  for (int s = 0; s < kWriteStates; ++s) {
    if (!has_ended(static_cast<WriteState>(s))) open.states.push_back(static_cast<WriteState>(s));
  }
  return service.empty() ? 0 : static_cast<std::int64_t>(parts_.writes.ledger.list(open).size());
}

/// Of an adapter that has one of its own.
void OperatorService::put_process(JsonWriter& out, const PluginInfo& plugin) const {
  const auto runner = plugin.state == PluginInfo::State::kLoaded ? parts_.runners.find(plugin.service) : nullptr;
  if (!runner) return;
  const auto status = runner->status();
  put_key(out, "process");
  out.StartObject();
  put(out, "state", to_string(status.state));
  put(out, "pid", status.pid);
  put(out, "restarts", static_cast<std::int64_t>(status.restarts));
  put(out, "last_end", status.last_end);
  out.EndObject();
}

const char* OperatorService::state_of(const PluginInfo& plugin) const {
  if (plugin.state != PluginInfo::State::kLoaded) return "refused";
  const auto accounts = parts_.accounts.accounts();
  const bool quarantined = std::any_of(accounts.begin(), accounts.end(), [&](const auto& account) {
    return account->ref.service == plugin.service && account->health->quarantined();
  });
  return quarantined ? "quarantined" : "loaded";
}

std::string OperatorService::release_plugin(const std::string& service, const std::string& who) {
  must_be_loaded(service);
  if (!parts_.services.release(service))
    throw Error(ErrorCode::kConflictError,
                fmt::format("The adapter of {} is not quarantined: there is nothing to release.", service));
  spdlog::info("{} released the adapter of {}", who, service);
  return json_object([&](JsonWriter& out) { put(out, "service", service); });
}

std::string OperatorService::verify_plugin(const std::string& file) {
  return report_json(krux::verify_plugin(file, InspectOptions{{}, &parts_.definitions}));
}

std::string OperatorService::alerts(bool open_only, std::int64_t limit) {
  return json_object([&](JsonWriter& out) {
    put_objects(out, "alerts", parts_.alerts.list(open_only, limit), [&](const Alert& alert) {
      put(out, "id", alert.id);
      put(out, "severity", alert.severity);
      put(out, "kind", alert.kind);
      put(out, "service", alert.service);
      put(out, "account_id", alert.account_id);
      put(out, "write_id", alert.write_id);
      const auto who = alert.in_agents_words() ? agent_name(alert.agent_id) : "";
      put(out, "message", who.empty() ? alert.message : in_agents_words("agent " + who, alert.message));
      put(out, "sent_by_agent", who);
      put(out, "raised_at_ms", alert.raised_at_ms);
      put(out, "acknowledged_at_ms", alert.acknowledged_at_ms);
      put(out, "acknowledged_by", alert.acknowledged_by);
    });
  });
}

std::string OperatorService::acknowledge_alert(std::int64_t id, const std::string& who) {
  parts_.alerts.acknowledge(id, who);
  return json_object([&](JsonWriter& out) { put(out, "id", id); });
}

}  // namespace krux
