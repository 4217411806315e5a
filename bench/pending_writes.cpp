#include "bench/pending_writes.hpp"

#include "core/storage/statement.hpp"

namespace krux::bench {

void add_pending(SQLite::Database& db, const AccountRef& account, std::int64_t first, std::int64_t count,
                 std::int64_t due_at_ms) {
  Statement insert(db.getHandle(),
                   "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1 + ?2) "
                   "INSERT INTO writes (seq, write_id, state, due_at_ms, due_boot_ms, boot, immediate, created_at_ms, "
                   "delay_ms, settle_ms, agent_id, service, account_id, generation, operation, intent, content_hash, "
                   "tier, definition_version, when_absent, summary, params_json) SELECT (1 << 40) + i, "
                   "printf('w_00001000-%04x-7%03x-8000-000000000000', i >> 12, i & 4095), 'buffered', ?3 + i, "
                   "0, 1, 0, 0, 0, 0, 'agent_1', ?4, ?5, ?6, ?4 || '.add', i, i, '', '', 'ask', '', '{}' FROM n");
  insert
      .bind_all(first, count, due_at_ms, account.service, account.account_id,
                static_cast<std::int64_t>(account.generation))
      .run();
  Statement counted(db.getHandle(), "UPDATE counters SET n = n + ?1 WHERE what = 'buffered'");
  counted.bind_all(count).run();
}

}  // namespace krux::bench
