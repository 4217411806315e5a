#include "host/certify/outputs.hpp"

#include <fmt/format.h>

#include "core/capability/output_check.hpp"
#include "core/util/json.hpp"
#include "host/certify/check.hpp"

namespace krux::certify {
namespace {

std::string odd_value(InputType type, int kind) {
  const bool text = type == InputType::kString || type == InputType::kDateTime;
  if (kind == 0) return text ? "17" : "\"seventeen\"";
  if (kind == 1) return text ? "\"\"" : type == InputType::kInteger ? "-9223372036854775808" : "null";
  if (!text) return type == InputType::kInteger ? "9223372036854775807" : "{}";
  return json_string("/../%00\"'\r\n<{[&?\x1b[2J\xe2\x80\xae" + std::string(100'000, 'x'));
}

}  // namespace

void check_outputs(const CapabilityDefinition& capability, const std::string& result_json, bool all) {
  const auto problem = output_problem(capability, parse_json(result_json, "the result", {8 << 20, 32}), all);
  if (!problem.empty()) throw CheckFailed(problem);
}

std::string with_odd_values(const CapabilityDefinition& capability, int kind) {
  std::string out = "{";
  for (const auto& input : capability.inputs) {
    out += fmt::format("{}{}:{}", out.size() > 1 ? "," : "", json_string(input.name), odd_value(input.type, kind));
  }
  return out + "}";
}

}  // namespace krux::certify
