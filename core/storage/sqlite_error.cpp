#include "core/storage/sqlite_error.hpp"

#include <fmt/format.h>

namespace krux {

Error storage_error(int code, const std::string& file, const std::string& detail) {
  const auto say = [](const std::string& message, bool retryable = true) {
    return Error(ErrorCode::kDatabaseError, message, retryable);
  };
  switch (code & 0xff) {
    case SQLITE_FULL:
      return say(fmt::format("The disk is full: {} could not be written. Free some space and try again.", file));
    case SQLITE_CORRUPT:
      return say(fmt::format("{} is damaged ({}). Stop the host and restore the file from a backup; a replica may be "
                             "deleted, it is synced again.",
                             file, detail),
                 false);
    case SQLITE_NOTADB:
      return say(fmt::format("{} is not a database. Move it away or restore it from a backup.", file), false);
    case SQLITE_READONLY:
      return say(fmt::format(
          "{} can only be read. Give its owner the right to write it and its directory (chmod u+rwX).", file));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return say(fmt::format(
          "{} could not be opened ({}). Check that its directory exists and that this user may use it.", file, detail));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return say(fmt::format("{} is in use by another program ({}). Close it and try again.", file, detail));
    case SQLITE_IOERR:
      return say(fmt::format("{} could not be read or written ({}, code {}). Check the disk and its file system.", file,
                             detail, code));
    case SQLITE_NOMEM:
      return say(fmt::format("Out of memory while using {}.", file));
    default:
      return say(fmt::format("{}: {} (code {}).", file, detail, code));
  }
}

Error storage_error(sqlite3* db) {
  const char* name = sqlite3_db_filename(db, "main");
  return storage_error(sqlite3_extended_errcode(db), name ? name : "the database", sqlite3_errmsg(db));
}

}  // namespace krux
