#include "core/replica/tag_numbers.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/replica/searched_text.hpp"

namespace krux {

std::int64_t TagNumbers::find(std::string_view tag) {
  auto& row = statements_->get(fmt::format("SELECT number FROM {} WHERE tag = ?1", table_->tags));
  const ResetAtEnd reset(row);
  row.bind(1, tag);
  return row.step() ? row.integer(0) : kNoTag;
}

std::int64_t TagNumbers::give(const std::string& tag) {
  const auto [at, is_new] = given_.try_emplace(tag, kNoTag);
  if (!is_new) return at->second;
  auto number = find(tag);
  if (number == kNoTag) {
    // SQLite gives the first row 1, and each one more than the highest.
    statements_->get(fmt::format("INSERT INTO {} (tag) VALUES (?1)", table_->tags)).bind_all(tag).run();
    number = sqlite3_last_insert_rowid(statements_->db());
  }
  at->second = number;
  return number;
}

}  // namespace krux
