#include "core/audit/outbox.hpp"

#include "core/audit/chain.hpp"

namespace krux {
void put_in_outbox(StatementCache& sql, const AuditEntry& entry) {
  sql.get(
         "INSERT INTO audit_outbox (seq, at_ms, kind, agent_id, service, account_id, write_id, body) "
         "SELECT coalesce(max(seq), 0) + 1, ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM audit_outbox")
      .bind_all(entry.at_ms, entry.kind, entry.agent_id, entry.service, entry.account_id, entry.write_id, entry.body)
      .run();
}

void put_all_in_outbox(StatementCache& sql, std::string_view kind, std::int64_t at_ms, std::string_view body,
                       const std::string& where) {
  sql.get(
         "INSERT INTO audit_outbox (seq, at_ms, kind, agent_id, service, account_id, write_id, body) "
         "SELECT (SELECT coalesce(max(o.seq), 0) FROM audit_outbox o) + row_number() OVER (ORDER BY writes.seq), ?1, "
         "?2, agent_id, service, account_id, write_id, ?3 FROM writes WHERE " +
         where)
      .bind_all(at_ms, kind, body)
      .run();
}

std::vector<SourcedEntry> read_outbox(StatementCache& sql, std::int64_t after, std::int64_t most) {
  auto& rows = sql.get(
      "SELECT seq, at_ms, kind, agent_id, service, account_id, write_id, body FROM audit_outbox WHERE seq > ?1 "
      "ORDER BY seq LIMIT ?2");
  rows.bind_all(after, most);
  const ResetAtEnd reset(rows);
  std::vector<SourcedEntry> found;
  while (rows.step()) {
    auto& entry = found.emplace_back();
    entry.source = rows.integer(0);
    entry.at_ms = rows.integer(1);
    int column = 1;
    for (auto* text : {&entry.kind, &entry.agent_id, &entry.service, &entry.account_id, &entry.write_id, &entry.body})
      *text = rows.text(++column);
  }
  return found;
}

std::int64_t last_in_outbox(StatementCache& sql) {
  auto& row = sql.get("SELECT max(seq) FROM audit_outbox");
  const ResetAtEnd reset(row);
  return row.step() ? row.integer(0) : 0;
}

void forget_chained(StatementCache& sql, std::int64_t source, const AuditHead& head) {
  sql.get("DELETE FROM audit_outbox WHERE seq <= ?1 AND seq < (SELECT max(seq) FROM audit_outbox)")
      .bind_all(source)
      .run();
  sql.get(
         "INSERT INTO audit_head (one, seq, hash) VALUES (1, ?1, ?2) ON CONFLICT (one) DO UPDATE SET seq = "
         "excluded.seq, hash = excluded.hash WHERE excluded.seq > audit_head.seq")
      .bind_all(head.seq, hash_hex(head.hash))
      .run();
}

AuditHead noted_head(StatementCache& sql) {
  auto& row = sql.get("SELECT seq, hash FROM audit_head");
  const ResetAtEnd reset(row);
  if (!row.step()) return {};
  return {row.integer(0), hash_of_hex(row.text(1)).value_or(AuditHash{})};
}

}  // namespace krux
