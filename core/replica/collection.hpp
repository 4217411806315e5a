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

/// A text that is searched by its name alone.
struct NamedTextSpec {
  std::string name;    ///< as a field's
  bool exact = false;  ///< its bytes as they are given; else folded as the text
};

struct CollectionSpec {
  std::string name;  ///< [a-z][a-z0-9_]{0,31}
  std::int64_t version = 1;
  enum class Order { kTime, kKey } order = Order::kTime;
  bool searchable = false;
  std::vector<FieldSpec> fields;  ///< at most 16
  /// What the names of the cursors begin with that are this collection's alone; empty: it may share any.
  std::string cursors{};
  bool tags = false;                   ///< only where searchable, as texts
  std::vector<NamedTextSpec> texts{};  ///< at most 16

  /// Whether more than the text is searched.
  bool has_tags_or_texts() const { return tags || !texts.empty(); }
  int named_text(std::string_view text_name) const;  ///< its index in texts, or -1
};

/// Parses {"collections": [...]} as krux_plugin_entry.describe gives it; throws ConfigError with a sentence for the
/// author.
std::vector<CollectionSpec> parse_collections(std::string_view describe_json);

using FieldValue = std::variant<std::string, std::int64_t>;

struct Record {
  std::string collection, id, json, text, order_key, scope;
  std::int64_t order_ms = 0, generation = 0;
  std::vector<std::pair<std::string, FieldValue>> fields;
  std::vector<std::string> tags{};
  std::vector<std::pair<std::string, std::string>> texts{};  ///< name and value; a name may stand there several times
};

/// The bytes of the values of its named texts.
std::size_t bytes_of_texts(const Record& record);
/// About what it takes in memory.
std::size_t memory_of(const Record& record);

struct Condition {
  enum class Kind { kAllOf, kAnyOf, kNoneOf, kText, kField, kTag, kNamedText } kind = Kind::kAllOf;
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
  /// Hardly any row is expected: the search index is asked at once, and not only when many rows were looked at in vain.
  bool rare = false;
  std::string id{};  ///< of this record alone; empty: of any
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
