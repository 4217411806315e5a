// A ledger that has become a copy, a host on it, and what a person decides there.
#pragma once

#include "core/write/copies.hpp"
#include "core/write/executor_test_fixture.hpp"

namespace write_test {

inline constexpr const char* kReason = "This data directory is a copy.";

/// What the counters say is what the rows are.
inline void check_counters(StatementCache& sql) {
  auto& wrong = sql.get(
      "SELECT what FROM counters WHERE what <> 'commit' AND n <> CASE what WHEN 'needs_operator' THEN (SELECT count(*) "
      "FROM writes WHERE needs_operator = 1) WHEN 'held_as_copy' THEN (SELECT count(*) FROM writes WHERE held_as_copy "
      "= 1) ELSE (SELECT count(*) FROM writes WHERE state = what) END");
  const ResetAtEnd reset(wrong);
  CHECK_FALSE(wrong.step());
}

inline std::int64_t hold_all(GroupCommit& store, const Clock& clock, std::optional<std::int64_t> settle_ms = {}) {
  return store.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    const auto held = hold_copies(sql, {kReason, "boot-1", settle_ms}, clock);
    check_counters(sql);
    return held;
  });
}

inline std::variant<WriteRecord, Error> decide_held(Host& host, const std::string& id, WriteEvent decision,
                                                    const std::string& shown = {}) {
  Answer<WriteRecord> answer;
  host.buffer.ledger.decide_copied(id, decision, shown, "operator:ann", answer.slot());
  return answer.wait();
}

/// A host on the ledger, which is a copy now.
struct CopyRun : StoppedRun {
  std::unique_ptr<Host> start_copy() {
    {
      GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
      CHECK(hold_all(store, clock) == 1);
    }
    return start();
  }
};

inline WriteRecord until_looked(Host& host, const std::string& id) {
  auto found = host.changes.until(id, [](const auto& w) { return !w.evidence.empty(); });
  if (!found) throw std::runtime_error("no evidence came");
  return *found;
}

}  // namespace write_test
