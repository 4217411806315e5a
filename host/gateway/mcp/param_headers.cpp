#include "host/gateway/mcp/param_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/gateway/mcp/head.hpp"

namespace krux::mcp {
namespace {

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Null is not given.
const JsonSpan* given(const JsonParts& arguments, const InputDefinition& input) {
  const auto* found = arguments.find(input.name);
  return found && found->kind != JsonKind::kNull ? found : nullptr;
}

bool says_the_same(const JsonSpan& value, const std::string& header) {
  const auto said = decoded(header);
  if (!said) return false;
  if (value.kind == JsonKind::kString) return *said == value.text;
  if (value.kind != JsonKind::kNumber) return *said == value.raw;
  const auto number = number_of(*said);
  return number && number == number_of(value.raw);
}

/// A sentence; empty: they agree.
std::string why_unlike(const InputDefinition& input, const ParamHeaders& headers, const JsonParts& arguments) {
  const auto is_its = [&](const auto& header) { return equal_ignoring_case(header.first, input.header); };
  const auto count = std::count_if(headers.begin(), headers.end(), is_its);
  const auto* value = given(arguments, input);
  if (count == 0 && !value) return {};
  if (count == 0)
    return fmt::format("The header Mcp-Param-{} is missing: it repeats \"{}\".", input.header, input.name);
  const auto at = std::find_if(headers.begin(), headers.end(), is_its);
  if (count == 1 && value && says_the_same(*value, at->second)) return {};
  return fmt::format("Mcp-Param-{} is not \"{}\" of the body.", input.header, input.name);
}

}  // namespace

std::optional<RpcError> why_unlike_arguments(const std::vector<InputDefinition>& inputs, const ParamHeaders& headers,
                                             std::string_view arguments) {
  if (inputs.empty()) return std::nullopt;
  std::string ignored;
  const auto parts = arguments.empty() ? JsonParts{JsonKind::kObject, {}, 0} : take_apart(arguments, {}, ignored);
  if (!parts) return std::nullopt;  // the call itself says what is wrong
  for (const auto& input : inputs) {
    auto why = why_unlike(input, headers, *parts);
    if (why.empty()) continue;
    return RpcError{kHeaderMismatch, std::move(why), json_object([&](JsonWriter& out) {
                      put_key(out, "headers");
                      out.StartObject();
                      for (const auto& one : inputs) put(out, one.header, one.name);
                      out.EndObject();
                    })};
  }
  return std::nullopt;
}

}  // namespace krux::mcp
