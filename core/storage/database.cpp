#include "core/storage/database.hpp"

#include <SQLiteCpp/Exception.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

#include "core/storage/migrations.hpp"
#include "core/storage/sqlite_error.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr std::uintmax_t kLargestChecked = 32 << 20;

constexpr int kBusyTimeoutMs = 5000;

std::int64_t number(sqlite3* db, const std::string& sql) {
  Statement statement(db, sql);
  return statement.step() ? statement.integer(0) : 0;
}

/// An empty file of our own mode, so that no moment exists in which others could read it.
void create_file(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    throw storage_error(SQLITE_CANTOPEN, file.string(), std::strerror(errno));
  }
  ::close(fd);
}

std::unique_ptr<SQLite::Database> connect(const std::filesystem::path& file, int flags) {
  try {
    // Each is used by one thread at a time: SQLite need not lock it for each column that is read.
    auto db = std::make_unique<SQLite::Database>(file.string(), flags | SQLITE_OPEN_NOMUTEX, kBusyTimeoutMs);
    sqlite3_extended_result_codes(db->getHandle(), 1);
    return db;
  } catch (const SQLite::Exception& e) {
    throw storage_error(e.getErrorCode(), file.string(), e.what());
  }
}

bool is_new(sqlite3* db) {
  return number(db, "PRAGMA application_id") == 0 && number(db, "PRAGMA user_version") == 0 &&
         number(db, "SELECT count(*) FROM sqlite_master") == 0;
}

/// Whether the file is of this kind and version; reads only.
void check_kind(sqlite3* db, const std::string& file, const DatabaseKind& kind) {
  if (is_new(db)) return;
  if (number(db, "PRAGMA application_id") != kind.application_id) {
    throw Error(
        ErrorCode::kDatabaseError,
        fmt::format("{} is a database of another kind, not {}. Move it away, or name another data directory. It "
                    "was not changed.",
                    file, kind.what));
  }
  const auto version = number(db, "PRAGMA user_version");
  const auto newest = kind.migrations.empty() ? 0 : kind.migrations.back().number;
  if (version > newest) {
    throw Error(ErrorCode::kDatabaseError,
                fmt::format("{} was written by a newer version of this program (its schema is {}, this one knows {}). "
                            "Update the program, or restore an older copy of the file. It was not changed.",
                            file, version, newest));
  }
}

void quick_check(sqlite3* db, const std::string& file) {
  Statement statement(db, "PRAGMA quick_check(1)");
  if (statement.step() && statement.text(0) != "ok") {
    throw storage_error(SQLITE_CORRUPT, file, std::string(statement.text(0)));
  }
}

void configure(sqlite3* db, const DatabaseKind& kind) {
  execute(db, "PRAGMA journal_mode=WAL");
  execute(db, kind.full_sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  execute(db, "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192; PRAGMA wal_autocheckpoint=1000");
}

void migrate(sqlite3* db, const DatabaseKind& kind) {
  if (is_new(db)) execute(db, fmt::format("PRAGMA application_id={}", kind.application_id));
  for (const auto& migration : kind.migrations) {
    if (migration.number <= number(db, "PRAGMA user_version")) continue;
    Transaction transaction(db);
    execute(db, std::string(migration.sql));
    execute(db, fmt::format("PRAGMA user_version={}", migration.number));
    transaction.commit();
  }
}

}  // namespace

const DatabaseKind kLedgerKind{"the ledger", 0x4b727831, ledger_migrations(), true};
const DatabaseKind kReplicaKind{"a replica", 0x4b727832, replica_migrations(), false};
const DatabaseKind kAuditKind{"the audit log", 0x4b727833, audit_migrations(), true};

std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path& file, const DatabaseKind& kind,
                                                bool skip_check) {
  configure_sqlite();
  create_file(file);
  auto db = connect(file, SQLite::OPEN_READWRITE);
  sqlite3* const handle = db->getHandle();
  if (sqlite3_db_readonly(handle, "main") == 1) throw storage_error(SQLITE_READONLY, file.string(), "");
  // A file that is refused must not even be checkpointed.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  check_kind(handle, file.string(), kind);
  if (!skip_check) quick_check(handle, file.string());
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  configure(handle, kind);
  migrate(handle, kind);
  execute(handle, "PRAGMA foreign_keys=ON");  // a migration may put a new table in the place of one that others name
  return db;
}

std::unique_ptr<SQLite::Database> open_reader(const std::filesystem::path& file, const DatabaseKind& kind) {
  configure_sqlite();
  auto db = connect(file, SQLite::OPEN_READONLY);
  check_kind(db->getHandle(), file.string(), kind);
  execute(db->getHandle(), "PRAGMA query_only=1; PRAGMA mmap_size=17179869184; PRAGMA temp_store=MEMORY");
  return db;
}

bool is_large(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return !error && size > kLargestChecked;
}

bool is_damaged(const std::filesystem::path& file, const std::atomic<bool>* stop) {
  configure_sqlite();
  sqlite3* db = nullptr;
  sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
  constexpr int steps = 100'000;  // a few milliseconds
  const auto stopped = [](void* flag) { return static_cast<const std::atomic<bool>*>(flag)->load() ? 1 : 0; };
  if (stop) sqlite3_progress_handler(db, steps, stopped, const_cast<std::atomic<bool>*>(stop));
  bool whole = true;
  const auto look = [](void* said, int, char** columns, char**) {
    *static_cast<bool*>(said) = columns[0] && std::string_view(columns[0]) == "ok";
    return 0;
  };
  const int code = sqlite3_exec(db, "PRAGMA quick_check(1)", look, &whole, nullptr) & 0xff;
  sqlite3_close(db);
  return !whole || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

void configure_sqlite() {
  static std::once_flag once;
  std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

}  // namespace krux
