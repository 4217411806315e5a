// Partial responses: the grammar of the parameter `fields`, "id,payload(headers,parts/body),labelIds".
#pragma once

#include <rapidjson/document.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace krux::test::gmail {

// What is kept of an object, or of each object of an array. Without children: all that is there.
struct FieldMask {
  std::map<std::string, FieldMask> children;  // "*" is any name
};

// Nothing: this is no selection.
std::optional<FieldMask> parse_fields(std::string_view text);
void keep_fields(rapidjson::Value& value, const FieldMask& mask);

}  // namespace krux::test::gmail
