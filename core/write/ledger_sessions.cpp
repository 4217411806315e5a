// What an agent's session has done, and what became of an agent's writes since some time.
#include "core/write/ledger.hpp"

namespace krux {
namespace {

constexpr std::size_t kNewestTold = 10;

/// A buffered write stands in no index of its state: those that wait for their time are few.
std::string rows_of(WriteState state) {
  return state == WriteState::kBuffered
             ? "FROM writes WHERE seq IN (SELECT seq FROM writes INDEXED BY writes_due WHERE due_at_ms IS NOT NULL) "
               "AND state = ?1 AND agent_id = ?2"
             : "FROM writes WHERE state = ?1 AND state <> 'buffered' AND agent_id = ?2";
}

bool accepted_since(StatementCache& sql, std::int64_t seq, std::int64_t since_ms) {
  auto& rows = sql.get(
      "SELECT 1 FROM attempts WHERE write_seq = ?1 AND kind = 'decision' AND outcome = ?2 AND ended_at_ms >= ?3");
  rows.bind_all(seq, to_string(WriteEvent::kAccept), since_ms);
  const ResetAtEnd reset(rows);
  return rows.step();
}

std::optional<WriteRecord> write_of(StatementCache& sql, std::int64_t seq) {
  static const auto by_seq = select_rows("seq = ?1");
  auto row = first_row(sql.get(by_seq).bind_all(seq));
  if (!row) return std::nullopt;
  return std::move(row->write);
}

}  // namespace

std::map<WriteState, std::int64_t> Ledger::counts_of_session(const std::string& agent_id, const std::string& session_id,
                                                             std::int64_t after_seq) {
  auto reader = readers_.lease();
  std::map<WriteState, std::int64_t> counts;
  for (int i = 0; i < kWriteStates; ++i) {
    const auto state = static_cast<WriteState>(i);
    auto& rows = reader.sql().get("SELECT count(*) FROM (SELECT 1 " + rows_of(state) +
                                  " AND seq > ?3 AND session_id = ?4 LIMIT ?5)");
    rows.bind_all(to_string(state), agent_id, after_seq, session_id, kMostCounted);
    const ResetAtEnd reset(rows);
    if (rows.step() && rows.integer(0) > 0) counts[state] = rows.integer(0);
  }
  return counts;
}

Ledger::Recent Ledger::recent(const std::string& agent_id, WriteState state, std::int64_t since_ms) {
  struct Row {
    std::int64_t seq, ended_at_ms;
    bool asked;
  };
  auto reader = readers_.lease();
  std::vector<Row> newest;
  {
    auto& rows =
        reader.sql().get("SELECT seq, ended_at_ms, approval_reason " + rows_of(state) + " ORDER BY seq DESC LIMIT ?3");
    rows.bind_all(to_string(state), agent_id, kMostCounted);
    const ResetAtEnd reset(rows);
    while (rows.step()) newest.push_back({rows.integer(0), rows.integer(1), !rows.is_null(2)});
  }
  Recent recent;
  recent.cut = newest.size() >= static_cast<std::size_t>(kMostCounted);
  for (const auto& row : newest) {
    if (row.asked && accepted_since(reader.sql(), row.seq, since_ms)) ++recent.accepted;
    if (row.ended_at_ms == 0 || row.ended_at_ms < since_ms) continue;
    ++recent.ended;
    if (recent.newest.size() >= kNewestTold) continue;
    if (auto write = write_of(reader.sql(), row.seq)) recent.newest.push_back(*std::move(write));
  }
  return recent;
}

}  // namespace krux
