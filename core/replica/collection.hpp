// What an adapter declares of its replica, and the values that cross between adapter, Replica and reader.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace krux {

struct FieldSpec {
  std::string name;  ///< [a-z][a-z0-9_]{0,31}
  enum class Type { kText, kInteger } type = Type::kText;
};

struct CollectionSpec {
  std::string name;  ///< [a-z][a-z0-9_]{0,31}
  std::int64_t version = 1;
  enum class Order { kTime, kKey } order = Order::kTime;
  bool searchable = false;
  std::vector<FieldSpec> fields;  ///< at most 16
  /// What the names of the cursors begin with that are this collection's alone; empty: it may share any.
  std::string cursors{};
};

/// Parses {"collections": [...]} as krux_plugin_entry.describe gives it; throws ConfigError with a sentence for the
/// author.
std::vector<CollectionSpec> parse_collections(std::string_view describe_json);

using FieldValue = std::variant<std::string, std::int64_t>;

struct Record {
  std::string collection, id, json, text, order_key, scope;
  std::int64_t order_ms = 0, generation = 0;
  std::vector<std::pair<std::string, FieldValue>> fields;
};

struct Condition {
  enum class Kind { kAllOf, kAnyOf, kNoneOf, kText, kField } kind = Kind::kAllOf;
  enum class Op { kEq, kNe, kLt, kLe, kGt, kGe, kContains } op = Op::kEq;
  std::string field, text;
  std::int64_t number = 0;
  std::vector<Condition> children;
};

struct Query {
  std::string collection;
  Condition where;  ///< an empty kAllOf is everything
  bool descending = true;
  std::int64_t from_ms = std::numeric_limits<std::int64_t>::min(), to_ms = std::numeric_limits<std::int64_t>::max();
  std::uint32_t limit = 20, offset = 0, count_limit = 0;
};

/// Borrowed for the callback that gets it.
struct RowView {
  std::string_view id, json;
  std::int64_t order_ms = 0, synced_at_ms = 0;
};

struct QueryResult {
  std::uint64_t total = 0;
  bool total_is_lower_bound = false, incomplete = false;
};

}  // namespace krux
