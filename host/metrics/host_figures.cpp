#include "host/metrics/host_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/account/accounts.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/metrics/account_label.hpp"
#include "core/notify/webhook.hpp"
#include "core/replica/replica.hpp"
#include "core/replica/sync_scheduler.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/state/agents.hpp"
#include "core/vault/vault.hpp"
#include "core/write/ledger_figures.hpp"
#include "core/write/write_buffer.hpp"
#include "host/accounts/service_host.hpp"
#include "host/plugins/plugin_registry.hpp"
#include "host/runner/adapter_runners.hpp"

namespace krux {
namespace {

constexpr MetricName kBuild{"kruxos_build_info", "1, with the version of the host."};
constexpr MetricName kStart{"kruxos_start_time_seconds", "When the host was started, Unix time."};
constexpr MetricName kLedgerFailing{"kruxos_ledger_failing", "1 while commits to the ledger fail."};
constexpr MetricName kVaultLocked{"kruxos_vault_locked", "1 while the vault is locked."};
constexpr MetricName kQueued{"kruxos_worker_queue_length", "Calls that wait for their turn, by lane."};
constexpr MetricName kBegun{"kruxos_worker_calls_total", "Calls that a worker thread began, by lane."};
constexpr MetricName kWaited{"kruxos_worker_wait_seconds_total", "How long these had waited for their turns."};
constexpr MetricName kNotBegun{"kruxos_worker_calls_not_begun_total",
                               "Calls refused because their queue was full or their turn did not come in time."};
constexpr MetricName kLost{"kruxos_worker_threads_lost", "Threads that have not come back from calls given up."};
constexpr MetricName kConnections{"kruxos_connections", "Open connections, by listener and by who has them."};
constexpr MetricName kSentAway{"kruxos_connections_sent_away_total",
                               "Waiting connections closed so that another one had a place."};
constexpr MetricName kConnectionsRefused{"kruxos_connections_refused_total",
                                         "Connections for which no other could be closed."};
constexpr MetricName kProcessUp{"kruxos_adapter_process_up", "1 while the adapter's own process serves."};
constexpr MetricName kRestarts{"kruxos_adapter_process_restarts_total",
                               "How often the adapter's own process was started again."};

constexpr MetricName kAccountUp{"kruxos_account_up", "1 where the account is served and its token accepted."};
constexpr MetricName kQuarantined{"kruxos_adapter_quarantined",
                                  "1 while the account's adapter is no longer called because it hung."};
constexpr MetricName kAbandoned{"kruxos_adapter_calls_abandoned_total",
                                "Calls into the adapter that were given up at their deadline."};
constexpr MetricName kLag{"kruxos_sync_lag_seconds",
                          "Age of what the replica is complete through; while it is not whole, since the connection."};
constexpr MetricName kPasses{"kruxos_sync_passes_total", "Sync passes that were completed."};
constexpr MetricName kFailures{"kruxos_sync_failures_total", "Sync steps that failed."};
constexpr MetricName kProblems{"kruxos_sync_problems",
                               "Parts of the account, such as channels, that cannot be synced."};
constexpr MetricName kLeftOut{"kruxos_replica_left_out",
                              "Records that the service has and the replica could not take."};
constexpr MetricName kChanges{"kruxos_sync_records_total", "Records that syncs brought into the replica, by change."};
constexpr MetricName kRecords{"kruxos_replica_records", "Records in the replica."};
constexpr MetricName kQuotaLeft{"kruxos_quota_left_ratio",
                                "Part of a quota rule that is left, in the fullest of its buckets."};

constexpr MetricName kWrites{"kruxos_writes", "Writes in the ledger, by state."};
constexpr MetricName kHeldAsCopy{"kruxos_writes_held_as_copy",
                                 "Writes that are held because the data directory may be a copy."};
constexpr MetricName kAccountWrites{"kruxos_account_writes", "Writes that have not ended."};
constexpr MetricName kNeedDecision{"kruxos_account_writes_need_decision", "Writes that wait for a person."};
constexpr MetricName kOldest{"kruxos_oldest_write_age_seconds",
                             "Age of the account's oldest write in that state; for unknown ones since then."};
constexpr MetricName kOverdue{"kruxos_write_overdue_seconds",
                              "For how long the account's next write has been due and was not taken."};
constexpr MetricName kAlertsOpen{"kruxos_alerts_open", "Open alerts of the host."};
constexpr MetricName kAlertsRaised{"kruxos_alerts_raised_total", "Alerts raised since the ledger was made."};

constexpr MetricName kCounted{"kruxos_limit_counted",
                              "Writes that a limit counts now for the agent, of the value that has most."};
constexpr MetricName kAllowed{"kruxos_limit_allowed", "Writes that the limit allows in its window."};
constexpr MetricName kFull{"kruxos_limit_values_full", "Values, such as channels, of which the limit allows no more."};

constexpr MetricName kAgentsPaused{"kruxos_agents_paused", "Agents that are paused, by themselves or all together."};

constexpr MetricName kSignInWaiting{"kruxos_sign_in_requests_waiting",
                                    "Requests to sign in that wait for the operator."};
constexpr MetricName kSignInGrants{"kruxos_sign_in_grants", "Grants of hosts that have signed in and that go on."};

constexpr MetricName kWebhookFailing{"kruxos_webhook_failing_seconds",
                                     "How long the outgoing webhook has not got a message through."};
constexpr MetricName kWebhookDelivered{"kruxos_webhook_delivered_total",
                                       "Messages that the outgoing webhook delivered."};

double seconds_since(std::int64_t then_ms, std::int64_t now_ms) {
  return static_cast<double>(std::max<std::int64_t>(now_ms - then_ms, 0)) / 1000;
}

MetricLabels labels_of(const std::string& service, const std::string& account_id) {
  return {{"service", service}, {"account", account_label(account_id)}};
}

MetricLabels with(MetricLabels labels, const char* name, std::string value) {
  labels[name] = std::move(value);
  return labels;
}

void put_listener(const std::string& listener, const PlaceFigures& figures, MetricSheet& out) {
  for (const auto& [whose, of] : {std::pair{"strangers", figures.strangers}, std::pair{"agents", figures.agents}}) {
    const MetricLabels labels{{"listener", listener}, {"whose", whose}};
    out.gauge(kConnections, labels, static_cast<double>(of.open));
    out.counter(kSentAway, labels, static_cast<double>(of.sent_away));
    out.counter(kConnectionsRefused, labels, static_cast<double>(of.refused));
  }
}

void put_agents(AgentStore& agents, MetricSheet& out) {
  const auto all = agents.list();
  out.gauge(kAgentsPaused, {}, static_cast<double>(std::count_if(all.begin(), all.end(), [&](const Agent& agent) {
              return !agent.revoked && agents.pauses().holding(agent.agent_id).has_value();
            })));
}

void put_sign_in(const SignInStore& sign_in, MetricSheet& out) {
  const auto requests = sign_in.requests();
  const auto grants = sign_in.grants();
  out.gauge(kSignInWaiting, {},
            static_cast<double>(std::count_if(requests.begin(), requests.end(), [](const auto& one) {
              return one.decision == SignInDecision::kWaiting;
            })));
  out.gauge(kSignInGrants, {}, static_cast<double>(std::count_if(grants.begin(), grants.end(), [](const auto& one) {
              return one.ended_at_ms == 0;
            })));
}

void put_webhook(const Webhook* webhook, std::int64_t now_ms, MetricSheet& out) {
  const auto status = webhook ? webhook->status() : WebhookStatus();
  const auto since = status.failing_since_ms;
  out.gauge(kWebhookFailing, {}, since > 0 ? seconds_since(since, now_ms) : 0);
  out.counter(kWebhookDelivered, {}, static_cast<double>(status.delivered));
}

void put_host(const FigureParts& parts, std::int64_t started_ms, MetricSheet& out) {
  out.gauge(kBuild, {{"version", KRUXOS_VERSION}}, 1);
  out.gauge(kStart, {}, static_cast<double>(started_ms) / 1000);
  put_agents(parts.agents, out);
  put_sign_in(parts.sign_in, out);
  put_webhook(parts.webhook, parts.clock.wall_ms(), out);
  out.gauge(kLedgerFailing, {}, parts.store.failing() ? 1 : 0);
  for (const auto lane : kLanes) {
    const auto figures = parts.runner.figures(lane);
    const MetricLabels labels{{"lane", to_string(lane)}};
    out.gauge(kQueued, labels, static_cast<double>(figures.waiting));
    out.counter(kBegun, labels, static_cast<double>(figures.begun));
    out.counter(kWaited, labels, static_cast<double>(figures.waited_ms) / 1000);
    out.counter(kNotBegun, labels, static_cast<double>(figures.not_begun));
  }
  out.gauge(kLost, {}, parts.runner.lost());
  for (const auto& [listener, figures] : parts.listeners) put_listener(listener, figures(), out);
  for (const auto& plugin : parts.plugins.all()) {
    if (plugin.state != PluginInfo::State::kLoaded) continue;
    const auto process = parts.runners.find(plugin.service);
    if (!process) continue;
    const auto status = process->status();
    out.gauge(kProcessUp, {{"service", plugin.service}}, status.state == RunnerStatus::State::kServing ? 1 : 0);
    out.counter(kRestarts, {{"service", plugin.service}}, static_cast<double>(status.restarts));
  }
}

void put_replica(const Replica& replica, const Connection& connection, std::int64_t now_ms, MetricSheet& out) {
  const auto labels = labels_of(connection.service, connection.account_id);
  const auto state = replica.state();
  // The times of earlier passes say nothing of a collection that is filled anew.
  const bool whole = state.whole && state.complete_through_ms > 0;
  const auto through = whole ? state.complete_through_ms : connection.connected_at_ms;
  out.gauge(kLag, labels, seconds_since(through, now_ms));
  out.gauge(kProblems, labels, static_cast<double>(replica.problems().size()));
  out.gauge(kLeftOut, labels, static_cast<double>(state.left_out));
  const auto changes = replica.changes();
  out.counter(kChanges, with(labels, "change", "added"), static_cast<double>(changes.added));
  out.counter(kChanges, with(labels, "change", "updated"), static_cast<double>(changes.updated));
  out.counter(kChanges, with(labels, "change", "removed"), static_cast<double>(changes.removed));
  out.counter(kChanges, with(labels, "change", "unchanged"), static_cast<double>(changes.unchanged));
  for (const auto& [collection, count] : replica.counts())
    out.gauge(kRecords, with(labels, "collection", collection), static_cast<double>(count));
}

void put_accounts(const FigureParts& parts, MetricSheet& out) {
  const auto now = parts.clock.wall_ms();
  out.gauge(kVaultLocked, {}, parts.vault.locked() ? 1 : 0);
  const auto syncs = parts.scheduler.status();
  for (const auto& connection : parts.vault.connections()) {
    const auto labels = labels_of(connection.service, connection.account_id);
    const auto account = parts.accounts.find({connection.service, connection.account_id, connection.generation});
    out.gauge(kAccountUp, labels, account && !connection.needs_attention ? 1 : 0);
    if (!account) continue;
    out.gauge(kQuarantined, labels, account->health->quarantined() ? 1 : 0);
    out.counter(kAbandoned, labels, static_cast<double>(account->health->abandoned_total()));
    if (account->adapter->roles().sync) put_replica(*account->replica, connection, now, out);
    for (const auto& sync : syncs) {
      if (sync.account != account->ref) continue;
      out.counter(kPasses, labels, static_cast<double>(sync.passes));
      out.counter(kFailures, labels, static_cast<double>(sync.failures));
    }
    for (const auto& [rule, left] : parts.services.quota_left(account->ref))
      out.gauge(kQuotaLeft, with(labels, "rule", rule), left);
  }
}

void put_ledger(const FigureParts& parts, LedgerFiguresReader& reader, MetricSheet& out) {
  const auto figures = reader.read();
  const auto now = parts.clock.wall_ms();
  for (const auto& [state, count] : figures.by_state)
    out.gauge(kWrites, {{"state", state}}, static_cast<double>(count));
  out.gauge(kHeldAsCopy, {}, static_cast<double>(figures.held_as_copy));
  std::map<MetricLabels, std::int64_t> need_decision;
  for (const auto& open : figures.open) {
    const auto labels = labels_of(open.service, open.account_id);
    out.gauge(kAccountWrites, with(labels, "state", open.state), static_cast<double>(open.count));
    need_decision[labels];
    if (open.oldest_ms > 0) out.gauge(kOldest, with(labels, "state", open.state), seconds_since(open.oldest_ms, now));
  }
  for (const auto& need : figures.need_decision) need_decision[labels_of(need.service, need.account_id)] = need.count;
  for (const auto& [labels, count] : need_decision) out.gauge(kNeedDecision, labels, static_cast<double>(count));
  std::map<MetricLabels, double> overdue;
  for (const auto& due : figures.due) {
    auto& longest = overdue[labels_of(due.service, due.account_id)];
    longest = std::max(longest, seconds_since(due.due_at_ms, now));
  }
  for (const auto& [labels, seconds] : overdue) out.gauge(kOverdue, labels, seconds);
  for (const auto& alerts : figures.alerts)
    out.gauge(kAlertsOpen, {{"severity", alerts.severity}, {"kind", alerts.kind}}, static_cast<double>(alerts.open));
  out.counter(kAlertsRaised, {}, static_cast<double>(figures.alerts_raised));
}

/// A limit's values are what agents wrote to, without number and not for everybody to see: the fullest stands for all.
void put_limits(const FigureParts& parts, MetricSheet& out) {
  const auto agents = parts.agents.list();
  for (const auto& service : parts.accounts.services()) {
    for (const auto& limit : service.definition->limits) {
      const MetricLabels labels{{"service", service.definition->service},
                                {"operations", fmt::format("{}", fmt::join(limit.operations, ","))},
                                {"per", limit.key.empty() ? "all" : limit.key},
                                {"window_seconds", fmt::format("{}", limit.window_ms / 1000)}};
      out.gauge(kAllowed, labels, static_cast<double>(limit.limit));
      for (const auto& agent : agents) {
        if (agent.revoked) continue;
        const auto used = parts.writes.ledger.limit_use(agent.agent_id, limit);
        std::int64_t most = 0, full = 0;
        for (const auto& [value, use] : used) {
          most = std::max(most, use.counted);
          full += use.counted >= limit.limit ? 1 : 0;
        }
        if (used.empty()) continue;
        out.gauge(kCounted, with(labels, "agent", agent.agent_id), static_cast<double>(most));
        out.gauge(kFull, with(labels, "agent", agent.agent_id), static_cast<double>(full));
      }
    }
  }
}

}  // namespace

std::vector<MetricSource> host_figures(const FigureParts& parts) {
  const auto reader = std::make_shared<LedgerFiguresReader>(parts.store);
  return {
      {"host", [parts, started = parts.clock.wall_ms()](MetricSheet& out) { put_host(parts, started, out); }},
      {"ledger", [parts, reader](MetricSheet& out) { put_ledger(parts, *reader, out); }},
      {"limits", [parts](MetricSheet& out) { put_limits(parts, out); }},
      {"accounts", [parts](MetricSheet& out) { put_accounts(parts, out); }},
  };
}

}  // namespace krux
