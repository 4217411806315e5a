#include "core/replica/condition.hpp"

#include <fmt/format.h>

#include "core/replica/contains.hpp"
#include "core/replica/refold.hpp"
#include "core/replica/replica_limits.hpp"
#include "core/replica/searched_text.hpp"
#include "core/replica/tag_numbers.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

using Kind = Condition::Kind;
using Op = Condition::Op;
constexpr int kDeepest = replica_limits::kDeepestCondition, kMostNodes = replica_limits::kMostConditions;

class Compiler {
 public:
  Compiler(const CollectionTable& table, StatementCache& statements)
      : table_(table), statements_(statements), tags_(statements, table) {}

  Predicate node(const Condition& condition, int depth) {
    if (depth > kDeepest) throw invalid_input(fmt::format("A condition is nested at most {} levels deep.", kDeepest));
    if (++nodes_ > kMostNodes) throw invalid_input(fmt::format("A condition has at most {} parts.", kMostNodes));
    switch (condition.kind) {
      case Kind::kText:
        return text_leaf(condition);
      case Kind::kField:
        return field_leaf(condition);
      case Kind::kTag:
        return tag_leaf(condition);
      case Kind::kNamedText:
        return named_text_leaf(condition);
      default:
        return group(condition, depth);
    }
  }

 private:
  Predicate group(const Condition& condition, int depth) {
    Predicate result;
    result.kind = condition.kind;
    for (const auto& child : condition.children) {
      auto compiled = node(child, depth + 1);
      if (result.kind == Kind::kAllOf && compiled.kind == Kind::kAllOf) {
        for (auto& grandchild : compiled.children) result.children.push_back(std::move(grandchild));
      } else {
        result.children.push_back(std::move(compiled));
      }
    }
    return result;
  }

  Predicate text_leaf(const Condition& condition) {
    if (!table_.spec.searchable) {
      throw invalid_input(fmt::format("The collection \"{}\" has no text to search.", table_.spec.name));
    }
    auto result = contains_part(searched_part(condition.text, table_.spec));
    auto accented = accented_part(condition.text, table_.spec);
    if (accented == result.text || !has_accents_left(statements_, table_)) return result;
    Predicate either;
    either.kind = Kind::kAnyOf;
    either.children = {std::move(result), contains_part(std::move(accented))};
    return either;
  }

  Predicate tag_leaf(const Condition& condition) {
    if (!table_.spec.tags) throw invalid_input(fmt::format("The collection \"{}\" has no tags.", table_.spec.name));
    return contains_part(tag_gram(tags_.find(condition.text)));
  }

  Predicate named_text_leaf(const Condition& condition) {
    const int index = table_.spec.named_text(condition.field);
    if (index < 0) {
      throw invalid_input(
          fmt::format("The collection \"{}\" has no text \"{}\".", table_.spec.name, printable(condition.field)));
    }
    return contains_part(named_text_part(condition.text, table_.spec, static_cast<std::size_t>(index)));
  }

  /// Every text contains the empty one: an ALL_OF of nothing says so.
  static Predicate contains_part(std::string part) {
    Predicate result;
    if (!part.empty()) result.kind = Kind::kText;
    result.text = std::move(part);
    return result;
  }

  Predicate field_leaf(const Condition& condition) {
    Predicate result;
    result.kind = Kind::kField;
    result.op = condition.op;
    result.field = table_.field(condition.field);
    if (result.field < 0) {
      throw invalid_input(
          fmt::format("The collection \"{}\" has no field \"{}\".", table_.spec.name, printable(condition.field)));
    }
    result.is_text = table_.spec.fields[static_cast<std::size_t>(result.field)].type == FieldSpec::Type::kText;
    if (condition.op == Op::kContains && !result.is_text) {
      throw invalid_input(fmt::format("The field \"{}\" is an integer: CONTAINS is for text.", condition.field));
    }
    result.text = condition.op == Op::kContains ? fold(condition.text) : condition.text;
    result.number = condition.number;
    return result;
  }

  const CollectionTable& table_;
  StatementCache& statements_;
  TagNumbers tags_;
  int nodes_ = 0;
};

bool holds(Op op, int order) {
  switch (op) {
    case Op::kEq:
      return order == 0;
    case Op::kNe:
      return order != 0;
    case Op::kLt:
      return order < 0;
    case Op::kLe:
      return order <= 0;
    case Op::kGt:
      return order > 0;
    case Op::kGe:
      return order >= 0;
    case Op::kContains:
      break;
  }
  return false;
}

bool field_matches(const Predicate& p, const Statement& row) {
  const int column = kFirstFieldColumn + p.field;
  if (row.is_null(column)) return p.op == Op::kNe;
  if (!p.is_text) {
    const auto value = row.integer(column);
    return holds(p.op, value < p.number ? -1 : value > p.number);
  }
  if (p.op == Op::kContains) return contains(fold(row.text(column)), p.text);
  return holds(p.op, row.text(column).compare(p.text));
}

}  // namespace

Predicate compile(const Condition& condition, const CollectionTable& table, StatementCache& statements) {
  auto result = Compiler(table, statements).node(condition, 1);
  if (result.kind == Kind::kAllOf) return result;
  Predicate all;
  all.children.push_back(std::move(result));
  return all;
}

bool matches(const Predicate& p, const Statement& row) {
  switch (p.kind) {
    case Kind::kText:
      return contains(row.text(kTextColumn), p.text);
    case Kind::kField:
      return field_matches(p, row);
    case Kind::kTag:
    case Kind::kNamedText:
      break;  // compiled to a text
    case Kind::kAllOf:
      for (const auto& child : p.children) {
        if (!matches(child, row)) return false;
      }
      return true;
    case Kind::kAnyOf:
    case Kind::kNoneOf:
      for (const auto& child : p.children) {
        if (matches(child, row)) return p.kind == Kind::kAnyOf;
      }
      return p.kind == Kind::kNoneOf;
  }
  return false;
}

}  // namespace krux
