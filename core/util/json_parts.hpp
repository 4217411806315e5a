// Members of JSON that the host itself has written; empty, 0 or false where they are missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/util/json.hpp"

namespace krux {

inline std::string text(const JsonValue& object, std::string_view name) {
  return std::string(find_string(object, name).value_or(""));
}
inline std::int64_t number(const JsonValue& object, std::string_view name) {
  return find_int(object, name).value_or(0);
}
inline bool flag(const JsonValue& object, std::string_view name) {
  return find_bool(object, name).value_or(false);
}

/// An empty array or object where there is none.
inline const JsonValue& items(const JsonValue& object, std::string_view name) {
  static const JsonValue none(rapidjson::kArrayType);
  const auto* found = find_member(object, name);
  return found && found->IsArray() ? *found : none;
}
inline const JsonValue& part(const JsonValue& object, std::string_view name) {
  static const JsonValue none(rapidjson::kObjectType);
  const auto* found = find_member(object, name);
  return found && found->IsObject() ? *found : none;
}

}  // namespace krux
