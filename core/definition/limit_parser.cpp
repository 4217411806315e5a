#include "core/definition/limit_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/durations.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

Limit parse_limit(const YamlValue& value, const ServiceDefinition& definition) {
  const YamlMap map(value, {"operations", "limit", "window", "per"});
  Limit limit;
  const auto operations = map.at("operations");
  limit.operations = operations.lines(64);
  if (limit.operations.empty()) operations.fail("the list is empty.");
  limit.limit = map.at("limit").integer(1, 1'000'000);
  limit.window_ms = map.at("window").duration_ms(kSecond, kLongestWindow);
  const auto per = map.find("per");
  if (per) limit.key = per->text();
  for (const auto& name : limit.operations) {
    const auto* capability = definition.find(name);
    if (!capability || capability->kind != CapabilityKind::kWrite)
      operations.fail(fmt::format("\"{}\" is not a write of this definition.", printable(name)));
    const auto& inputs = capability->inputs;
    const auto has = [&](const InputDefinition& input) { return input.name == limit.key; };
    if (per && std::none_of(inputs.begin(), inputs.end(), has))
      per->fail(fmt::format("{} has no input \"{}\".", name, printable(limit.key)));
  }
  return limit;
}

}  // namespace

std::vector<Limit> parse_limits(const YamlValue& value, const ServiceDefinition& definition) {
  std::vector<Limit> limits;
  for (const auto& item : value.list(64)) limits.push_back(parse_limit(item, definition));
  return limits;
}

bool parse_on_exceed(const YamlValue& value) {
  return value.choice_of<bool>({{"approval_required", true}, {"reject", false}});
}

}  // namespace krux
