// Which writes are claimed: those that are due, that no pause holds, whose turn it is, and which are still to go out.
// What they were admitted under may have changed: policy, limits and their agent are asked once more.
#include <algorithm>

#include "core/policy/rules/rule.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/write/acceptances.hpp"
#include "core/write/due_writes.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/ledger_history.hpp"
#include "core/write/ledger_order.hpp"
#include "core/write/standing_approvals.hpp"

namespace krux {
namespace {

constexpr int kRoundsOfPuttingOff = 64;

/// Nothing but that, whoever asks: an agent whose key has ended has no wishes any more. A person may have decided about
/// the write since.
bool is_shut_out(StatementCache& sql, const WriteRecord& write) {
  auto& agent = sql.get(
      "SELECT 1 FROM agents WHERE agent_id = ?1 AND revoked_at_ms > 0 AND NOT EXISTS (SELECT 1 FROM writes WHERE seq = "
      "?2 AND decided_since_revoked = 1)");
  agent.bind_all(write.agent_id, write.seq);
  const ResetAtEnd reset(agent);
  return agent.step();
}

/// A person has let it go: accepted, edited, sent again or released, or approved beforehand, which counts until
/// somebody ends that.
bool is_let_go(StatementCache& sql, const WriteRecord& write) {
  return write.decided_by.starts_with("operator:") &&
         (write.standing_approval.empty() || !is_standing_ended(sql, write.standing_approval));
}

/// Whoever has accepted it and is still an operator counts, once.
bool lacks_acceptances(StatementCache& sql, const WriteRecord& write, std::int64_t needed) {
  return needed > 1 && static_cast<std::int64_t>(acceptances_of(sql, write).size()) < needed;
}

/// He has looked at this very write.
bool was_looked_at(const WriteRecord& write) {
  return write.decided_by.starts_with("operator:") && write.standing_approval.empty();
}

void log_stopped(const WriteRecord& write) {
  const bool refused = write.state == WriteState::kFailed;
  log_event(spdlog::level::warn,
            {"write_stopped", write.account.service, write.account.account_id, write.agent_id, write.write_id},
            write.operation + " " + write.write_id +
                (refused ? " was refused when it was due: " : " waits for a person since it was due: ") +
                printable(refused ? write.error_message : write.approval_reason));
}

/// Several statements see the same, and one lock is taken for all of them.
class OneSnapshot {
 public:
  explicit OneSnapshot(StatementCache& sql) : end_(sql.get("COMMIT")) { sql.get("BEGIN").run(); }
  ~OneSnapshot() {
    try {
      end_.run();
    } catch (const Error&) {
      // The pool takes no connection back that is still in the middle of it.
    }
  }
  OneSnapshot(const OneSnapshot&) = delete;
  OneSnapshot& operator=(const OneSnapshot&) = delete;

 private:
  Statement& end_;
};

}  // namespace

struct Ledger::Verdict {
  std::string forbids, asks;  ///< as PresentTerms
  ErrorCode type = ErrorCode::kOperationBlocked;
  AuditedDecision audited{};
  std::string asked_by_json{};  ///< as PresentTerms
  std::int64_t approval_ms = 0;
  std::int64_t approvals_needed = 0;  ///< more than have accepted it; 0: one person is asked, if any
};

Ledger::Verdict Ledger::verdict_on(StatementCache& sql, WriteRecord& write) const {
  if (is_shut_out(sql, write)) return {"Its agent's key was revoked before it went out.", {}, ErrorCode::kPolicyDenied};
  // An undo takes back, under the terms of the write that it undoes.
  if (!write.rolls_back.empty()) return {};
  auto terms = present_terms_ ? present_terms_(write) : PresentTerms();
  if (!terms.forbids.empty())
    return {std::move(terms.forbids), {}, terms.forbidden_as, {std::move(terms.decision_json), {}, {}}};
  if (const auto needed = std::max(write.approvals_needed, terms.approvals_needed);
      lacks_acceptances(sql, write, needed)) {
    const bool by_now = !terms.asks.empty();
    auto why = by_now ? std::move(terms.asks) : write.approval_reason;
    if (why.empty()) why = "It needs " + approvals_in_words(needed) + ".";
    return {{},
            std::move(why),
            terms.forbidden_as,
            {std::move(terms.decision_json), {}, {}},
            by_now ? std::move(terms.asked_by_json) : write.asked_by_json,
            terms.approval_ms,
            needed};
  }
  if (!present_terms_) return {};
  auto counts_as = counted_as(terms.counts || !terms.limits.empty(), terms.counted_as, write.operation);
  const bool anew = !counts_as.empty() && counts_as != write.counted_as;
  if (anew) {
    write.counted_as = std::move(counts_as);
    write.counted_at_ms = clock_.wall_ms();
    update_counted(sql, write);
  }
  if (was_looked_at(write)) return {};
  if (!terms.asks.empty())
    return {{},
            std::move(terms.asks),
            terms.forbidden_as,
            {std::move(terms.decision_json), {}, {}},
            std::move(terms.asked_by_json),
            terms.approval_ms};
  const auto goes_out = std::max(write.counted_at_ms, write.send_at_ms);
  const auto over =
      exceeded(sql, windows_, write.agent_id, terms.limits, {goes_out, write.seq, anew ? 0 : write.counted_at_ms});
  if (!over) return {};
  return {{}, over->sentence, terms.forbidden_as, {{}, {}, limit_json(*over)}, asked_by_json(*over), terms.approval_ms};
}

void Ledger::put_before_person(StatementCache& sql, LedgerRow& row, const Asking& asking) const {
  auto& w = row.write;
  const auto before = w;
  apply(row, WriteEvent::kAskAnew, ErrorCode::kConflictError);
  w.approval_reason = asking.why;
  w.asked_by_json = asking.by_json;
  w.approval_until_ms = asking.for_ms > 0 ? clock_.wall_ms() + asking.for_ms : 0;
  w.buffer_until_ms = 0;
  w.waits_in_line = false;
  row.waits_for_connection = false;
  set_due(row, std::nullopt);
  update_row(sql, row);
  w.approvals_needed = std::max(w.approvals_needed, asking.approvals_needed);
  sql.get(
         "UPDATE writes SET approval_reason = ?2, asked_by = nullif(?3, ''), approvals_needed = nullif(?4, 0) WHERE "
         "seq = ?1")
      .bind_all(w.seq, asking.why, asking.by_json, w.approvals_needed)
      .run();
  if (!before.ordering_key.empty()) call_next(sql, before);
  tell_of_approvals(sql, w);
}

/// Whether a write whose turn it is does not go out. What is made of it instead is among `changed`.
bool Ledger::is_stopped(StatementCache& sql, LedgerRow& row, std::vector<WriteRecord>& changed) const {
  auto& w = row.write;
  // Whoever asked for the write: what is left of it must not stay.
  if (!w.cleans.empty()) return false;
  const auto [forbids, asks, type, audited, asked_by, approval_ms, approvals_needed] = verdict_on(sql, w);
  const auto& why = forbids.empty() ? asks : forbids;
  // Of what a person was asked about for this very reason he has decided, unless others must as well.
  const bool was_decided = approvals_needed == 0 && w.approval_reason == why && is_let_go(sql, w);
  if (why.empty() || was_decided) return false;
  w.out_of_order = false;  // it goes before nobody
  row.audited = audited;
  // "failed" would promise that nothing of it has happened.
  const bool refused = !forbids.empty() && !w.irrevocable;
  const auto event = refused ? WriteEvent::kForbid : WriteEvent::kAskAnew;
  const auto now = clock_.wall_ms();
  add_to_history(sql, w.seq, {"decision", w.attempts, now, now, to_string(event), {}, why, "host"});
  if (refused) {
    apply(row, event, ErrorCode::kConflictError);
    w.error_type = type;
    w.error_message = why;
    w.decided_by = "host";
    follow_end(sql, w, changed);
    update_row(sql, row);
  } else {
    put_before_person(sql, row, {why, asked_by, approval_ms, approvals_needed});
  }
  changed.push_back(w);
  return true;
}

/// The earliest due of all accounts that no pause holds; of one account no more than there is room for, and `more`.
std::vector<Ledger::Candidate> Ledger::candidates(StatementCache& sql, std::span<const AccountRef> accounts, Room room,
                                                  std::size_t more) const {
  const auto paused = paused_agents(sql);
  const DueBy now{clock_.wall_ms(), boot_, clock_.boot_ms()};
  std::vector<Candidate> found;
  for (const auto& account : accounts) {
    for (const auto what : {DueFor::kAttempt, DueFor::kLook}) {
      const bool look = what == DueFor::kLook;
      const auto limit = look ? std::min(room.looks, room.all) : room.all;
      if (limit == 0) continue;
      for (const auto& due : earliest_due(sql, account, what, paused, limit + more, now))
        found.push_back({due.seq, due.due_at_ms, look});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.due_at_ms < b.due_at_ms; });
  return found;
}

void Ledger::claim(StatementCache& sql, LedgerRow& row) const {
  const auto now = clock_.wall_ms();
  apply(row, WriteEvent::kClaim, ErrorCode::kConflictError);
  set_due(row, std::nullopt);
  row.write.waits_in_line = false;
  row.waits_for_connection = false;  // whatever comes of this attempt settles first
  row.owner_epoch = epoch_;
  ++row.write.attempts;
  // Where a rollback point comes first, it is stored with the mark just before the call.
  if (row.write.rollback_ms == 0 || !row.write.point_json.empty()) row.write.begun_attempt = row.write.attempts;
  if (row.write.first_attempt_at_ms == 0) row.write.first_attempt_at_ms = now;
  row.claimed_at_ms = now;  // the attempt's row of `attempts` is made when it ends
  update_row(sql, row);
}

/// Whether it is the due row's turn in its lane. If not, it is put off.
bool Ledger::is_next(StatementCache& sql, LedgerRow& row, std::int64_t order_wait_ms) const {
  auto& w = row.write;
  if (w.ordering_key.empty()) return true;
  const auto turn = turn_of(sql, row, clock_.wall_ms(), order_wait_ms);
  w.waits_in_line = turn.put_off_ms.has_value();
  if (turn.put_off_ms) {
    set_due(row, turn.put_off_ms);
    update_row(sql, row);
    return false;
  }
  w.out_of_order = w.out_of_order || turn.out_of_order;
  return true;
}

Ledger::Taken Ledger::take(std::vector<AccountRef> accounts, Room room, std::vector<std::int64_t> busy,
                           std::int64_t order_wait_ms, std::vector<Outcome> outcomes) {
  std::vector<GroupCommit::Item> before;
  for (auto& outcome : outcomes) before.push_back(recording(std::move(outcome)));
  return commit_and_wait<Taken>(
      {"write.claim.before_commit", "write.claim.after_commit"},
      [this, accounts = std::move(accounts), room, busy = std::move(busy), order_wait_ms](StatementCache& sql) {
        Taken found;
        auto& taken = found.writes;
        auto seen = busy;
        std::size_t looks = 0;
        // A long line is put off at once: those behind it are not to wait for one commit a row.
        bool put_off = true;
        for (int round = 0; put_off && taken.size() < room.all && round < kRoundsOfPuttingOff; ++round) {
          put_off = false;
          for (const auto& candidate : candidates(sql, accounts, room, seen.size())) {
            if (taken.size() == room.all) break;
            if (std::find(seen.begin(), seen.end(), candidate.seq) != seen.end() ||
                (candidate.look && looks == room.looks))
              continue;
            auto row = row_of_seq(sql, candidate.seq);
            if (candidate.look) {
              ++looks;
            } else if (!is_next(sql, row, order_wait_ms) || is_stopped(sql, row, found.stopped)) {
              put_off = true;
              continue;
            } else {
              claim(sql, row);
            }
            seen.push_back(candidate.seq);
            taken.push_back(std::move(row.write));
          }
        }
        return found;
      },
      [listeners = listeners_, &clock = clock_](const Taken& found) {
        for (const auto& write : found.stopped) {
          if (write.cleans.empty()) log_stopped(write);
          listeners->changed(write, clock);
        }
        for (const auto& write : found.writes) {
          if (write.state == WriteState::kExecuting) listeners->changed(write, clock);
        }
      },
      std::move(before));
}

/// A due time is over when the wall clock says so and, within the boot that it was set in, CLOCK_BOOTTIME too.
std::int64_t Ledger::due_in(std::int64_t due_at_ms, std::int64_t due_boot_ms, std::int64_t boot) const {
  auto left = due_at_ms - clock_.wall_ms();
  if (boot == boot_) left = std::max(left, due_boot_ms - clock_.boot_ms());
  return std::max<std::int64_t>(0, left);
}

std::optional<std::int64_t> Ledger::next_due_in(std::span<const AccountRef> accounts, Room room,
                                                const std::vector<std::int64_t>& busy) {
  // After a jump of the wall clock the first of the index need not be the first by both clocks: a few are compared, and
  // the executor asks again once a minute.
  constexpr std::size_t compared = 4;
  auto reader = readers_.lease();
  const OneSnapshot snapshot(reader.sql());
  const auto paused = paused_agents(reader.sql());
  std::optional<std::int64_t> next;
  for (const auto& account : accounts) {
    for (const auto what : {DueFor::kAttempt, DueFor::kLook}) {
      if (room.all == 0 || (what == DueFor::kLook && room.looks == 0)) continue;
      for (const auto& due : earliest_due(reader.sql(), account, what, paused, compared + busy.size())) {
        if (std::find(busy.begin(), busy.end(), due.seq) != busy.end()) continue;
        const auto in = due_in(due.due_at_ms, due.due_boot_ms, due.boot);
        if (!next || in < *next) next = in;
      }
    }
  }
  return next;
}

}  // namespace krux
