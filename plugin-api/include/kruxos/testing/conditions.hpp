// kruxos/testing/conditions.hpp - what a query's condition means. Nothing in here is for authors to call.
#pragma once
#include <kruxos/adapter/replica.hpp>
#include <kruxos/testing/text.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kruxos::testing {

/// A record as FakeStore keeps it.
struct FakeRow {
  std::string json, text, order_key, scope;
  std::int64_t order_ms = 0, generation = 0, synced_at_ms = 0;
  std::map<std::string, Value, std::less<>> fields;
  std::int64_t sequence = 0;  ///< the order of rows that are otherwise equal: lower ones are newer
  std::string kept_text{};    ///< searched besides `text`
  std::set<std::string, std::less<>> tags{};
  std::multimap<std::string, std::string, std::less<>> texts{};  ///< named texts: values by name
};

namespace detail {

inline const Field* find_field(const Collection& collection, std::string_view name) {
  const auto at =
      std::find_if(collection.fields.begin(), collection.fields.end(), [&](const Field& f) { return f.name == name; });
  return at == collection.fields.end() ? nullptr : &*at;
}

inline const NamedText* find_text(const Collection& collection, std::string_view name) {
  const auto at =
      std::find_if(collection.texts.begin(), collection.texts.end(), [&](const auto& t) { return t.name == name; });
  return at == collection.texts.end() ? nullptr : &*at;
}

/// Why the host would refuse the condition; empty: it takes it. `left` counts its parts down.
inline std::string condition_problem(const krux_condition& c, const Collection& of, int depth, int& left) {
  if (depth > 16 || --left < 0) return "a query has at most 1000 conditions, 16 deep";
  if (c.kind < KRUX_ALL_OF || c.kind > KRUX_NAMED_TEXT)
    return "there is no kind " + std::to_string(c.kind) + " of condition";
  if (!is_utf8(from_abi(c.text)) || from_abi(c.text).find('\0') != std::string_view::npos || c.text.len > 65'536) {
    return "a condition's text is at most 64 KiB of UTF-8 without NUL";
  }
  if (c.kind == KRUX_TEXT && !of.searchable) return "the collection \"" + of.name + "\" has no text to search";
  if (c.kind == KRUX_TAG && !of.tags) return "the collection \"" + of.name + "\" has no tags";
  if (c.kind == KRUX_NAMED_TEXT && !find_text(of, from_abi(c.field)))
    return "the collection \"" + of.name + "\" has no text \"" + std::string(from_abi(c.field)) + "\"";
  if (c.kind == KRUX_FIELD) {
    const auto* field = find_field(of, from_abi(c.field));
    if (c.op < KRUX_EQ || c.op > KRUX_CONTAINS) return "there is no comparison " + std::to_string(c.op);
    if (!field) return "the collection \"" + of.name + "\" has no field \"" + std::string(from_abi(c.field)) + "\"";
    if (c.op == KRUX_CONTAINS && field->type == FieldType::kInteger)
      return "the field \"" + field->name + "\" is an integer: CONTAINS is for text";
  }
  for (std::size_t i = 0; i < c.child_count; ++i) {
    if (auto why = condition_problem(*c.children[i], of, depth + 1, left); !why.empty()) return why;
  }
  return {};
}

template <class T>
bool compares(const T& a, std::int32_t op, const T& b) {
  switch (op) {
    case KRUX_EQ:
      return a == b;
    case KRUX_NE:
      return a != b;
    case KRUX_LT:
      return a < b;
    case KRUX_LE:
      return a <= b;
    case KRUX_GT:
      return a > b;
    default:
      return a >= b;
  }
}

inline bool contains(std::string_view folded, krux_str part) {
  return folded.find(fold(from_abi(part))) != std::string_view::npos;
}

/// What a collection with tags or named texts keeps of a text: characters of the private area stand for these there.
inline std::string searchable(std::string_view text, const Collection& of) {
  return of.tags || !of.texts.empty() ? without_private(text) : std::string(text);
}

inline bool has_text(const krux_condition& c, const FakeRow& row, const Collection& of) {
  const auto part = without_accents(fold(searchable(from_abi(c.text), of)));
  const bool is_nowhere = part.empty() && c.text.len != 0 && (of.tags || !of.texts.empty());
  const auto text = searchable(row.text + '\x1f' + row.kept_text, of);
  return !is_nowhere && without_accents(fold(text, true)).find(part) != std::string::npos;
}

inline bool has_named_text(const krux_condition& c, const FakeRow& row, const Collection& of) {
  const auto kept = [exact = find_text(of, from_abi(c.field))->exact](std::string_view text) {
    return exact ? std::string(text) : fold(without_private(text));
  };
  const auto part = kept(from_abi(c.text));
  if (part.empty()) return c.text.len == 0;
  const auto [first, last] = row.texts.equal_range(from_abi(c.field));
  return std::any_of(first, last, [&](const auto& one) { return kept(one.second).find(part) != std::string::npos; });
}

inline bool matches(const krux_condition& c, const FakeRow& row, const Collection& of) {
  if (c.kind == KRUX_TEXT) return has_text(c, row, of);
  if (c.kind == KRUX_TAG) return row.tags.find(from_abi(c.text)) != row.tags.end();
  if (c.kind == KRUX_NAMED_TEXT) return has_named_text(c, row, of);
  if (c.kind == KRUX_FIELD) {
    const auto at = row.fields.find(from_abi(c.field));
    if (at == row.fields.end()) return c.op == KRUX_NE;
    if (const auto* number = std::get_if<std::int64_t>(&at->second)) return compares(*number, c.op, c.number);
    const auto& text = std::get<std::string>(at->second);
    return c.op == KRUX_CONTAINS ? contains(fold(text), c.text)
                                 : compares(std::string_view(text), c.op, from_abi(c.text));
  }
  const auto* const end = c.children + c.child_count;
  const auto child = [&](const krux_condition* one) { return matches(*one, row, of); };
  if (c.kind == KRUX_ALL_OF) return std::all_of(c.children, end, child);
  return std::any_of(c.children, end, child) == (c.kind == KRUX_ANY_OF);
}

}  // namespace detail
}  // namespace kruxos::testing
