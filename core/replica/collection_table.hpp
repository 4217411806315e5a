// The tables of one collection.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica/collection.hpp"

struct sqlite3;

namespace krux {

/// Names and SQL of a collection's tables. docs/storage-format.md is the grammar.
struct CollectionTable {
  explicit CollectionTable(CollectionSpec declared);

  CollectionSpec spec;
  std::string rows;    ///< c_<name>: key, id, order_ms, order_key, scope, f_<field>..., text, json
  std::string seen;    ///< s_<name>: key, generation, synced_at_ms, digest
  std::string search;  ///< t_<name>: FTS5 over rows.text
  std::string shape;   ///< what must agree for the tables to be usable

  bool by_time() const { return spec.order == CollectionSpec::Order::kTime; }
  int field(std::string_view name) const;  ///< its index in spec.fields, or -1
  std::string field_index(std::size_t field) const { return "i_" + spec.name + "_" + spec.fields[field].name; }
  std::string field_columns() const;  ///< ", f_a, f_b"

  void create(sqlite3* db) const;
  static void drop(sqlite3* db, const std::string& name);
};

/// By name; throws krux::Error InvalidInput for one that was not declared.
class CollectionTables {
 public:
  explicit CollectionTables(std::vector<CollectionSpec> specs);
  const CollectionTable& get(std::string_view name) const;
  const std::map<std::string, CollectionTable, std::less<>>& all() const { return tables_; }

 private:
  std::map<std::string, CollectionTable, std::less<>> tables_;
};

}  // namespace krux
