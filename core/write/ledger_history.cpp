#include "core/write/ledger_history.hpp"

namespace krux {

void add_to_history(StatementCache& sql, std::int64_t write_seq, const AttemptRecord& record) {
  sql.get(
         "INSERT INTO attempts (write_seq, nth, kind, number, started_at_ms, ended_at_ms, outcome, wire, message, who) "
         "VALUES (?1, (SELECT coalesce(max(nth), 0) + 1 FROM attempts WHERE write_seq = ?1), ?2, ?3, ?4, ?5, ?6, "
         "nullif(?7, ''), nullif(?8, ''), ?9)")
      .bind_all(write_seq, record.kind, std::int64_t{record.number}, record.started_at_ms, record.ended_at_ms,
                record.outcome, record.wire, record.message, record.who)
      .run();
}

void end_attempt(StatementCache& sql, const LedgerRow& row, std::int64_t now_ms, const char* outcome,
                 const std::string& wire, const std::string& message) {
  add_to_history(sql, row.write.seq,
                 {"attempt", row.write.attempts, row.claimed_at_ms, now_ms, outcome, wire, message, "host"});
}

}  // namespace krux
