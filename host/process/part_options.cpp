#include "host/process/part_options.hpp"

#include "core/capability/host_capabilities.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/util/json_out.hpp"
#include "core/write/write.hpp"
#include "host/process/descriptor_limit.hpp"

namespace krux {

PlaceOptions place_options(const Config& config) {
  return {config.places_dir, config.held, machine_boot_id(), read_machine_id(), config.retry.settle_ms};
}

VaultOptions vault_options(const Config& config, const DataDirectory& directory) {
  return {config.vault_key_file, directory.path(),
          config.vault.passphrase ? VaultMode::kPassphrase : VaultMode::kKeyFile, passphrase_cost(config)};
}

PassphraseCost passphrase_cost(const Config& config) {
  return {config.vault.argon2_passes, config.vault.argon2_memory_mib << 20};
}

OperatorGate::Options gate_options(const Config& config) {
  OperatorGate::Options options;
  options.agents_share_user = config.operators.agents_share_user;
  options.grants.idle_ms = config.operators.grant_ms;
  return options;
}

TransportOptions transport_options(const Config& config) {
  TransportOptions options;
  options.extra_ca_file = config.net.ca_file;
  options.allowed_networks = config.net.allow_private_hosts;
  options.user_agent = "kruxos/" KRUXOS_VERSION;
  return options;
}

/// Strangers choose where it leads: what the operator has listed for services is not for them.
TransportOptions document_transport_options(const Config& config) {
  auto options = transport_options(config);
  options.allowed_networks.clear();
  return options;
}

SignInTimes sign_in_times(const Config& config) {
  SignInTimes times;
  times.access_ms = config.server.sign_in.access_token_ms;
  times.idle_ms = config.server.sign_in.idle_ms;
  return times;
}

std::string public_origin(const Config& config, std::uint16_t port) {
  const auto& server = config.server;
  if (!server.sign_in.public_url.empty()) return server.sign_in.public_url;
  const auto host = server.host == "localhost" ? "127.0.0.1" : server.host;
  return fmt::format("http://{}:{}", host.find(':') == std::string::npos ? host : "[" + host + "]", port);
}

AuditOptions audit_options(const Config& config, const DataDirectory& directory, AlertStore& alerts) {
  AuditOptions options;
  options.key_file = config.audit.key_file;
  options.anchor_file = config.audit.anchor_file;
  options.keep_ms = config.audit.keep_ms;
  options.file = directory.audit();
  options.on_change = [&alerts](const std::string& why) {
    constexpr const char* kind = "audit_failing";
    if (why.empty()) return alerts.settle(kind);
    alerts.raise({"critical", kind, "", "", "", "The audit log cannot be written: " + why, true});
  };
  options.on_anchor = [&alerts](const std::string& why) {
    constexpr const char* kind = "audit_not_anchored";
    if (why.empty()) return alerts.settle(kind);
    alerts.raise({"warning", kind, "", "", "", why, true});
  };
  options.on_broken = [&alerts](const std::string& what) {
    alerts.raise({"critical", "audit_broken", "", "", "", what, true});
  };
  return options;
}

std::function<void(const SyncStatus&, const ErrorType&)> sync_audit(AuditLog& audit) {
  return [&audit](const SyncStatus& status, const ErrorType& failure) {
    AuditEntry entry;
    entry.kind = "sync";
    entry.service = status.account.service;
    entry.account_id = status.account.account_id;
    entry.body = json_object([&](JsonWriter& out) {
      put(out, "pass", status.full ? "full" : "incremental");
      put(out, "outcome", failure ? failure.name() : std::string_view("done"));
      put(out, "begun_at_ms", status.pass_started_ms);
      put(out, "parts", static_cast<std::int64_t>(status.parts_done));
    });
    audit.add(std::move(entry));
  };
}

ExecutorOptions executor_options(const Config& config, Meters* meters, const AuditLog& audit,
                                 std::function<void()> before_take) {
  ExecutorOptions options;
  options.before_take = std::move(before_take);
  options.may_take = [&audit] { return !audit.why_not_writable(); };
  options.meters = meters ? &meters->writes : nullptr;
  options.concurrency = config.write_buffer.executor_concurrency;
  options.retry.order_wait_ms = config.write_buffer.order_wait_ms;
  options.retry.schedule_ms = config.retry.schedule_ms;
  options.retry.settle_ms = config.retry.settle_ms;
  options.retry.look_gaps_ms = config.retry.look_gaps_ms;
  options.retry.late_look_gap_ms = config.retry.late_look_gap_ms;
  return options;
}

RuleSubjects rule_subjects(const DefinitionSet& definitions, const FactSource& facts) {
  RuleSubjects subjects{definitions.all(), &facts};
  subjects.definitions.push_back(state_definition());
  return subjects;
}

HandlerOptions handler_options(const Config& config, const HandlerParts& parts) {
  HandlerOptions options;
  options.audit = &parts.audit;
  options.audit_stops_reads = config.audit.stops_reads;
  options.uploads = &parts.uploads;
  options.rules = &parts.rules;
  options.history = &parts.history;
  options.state = &parts.state;
  options.call_meters = parts.meters ? &parts.meters->calls : nullptr;
  options.write_meters = parts.meters ? &parts.meters->writes : nullptr;
  options.default_delay_ms = config.write_buffer.default_delay_ms;
  options.delays_ms = config.write_buffer.delays_ms;
  options.settle_ms = config.retry.settle_ms;
  options.escalate_on_exceed = config.write_buffer.escalate_on_exceed;
  return options;
}

std::unique_ptr<Webhook> make_webhook(const Config& config, WebhookParts parts) {
  const auto& asked = config.webhook;
  if (asked.url.empty()) return nullptr;
  WebhookOptions options{parse_url(asked.url), {asked.details, asked.queue_url}, [&audit = parts.audit] {
                           return audit.status().anchored;
                         }};
  return std::make_unique<Webhook>(parts.store, parts.alerts, parts.clock, std::move(parts.transport),
                                   open_webhook_key(asked.secret_file), std::move(options));
}

HttpLimits gateway_limits(const Config& config) {
  HttpLimits limits;
  const auto wanted = static_cast<std::size_t>(config.server.connections);
  limits.connections = agent_connections(wanted, descriptor_limit());
  if (limits.connections < wanted)
    spdlog::warn(
        "agents get {} connections and not the {} of server.connections: the process may have {} descriptors, and half "
        "are kept for the operator, syncs and writes. Raise the hard limit (ulimit -Hn, LimitNOFILE=)",
        limits.connections, wanted, descriptor_limit());
  return limits;
}

HttpLimits operator_limits() {
  HttpLimits limits;
  limits.connections = 64;
  limits.spare_descriptors = 4;
  return limits;
}

}  // namespace krux
