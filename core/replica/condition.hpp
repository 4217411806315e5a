// A query's condition, checked against its collection and ready to be evaluated.
#pragma once

#include <string>
#include <vector>

#include "core/replica/collection_table.hpp"

namespace krux {

class Statement;
class StatementCache;

/// A node of the condition. Text and terms are folded.
struct Predicate {
  Condition::Kind kind = Condition::Kind::kAllOf;
  Condition::Op op = Condition::Op::kEq;
  int field = -1;  ///< of CollectionSpec::fields
  bool is_text = false;
  std::string text;
  std::int64_t number = 0;
  std::vector<Predicate> children;
};

/// Throws krux::Error InvalidInput for fields and named texts that the collection lacks, operators that do not fit,
/// nesting beyond 16 levels and more than 1000 nodes. ALL_OF within ALL_OF is flattened. By what the statements' view
/// has of the collection: the numbers of its tags, and whether texts with accents are left in it.
Predicate compile(const Condition& condition, const CollectionTable& table, StatementCache& statements);

/// Columns that a statement must have for matches(): the text, then the fields.
constexpr int kTextColumn = 1, kFirstFieldColumn = 3;
bool matches(const Predicate& predicate, const Statement& row);

}  // namespace krux
