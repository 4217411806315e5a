#include "core/capability/output_check.hpp"

#include <fmt/format.h>

#include "core/capability/cut_members.hpp"

namespace krux {
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
std::string shape_problem(const JsonValue& value, const OutputDefinition& promised,  // NOLINT(misc-no-recursion)
                          const std::string& where) {
  if (!is_of_type(value, promised.type))
    return fmt::format("\"{}\" in the result is no {}.", where, to_string(promised.type));
  std::string problem;
  for (const auto& field : promised.fields) {
    const auto* member = find_member(value, field.name);
    if (member && problem.empty()) problem = shape_problem(*member, field, where + "." + field.name);
  }
  for (rapidjson::SizeType i = 0; !promised.items.empty() && problem.empty() && i < value.Size(); ++i)
    problem = shape_problem(value[i], promised.items[0], fmt::format("{}[{}]", where, i));
  return problem;
}

/// There where it says something: flags, and what tells of a cut.
bool may_be_absent(const OutputDefinition& output) {
  return output.type == InputType::kBoolean || says_what_is_cut(output.name);
}

}  // namespace

std::string output_problem(const CapabilityDefinition& capability, const JsonValue& result, bool all) {
  for (const char* own : {"freshness", "content_trust"}) {
    if (find_member(result, own)) return fmt::format("The result has a member \"{}\", which is the host's.", own);
  }
  for (const auto& output : capability.outputs) {
    const auto* value = find_member(result, output.name);
    if (!value && all && !may_be_absent(output))
      return fmt::format("The result lacks \"{}\", which the definition promises.", output.name);
    auto problem = value ? shape_problem(*value, output, output.name) : std::string();
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace krux
