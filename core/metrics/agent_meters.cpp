#include "core/metrics/agent_meters.hpp"

#include <algorithm>
#include <array>

namespace krux {
namespace {

constexpr MetricName kRequests{"kruxos_agent_requests_total", "JSON-RPC requests of agents, by method and outcome."};
constexpr MetricName kRefusals{"kruxos_agent_auth_failures_total", "Requests without a valid agent key."};

constexpr std::array<const char*, 30> kMethods{"session.create",
                                               "session.end",
                                               "capabilities.list",
                                               "capabilities.describe",
                                               "capabilities.invoke",
                                               "approvals.check",
                                               "approvals.wait",
                                               "transaction.begin",
                                               "transaction.commit",
                                               "transaction.rollback",
                                               "transaction.status",
                                               "events.subscribe",
                                               "server/discover",
                                               "initialize",
                                               "ping",
                                               "tools/list",
                                               "tools/call",
                                               "resources/list",
                                               "resources/templates/list",
                                               "resources/read",
                                               "prompts/list",
                                               "prompts/get",
                                               "completion/complete",
                                               "resources/subscribe",
                                               "resources/unsubscribe",
                                               "subscriptions/listen",
                                               "tasks/get",
                                               "tasks/update",
                                               "tasks/cancel",
                                               "unknown"};
constexpr std::array<const char*, 5> kMethodOutcomes{"ok", "invalid_params", "unknown_method", "rate_limited", "error"};
constexpr std::array<const char*, 2> kReasons{"wrong_key", "locked_out"};

std::size_t outcome_of(int error_code) {
  switch (error_code) {
    case 0:
      return 0;
    case -32602:
      return 1;
    case -32601:
      return 2;
    case -32000:
      return 3;
    default:
      return 4;
  }
}

}  // namespace

AgentMeters::AgentMeters(MetricRegistry& registry) : refusals_(registry, kRefusals, {}, "reason", kReasons) {
  for (const auto* method : kMethods) {
    methods_.push_back(std::make_unique<MetricCounters>(registry, kRequests, MetricLabels{{"method", method}},
                                                        "outcome", kMethodOutcomes));
  }
  for (std::size_t reason = 0; reason < kReasons.size(); ++reason) refusals_.add(reason, 0);
}

void AgentMeters::requested(std::string_view method, int error_code) {
  const auto at = std::find(kMethods.begin(), kMethods.end() - 1, method) - kMethods.begin();
  methods_[static_cast<std::size_t>(at)]->add(outcome_of(error_code));
}

void AgentMeters::refused(Refusal why) {
  refusals_.add(why == Refusal::kWrongKey ? 0 : 1);
}

}  // namespace krux
