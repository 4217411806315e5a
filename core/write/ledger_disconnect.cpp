// The ledger's part of a disconnection that does not wait any longer.
#include "core/util/text.hpp"
#include "core/write/copies.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/ledger_history.hpp"

namespace krux {
namespace {

constexpr const char* kNobodyCanLook = "The account was disconnected before the outcome was known.";

NewAlert alert_of(const WriteRecord& write) {
  return {"critical",
          "disconnected_unknown",
          write.account.service,
          write.account.account_id,
          write.write_id,
          "Write " + write.write_id + " (" + printable(write.operation) +
              ") may have happened, and its account was disconnected before that was known. The host can no longer "
              "look: see at the service yourself, then: kruxos approve resolve " +
              write.write_id + " --happened or --discard",
          false};
}

std::vector<LedgerRow> open_rows(StatementCache& sql, const std::string& service, const std::string& account_id) {
  static const auto begun = select_rows(
      "state IN ('executing', 'unknown', 'dead_letter') AND state <> 'buffered' AND service = ?1 AND account_id = ?2");
  // Those that wait and are not irrevocable can be cancelled: whoever disconnects has done that.
  static const auto sent_again = select_rows(
      "seq IN (SELECT seq FROM writes INDEXED BY writes_due WHERE due_at_ms IS NOT NULL AND service = ?1 AND "
      "account_id = ?2) AND state = 'buffered' AND irrevocable = 1 AND held_as_copy = 0");
  static const auto asked = select_rows(
      "state IN ('pending_approval', 'held') AND state <> 'buffered' AND (irrevocable = 1 OR held_as_copy = 1) AND "
      "service = ?1 "
      "AND account_id = ?2");
  static const auto held = select_rows("held_as_copy = 1 AND state = 'buffered' AND service = ?1 AND account_id = ?2");
  std::vector<LedgerRow> found;
  // Nobody cancels these: they go on for as long as the account is connected.
  static const auto cleanups = select_rows(
      "cleans IS NOT NULL AND ended_at_ms IS NULL AND state = 'buffered' AND irrevocable = 0 AND held_as_copy = 0 AND "
      "service = "
      "?1 AND account_id = ?2");
  for (const auto* query : {&begun, &sent_again, &asked, &held, &cleanups}) {
    auto& rows = sql.get(*query).bind_all(service, account_id);
    const ResetAtEnd reset(rows);
    while (rows.step()) found.push_back(read_row(rows));
  }
  return found;
}

}  // namespace

/// `executing` becomes `unknown`; `unknown` is escalated, once; what waits and cannot be cancelled any more, or
/// is held as a copy, is discarded, since whoever gives up its account has decided that, and a cleanup that has not
/// begun is cancelled.
void Ledger::hand_over_one(StatementCache& sql, LedgerRow& row, const std::string& who,
                           std::vector<WriteRecord>& others) const {
  auto& w = row.write;
  const auto now = clock_.wall_ms();
  if (w.held_as_copy || (w.state != WriteState::kExecuting && w.state != WriteState::kUnknown)) {
    const bool never_sent = !w.held_as_copy && w.state == WriteState::kBuffered && !w.irrevocable;
    const auto event = never_sent ? WriteEvent::kCancel : WriteEvent::kOperatorDiscard;
    apply(row, event, ErrorCode::kConflictError);
    w.decided_by = who;
    add_decision(sql, w, event, who);
    close_alerts_of(sql.db(), w.write_id, who, now);
    // Nobody can clean up any more: what was made is left.
    if (!w.cleans.empty()) follow_end(sql, w, others);
    if (w.cleanup == Cleanup::kPossible) w.cleanup = Cleanup::kLeft;
    update_row(sql, row);
    return tell_of_approvals(sql, w);
  }
  if (w.state == WriteState::kExecuting) {
    apply(row, WriteEvent::kMayBeDone, ErrorCode::kConflictError);
    w.looks = 0;
    w.unknown_since_ms = now;
    w.error_type = ErrorCode::kOutcomeUnknown;
    w.error_message = kNobodyCanLook;
    end_attempt(sql, row, now, to_string(WriteEvent::kMayBeDone), {}, kNobodyCanLook);
  }
  const bool was_told = w.escalated;
  if (!was_told) apply(row, WriteEvent::kLooksUsedUp, ErrorCode::kConflictError);
  set_due(row, std::nullopt);
  update_row(sql, row);
  if (!was_told) insert_alert(sql.db(), alert_of(w), now);
}

void Ledger::hand_over(const std::string& service, const std::string& account_id, const std::string& who) {
  using Writes = std::vector<WriteRecord>;
  commit_and_wait<Writes>(
      {"disconnect.hand_over.before", "disconnect.hand_over.after"},
      [this, service, account_id, who](StatementCache& sql) {
        Writes changed;
        for (auto& row : open_rows(sql, service, account_id)) {
          hand_over_one(sql, row, who, changed);
          changed.push_back(std::move(row.write));
        }
        settle_copies(sql, who, clock_.wall_ms());
        return changed;
      },
      [listeners = listeners_, &clock = clock_](const Writes& changed) {
        for (const auto& write : changed) listeners->changed(write, clock);
      });
}

}  // namespace krux
