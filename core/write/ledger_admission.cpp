// Admitting writes: duplicates, limits, the first row.
#include <algorithm>
#include <limits>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/ledger_history.hpp"
#include "core/write/standing_approvals.hpp"

namespace krux {
namespace {

constexpr std::int64_t kDuplicateWindowMs = 10 * 60'000, kNoneIsRecent = std::numeric_limits<std::int64_t>::max();

/// Of a write whose effect is about to be taken back: to ask for it again is a new wish.
const std::string kLiveRollback =
    "(SELECT 1 FROM writes AS u WHERE u.rolls_back = writes.write_id AND u.ended_at_ms IS NULL)";

std::optional<WriteRecord> first_write(Statement& rows) {
  auto row = first_row(rows);
  if (!row) return std::nullopt;
  return std::move(row->write);
}

/// Of the content that the agent asked for, before any edit; empty when there was none.
std::string first_hash(StatementCache& sql, const WriteRecord& write) {
  auto& rows = sql.get("SELECT from_hash FROM edits WHERE write_seq = ?1 ORDER BY id LIMIT 1").bind_all(write.seq);
  const ResetAtEnd reset(rows);
  return rows.step() ? std::string(rows.text(0)) : std::string();
}

}  // namespace

/// The write that answers the one asked for, if there is one.
std::optional<WriteRecord> Ledger::find_same(StatementCache& sql, const NewWrite& asked,
                                             const WriteRecord& write) const {
  if (!asked.idempotency_key.empty()) {
    static const auto by_key = select_rows("agent_id = ?1 AND idempotency_key = ?2");
    auto same = first_write(sql.get(by_key).bind_all(asked.agent_id, asked.idempotency_key));
    const bool other = same && same->content_hash != write.content_hash && first_hash(sql, *same) != write.content_hash;
    if (other && same->account.generation != write.account.generation) {
      throw conflict("The idempotency key \"" + printable(asked.idempotency_key) + "\" belongs to " + same->write_id +
                     ", which was accepted on an earlier connection of this account and is " + to_string(same->state) +
                     " now. Use a new key only if it is to be sent again.")
          .with_context("{\"write_id\":" + json_string(same->write_id) + "}");
    }
    if (other) {
      throw conflict("The idempotency key \"" + printable(asked.idempotency_key) +
                     "\" was already used for another content. Use a new key for a new write.")
          .with_context("{\"write_id\":" + json_string(same->write_id) + "}");
    }
    if (same) return same;
  }
  if (asked.allow_duplicate) return std::nullopt;
  static const auto by_intent = select_rows(
      "intent = ?1 AND agent_id = ?2 AND content_hash = ?3 AND (ended_at_ms IS NULL OR (state = 'completed' AND "
      "ended_at_ms >= ?4 AND NOT EXISTS " +
      kLiveRollback + ")) ORDER BY seq DESC LIMIT 1");
  const auto since = asked.sets_state ? kNoneIsRecent : clock_.wall_ms() - kDuplicateWindowMs;
  auto same = first_write(
      sql.get(by_intent).bind_all(intent_of(write.content_hash), asked.agent_id, write.content_hash, since));
  if (same) return same;
  // What a person made of it is still what was asked for; the agent's own edits took its first wish back.
  // Few writes are edited, and what follows makes a table of its own even where there are none.
  auto& edited =
      sql.get("SELECT 1 FROM edits WHERE from_hash = ?1 AND who NOT LIKE 'agent:%'").bind_all(write.content_hash);
  const ResetAtEnd reset(edited);
  if (!edited.step()) return std::nullopt;
  static const auto by_edit = select_rows(
      "seq IN (SELECT write_seq FROM edits WHERE from_hash = ?1 AND who NOT LIKE 'agent:%') AND agent_id = ?2 AND "
      "(ended_at_ms IS NULL OR (state = 'completed' AND ended_at_ms >= ?3 AND NOT EXISTS " +
      kLiveRollback + ")) ORDER BY seq DESC LIMIT 1");
  return first_write(sql.get(by_edit).bind_all(write.content_hash, asked.agent_id, since));
}

/// What the ledger adds to a wish, but for its time clocks and its id.
LedgerRow admit(const NewWrite& asked, std::int64_t now_ms) {
  LedgerRow row;
  auto& w = row.write;
  row.audited = asked.audited;
  static_cast<Write&>(w) = static_cast<const Write&>(asked);
  if (w.params_shown_json.empty()) w.params_shown_json = w.params_json;
  w.content_hash = content_hash(w.account, w.operation, w.params_json, w.send_at_ms);
  w.ordering_key = ordering_key_of(w.agent_id, w.account, asked.order);
  w.counted_as = counted_as(asked.counts || !asked.limits.empty(), asked.counted_as, asked.operation);
  if (w.when_absent.empty()) w.when_absent = "ask";
  w.state = asked.approval_reason.empty() ? asked.admitted_as : WriteState::kPendingApproval;
  w.cleanup = asked.leaves_something ? Cleanup::kPossible : Cleanup::kNone;
  w.created_at_ms = w.counted_at_ms = now_ms;
  w.delay_ms = asked.immediate ? 0 : std::max<std::int64_t>(0, asked.delay_ms);
  w.settle_ms = std::max<std::int64_t>(0, asked.settle_ms);
  return row;
}

NewWrite write_about(const WriteRecord& subject, const char* operation, std::string params_json, std::string summary) {
  NewWrite write;
  write.agent_id = subject.agent_id;
  write.session_id = subject.session_id;
  write.account = subject.account;
  write.operation = operation;
  write.params_json = std::move(params_json);
  write.summary = std::move(summary);
  write.tier = subject.tier;
  write.definition_version = subject.definition_version;
  write.when_absent = subject.when_absent;
  write.target = subject.target;
  write.settle_ms = subject.settle_ms;
  write.immediate = true;
  return write;
}

/// Who has let it go is a part of its history.
void Ledger::note_standing(StatementCache& sql, const WriteRecord& w) const {
  if (w.standing_approval.empty()) return;
  const auto now = clock_.wall_ms();
  add_to_history(sql, w.seq,
                 {"decision",
                  0,
                  now,
                  now,
                  to_string(WriteEvent::kAccept),
                  {},
                  "Approved beforehand, with the like.",
                  w.standing_approval});
}

/// A window begins, or a person is asked. Throws BatchProtection.
void Ledger::admit_within_limits(StatementCache& sql, const NewWrite& asked, LedgerRow& row) const {
  auto& w = row.write;
  if (const auto over = excess(sql, asked.limits, w)) {
    w.state = WriteState::kPendingApproval;
    w.approval_reason = over->sentence;
    w.asked_by_json = asked_by_json(*over);
    row.audited.limit_json = limit_json(*over);
  }
  if (w.state == WriteState::kPendingApproval && !asked.by_standing.empty() && row.audited.limit_json.empty() &&
      w.approvals_needed < 2) {
    // A limit asks a person all the same, and a rule that wants several people each of them.
    if (auto granted_by = use_standing(sql, asked.by_standing, clock_.wall_ms())) {
      w.state = asked.admitted_as;
      w.decided_by = *std::move(granted_by);
      w.standing_approval = asked.by_standing;
    }
  }
  if (w.state == WriteState::kPendingApproval && has_too_many_pending(sql, w.agent_id)) {
    throw Error(ErrorCode::kBatchProtection,
                std::to_string(kMostPendingApprovals) +
                    " writes of this agent wait for a person already. Nothing was accepted: wait "
                    "until they are decided.");
  }
  if (w.state == WriteState::kPendingApproval && w.approval_ms > 0)
    w.approval_until_ms = clock_.wall_ms() + w.approval_ms;
  if (w.state == WriteState::kBuffered) begin_window(row);
}

void Ledger::submit(NewWrite write, Done<Submitted> done, CommitThread thread) {
  // Hashed before it waits for its turn to be committed, which others wait for too.
  const auto admitted = std::make_shared<const LedgerRow>(admit(write, clock_.wall_ms()));
  const auto row = std::make_shared<LedgerRow>();
  const auto asked = std::make_shared<const NewWrite>(std::move(write));
  using Same = std::optional<WriteRecord>;
  commit<Same>(
      {"write.submit.before_commit", "write.submit.after_commit"},
      [this, asked, admitted, row](StatementCache& sql) {
        *row = *admitted;
        auto same = find_same(sql, *asked, row->write);
        if (same) {
          must_not_hang_on_another(sql, *same, *asked);
          return same;
        }
        // Only now: what is asked for once more, when its time has passed, is answered with the write that there is.
        if (row->write.send_at_ms > 0) must_be_in_reach(row->write.send_at_ms, clock_.wall_ms());
        admit_within_limits(sql, *asked, *row);
        const auto& transaction = asked->transaction_id;
        if (!transaction.empty()) must_fit_in(sql, transaction, row->write, clock_.wall_ms());
        number_row(sql, *row);
        insert_row(sql, *row);
        if (!transaction.empty()) add_to_transaction(sql, transaction, row->write);
        note_standing(sql, row->write);
        tell_of_approvals(sql, row->write);
        return same;
      },
      [listeners = listeners_, &clock = clock_, row, done = std::move(done)](std::variant<Same, Error> answer) {
        if (auto* error = std::get_if<Error>(&answer)) return done(std::move(*error));
        if (auto& same = std::get<Same>(answer)) return done(Submitted{std::move(*same), true});
        listeners->changed(row->write, clock);
        done(Submitted{std::move(row->write), false});
      },
      thread);
}

}  // namespace krux
