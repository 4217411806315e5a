// The ledger's part of what a copy of a data directory holds, and of the looks before a first attempt.
#include <algorithm>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/copies.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"

namespace krux {
namespace {

std::string_view in_words(std::string_view finding) {
  if (finding == "found") return "found at the service";
  if (finding == "absent") return "not found at the service";
  if (finding == "cannot_tell") return "more than the service could tell";
  return "not looked for yet";
}

}  // namespace

void must_be_held(const WriteRecord& w) {
  if (w.held_as_copy) return;
  throw conflict(
      "The write " + std::string(state_in_words(phase_of(w))) +
      ", and is not held as a copy any more, so nothing was decided. Look at it again: kruxos approve show " +
      w.write_id)
      .with_context("{\"write_id\":" + json_string(w.write_id) + ",\"state\":\"" + to_string(w.state) + "\"}");
}

void must_be_found_as(const WriteRecord& write, const std::string& shown) {
  const std::string now(finding_of(write));
  if (now == shown) return;
  throw conflict("When this write was shown its effect was " + std::string(in_words(shown)) + ", and now it is " +
                 std::string(in_words(now)) + ", so nothing was decided. Look at it again (kruxos held show " +
                 write.write_id + "), then decide.")
      .with_context("{\"write_id\":" + json_string(write.write_id) + ",\"finding\":\"" + now + "\"}");
}

/// What was due before this run of the host began, or waited for its turn, and of which no attempt had begun may have
/// been sent all the same: by the original of a copy that nothing shows to be one. What is harmless to repeat is not
/// looked for.
void Ledger::reconcile_first(StatementCache& sql) const {
  for (const auto state : {WriteState::kBuffered, WriteState::kDeadLetter}) {
    const auto next = transition({state}, WriteEvent::kReconcileFirst);
    if (!std::holds_alternative<WritePhase>(next)) throw database_error("Nothing can be looked for first.");
    sql.get(
           "UPDATE writes SET reconcile_first = 1, looks = 0 WHERE seq IN (SELECT seq FROM writes INDEXED BY "
           "writes_due "
           "WHERE due_at_ms IS NOT NULL AND due_at_ms <= ?1 UNION SELECT seq FROM writes INDEXED BY writes_in_line "
           "WHERE ordering_key IS NOT NULL AND ended_at_ms IS NULL AND waits_in_line = 1) AND state = ?2 AND "
           "begun_attempt = 0 "
           "AND escalated = 0 AND held_as_copy = 0 AND reconcile_first = 0 AND when_absent <> 'resend' AND cleans IS "
           "NULL")
        .bind_all(clock_.wall_ms(), to_string(state))
        .run();
  }
}

/// What is held no longer goes on as what it is.
void Ledger::go_on_released(LedgerRow& row) const {
  auto& w = row.write;
  w.looks = 0;
  row.waits_for_connection = false;
  if (w.state == WriteState::kUnknown && !w.error_type) w.error_type = ErrorCode::kOutcomeUnknown;
  switch (w.state) {
    case WriteState::kBuffered:
      return set_due(row, std::max<std::int64_t>(0, w.buffer_until_ms - clock_.wall_ms()));
    case WriteState::kDeadLetter:
      return set_due(row, w.escalated ? std::nullopt : std::optional<std::int64_t>(0));
    case WriteState::kUnknown:  // the evidence counts for nothing: it is looked for as any other is
      return set_due(row, w.escalated ? std::nullopt : std::optional<std::int64_t>(0));
    default:
      return set_due(row, std::nullopt);
  }
}

/// What a look at a held write has shown. What was released before goes on where it was not found.
Ledger::Recorded Ledger::record_evidence(StatementCache& sql, LedgerRow row, const WriteReport& report) const {
  auto& w = row.write;
  const bool was_wanted = w.release_wanted;
  const bool released = was_wanted && report.evidence == "absent";
  const auto event = released ? WriteEvent::kEffectAbsentRelease : WriteEvent::kCopyReconciled;
  apply(row, event, ErrorCode::kConflictError);
  ++w.looks;
  row.waits_for_connection = false;
  set_due(row, std::nullopt);
  if (released) go_on_released(row);
  add_look(sql, w, report, event);
  update_row(sql, row);
  // It held up those behind it, which were released with it.
  if (was_wanted && !released && !w.ordering_key.empty()) call_next(sql, w);
  keep_evidence(sql, w, report.evidence, report.result_json, clock_.wall_ms());
  tell_of_approvals(sql, w);
  settle_copies(sql, w.decided_by, clock_.wall_ms());
  return {std::move(w), {}};
}

void Ledger::decide_copied(std::string write_id, WriteEvent decision, std::string shown, std::string who,
                           Done<WriteRecord> done) {
  decide_about({"copies.decide.before_commit", "copies.decide.after_commit"}, std::move(write_id), decision,
               {{}, {}, true, std::move(shown)}, std::move(who), std::move(done));
}

}  // namespace krux
