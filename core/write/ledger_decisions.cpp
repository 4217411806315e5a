// What agents and operators decide about writes.
#include <algorithm>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/acceptances.hpp"
#include "core/write/copies.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/write_meters.hpp"

namespace krux {
namespace {

constexpr std::int64_t kMostAgentEdits = 20;

/// The parameters, and the time that it is scheduled for: as an edit names them.
std::string with_time(const WriteRecord& write) {
  if (write.send_at_ms == 0) return write.params_json;
  auto content = parse_json(write.params_json, "the stored parameters", {64 << 20, 64});
  auto& allocator = content.GetAllocator();
  content.AddMember("send_at", JsonValue(format_time(write.send_at_ms), allocator), allocator);
  return canonical_json(content);
}

void add_edit(StatementCache& sql, const WriteRecord& before, const WriteRecord& after, std::int64_t now,
              const std::string& who) {
  sql.get(
         "INSERT INTO edits (write_seq, edited_at_ms, who, from_hash, to_hash, from_json, to_json) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
      .bind_all(before.seq, now, who, before.content_hash, after.content_hash, with_time(before), with_time(after))
      .run();
}

/// Each edit begins the window anew: an agent could hold its write back, and fill the ledger, for ever.
void must_not_edit_for_ever(StatementCache& sql, const WriteRecord& write) {
  auto& rows = sql.get("SELECT count(*) FROM edits WHERE write_seq = ?1 AND who LIKE 'agent:%'");
  rows.bind_all(write.seq);
  const ResetAtEnd reset(rows);
  if (!rows.step() || rows.integer(0) < kMostAgentEdits) return;
  throw Error(ErrorCode::kBatchProtection,
              "An agent may edit a write " + std::to_string(kMostAgentEdits) +
                  " times, and this one was. Let it go out as it is, or cancel it and send another.");
}

/// What an attempt has made, and noted for the next one, is of the content that it had.
void must_be_untried(const WriteRecord& write) {
  if (write.attempts == 0) return;
  throw conflict("An attempt of this write has begun before, so it can no longer be edited. Cancel it and ask anew.")
      .with_context("{\"write_id\":" + json_string(write.write_id) + "}");
}

/// What a person was asked about stays until he is asked anew.
void put_content(WriteRecord& write, const NewContent& content) {
  auto reason = std::move(write.approval_reason), asked_by = std::move(write.asked_by_json);
  const auto needed = write.approvals_needed;
  static_cast<WriteContent&>(write) = static_cast<const WriteContent&>(content);
  if (write.approvals_needed <= std::max<std::int64_t>(needed, 1)) {
    write.approvals_needed = needed;
    write.approval_reason = std::move(reason);
    write.asked_by_json = std::move(asked_by);
  }
  if (write.params_shown_json.empty()) write.params_shown_json = write.params_json;
  write.content_hash = content_hash(write.account, write.operation, write.params_json, write.send_at_ms);
  write.ordering_key = ordering_key_of(write.agent_id, write.account, content.order);
  if (write.immediate) write.delay_ms = 0;
  write.counted_as = counted_as(content.counts || !content.limits.empty(), content.counted_as, write.operation);
}

/// Whoever decides names what was shown to him.
void must_be_shown(const WriteRecord& write, const std::string& hash) {
  if (write.content_hash == hash) return;
  throw conflict("The write is not what was shown any more: its content_hash is " + write.content_hash +
                 " now. Look at it again, then decide.")
      .with_context("{\"write_id\":" + json_string(write.write_id) + ",\"content_hash\":\"" + write.content_hash +
                    "\"}");
}

/// An agent that takes its write back has asked for what is made of that.
void must_not_stop_cleanup(const WriteRecord& write, const std::string& agent_id) {
  if (write.cleans.empty() || agent_id.empty()) return;
  throw Error(ErrorCode::kCannotCancel, "This takes away what is left of " + write.cleans +
                                            ", which will not be carried out; only an operator can stop it.");
}

/// What is over is rejected at the host's next look; of what is irrevocable nobody can promise that.
void must_be_in_time(const WriteRecord& write, std::int64_t now_ms) {
  if (write.approval_until_ms == 0 || now_ms < write.approval_until_ms || write.irrevocable) return;
  throw conflict("The time to approve this write ended at " + format_time(write.approval_until_ms) +
                 ", so nothing was decided, and it is rejected. Its agent can ask for it anew.")
      .with_context("{\"write_id\":" + json_string(write.write_id) + "}");
}

void must_be_in(const WriteRecord& write, WriteState shown) {
  if (write.state == shown) return;
  throw conflict("The write " + std::string(state_in_words(phase_of(write))) + "; it is " + to_string(write.state) +
                 " and no longer " + to_string(shown) + ", so nothing was decided. Look at it again, then decide.")
      .with_context("{\"write_id\":" + json_string(write.write_id) + ",\"status\":\"" + to_string(write.state) + "\"}");
}

WriteDecision counted_as(WriteEvent decision) {
  switch (decision) {
    case WriteEvent::kOperatorResend:
      return WriteDecision::kResend;
    case WriteEvent::kOperatorHappened:
      return WriteDecision::kHappened;
    case WriteEvent::kOperatorRelease:
      return WriteDecision::kRelease;
    default:
      return WriteDecision::kDiscard;
  }
}

}  // namespace

void must_still_be_connected(StatementCache& sql, const WriteRecord& write) {
  const auto& account = write.account;
  if (!is_disconnected(sql, account)) return;
  throw not_connected("The connection to " + account.service + " " + printable(account.account_id) +
                      " that this write was accepted for is gone, so that it can never be sent. Discard it, or say "
                      "--happened; the agent can ask for it again on the connection that there is now.");
}

/// Of a limit that has no room, for which a person is to be asked. Throws BatchProtection where an excess is refused.
std::optional<Exceeded> Ledger::excess(StatementCache& sql, const std::vector<LimitRule>& rules,
                                       const WriteRecord& write) const {
  auto over =
      exceeded(sql, windows_, write.agent_id, rules, {std::max(clock_.wall_ms(), write.send_at_ms), write.seq, 0});
  if (over && !over->rule.escalate) throw refusal_of(*over);
  return over;
}

/// One alert an account, as long as a write of it waits for approval.
void Ledger::tell_of_approvals(StatementCache& sql, const WriteRecord& write) const {
  const auto& account = write.account;
  if (write.state == WriteState::kPendingApproval) {
    insert_alert(sql.db(),
                 {"warning", "approval_waiting", account.service, account.account_id, "",
                  "Writes of " + account.service + " " + printable(account.account_id) +
                      " wait for your approval: kruxos approve list",
                  true},
                 clock_.wall_ms());
    return;
  }
  if (write.approval_reason.empty()) return;
  sql.get(
         "UPDATE alerts SET acknowledged_at_ms = ?3, acknowledged_by = 'host' WHERE kind = 'approval_waiting' AND "
         "service = ?1 AND account_id = ?2 AND acknowledged_at_ms IS NULL AND NOT EXISTS (SELECT 1 FROM writes WHERE "
         "state = 'pending_approval' AND state <> 'buffered' AND service = ?1 AND account_id = ?2)")
      .bind_all(account.service, account.account_id, clock_.wall_ms())
      .run();
}

void Ledger::begin_window(LedgerRow& row) const {
  set_due(row, window_of(row.write, clock_.wall_ms()));
  row.write.waits_in_line = false;
  row.waits_for_connection = false;
  row.write.buffer_until_ms = row.write.due_at_ms;
}

/// Loads the write, applies a person's or an agent's decision and notes who took it. The caller stores the row.
LedgerRow Ledger::decide(StatementCache& sql, const std::string& write_id, const std::string& agent_id,
                         WriteEvent event, const std::string& who, ErrorCode refused_as, const Shown& shown) const {
  auto known = row_of(sql, write_id);
  if (!known) throw invalid_input("There is no write " + printable(write_id) + ".");
  auto& row = *known;
  if (!agent_id.empty() && row.write.agent_id != agent_id) {
    throw invalid_input("There is no write " + printable(write_id) + ".");
  }
  const bool was_told = row.write.escalated, was_held = row.write.held_as_copy;
  if (shown.held) must_be_held(row.write);
  if (!shown.finding.empty()) must_be_found_as(row.write, shown.finding);
  if (!shown.hash.empty()) must_be_shown(row.write, shown.hash);
  if (shown.state) must_be_in(row.write, *shown.state);
  apply(row, event, refused_as);
  row.write.decided_by = who;
  add_decision(sql, row.write, event, who);
  if (event == WriteEvent::kOperatorHappened) {
    if (was_held) row.write.result_json = row.write.evidence_json;  // what a look has found, if any
    row.write.error_type = {};
    row.write.error_message.clear();
  }
  // What was told of and released still waits for a person.
  if (was_told && !row.write.escalated) close_alerts_of(sql.db(), write_id, who, clock_.wall_ms());
  return std::move(row);
}

void Ledger::cancel(std::string write_id, std::string agent_id, std::string who, Done<WriteRecord> done) {
  done = counted(meters_, WriteDecision::kCancel, who, std::move(done));
  commit<Recorded>(
      {"write.cancel.before_commit", "write.cancel.after_commit"},
      [this, write_id = std::move(write_id), agent_id = std::move(agent_id),
       who = std::move(who)](StatementCache& sql) {
        auto row = decide(sql, write_id, agent_id, WriteEvent::kCancel, who, ErrorCode::kCannotCancel, {});
        must_not_stop_cleanup(row.write, agent_id);
        std::vector<WriteRecord> others;
        follow_end(sql, row.write, others);
        update_row(sql, row);
        tell_of_approvals(sql, row.write);
        return Recorded{std::move(row.write), std::move(others)};
      },
      announced_with_others(std::move(done)));
}

/// A person's decision about what is to become of a write, held as a copy or not.
void Ledger::decide_about(Points points, std::string write_id, WriteEvent decision, Shown shown, std::string who,
                          Done<WriteRecord> done) {
  done = counted(meters_, counted_as(decision), who, std::move(done));
  commit<Recorded>(
      points,
      [this, write_id = std::move(write_id), decision, shown = std::move(shown),
       who = std::move(who)](StatementCache& sql) {
        auto row = decide(sql, write_id, {}, decision, who, ErrorCode::kConflictError, shown);
        auto& w = row.write;
        if (decision == WriteEvent::kOperatorResend) {
          must_still_be_connected(sql, w);
          set_due(row, 0);
          w.tries = 0;
        }
        if (decision == WriteEvent::kOperatorRelease) {
          must_still_be_connected(sql, w);
          if (!w.held_as_copy) go_on_released(row);
        }
        std::vector<WriteRecord> others;
        follow_end(sql, w, others);
        update_row(sql, row);
        tell_of_approvals(sql, w);
        settle_copies(sql, who, clock_.wall_ms());
        if (auto undone = rolled_back_by(sql, w)) others.push_back(std::move(*undone));
        return Recorded{std::move(w), std::move(others)};
      },
      announced_with_others(std::move(done)));
}

void Ledger::decide_outcome(std::string write_id, WriteEvent decision, std::optional<WriteState> expected,
                            std::string who, Done<WriteRecord> done) {
  decide_about({"write.resolve.before_commit", "write.resolve.after_commit"}, std::move(write_id), decision,
               {{}, expected, false, {}}, std::move(who), std::move(done));
}

/// Whether it waits on, for others who must accept it as well.
bool Ledger::accept_as_one_of_several(StatementCache& sql, const LedgerRow& row, const std::string& shown_hash,
                                      const DecidingOperator& by, bool like) const {
  const auto& w = row.write;
  if (w.approvals_needed < 2) return false;
  must_be_shown(w, shown_hash);
  auto accepted = row;
  apply(accepted, WriteEvent::kAccept, ErrorCode::kConflictError);
  must_be_in_time(w, clock_.wall_ms());
  must_still_be_connected(sql, w);
  if (like)
    throw conflict(
        "Several people are asked about this write, and each looks at every one of them: nothing can be "
        "approved as the like of it. Nothing was decided; accept it without that.");
  must_be_known(w, by);
  const auto given = acceptances_of(sql, w);
  must_be_another(w, by, given);
  const auto with_his = given.size() + 1;
  if (static_cast<std::int64_t>(with_his) >= w.approvals_needed) return false;
  add_acceptance(sql, w, by, clock_.wall_ms());
  tell_of_acceptance(sql, w, by, with_his, clock_.wall_ms());
  return true;
}

void Ledger::accept(std::string write_id, std::string shown_hash, DecidingOperator by, Done<WriteRecord> done,
                    std::optional<Like> like) {
  done = counted(meters_, WriteDecision::kAccept, by.who, std::move(done));
  commit<WriteRecord>(
      {"write.accept.before_commit", "write.accept.after_commit"},
      [this, write_id = std::move(write_id), shown_hash = std::move(shown_hash), by = std::move(by),
       like = std::move(like)](StatementCache& sql) {
        auto waiting = row_of(sql, write_id);
        if (waiting && accept_as_one_of_several(sql, *waiting, shown_hash, by, like.has_value()))
          return std::move(waiting->write);
        auto row =
            decide(sql, write_id, {}, WriteEvent::kAccept, by.who, ErrorCode::kConflictError, {.hash = shown_hash});
        must_be_in_time(row.write, clock_.wall_ms());
        must_still_be_connected(sql, row.write);
        add_acceptance(sql, row.write, by, clock_.wall_ms());
        if (like) grant_standing(sql, like->scope, like->terms, write_id, by.who, clock_.wall_ms());
        row.write.standing_approval.clear();
        begin_window(row);
        update_row(sql, row);
        tell_of_approvals(sql, row.write);
        return row.write;
      },
      announced(std::move(done)));
}

void Ledger::reject(std::string write_id, std::string reason, std::string who, Done<WriteRecord> done) {
  done = counted(meters_, WriteDecision::kReject, who, std::move(done));
  commit<Recorded>(
      {"write.reject.before_commit", "write.reject.after_commit"},
      [this, write_id = std::move(write_id), reason = std::move(reason), who = std::move(who)](StatementCache& sql) {
        auto row = decide(sql, write_id, {}, WriteEvent::kReject, who, ErrorCode::kConflictError, {});
        if (row.write.state == WriteState::kRejected) row.write.error_type = ErrorCode::kApprovalRejected;
        row.write.error_message = reason.empty() ? "A person rejected it." : "A person rejected it: " + reason;
        std::vector<WriteRecord> others;
        follow_end(sql, row.write, others);
        update_row(sql, row);
        tell_of_approvals(sql, row.write);
        return Recorded{std::move(row.write), std::move(others)};
      },
      announced_with_others(std::move(done)));
}

void Ledger::edit(std::string write_id, std::string agent_id, std::string shown_hash, NewContent content,
                  DecidingOperator by, Done<WriteRecord> done) {
  done = counted(meters_, WriteDecision::kEdit, by.who, std::move(done));
  commit<WriteRecord>(
      {"write.edit.before_commit", "write.edit.after_commit"},
      [this, write_id = std::move(write_id), agent_id = std::move(agent_id), shown_hash = std::move(shown_hash),
       content = std::move(content), by = std::move(by)](StatementCache& sql) {
        auto row =
            decide(sql, write_id, agent_id, WriteEvent::kEdit, by.who, ErrorCode::kConflictError, {.hash = shown_hash});
        auto& w = row.write;
        const auto before = w;
        must_be_untried(before);
        put_content(w, content);
        w.standing_approval.clear();
        row.audited = content.audited;
        if (w.content_hash == before.content_hash) throw invalid_input("The edit changes nothing.");
        if (w.send_at_ms > 0 && w.send_at_ms != before.send_at_ms) must_be_in_reach(w.send_at_ms, clock_.wall_ms());
        if (!agent_id.empty()) {
          must_not_edit_for_ever(sql, before);
          // What a person accepted was the content before. Its own place in the limits is taken already.
          const auto over = content.approval_reason.empty() ? excess(sql, content.limits, w) : std::nullopt;
          if (over) row.audited.limit_json = limit_json(*over);
          const auto& why = over ? over->sentence : content.approval_reason;
          if (!why.empty()) {
            if (w.state == WriteState::kHeld) throw_needs_person(w, why);
            w.approval_reason = why;
            w.asked_by_json = over ? asked_by_json(*over) : content.asked_by_json;
          }
        }
        const bool had_window = before.buffer_until_ms > 0, by_operator = agent_id.empty();
        const bool several = w.approvals_needed > 1;
        if (several && by_operator) must_be_known(w, by);
        void_acceptances(sql, before, by.who, clock_.wall_ms());
        const bool ask = !had_window || several || (!by_operator && !w.approval_reason.empty());
        if (w.state == WriteState::kPendingApproval && !ask) {
          apply(row, WriteEvent::kAccept, ErrorCode::kConflictError);
          if (by_operator) add_acceptance(sql, w, by, clock_.wall_ms());
          begin_window(row);
        } else {
          if (w.state == WriteState::kPendingApproval && several && by_operator && had_window) {
            add_acceptance(sql, w, by, clock_.wall_ms());
            tell_of_acceptance(sql, w, by, 1, clock_.wall_ms());
          }
          set_due(row, std::nullopt);
          w.buffer_until_ms = 0;
          w.waits_in_line = false;
        }
        const bool waits = w.state == WriteState::kPendingApproval && w.approval_ms > 0;
        w.approval_until_ms = waits ? clock_.wall_ms() + w.approval_ms : 0;
        w.counted_at_ms = clock_.wall_ms();
        add_edit(sql, before, w, clock_.wall_ms(), by.who);
        update_content(sql, w);
        update_row(sql, row);
        if (!before.ordering_key.empty()) call_next(sql, before);
        tell_of_approvals(sql, w);
        return w;
      },
      [listeners = listeners_, done = announced(std::move(done))](std::variant<WriteRecord, Error> answer) {
        const auto* write = std::get_if<WriteRecord>(&answer);
        if (write) listeners->due_now();  // it may have left a lane, where another one is next
        done(std::move(answer));
      });
}

}  // namespace krux
