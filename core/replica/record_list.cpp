#include "core/replica/record_list.hpp"

#include <fmt/format.h>

#include "core/replica/sync_shared.hpp"

namespace krux {

std::unique_ptr<RecordList> Replica::list() {
  return std::make_unique<RecordList>(shared_->readers);
}

std::vector<std::string> RecordList::collections() const {
  std::vector<std::string> names;
  for (const auto& [name, table] : pool_->sets().filled->all()) names.push_back(name);
  return names;
}

std::vector<ListedRecord> RecordList::behind(std::string_view collection, std::string_view after, int most) {
  const auto& table = pool_->sets().filled->get(collection);
  auto& rows = connection_->sql.get(
      fmt::format("SELECT c.id, s.digest FROM {} c JOIN {} s ON s.key = c.key WHERE c.id > ?1 ORDER BY c.id LIMIT ?2",
                  table.rows, table.seen));
  const ResetAtEnd reset(rows);
  rows.bind_all(after, most);
  std::vector<ListedRecord> found;
  while (rows.step()) found.push_back({std::string(rows.text(0)), std::string(rows.blob(1))});
  return found;
}

std::optional<std::string> RecordList::digest_of(std::string_view collection, std::string_view id) {
  const auto& table = pool_->sets().filled->get(collection);
  auto& row = connection_->sql.get(
      fmt::format("SELECT s.digest FROM {} c JOIN {} s ON s.key = c.key WHERE c.id = ?1", table.rows, table.seen));
  const ResetAtEnd reset(row);
  row.bind(1, id);
  if (!row.step()) return std::nullopt;
  return std::string(row.blob(0));
}

}  // namespace krux
