// What the configuration means for the host's parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/audit/audit_log.hpp"
#include "core/capability/capability_handler.hpp"
#include "core/config/config.hpp"
#include "core/net/http_transport.hpp"
#include "core/notify/webhook.hpp"
#include "core/policy/definition_set.hpp"
#include "core/policy/rules/rule_parser.hpp"
#include "core/replica/sync_scheduler.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/storage/data_directory.hpp"
#include "core/vault/vault.hpp"
#include "core/write/alerts.hpp"
#include "core/write/enhanced_write_executor.hpp"
#include "core/write/place.hpp"
#include "host/http/http_server.hpp"
#include "host/metrics/meters.hpp"
#include "host/operator/operator_gate.hpp"

namespace krux {

PlaceOptions place_options(const Config& config);
VaultOptions vault_options(const Config& config, const DataDirectory& directory);
PassphraseCost passphrase_cost(const Config& config);
OperatorGate::Options gate_options(const Config& config);
/// To services.
TransportOptions transport_options(const Config& config);
/// To the documents of clients that sign in.
TransportOptions document_transport_options(const Config& config);
SignInTimes sign_in_times(const Config& config);
/// Its alerts say when it cannot be written.
AuditOptions audit_options(const Config& config, const DataDirectory& directory, AlertStore& alerts);
/// Passes that have ended.
std::function<void(const SyncStatus&, const ErrorType&)> sync_audit(AuditLog& audit);
/// Nothing is claimed while the log cannot be written.
ExecutorOptions executor_options(const Config& config, Meters* meters, const AuditLog& audit,
                                 std::function<void()> before_take);
/// What rules are about: services, and what agents note.
RuleSubjects rule_subjects(const DefinitionSet& definitions, const FactSource& facts);
/// What the handler needs besides: each outlives it.
struct HandlerParts {
  UploadStore& uploads;
  const RuleBook& rules;
  AgentHistory& history;
  AgentState& state;
  AuditLog& audit;
  Meters* meters;
};
HandlerOptions handler_options(const Config& config, const HandlerParts& parts);
struct WebhookParts {
  GroupCommit& store;
  AlertStore& alerts;
  const AuditLog& audit;
  Clock& clock;
  std::shared_ptr<HttpTransport> transport;
};
/// Null: none is configured. Throws ConfigError.
std::unique_ptr<Webhook> make_webhook(const Config& config, WebhookParts parts);
HttpLimits gateway_limits(const Config& config);
/// For the operator, his page and health: few connections, and some descriptors of their own.
HttpLimits operator_limits();
/// Under which clients that sign in reach the gateway, which listens at `port`.
std::string public_origin(const Config& config, std::uint16_t port);

}  // namespace krux
