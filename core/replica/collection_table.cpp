#include "core/replica/collection_table.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  // No field's name begins so.
  if (spec.tags) shape += ";+";
  for (const auto& text : spec.texts) shape += fmt::format(";+{}:{}", text.name, text.exact ? "exact" : "folded");
  return shape;
}

}  // namespace

std::optional<CollectionSpec> spec_of_shape(const std::string& name, std::int64_t version, std::string_view shape) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= shape.size();) {
    const auto end = std::min(shape.find(';', from), shape.size());
    parts.push_back(shape.substr(from, end - from));
    from = end + 1;
  }
  CollectionSpec spec{name, version, CollectionSpec::Order::kTime, false, {}};
  if (parts.size() < 3) return std::nullopt;
  if (parts[1] == "key") spec.order = CollectionSpec::Order::kKey;
  spec.searchable = parts[2] == "searched";
  for (std::size_t i = 3; i < parts.size(); ++i) {
    const auto colon = parts[i].find(':');
    if (parts[i] == "+") {
      spec.tags = true;
      continue;
    }
    if (parts[i].starts_with('+')) {
      spec.texts.push_back({std::string(parts[i].substr(1, colon - 1)), parts[i].ends_with(":exact")});
      continue;
    }
    const bool is_number = parts[i].substr(std::min(colon, parts[i].size())) == ":integer";
    spec.fields.push_back(
        {std::string(parts[i].substr(0, colon)), is_number ? FieldSpec::Type::kInteger : FieldSpec::Type::kText});
  }
  // Another grammar of the tables, or none that was ever written.
  if (shape_of(spec) != shape) return std::nullopt;
  return spec;
}

CollectionTable::CollectionTable(CollectionSpec declared, std::string named)
    : spec(std::move(declared)),
      set(named.empty() ? spec.name : std::move(named)),
      rows("c_" + set),
      seen("s_" + set),
      search("t_" + set),
      tags("g_" + set),
      shape(shape_of(spec)) {
  for (const auto& field : spec.fields) field_columns += ", f_" + field.name;
}

int CollectionTable::field(std::string_view name) const {
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    if (spec.fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
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
  execute(db, fmt::format("CREATE INDEX {} ON {} (scope) WHERE scope <> ''", scope_index(), rows));
  if (!by_time()) execute(db, fmt::format("CREATE INDEX {} ON {} (order_key)", order_index(), rows));
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const auto column = "f_" + spec.fields[i].name;
    execute(db, fmt::format("CREATE INDEX {0} ON {1} ({2}{3}) WHERE {2} IS NOT NULL", field_index(i), rows, column,
                            by_time() ? "" : ", order_key"));
  }
  if (spec.tags)
    execute(db, fmt::format("CREATE TABLE {} (number INTEGER PRIMARY KEY, tag TEXT NOT NULL UNIQUE)", tags));
  if (!spec.searchable) return;
  execute(db, fmt::format("CREATE VIRTUAL TABLE {} USING fts5(text, content='{}', content_rowid='key', "
                          "tokenize='krux_gram', detail=none, columnsize=0)",
                          search, rows));
  // A page of 200 rows at once: with the usual 1 MB it would make two segments, which cost more to merge.
  execute(db, fmt::format("INSERT INTO {0}({0}, rank) VALUES ('hashsize', {1})", search, kMostPendingBytes));
}

void CollectionTable::drop(sqlite3* db, const std::string& set) {
  for (const auto* prefix : {"t_", "c_", "s_", "g_"})
    execute(db, fmt::format("DROP TABLE IF EXISTS {}{}", prefix, set));
}

CollectionTables::CollectionTables(std::vector<CollectionSpec> specs) {
  for (auto& spec : specs) {
    auto name = spec.name;
    tables_.emplace(std::move(name), CollectionTable(std::move(spec)));
  }
}

CollectionTables::CollectionTables(std::vector<CollectionTable> tables) {
  for (auto& table : tables) {
    auto name = table.spec.name;
    tables_.emplace(std::move(name), std::move(table));
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
