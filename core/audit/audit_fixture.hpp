// An audit log beside a ledger, in a directory of its own.
#pragma once

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/anchors.hpp"
#include "core/audit/audit_log.hpp"
#include "core/audit/query.hpp"
#include "core/audit/verify.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"
#include "support/scratch.hpp"

namespace audit_test {

using namespace krux;

inline AuditEntry entry_of(const std::string& kind, std::int64_t at_ms, const std::string& body = "{}") {
  AuditEntry entry;
  entry.kind = kind;
  entry.at_ms = at_ms;
  entry.agent_id = "agent_1";
  entry.write_id = "w_" + kind;
  entry.body = body;
  return entry;
}

struct LogFixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  std::optional<AuditLog> log;

  LogFixture() { start(); }
  void start(AuditOptions options = {}) {
    options.file = file();
    log.emplace(store, clock, std::move(options));
  }
  std::filesystem::path file() const { return scratch.path() / "audit.db"; }

  /// In a transaction of the ledger.
  void put(const std::string& kind, const std::string& body = "{}") {
    store.run([&](SQLite::Database& db) {
      StatementCache sql(db.getHandle());
      put_in_outbox(sql, entry_of(kind, clock.wall_ms(), body));
    });
    log->wake();
  }
  /// By another program, as somebody who has the files could.
  void tamper(const std::string& sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file().c_str(), &db) == SQLITE_OK);
    const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(db);
    REQUIRE(code == SQLITE_OK);
  }
  AuditCheck check(const std::vector<KnownRow>& known = {}) const { return verify_audit(file(), {known, {}, {}}); }
  std::vector<std::string> kinds() const {
    std::vector<std::string> all;
    for (const auto& row : audit_rows_after(file(), 0, 1000)) all.push_back(row.kind);
    return all;
  }
  std::int64_t left_in_outbox() {
    return store.run([](SQLite::Database& db) {
      Statement count(db.getHandle(), "SELECT count(*) FROM audit_outbox");
      return count.step() ? count.integer(0) : 0;
    });
  }
};

/// "kind seq" of each problem.
inline std::vector<std::string> named(const AuditCheck& check) {
  std::vector<std::string> all;
  for (const auto& problem : check.problems) all.push_back(problem.kind + " " + std::to_string(problem.seq));
  return all;
}

inline constexpr std::int64_t kDay = 86'400'000;

struct Kept : LogFixture {
  Kept() { restart(); }
  AuditOptions options() const {
    AuditOptions options;
    options.file = file();
    options.key_file = scratch.path() / "keys/audit.key";
    options.anchor_file = scratch.path() / "audit.heads";
    options.anchor_every = std::chrono::milliseconds(0);
    options.keep_ms = 10 * kDay;
    return options;
  }
  void restart() {
    log.reset();
    start(options());
  }
  AuditCheck whole_check(const std::string& key = {}) const {
    return verify_audit(file(), {{}, options().anchor_file, key});
  }
  std::vector<Anchor> heads() const {
    std::int64_t unreadable = 0;
    return read_anchors(options().anchor_file, log->status().log_id, unreadable);
  }
};

using Texts = std::vector<std::string>;

}  // namespace audit_test
