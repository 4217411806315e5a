// Opening databases: pragmas, integrity, migrations.
#pragma once

#include <SQLiteCpp/Database.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace krux {

/// One numbered migration: storage/migrations/<set>/<number>-<name>.sql, compiled in. Applied in order, each in its own
/// transaction together with PRAGMA user_version.
struct Migration {
  int number;
  std::string_view name, sql;
};

struct DatabaseKind {
  std::string_view what;        ///< in sentences: "the ledger", "the replica of notes N0001"
  std::int32_t application_id;  ///< PRAGMA application_id: a file of another kind is refused
  std::span<const Migration> migrations;
  bool full_sync = true;  ///< synchronous=FULL; else NORMAL
};

extern const DatabaseKind kLedgerKind;
extern const DatabaseKind kReplicaKind;
extern const DatabaseKind kAuditKind;

/// Opens or creates `file` (0600) for writing: WAL, foreign keys on, busy timeout, migrated to the newest version.
/// Throws krux::Error DatabaseError with a sentence that names the file and says what to do: not a database, another
/// kind, damaged (quick_check, unless `skip_check`), newer than this program, disk full, no permission. A refused file
/// is not changed.
std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path& file, const DatabaseKind& kind,
                                                bool skip_check = false);

/// A connection that only reads (query_only, mmap). One a thread.
std::unique_ptr<SQLite::Database> open_reader(const std::filesystem::path& file, const DatabaseKind& kind);

/// Whether checking the file would hold up a start: it has more than 32 MiB.
bool is_large(const std::filesystem::path& file);

/// Whether the file is no database, or one that does not hold together. False when that cannot be told, or when `stop`
/// became true meanwhile.
bool is_damaged(const std::filesystem::path& file, const std::atomic<bool>* stop = nullptr);

/// Once, before the first connection: turns SQLite's memory statistics (a lock shared by all threads) off.
void configure_sqlite();

}  // namespace krux
