#include "core/storage/statement.hpp"

#include "core/storage/sqlite_error.hpp"

namespace krux {

Statement::Statement(sqlite3* db, std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, nullptr) !=
      SQLITE_OK) {
    throw storage_error(db);
  }
  handle_.reset(raw);
}

void Statement::fail() {
  const Error error = storage_error(sqlite3_db_handle(handle_.get()));
  reset();
  throw error;
}

void Statement::bind(int index, std::int64_t value) {
  if (sqlite3_bind_int64(handle_.get(), index, value) != SQLITE_OK) fail();
}

void Statement::bind(int index, std::string_view text) {
  // A null pointer would bind NULL instead of the empty text.
  const char* bytes = text.data() ? text.data() : "";
  if (sqlite3_bind_text64(handle_.get(), index, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK) fail();
}

void Statement::bind(int index, std::nullptr_t) {
  if (sqlite3_bind_null(handle_.get(), index) != SQLITE_OK) fail();
}

void Statement::bind_blob(int index, std::string_view bytes) {
  const char* data = bytes.data() ? bytes.data() : "";
  if (sqlite3_bind_blob64(handle_.get(), index, data, bytes.size(), SQLITE_STATIC) != SQLITE_OK) fail();
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail();
  reset();
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
}

std::string_view Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return bytes ? std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)))
               : std::string_view();
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return bytes ? std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)))
               : std::string_view();
}

Statement& StatementCache::get(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) found = statements_.emplace(std::string(sql), Statement(db_, sql)).first;
  found->second.reset();
  return found->second;
}

void execute(sqlite3* db, const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw storage_error(db);
}

Transaction::Transaction(sqlite3* db) : db_(db) {
  execute(db, "BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_ && sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  execute(db_, "COMMIT");
  open_ = false;
}

}  // namespace krux
