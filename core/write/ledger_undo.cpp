// Undoing completed writes. An undo is a write of its own: it is claimed, attempted, looked for and decided like any
// other.
#include <fmt/format.h>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"

namespace krux {
namespace {

constexpr std::int64_t kPointsAtOnce = 1000;

std::optional<BufferedWrite> one(Statement& rows) {
  const ResetAtEnd reset(rows);
  if (!rows.step()) return std::nullopt;
  return read_row(rows).write;
}

std::optional<BufferedWrite> by_id(StatementCache& sql, const std::string& write_id) {
  static const auto select = select_rows(kById);
  return one(sql.get(select).bind_all(seq_of_id(write_id), write_id));
}

Error cannot_undo(const BufferedWrite& write, const char* type, const std::string& why) {
  return Error(type, why).with_context(
      fmt::format(R"({{"write_id":{},"status":"{}"}})", json_string(write.write_id), to_string(write.state)));
}

/// Why a write that is not completed cannot be undone, and what can be done instead.
std::string not_undone_but(const BufferedWrite& write, const std::string& refusal) {
  if (has_ended(write.state)) {
    const auto* left = write.state == WriteState::kRolledBack ? "left to undo" : "to undo";
    return fmt::format("The write {}: there is nothing {}.", state_in_words(phase_of(write)), left);
  }
  const auto cancelled = transition(phase_of(write), WriteEvent::kCancel);
  return refusal + (std::holds_alternative<WritePhase>(cancelled) ? " Nothing of it has happened: cancel it instead."
                                                                  : " Ask again when it has ended.");
}

void must_be_undoable(const BufferedWrite& write, std::int64_t now_ms) {
  if (!write.undoes.empty())
    throw cannot_undo(write, "InvalidInput", write.write_id + " is an undo itself, which cannot be undone.");
  const auto next = transition(phase_of(write), WriteEvent::kRolledBack);
  if (const auto* refusal = std::get_if<Refusal>(&next))
    throw cannot_undo(write, "RollbackConflict", not_undone_but(write, refusal->sentence));
  if (write.undo_ms == 0)
    throw cannot_undo(write, "InvalidInput", "Writes of " + printable(write.operation) + " cannot be undone.");
  const auto until = write.ended_at_ms + write.undo_ms;
  if (now_ms >= until)
    throw cannot_undo(write, "RollbackExpired",
                      "The write could be undone until " + format_time(until) + "; what is needed for it was deleted.");
  if (auto problem = undo_problem(write); !problem.empty()) throw cannot_undo(write, "InvalidInput", problem);
  if (write.point_json.empty())
    throw cannot_undo(write, "InvalidInput", "The adapter left nothing by which this write could be undone.");
}

LedgerRow undo_of(const BufferedWrite& write, bool force, const std::string& who, std::int64_t now_ms) {
  LedgerRow row;
  auto& w = row.write;
  w.undoes = write.write_id;
  w.agent_id = write.agent_id;
  w.account = write.account;
  w.operation = kUndoOperation;
  w.params_json = fmt::format(R"({{"force":{},"write_id":{}}})", force ? "true" : "false", json_string(write.write_id));
  w.params_shown_json = w.params_json;
  w.summary = fmt::format("undo {}{}: {}", write.operation, force ? " by force" : "", write.summary);
  w.content_hash = content_hash(w.account, w.operation, w.params_json);
  w.tier = write.tier;
  w.definition_version = write.definition_version;
  w.when_absent = "ask";
  w.target = write.target;
  w.immediate = true;
  w.created_at_ms = now_ms;
  w.settle_ms = write.settle_ms;
  w.decided_by = who;
  return row;
}

}  // namespace

void Ledger::undo(std::string write_id, std::string agent_id, bool force, std::string who, Done<Submitted> done) {
  commit<Submitted>(
      {"write.undo.before_commit", "write.undo.after_commit"},
      [this, write_id = std::move(write_id), agent_id = std::move(agent_id), force,
       who = std::move(who)](StatementCache& sql) {
        const auto write = by_id(sql, write_id);
        if (!write || (!agent_id.empty() && write->agent_id != agent_id))
          throw invalid_input("There is no write " + printable(write_id) + ".");
        static const auto live = select_rows("undoes = ?1 AND ended_at_ms IS NULL");
        if (const auto under_way = one(sql.get(live).bind_all(write_id))) {
          if (is_forced(*under_way) == force) return Submitted{*under_way, true};
          throw cannot_undo(*under_way, "RollbackConflict",
                            under_way->write_id + " undoes this write already and has not ended.");
        }
        must_be_undoable(*write, clock_.wall_ms());
        auto row = undo_of(*write, force, who, clock_.wall_ms());
        begin_window(row);
        number_row(sql, row);
        insert_row(sql, row);
        add_decision(sql, row.write, WriteEvent::kRolledBack, who);
        return Submitted{row.write, false};
      },
      [listeners = listeners_, &clock = clock_, done = std::move(done)](std::variant<Submitted, Error> answer) {
        if (const auto* made = std::get_if<Submitted>(&answer); made && !made->duplicate)
          listeners->changed(made->write, clock);
        done(std::move(answer));
      });
}

/// The write that a completed undo has undone: rolled back in the same transaction.
std::optional<BufferedWrite> Ledger::undone_by(StatementCache& sql, const BufferedWrite& undo) const {
  if (undo.undoes.empty() || undo.state != WriteState::kCompleted) return std::nullopt;
  static const auto select = select_rows(kById);
  auto& rows = sql.get(select).bind_all(seq_of_id(undo.undoes), undo.undoes);
  const ResetAtEnd reset(rows);
  if (!rows.step()) throw database_error("The ledger lost the write " + undo.undoes + ".");
  auto row = read_row(rows);
  apply(row, WriteEvent::kRolledBack, "ConflictError");
  row.write.decided_by = undo.decided_by;
  update_row(sql, row);
  add_decision(sql, row.write, WriteEvent::kRolledBack, undo.decided_by);
  return row.write;
}

std::size_t Ledger::drop_expired_points() {
  return commit_and_wait<std::size_t>({"write.expire.before_commit", "write.expire.after_commit"}, [this](
                                                                                                       StatementCache&
                                                                                                           sql) {
    sql.get(
           "UPDATE writes SET point_json = NULL WHERE seq IN (SELECT seq FROM writes w WHERE point_json IS NOT NULL "
           "AND ended_at_ms + undo_ms <= ?1 AND NOT EXISTS (SELECT 1 FROM writes u WHERE u.undoes = w.write_id AND "
           "u.undoes IS NOT NULL AND u.ended_at_ms IS NULL) LIMIT ?2)")
        .bind_all(clock_.wall_ms(), kPointsAtOnce)
        .run();
    return static_cast<std::size_t>(sqlite3_changes(sql.db()));
  });
}

}  // namespace krux
