#include "core/write/outcome.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "core/net/retry_after.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestMessage = 2000;

double random_of(const RetryPolicy& policy) {
  if (policy.random) return policy.random();
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

}  // namespace

std::int64_t with_jitter(std::int64_t gap_ms, const RetryPolicy& policy) {
  return static_cast<std::int64_t>(static_cast<double>(gap_ms) * (0.9 + 0.2 * random_of(policy)));
}

std::int64_t after_service(std::int64_t retry_after_ms, const RetryPolicy& policy) {
  const auto gap = std::clamp<std::int64_t>(retry_after_ms, 0, kLongestRetryAfterMs);
  return gap + static_cast<std::int64_t>(static_cast<double>(gap) * 0.1 * random_of(policy));
}

namespace {

const char* wire_name(WireState wire) {
  switch (wire) {
    case WireState::kNothingSent:
      return "nothing_sent";
    case WireState::kAnswered:
      return "answered";
    case WireState::kOpen:
      return "open";
  }
  return "open";
}

ErrorType type_of(const CallFailure& failure) {
  // An account that is not let in holds the write, whatever the adapter calls it.
  const bool named = failure.type && failure.status != KRUX_AUTH;
  return named ? failure.type : meaning_of(failure.status).kept;
}

std::string sentence(const std::string& text, const char* otherwise) {
  auto clean = printable(text.empty() ? otherwise : text);
  if (clean.size() > kLongestMessage) {
    std::size_t end = kLongestMessage;
    while (end > 0 && (static_cast<unsigned char>(clean[end]) & 0xc0) == 0x80) --end;
    clean.resize(end);
  }
  return clean;
}

std::string named(const WriteRecord& write) {
  return write.write_id + " (" + printable(write.operation + " " + write.summary) + ")";
}

NewAlert alert_about(const WriteRecord& write, const char* kind, std::string message) {
  return {"critical", kind, write.account.service, write.account.account_id, write.write_id, std::move(message)};
}

WriteReport report_of(const WriteRecord& write, WriteReport::Of of, const CallEnd& end) {
  WriteReport report;
  report.of = of;
  report.write_id = write.write_id;
  report.attempt = write.attempts;
  if (end.wire_counts) report.wire = wire_name(end.wire);
  return report;
}

WriteReport unknown_outcome(const WriteRecord& write, const CallEnd& end, const std::string& why,
                            const RetryPolicy& policy) {
  auto report = report_of(write, WriteReport::Of::kAttempt, end);
  report.event = WriteEvent::kMayBeDone;
  report.due_in_ms = policy.settle_ms.value_or(write.settle_ms);
  report.error_type = ErrorCode::kOutcomeUnknown;
  report.error_message = sentence(why, "The call ended without an answer, so the write may have happened.");
  return report;
}

/// The write waits for the operator to connect the account again, not for the schedule.
void hold(WriteReport& report, const WriteRecord& write, std::string message, const RetryPolicy& policy) {
  report.event = WriteEvent::kCertainlyNotDone;
  report.waits_for_connection = true;
  report.due_in_ms = with_jitter(policy.schedule_ms.back(), policy);
  report.alert = alert_about(write, "not_authenticated", std::move(message));
  report.alert->write_id.clear();
  report.alert->once = true;
}

}  // namespace

void hold_for_connection(WriteReport& report, const WriteRecord& write, const CallFailure& failure,
                         const RetryPolicy& policy) {
  hold(report, write,
       write.account.service + " refuses the token of account " + printable(write.account.account_id) +
           " or one of its scopes. Its writes are held; connect the account again. The service said: " +
           sentence(failure.message, "nothing more"),
       policy);
}

bool could_not_look(const CallEnd& end) {
  if (!end.failure) return false;
  const auto status = end.failure->status;
  return end.how == CallEnd::How::kNotRun || end.cut_off || status == KRUX_AUTH || status == KRUX_RATE_LIMITED;
}

void put_off_look(WriteReport& report, const WriteRecord& write, const CallFailure& failure,
                  const RetryPolicy& policy) {
  if (failure.status == KRUX_AUTH) {
    hold_for_connection(report, write, failure, policy);
  } else {
    report.due_in_ms = after_service(std::max<std::int64_t>(failure.retry_after_ms.value_or(30'000), 1'000), policy);
  }
  report.event = WriteEvent::kEffectUnclear;
  report.counts_look = false;
}

namespace {

/// Nothing happened: tried again on the schedule, or a person is told.
void next_try(WriteReport& report, const WriteRecord& write, std::optional<std::int64_t> retry_after_ms,
              const RetryPolicy& policy) {
  if (write.tries >= policy.schedule_ms.size()) {
    report.event = WriteEvent::kScheduleUsedUp;
    const auto* known = write.irrevocable
                            ? " times. The last attempt certainly did not happen, but an earlier one may have "
                              "happened. Look at the service, then send it again or discard it. Last: "
                            : " times and certainly did not happen. Send it again or discard it. Last: ";
    report.alert = alert_about(
        write, "retries_used_up",
        "Write " + named(write) + " failed " + std::to_string(write.attempts) + known + report.error_message);
    return;
  }
  report.uses_try = true;
  report.due_in_ms =
      retry_after_ms ? after_service(*retry_after_ms, policy) : with_jitter(policy.schedule_ms[write.tries], policy);
}

WriteReport certain_failure(const WriteRecord& write, const CallEnd& end, const CallFailure& failure,
                            const RetryPolicy& policy) {
  auto report = report_of(write, WriteReport::Of::kAttempt, end);
  report.event = WriteEvent::kCertainlyNotDone;
  report.error_type = type_of(failure);
  report.error_message = sentence(failure.message, "The service or the adapter refused the write and did not say why.");
  const auto status = failure.status;
  if (end.host_stops && status == KRUX_CANCELLED) {
    report.due_in_ms = 0;
  } else if (end.how == CallEnd::How::kNotRun) {
    report.due_in_ms = with_jitter(policy.schedule_ms.front(), policy);  // the host's own lack, not the write's
  } else if (status == KRUX_AUTH) {
    hold_for_connection(report, write, failure, policy);
  } else if (status == KRUX_REFUSED || status == KRUX_INVALID || status == KRUX_NOT_FOUND || status == KRUX_CONFLICT) {
    report.event = WriteEvent::kRefusedForGood;
  } else {
    next_try(report, write, failure.retry_after_ms, policy);
  }
  return report;
}

void hand_to_person(WriteReport& report, const WriteRecord& write, WriteEvent event, const char* kind,
                    const char* finding) {
  report.event = event;
  report.error_type = ErrorCode::kOutcomeUnknown;
  const bool told_of_it = write.escalated && write.error_message == finding;
  report.error_message = finding;
  if (told_of_it) return;
  report.alert = alert_about(write, kind,
                             "Write " + named(write) + ": " + finding +
                                 " Look at the service, then send it again, discard it, or mark it as happened.");
}

std::optional<std::int64_t> late_look_in(const WriteRecord& write, std::int64_t now_ms, const RetryPolicy& policy) {
  if (now_ms - write.unknown_since_ms >= policy.late_looks_for_ms) return std::nullopt;
  return policy.late_look_gap_ms;
}

/// Whether the write goes out once more, because that is harmless and a step of its schedule is left.
bool is_sent_again(WriteReport& report, const WriteRecord& write, bool may_repeat, const RetryPolicy& policy) {
  if (!may_repeat || write.tries >= policy.schedule_ms.size()) return false;
  report.event = WriteEvent::kEffectAbsentResend;
  report.due_in_ms = 0;
  report.uses_try = true;
  report.waits_for_connection = false;
  return true;
}

/// `asked`: the service, or the adapter, has answered that it cannot tell: asked once more it would say the same.
void still_unclear(WriteReport& report, const WriteRecord& write, bool asked, bool may_repeat, std::int64_t now_ms,
                   const RetryPolicy& policy) {
  report.error_type = ErrorCode::kOutcomeUnknown;
  if (report.error_message.empty()) report.error_message = "What the service shows does not tell whether it happened.";
  const bool last = asked || write.looks >= policy.look_gaps_ms.size();
  if (!write.escalated && last && is_sent_again(report, write, may_repeat, policy)) return;
  if (!write.escalated && write.looks < policy.look_gaps_ms.size()) {
    report.event = WriteEvent::kEffectUnclear;
    report.due_in_ms = with_jitter(policy.look_gaps_ms[write.looks], policy);
    return;
  }
  const auto why = report.error_message;
  if (write.escalated) {
    report.event = WriteEvent::kEffectUnclear;
  } else {
    hand_to_person(report, write, WriteEvent::kLooksUsedUp, "outcome_unclear",
                   "it may have happened, and the service could not tell.");
    report.error_message += " " + why;
  }
  report.due_in_ms = late_look_in(write, now_ms, policy);
}

/// Not a look that could not tell, but none yet. Whatever the cause, a person does not wait for longer than until looks
/// would have been used up.
void not_looked(WriteReport& report, const WriteRecord& write, const CallFailure& failure, bool may_repeat,
                std::int64_t now_ms, const RetryPolicy& policy) {
  put_off_look(report, write, failure, policy);
  report.error_type = ErrorCode::kOutcomeUnknown;
  const auto& gaps = policy.look_gaps_ms;
  if (write.escalated) {
    report.due_in_ms = late_look_in(write, now_ms, policy);
    return;
  }
  if (now_ms - write.unknown_since_ms < std::accumulate(gaps.begin(), gaps.end(), std::int64_t{0})) return;
  if (is_sent_again(report, write, may_repeat, policy)) return;
  const auto why = report.error_message;
  hand_to_person(report, write, WriteEvent::kLooksUsedUp, "outcome_unclear",
                 "it may have happened, and the service has not let the host look.");
  report.error_message += " " + why;
}

const char* absence(const WriteRecord& write) {
  if (!write.rolls_back.empty())
    return "what it was to undo still stands at the service: the undo did not happen, or has been reverted.";
  if (!write.cleans.empty()) return "whether what it was to take away is gone could not be found out.";
  return "its effect was not found at the service, which is no proof that it never happened.";
}

void absent(WriteReport& report, const WriteRecord& write, bool may_repeat, std::int64_t now_ms,
            const RetryPolicy& policy) {
  if (is_sent_again(report, write, may_repeat, policy)) return;
  hand_to_person(report, write, WriteEvent::kEffectAbsentAsk, "outcome_absent", absence(write));
  // A service may act late. A cleanup is not looked for.
  if (write.cleans.empty()) report.due_in_ms = late_look_in(write, now_ms, policy);
}

}  // namespace

WriteReport judge_closed(const WriteRecord& write, const std::string& why, const RetryPolicy& policy) {
  CallEnd end;
  end.how = CallEnd::How::kNotRun;
  end.wire = WireState::kNothingSent;
  auto report = report_of(write, WriteReport::Of::kAttempt, end);
  hold(report, write, "Writes that were accepted before the account was connected anew are held: " + sentence(why, ""),
       policy);
  report.error_type = ErrorCode::kNotAuthenticated;
  report.error_message = sentence(why, "");
  return report;
}

WriteReport judge_attempt(const WriteRecord& write, CallEnd end, const RetryPolicy& policy) {
  if (end.how == CallEnd::How::kAbandoned) {
    return unknown_outcome(write, end, "The adapter did not return before its deadline.", policy);
  }
  if (end.failure) {
    const bool wire_speaks = end.wire_counts && end.how == CallEnd::How::kAnswered;
    const auto failure = wire_speaks ? judge(*end.failure, end.wire) : *end.failure;
    if (!write.cleans.empty() && failure.effect_none && failure.status == KRUX_NOT_FOUND) {
      auto report = report_of(write, WriteReport::Of::kAttempt, end);
      report.event = WriteEvent::kDone;  // gone already
      report.result_json = R"({"status":"ok","was_gone":true})";
      return report;
    }
    return failure.effect_none ? certain_failure(write, end, failure, policy)
                               : unknown_outcome(write, end, failure.message, policy);
  }
  if (end.wire_counts && end.wire == WireState::kOpen) {
    return unknown_outcome(write, end, "The adapter reports success, but a request of it was never answered.", policy);
  }
  std::string why;
  if (!is_json_object(end.result_json, {}, &why)) {
    return unknown_outcome(write, end, "The adapter reports success with a result that is not a JSON object: " + why,
                           policy);
  }
  auto report = report_of(write, WriteReport::Of::kAttempt, end);
  report.event = WriteEvent::kDone;
  report.result_json = std::move(end.result_json);
  return report;
}

WriteReport judge_rollback_point(const WriteRecord& write, CallEnd end, const RetryPolicy& policy) {
  auto failure = end.failure.value_or(CallFailure{});
  if (end.how == CallEnd::How::kAbandoned) failure.status = KRUX_TIMEOUT;
  if (failure.message.empty()) failure.message = "The adapter could not record the state to return to on rollback.";
  return certain_failure(write, end, failure, policy);
}

WriteReport judge_reconcile(const WriteRecord& write, const CallEnd& end, const EffectFound& found, bool may_repeat,
                            std::int64_t now_ms, const RetryPolicy& policy) {
  auto report = report_of(write, WriteReport::Of::kLook, end);
  using Answer = EffectFound::Answer;
  const bool answered = end.how == CallEnd::How::kAnswered && !end.failure;
  if (end.failure) report.error_message = sentence(end.failure->message, "The look failed.");
  if (answered && found.answer == Answer::kCannotTell) report.error_message = sentence(found.why, "");
  if (could_not_look(end)) {
    not_looked(report, write, *end.failure, may_repeat, now_ms, policy);
  } else if (answered && found.answer == Answer::kFound && is_json_object(found.result_json)) {
    report.event = WriteEvent::kEffectFound;
    report.result_json = found.result_json;
  } else if (answered && found.answer == Answer::kAbsent) {
    absent(report, write, may_repeat, now_ms, policy);
  } else if (answered && found.answer == Answer::kDisproved) {
    report.event = WriteEvent::kEffectDisproved;
    report.error_type = ErrorCode::kWriteFailed;
    report.error_message = "The service shows that the write did not happen.";
    next_try(report, write, std::nullopt, policy);
  } else {
    const bool asked = answered && found.answer == Answer::kCannotTell;
    still_unclear(report, write, asked, may_repeat, now_ms, policy);
  }
  return report;
}

}  // namespace krux
