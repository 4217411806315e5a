#include "core/write/copy_reconcile.hpp"

#include <algorithm>

#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestReason = 2000;

WriteReport look_at(const WriteRecord& write, const CallEnd& end, const EffectFound& found) {
  WriteReport report;
  report.of = WriteReport::Of::kLook;
  report.write_id = write.write_id;
  report.attempt = write.attempts;
  const auto& why = end.failure ? end.failure->message : found.why;
  report.error_message = printable(why.substr(0, kLongestReason));
  return report;
}

/// Nothing unless the adapter has answered so.
std::optional<EffectFound::Answer> found_answer_of(const CallEnd& end, const EffectFound& found) {
  if (end.how != CallEnd::How::kAnswered || end.failure) return std::nullopt;
  if (found.answer == EffectFound::Answer::kFound && !is_json_object(found.result_json)) return std::nullopt;
  return found.answer;
}

/// Whether asking once more gives the same: the service, or the adapter, has refused to look.
bool is_refused(const CallEnd& end) {
  if (end.how != CallEnd::How::kAnswered || !end.failure || end.cut_off) return false;
  const auto status = end.failure->status;
  return status == KRUX_REFUSED || status == KRUX_INVALID || status == KRUX_NOT_FOUND || status == KRUX_UNSUPPORTED;
}

}  // namespace

WriteReport judge_first_reconcile(const WriteRecord& write, const CallEnd& end, const EffectFound& found,
                                  const RetryPolicy& policy) {
  auto report = look_at(write, end, found);
  const auto answer = found_answer_of(end, found);
  const auto status = end.failure ? end.failure->status : KRUX_OK;
  const auto& gaps = policy.look_gaps_ms;
  if (answer == EffectFound::Answer::kFound) {
    report.event = WriteEvent::kEffectFound;
    report.result_json = found.result_json;
  } else if (!answer && status == KRUX_AUTH) {
    // The write could not go out either: nothing is gained by giving up.
    put_off_look(report, write, *end.failure, policy);
  } else if (!answer && !is_refused(end) && write.looks < gaps.size()) {
    report.event = WriteEvent::kEffectUnclear;
    report.due_in_ms = with_jitter(gaps[write.looks], policy);
    if (status == KRUX_RATE_LIMITED) {
      const auto told = after_service(end.failure->retry_after_ms.value_or(0), policy);
      report.due_in_ms = std::max(*report.due_in_ms, told);
    }
  } else {
    report.event = WriteEvent::kFirstReconcileOver;
    report.keeps_due = true;
  }
  return report;
}

WriteReport judge_copy_reconcile(const WriteRecord& write, const CallEnd& end, const EffectFound& found,
                                 const RetryPolicy& policy) {
  auto report = look_at(write, end, found);
  const auto answer = found_answer_of(end, found);
  report.event = WriteEvent::kCopyReconciled;
  if (answer == EffectFound::Answer::kFound) {
    report.evidence = "found";
    report.result_json = found.result_json;
  } else if (answer == EffectFound::Answer::kAbsent || answer == EffectFound::Answer::kDisproved) {
    report.evidence = "absent";
  } else if (could_not_look(end)) {
    put_off_look(report, write, *end.failure, policy);
  } else if (write.looks < policy.look_gaps_ms.size()) {
    report.event = WriteEvent::kEffectUnclear;
    report.due_in_ms = policy.look_gaps_ms[write.looks];
  } else {
    report.evidence = "cannot_tell";
  }
  return report;
}

}  // namespace krux
