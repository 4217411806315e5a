// Fills a ledger with buffered writes, far faster than agents could.
#pragma once

#include <SQLiteCpp/Database.h>

#include "core/write/write.hpp"

namespace krux::bench {

/// Adds `count` buffered writes of the account, the first due at `due_at_ms` and each next one a millisecond later.
/// `first` numbers them; give another range with each call.
void add_pending(SQLite::Database& db, const AccountRef& account, std::int64_t first, std::int64_t count,
                 std::int64_t due_at_ms);

}  // namespace krux::bench
