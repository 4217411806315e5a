#include "host/certify/outputs.hpp"

#include <fmt/format.h>

#include "core/capability/cut_members.hpp"
#include "core/util/json.hpp"
#include "host/certify/check.hpp"

namespace krux::certify {
namespace {

bool is_of_type(const JsonValue& value, InputType type) {
  switch (type) {
    case InputType::kString:
    case InputType::kDateTime:
      return value.IsString();
    case InputType::kInteger:
      return value.IsInt64() || value.IsUint64();
    case InputType::kNumber:
      return value.IsNumber();
    case InputType::kBoolean:
      return value.IsBool();
    case InputType::kArray:
      return value.IsArray();
    case InputType::kObject:
      return value.IsObject();
    case InputType::kAny:
      return true;
  }
  return false;
}

/// Of what stands in lists and objects, what is there: all of it may be missing.
void check_shape(const JsonValue& value, const OutputDefinition& promised,  // NOLINT(misc-no-recursion)
                 const std::string& where) {
  if (!is_of_type(value, promised.type))
    throw CheckFailed(fmt::format("\"{}\" in the result is no {}.", where, krux::to_string(promised.type)));
  for (const auto& field : promised.fields) {
    if (const auto* member = find_member(value, field.name)) check_shape(*member, field, where + "." + field.name);
  }
  if (promised.items.empty()) return;
  for (rapidjson::SizeType i = 0; i < value.Size(); ++i)
    check_shape(value[i], promised.items[0], fmt::format("{}[{}]", where, i));
}

/// There where it says something: flags, and what tells of a cut.
bool may_be_absent(const OutputDefinition& output) {
  return output.type == InputType::kBoolean || says_what_is_cut(output.name);
}

std::string odd_value(InputType type, int kind) {
  const bool text = type == InputType::kString || type == InputType::kDateTime;
  if (kind == 0) return text ? "17" : "\"seventeen\"";
  if (kind == 1) return text ? "\"\"" : type == InputType::kInteger ? "-9223372036854775808" : "null";
  if (!text) return type == InputType::kInteger ? "9223372036854775807" : "{}";
  return json_string("/../%00\"'\r\n<{[&?\x1b[2J\xe2\x80\xae" + std::string(100'000, 'x'));
}

}  // namespace

void check_outputs(const CapabilityDefinition& capability, const std::string& result_json, bool all) {
  const auto result = parse_json(result_json, "the result", {8 << 20, 32});
  for (const char* own : {"freshness", "content_trust"}) {
    if (find_member(result, own))
      throw CheckFailed(fmt::format("The result has a member \"{}\", which is the host's.", own));
  }
  for (const auto& output : capability.outputs) {
    const auto* value = find_member(result, output.name);
    if (!value && all && !may_be_absent(output))
      throw CheckFailed(fmt::format("The result lacks \"{}\", which the definition promises.", output.name));
    if (value) check_shape(*value, output, output.name);
  }
}

std::string with_odd_values(const CapabilityDefinition& capability, int kind) {
  std::string out = "{";
  for (const auto& input : capability.inputs) {
    out += fmt::format("{}{}:{}", out.size() > 1 ? "," : "", json_string(input.name), odd_value(input.type, kind));
  }
  return out + "}";
}

}  // namespace krux::certify
