#include "core/replica/index_merge.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "core/storage/statement.hpp"

namespace krux {
namespace {

constexpr std::int64_t kLeastChanges = 1'000;
constexpr int kPagesAtOnce = 256;

/// FTS5's command. What is there is a part of the merge where `pages` is negative.
void merge(sqlite3* db, const std::string& search, int pages) {
  Statement(db, fmt::format("INSERT INTO {0} ({0}, rank) VALUES ('merge', ?1)", search)).bind_all(pages).run();
}

}  // namespace

bool is_worth_merging(std::int64_t changes, std::int64_t records) {
  return changes >= std::max(kLeastChanges, records / 20);
}

void begin_merge(sqlite3* db, const std::string& search) {
  merge(db, search, -1);
}

bool continue_merge(sqlite3* db, const std::string& search) {
  const auto before = sqlite3_total_changes(db);
  merge(db, search, kPagesAtOnce);
  return sqlite3_total_changes(db) - before >= 2;  // one is the command's own
}

}  // namespace krux
