#include "core/replica/collection_table.hpp"

#include <fmt/format.h>

#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr int kMostPendingBytes = 4 << 20;
constexpr int kTablesVersion = 3;  ///< of what create() makes and of the grams: a change rebuilds every replica

std::string shape_of(const CollectionSpec& spec) {
  auto shape = fmt::format("{};{};{}", kTablesVersion, spec.order == CollectionSpec::Order::kTime ? "time" : "key",
                           spec.searchable ? "searched" : "");
  for (const auto& field : spec.fields) {
    shape += fmt::format(";{}:{}", field.name, field.type == FieldSpec::Type::kText ? "text" : "integer");
  }
  return shape;
}

}  // namespace

CollectionTable::CollectionTable(CollectionSpec declared)
    : spec(std::move(declared)),
      rows("c_" + spec.name),
      seen("s_" + spec.name),
      search("t_" + spec.name),
      shape(shape_of(spec)) {}

int CollectionTable::field(std::string_view name) const {
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    if (spec.fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string CollectionTable::field_columns() const {
  std::string columns;
  for (const auto& field : spec.fields) columns += ", f_" + field.name;
  return columns;
}

void CollectionTable::create(sqlite3* db) const {
  std::string fields;
  for (const auto& f : spec.fields) {
    fields += fmt::format("f_{} {}, ", f.name, f.type == FieldSpec::Type::kText ? "TEXT" : "INTEGER");
  }
  execute(db,
          fmt::format("CREATE TABLE {} (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, order_ms INTEGER NOT NULL, "
                      "order_key TEXT NOT NULL, scope TEXT NOT NULL, {}own_bytes INTEGER NOT NULL, text TEXT NOT NULL, "
                      "json TEXT NOT NULL)",
                      rows, fields));
  execute(db, fmt::format("CREATE TABLE {} (key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, "
                          "synced_at_ms INTEGER NOT NULL, digest BLOB NOT NULL)",
                          seen));
  execute(db, fmt::format("CREATE INDEX i_{0}__scope ON {1} (scope) WHERE scope <> ''", spec.name, rows));
  if (!by_time()) execute(db, fmt::format("CREATE INDEX i_{0}__order ON {1} (order_key)", spec.name, rows));
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const auto column = "f_" + spec.fields[i].name;
    execute(db, fmt::format("CREATE INDEX {0} ON {1} ({2}{3}) WHERE {2} IS NOT NULL", field_index(i), rows, column,
                            by_time() ? "" : ", order_key"));
  }
  if (!spec.searchable) return;
  execute(db, fmt::format("CREATE VIRTUAL TABLE {} USING fts5(text, content='{}', content_rowid='key', "
                          "tokenize='krux_gram', detail=none, columnsize=0)",
                          search, rows));
  // A page of 200 rows at once: with the usual 1 MB it would make two segments, which cost more to merge.
  execute(db, fmt::format("INSERT INTO {0}({0}, rank) VALUES ('hashsize', {1})", search, kMostPendingBytes));
}

void CollectionTable::drop(sqlite3* db, const std::string& name) {
  execute(db, fmt::format("DROP TABLE IF EXISTS t_{0}; DROP TABLE IF EXISTS c_{0}; DROP TABLE IF EXISTS s_{0}", name));
}

CollectionTables::CollectionTables(std::vector<CollectionSpec> specs) {
  for (auto& spec : specs) {
    auto name = spec.name;
    tables_.emplace(std::move(name), CollectionTable(std::move(spec)));
  }
}

const CollectionTable& CollectionTables::get(std::string_view name) const {
  const auto found = tables_.find(name);
  if (found == tables_.end()) {
    throw invalid_input(fmt::format("The adapter declared no collection \"{}\".", printable(name)));
  }
  return found->second;
}

}  // namespace krux
