// kruxos/testing/record_check.hpp - which records a collection takes. Nothing in here is for authors to call.
#pragma once
#include <kruxos/testing/conditions.hpp>
#include <kruxos/testing/json_check.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace kruxos::testing::detail {

/// "longer than N bytes" and the like; empty: it is a text that the host takes.
inline std::string text_problem(krux_str text, std::size_t longest) {
  if (text.len > longest) return "is longer than " + std::to_string(longest) + " bytes";
  if (from_abi(text).find('\0') != std::string_view::npos) return "contains a NUL";
  return is_utf8(from_abi(text)) ? "" : "is not valid UTF-8";
}

inline std::string fields_problem(const krux_record& record, const Collection& collection) {
  std::set<std::string_view> given;
  if (record.field_count > 16) return "it has more than 16 fields";
  for (std::size_t i = 0; i < record.field_count; ++i) {
    const auto name = from_abi(record.fields[i].name);
    const auto* field = find_field(collection, name);
    if (!field) return "the collection has no field \"" + std::string(name) + "\"";
    if (!given.insert(name).second) return "its field \"" + field->name + "\" is given twice";
    if (field->type == FieldType::kInteger) continue;
    if (auto why = text_problem(record.fields[i].text, 65'536); !why.empty())
      return "its field \"" + field->name + "\" " + why;
  }
  return {};
}

/// Why the host would refuse the record; empty: it takes it.
inline std::string record_problem(const krux_record& record, const Collection& collection) {
  constexpr std::int64_t time_bound = std::int64_t{1} << 44;
  if (record.id.len == 0) return "its id is empty";
  if (auto why = text_problem(record.id, 1024); !why.empty()) return "its id " + why;
  if (auto why = text_problem(record.scope, 1024); !why.empty()) return "its scope " + why;
  if (auto why = text_problem(record.order_key, 1024); !why.empty()) return "its order_key " + why;
  if (auto why = text_problem(record.text, 1 << 20); !why.empty()) return "its text " + why;
  if (collection.order == Order::kTime && (record.order_ms <= -time_bound || record.order_ms >= time_bound)) {
    return "its order_ms is not a time in Unix milliseconds";
  }
  if (record.text.len != 0 && !collection.searchable)
    return "it has a text, but the collection was not declared as searchable";
  if (auto why = json_object_problem(from_abi(record.json), 1 << 20, 64); !why.empty()) return "its json: " + why;
  return fields_problem(record, collection);
}

}  // namespace kruxos::testing::detail
