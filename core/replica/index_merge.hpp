// The parts of a search index brought together while nobody waits.
#pragma once

#include <cstdint>
#include <string>

struct sqlite3;

namespace krux {

/// How much an index has changed before it is worth to bring all of it together again: a twentieth of its records, so
/// that what is written for that is at most some twenty times what was put.
bool is_worth_merging(std::int64_t changes, std::int64_t records);

/// Of the FTS5 table `search`: says that all its segments are to become one. That is done by continue_merge().
void begin_merge(sqlite3* db, const std::string& search);

/// A bounded part of what is to be merged, some tens of milliseconds, within the caller's transaction. False: nothing
/// is left to be done.
bool continue_merge(sqlite3* db, const std::string& search);

}  // namespace krux
