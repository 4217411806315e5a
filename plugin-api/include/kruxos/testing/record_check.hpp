// kruxos/testing/record_check.hpp - which records a collection takes, and as what. Nothing in here is for authors to
// call.
#pragma once
#include <kruxos/testing/conditions.hpp>
#include <kruxos/testing/json_check.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kruxos::testing::detail {

/// "longer than N bytes" and the like; empty: it is a text that the host takes.
inline std::string text_problem(krux_str text, std::size_t longest) {
  if (text.len > longest) return "is longer than " + std::to_string(longest) + " bytes";
  if (from_abi(text).find('\0') != std::string_view::npos) return "contains a NUL";
  return is_utf8(from_abi(text)) ? "" : "is not valid UTF-8";
}

inline std::string declared_text_problem(const krux_record& record, const Collection& collection) {
  if (!KRUX_HAS(krux_record, &record, text_count)) return {};
  if (record.tag_count != 0 && !collection.tags)
    return "it has tags, but the collection was not declared with \"tags\": true";
  for (std::size_t i = 0; i < record.text_count; ++i) {
    const auto name = from_abi(record.texts[i].name);
    if (!find_text(collection, name)) return "the collection has no text \"" + std::string(name) + "\"";
  }
  return {};
}

/// What the adapter puts otherwise than it declared, which the host refuses; empty: nothing.
inline std::string declared_problem(const krux_record& record, const Collection& collection) {
  if (record.text.len != 0 && !collection.searchable)
    return "it has a text, but the collection was not declared as searchable";
  if (auto why = declared_text_problem(record, collection); !why.empty()) return why;
  std::set<std::string_view> given;
  if (record.field_count > 16) return "it has more than 16 fields";
  for (std::size_t i = 0; i < record.field_count; ++i) {
    const auto name = from_abi(record.fields[i].name);
    const auto* field = find_field(collection, name);
    if (!field) return "the collection has no field \"" + std::string(name) + "\"";
    if (!given.insert(name).second) return "its field \"" + field->name + "\" is given twice";
  }
  return {};
}

/// NULs and what is no UTF-8 become U+FFFD.
inline std::string with_odd_replaced(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = next_code_point(text, at);
    append_utf8(out, c <= 0 ? 0xFFFD : c);
  }
  return out;
}

/// So do escapes of NULs and of halves of surrogate pairs.
inline std::string with_odd_escapes_replaced(std::string json) {
  const auto unit = [&](std::size_t at) {
    const auto digits = json.substr(std::min(at, json.size()), 6);
    const bool is_one = digits.size() == 6 && digits.compare(0, 2, "\\u") == 0 &&
                        digits.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
    return is_one ? std::stoi(digits.substr(2), nullptr, 16) : -1;
  };
  for (auto at = json.find('\\'); at != std::string::npos; at = json.find('\\', at)) {
    const int first = unit(at), second = first < 0 ? -1 : unit(at + 6);
    const bool pair = first >= 0xD800 && first <= 0xDBFF && second >= 0xDC00 && second <= 0xDFFF;
    if (first == 0 || (first >= 0xD800 && first <= 0xDFFF && !pair)) json.replace(at + 2, 4, "fffd");
    at += first < 0 ? 2 : pair ? 12 : 6;
  }
  return json;
}

/// Of the tags and named texts. `bytes`: of all searched texts.
inline std::string unfit_text_reason(const krux_record& record, FakeRow& row, std::size_t& bytes) {
  if (!KRUX_HAS(krux_record, &record, text_count)) return {};
  if (record.tag_count > 1024) return "it has more than 1024 tags";
  for (std::size_t i = 0; i < record.tag_count; ++i) {
    auto tag = with_odd_replaced(from_abi(record.tags[i]));
    if (tag.empty()) return "one of its tags is empty";
    if (tag.size() > 256) return "one of its tags is longer than 256 bytes";
    row.tags.insert(std::move(tag));
  }
  if (record.text_count > 10'000) return "its named texts have more than 10000 values";
  for (std::size_t i = 0; i < record.text_count; ++i) {
    auto value = with_odd_replaced(from_abi(record.texts[i].text));
    bytes += value.size();
    row.texts.emplace(from_abi(record.texts[i].name), std::move(value));
  }
  return {};
}

/// Why the host leaves the record out; empty: it takes it, as it then stands in `row`.
inline std::string unfit_reason(const krux_record& record, const Collection& collection, FakeRow& row) {
  constexpr std::int64_t time_bound = std::int64_t{1} << 44;
  if (record.id.len == 0) return "its id is empty";
  if (auto why = text_problem(record.id, 1024); !why.empty()) return "its id " + why;
  if (auto why = text_problem(record.scope, 1024); !why.empty()) return "its scope " + why;
  if (collection.order == Order::kTime && (record.order_ms <= -time_bound || record.order_ms >= time_bound)) {
    return "its order_ms is not a time in Unix milliseconds";
  }
  row.order_key = with_odd_replaced(from_abi(record.order_key));
  row.text = with_odd_replaced(from_abi(record.text));
  if (row.order_key.size() > 1024) return "its order_key is longer than 1024 bytes";
  std::size_t searched = row.text.size();
  if (auto why = unfit_text_reason(record, row, searched); !why.empty()) return why;
  if (row.text.size() > 1 << 20) return "its text is longer than 1 MiB";
  if (searched > 1 << 20) return "its text and its named texts together are longer than 1 MiB";
  for (std::size_t i = 0; i < record.field_count; ++i) {
    const auto& given = record.fields[i];
    const auto& field = *find_field(collection, from_abi(given.name));
    auto text = with_odd_replaced(from_abi(given.text));
    if (field.type == FieldType::kText && text.size() > 65'536)
      return "its field \"" + field.name + "\" is longer than 65536 bytes";
    row.fields[field.name] = field.type == FieldType::kText ? Value(std::move(text)) : Value(given.number);
  }
  row.json = std::string(from_abi(record.json));
  if (json_object_problem(row.json, 1 << 20, 64).empty()) return {};
  row.json = with_odd_escapes_replaced(with_odd_replaced(row.json));
  const auto why = json_object_problem(row.json, 1 << 20, 64);
  return why.empty() ? "" : "its json: " + why;
}

}  // namespace kruxos::testing::detail
