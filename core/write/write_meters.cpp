#include "core/write/write_meters.hpp"

#include <array>

namespace krux {
namespace {

constexpr MetricName kAcks{"kruxos_write_acks_total",
                           "Writes that agents asked for and the ledger answered, by its answer."};
constexpr MetricName kAckTime{"kruxos_write_ack_seconds",
                              "Time from handing a write to the ledger until it was durable and acknowledged."};
constexpr MetricName kAttempts{"kruxos_write_executions_total", "Attempts at writes and undos, by what they led to."};
constexpr MetricName kAttemptTime{"kruxos_write_execution_seconds",
                                  "Time from the claim of a write until the outcome of its attempt was recorded."};
constexpr MetricName kLooks{"kruxos_write_looks_total",
                            "Looks for the effect of writes whose outcome was unknown, by what they found."};
constexpr MetricName kDecisions{"kruxos_write_decisions_total", "What was decided about writes, by whom."};

constexpr std::array<double, 13> kAckBounds{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1};
constexpr std::array<double, 12> kAttemptBounds{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60};

constexpr std::array<const char*, 7> kAckOutcomes{"buffered",       "pending_approval", "held",      "duplicate",
                                                  "limit_exceeded", "conflict",         "not_stored"};
constexpr std::array<const char*, 6> kAttemptOutcomes{"completed",     "failed",  "retry",
                                                      "dead_lettered", "unknown", "other"};
constexpr std::array<const char*, 8> kLookOutcomes{"found",       "absent",  "resend",   "disproved",
                                                   "cannot_tell", "gave_up", "goes_out", "evidence"};
constexpr std::array<const char*, 2> kDecisionOutcomes{"done", "refused"};
constexpr std::array<const char*, 9> kDecisionNames{"accept",  "reject",   "edit",     "cancel", "resend",
                                                    "discard", "happened", "rollback", "release"};

MetricLabels operation_labels(std::string_view service, std::string_view operation) {
  return {{"service", std::string(service)}, {"operation", std::string(operation)}};
}

std::size_t ack_outcome(const std::variant<Submitted, Error>& answer) {
  if (const auto* error = std::get_if<Error>(&answer)) {
    return error->type() == ErrorCode::kBatchProtection ? 4 : error->type() == ErrorCode::kConflictError ? 5 : 6;
  }
  const auto& submitted = std::get<Submitted>(answer);
  if (submitted.duplicate) return 3;
  return submitted.write.state == WriteState::kPendingApproval ? 1 : submitted.write.state == WriteState::kHeld ? 2 : 0;
}

std::size_t attempt_outcome(WriteEvent event) {
  switch (event) {
    case WriteEvent::kDone:
      return 0;
    case WriteEvent::kRefusedForGood:
      return 1;
    case WriteEvent::kCertainlyNotDone:
      return 2;
    case WriteEvent::kScheduleUsedUp:
      return 3;
    case WriteEvent::kMayBeDone:
      return 4;
    default:
      return 5;
  }
}

std::size_t look_outcome(WriteEvent event) {
  switch (event) {
    case WriteEvent::kEffectFound:
      return 0;
    case WriteEvent::kEffectAbsentAsk:
      return 1;
    case WriteEvent::kEffectAbsentResend:
      return 2;
    case WriteEvent::kEffectDisproved:
    case WriteEvent::kScheduleUsedUp:
      return 3;
    case WriteEvent::kEffectUnclear:
      return 4;
    case WriteEvent::kFirstReconcileOver:
      return 6;
    case WriteEvent::kCopyReconciled:
    case WriteEvent::kEffectAbsentRelease:
      return 7;
    default:
      return 5;
  }
}

}  // namespace

WriteMeter::WriteMeter(MetricRegistry& registry, std::string_view service, std::string_view operation)
    : acks_(registry, kAcks, operation_labels(service, operation), "outcome", kAckOutcomes),
      attempts_(registry, kAttempts, operation_labels(service, operation), "outcome", kAttemptOutcomes),
      looks_(registry, kLooks, operation_labels(service, operation), "outcome", kLookOutcomes),
      ack_time_(registry.histogram(kAckTime, {{"service", std::string(service)}}, kAckBounds)),
      attempt_time_(registry.histogram(kAttemptTime, operation_labels(service, operation), kAttemptBounds)) {}

void WriteMeter::acknowledged(const std::variant<Submitted, Error>& answer, std::int64_t took_us) {
  acks_.add(ack_outcome(answer));
  ack_time_.observe_us(took_us);
}

void WriteMeter::attempted(WriteEvent outcome, std::int64_t took_us) {
  attempts_.add(attempt_outcome(outcome));
  attempt_time_.observe_us(took_us);
}

void WriteMeter::looked(WriteEvent outcome) {
  looks_.add(look_outcome(outcome));
}

WriteMeters::WriteMeters(MetricRegistry& registry) : registry_(registry) {}

WriteMeter& WriteMeters::of(std::string_view service, std::string_view operation) {
  return table_.of(service, operation, [&] { return std::make_unique<WriteMeter>(registry_, service, operation); });
}

void WriteMeters::decided(WriteDecision decision, std::string_view who, bool done) {
  const auto* name = kDecisionNames[static_cast<std::size_t>(decision)];
  const auto by = who.substr(0, who.find(':'));
  auto& counters = decisions_.of(by, name, [&] {
    return std::make_unique<MetricCounters>(
        registry_, kDecisions, MetricLabels{{"decision", name}, {"by", std::string(by)}}, "outcome", kDecisionOutcomes);
  });
  counters.add(done ? 0 : 1);
}

}  // namespace krux
