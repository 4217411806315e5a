// The tables of one collection.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica/collection.hpp"

struct sqlite3;

namespace krux {

/// Names and SQL of a collection's tables. docs/storage-format.md is the grammar.
struct CollectionTable {
  /// `set` names the tables; the collection's name unless given.
  explicit CollectionTable(CollectionSpec declared, std::string set = {});

  CollectionSpec spec;
  std::string set;            ///< a collection may have a second set of tables (collection_sets.hpp)
  std::string rows;           ///< c_<set>: key, id, order_ms, order_key, scope, f_<field>..., text, json
  std::string seen;           ///< s_<set>: key, generation, synced_at_ms, digest
  std::string search;         ///< t_<set>: FTS5 over rows.text
  std::string tags;           ///< g_<set>: number, tag; only where it has tags
  std::string shape;          ///< what must agree for the tables to be usable
  std::string field_columns;  ///< ", f_a, f_b"

  bool by_time() const { return spec.order == CollectionSpec::Order::kTime; }
  int field(std::string_view name) const;  ///< its index in spec.fields, or -1
  std::string field_index(std::size_t field) const { return "i_" + set + "_" + spec.fields[field].name; }
  std::string scope_index() const { return "i_" + set + "__scope"; }
  std::string order_index() const { return "i_" + set + "__order"; }

  void create(sqlite3* db) const;
  static void drop(sqlite3* db, const std::string& set);
};

/// What was declared where tables of that shape were made; nothing where this program cannot read them.
std::optional<CollectionSpec> spec_of_shape(const std::string& name, std::int64_t version, std::string_view shape);

/// By name; throws krux::Error InvalidInput for one that was not declared.
class CollectionTables {
 public:
  explicit CollectionTables(std::vector<CollectionSpec> specs);
  explicit CollectionTables(std::vector<CollectionTable> tables);
  const CollectionTable& get(std::string_view name) const;
  const std::map<std::string, CollectionTable, std::less<>>& all() const { return tables_; }

 private:
  std::map<std::string, CollectionTable, std::less<>> tables_;
};

}  // namespace krux
