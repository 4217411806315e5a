// Undoing completed writes. An undo is a write of its own: it is claimed, attempted, looked for and decided like any
// other.
#include <fmt/format.h>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/write_meters.hpp"

namespace krux {
namespace {

constexpr std::int64_t kPointsAtOnce = 1000;

Error cannot_undo(const WriteRecord& write, ErrorCode type, const std::string& why) {
  return Error(type, why).with_context(
      fmt::format(R"({{"write_id":{},"status":"{}"}})", json_string(write.write_id), to_string(write.state)));
}

/// Why a write that is not completed cannot be undone, and what can be done instead.
std::string not_undone_but(const WriteRecord& write, const std::string& refusal) {
  if (has_ended(write.state)) {
    const auto* left = write.state == WriteState::kRolledBack ? "left to undo" : "to undo";
    return fmt::format("The write {}: there is nothing {}.", state_in_words(phase_of(write)), left);
  }
  const auto cancelled = transition(phase_of(write), WriteEvent::kCancel);
  return refusal + (std::holds_alternative<WritePhase>(cancelled) ? " Nothing of it has happened: cancel it instead."
                                                                  : " Ask again when it has ended.");
}

void must_be_undoable(const WriteRecord& write, std::int64_t now_ms) {
  if (!write.rolls_back.empty())
    throw cannot_undo(write, ErrorCode::kInvalidInput, write.write_id + " is an undo itself, which cannot be undone.");
  const auto next = transition(phase_of(write), WriteEvent::kRolledBack);
  if (const auto* refusal = std::get_if<Refusal>(&next))
    throw cannot_undo(write, ErrorCode::kRollbackConflict, not_undone_but(write, refusal->sentence));
  if (write.rollback_ms == 0)
    throw cannot_undo(write, ErrorCode::kInvalidInput,
                      "Writes of " + printable(write.operation) + " cannot be undone.");
  const auto until = write.ended_at_ms + write.rollback_ms;
  if (now_ms >= until)
    throw cannot_undo(write, ErrorCode::kRollbackExpired,
                      "The write could be undone until " + format_time(until) + "; what is needed for it was deleted.");
  if (auto problem = rollback_problem(write); !problem.empty())
    throw cannot_undo(write, ErrorCode::kInvalidInput, problem);
  if (write.point_json.empty())
    throw cannot_undo(write, ErrorCode::kInvalidInput, "The adapter left nothing by which this write could be undone.");
}

// What is harmless to repeat is harmless to undo again: both set a state.
NewWrite rollback_of(const WriteRecord& write, bool force) {
  auto made =
      write_about(write, kRollbackOperation,
                  fmt::format(R"({{"force":{},"write_id":{}}})", force ? "true" : "false", json_string(write.write_id)),
                  fmt::format("undo {}{}: {}", write.operation, force ? " by force" : "", write.summary));
  made.rolls_back = write.write_id;
  return made;
}

}  // namespace

void Ledger::roll_back(std::string write_id, std::string agent_id, bool force, std::string who, Done<Submitted> done,
                       std::string session_id) {
  done = counted(meters_, WriteDecision::kRollback, who, std::move(done));
  commit<Submitted>(
      {"write.rollback.before_commit", "write.rollback.after_commit"},
      [this, write_id = std::move(write_id), agent_id = std::move(agent_id), force, who = std::move(who),
       session_id = std::move(session_id)](StatementCache& sql) {
        const auto known = row_of(sql, write_id);
        if (!known || (!agent_id.empty() && known->write.agent_id != agent_id))
          throw invalid_input("There is no write " + printable(write_id) + ".");
        const auto& write = known->write;
        static const auto live = select_rows("rolls_back = ?1 AND ended_at_ms IS NULL");
        if (const auto live_row = first_row(sql.get(live).bind_all(write_id))) {
          const auto& under_way = live_row->write;
          if (is_forced(under_way) == force) return Submitted{under_way, true};
          throw cannot_undo(under_way, ErrorCode::kRollbackConflict,
                            under_way.write_id + " undoes this write already and has not ended.");
        }
        return Submitted{begin_rollback(sql, write, force, who, session_id), false};
      },
      [listeners = listeners_, &clock = clock_, done = std::move(done)](std::variant<Submitted, Error> answer) {
        if (const auto* made = std::get_if<Submitted>(&answer); made && !made->duplicate)
          listeners->changed(made->write, clock);
        done(std::move(answer));
      });
}

/// Makes the undo, due at once.
WriteRecord Ledger::begin_rollback(StatementCache& sql, const WriteRecord& write, bool force, const std::string& who,
                                   const std::string& session_id) const {
  must_be_undoable(write, clock_.wall_ms());
  auto row = admit(rollback_of(write, force), clock_.wall_ms());
  row.write.decided_by = who;
  if (!session_id.empty()) row.write.session_id = session_id;
  begin_window(row);
  number_row(sql, row);
  insert_row(sql, row);
  add_decision(sql, row.write, WriteEvent::kRolledBack, who);
  return std::move(row.write);
}

/// The write that a completed undo has undone: rolled back in the same transaction.
std::optional<WriteRecord> Ledger::rolled_back_by(StatementCache& sql, const WriteRecord& undo) const {
  if (undo.rolls_back.empty() || undo.state != WriteState::kCompleted) return std::nullopt;
  auto row = must_have_row(sql, undo.rolls_back);
  apply(row, WriteEvent::kRolledBack, ErrorCode::kConflictError);
  row.write.decided_by = undo.decided_by;
  update_row(sql, row);
  add_decision(sql, row.write, WriteEvent::kRolledBack, undo.decided_by);
  return row.write;
}

std::size_t Ledger::drop_expired_rollback_points() {
  return commit_and_wait<std::size_t>({"write.expire.before_commit", "write.expire.after_commit"}, [this](
                                                                                                       StatementCache&
                                                                                                           sql) {
    sql.get(
           "UPDATE writes SET point_json = NULL WHERE seq IN (SELECT seq FROM writes w WHERE point_json IS NOT NULL "
           "AND ended_at_ms + rollback_ms <= ?1 AND NOT EXISTS (SELECT 1 FROM writes u WHERE u.rolls_back = w.write_id "
           "AND "
           "u.rolls_back IS NOT NULL AND u.ended_at_ms IS NULL) LIMIT ?2)")
        .bind_all(clock_.wall_ms(), kPointsAtOnce)
        .run();
    return static_cast<std::size_t>(sqlite3_changes(sql.db()));
  });
}

}  // namespace krux
