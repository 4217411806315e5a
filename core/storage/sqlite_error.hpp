// SQLite's result codes as sentences.
#pragma once

#include <sqlite3.h>

#include <string>

#include "core/util/error.hpp"

namespace krux {

/// DatabaseError for `code` (extended codes too) of `file`: what happened and what to do.
Error storage_error(int code, const std::string& file, const std::string& detail);

/// The same for the last error of `db`.
Error storage_error(sqlite3* db);

}  // namespace krux
