#include "core/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/limit_parser.hpp"
#include "core/util/durations.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {
namespace {

CapabilityDefinition& capability_of(ServiceDefinition& definition, const YamlValue& key) {
  const auto name = key.line(100);
  std::vector<std::string> names;
  for (auto& capability : definition.capabilities) {
    if (capability.name == name) return capability;
    names.push_back(capability.name);
  }
  key.fail(fmt::format("\"{}\" is not a capability of the definition{}.", printable(name), did_you_mean(name, names)));
}

void apply_tier(const YamlValue& value, CapabilityDefinition& capability, PolicyOf owner) {
  const auto tier = value.choice_of<Tier>({{"autonomous", Tier::kAutonomous},
                                           {"notify", Tier::kNotify},
                                           {"approval_required", Tier::kApprovalRequired},
                                           {"blocked", Tier::kBlocked}});
  if (owner == PolicyOf::kOperator && capability.tier == Tier::kBlocked && tier < Tier::kApprovalRequired)
    value.fail(fmt::format("the definition blocks {}; a policy can open it to approval_required and no further.",
                           capability.name));
  if (owner == PolicyOf::kAuthor && tier < capability.tier)
    value.fail(fmt::format("{} is looser than the definition's {}; a bundle's policy can only tighten.",
                           to_string(tier), to_string(capability.tier)));
  capability.tier = tier;
}

void apply_delay(const YamlValue& value, CapabilityDefinition& capability, PolicyOf owner) {
  const auto delay = value.seconds_as_ms(0, kLongestWindow);
  // The host's default may be longer than what stands here.
  if (owner == PolicyOf::kAuthor && !capability.delay_ms)
    value.fail(fmt::format("the definition names no delay of {}, so that the host's default applies; name one there.",
                           capability.name));
  if (owner == PolicyOf::kAuthor && delay < *capability.delay_ms)
    value.fail(fmt::format("it is shorter than the definition's delay of {} s; a bundle's policy can only lengthen it.",
                           static_cast<double>(*capability.delay_ms) / 1000));
  capability.delay_ms = delay;
  capability.immediate = capability.immediate && delay == 0;
}

bool counts(const Limit& limit, const std::string& operation) {
  return std::find(limit.operations.begin(), limit.operations.end(), operation) != limit.operations.end();
}

/// A limit of the definition that lets through less already would make the author believe in something that never acts.
void refuse_looser(const YamlValue& value, const Limit& mine, const ServiceDefinition& definition) {
  for (const auto& theirs : definition.limits) {
    if (!counts(theirs, mine.operations.front()) || theirs.key != mine.key) continue;
    const auto most = most_within(theirs, mine.window_ms);
    if (mine.limit > most)
      value.fail(
          fmt::format("it is looser than a limit of the definition, which lets through {} within that window: it "
                      "would never act. Take it out, or name fewer.",
                      most));
  }
}

Limit parse_limit(const YamlValue& value, const CapabilityDefinition& capability) {
  const YamlMap map(value, {"limit", "window", "per"});
  Limit limit;
  limit.operations = {capability.name};
  limit.limit = map.at("limit").integer(1, 1'000'000);
  limit.window_ms = map.at("window").duration_ms(kSecond, kLongestWindow);
  if (const auto per = map.find("per")) {
    limit.key = per->text();
    const auto has = [&](const InputDefinition& input) { return input.name == limit.key; };
    if (std::none_of(capability.inputs.begin(), capability.inputs.end(), has))
      per->fail(fmt::format("{} has no input \"{}\".", capability.name, printable(limit.key)));
  }
  return limit;
}

/// `definition` is the one before any capability of the policy.
void apply_capability(const YamlValue& key, const YamlValue& value, const ServiceDefinition& definition, PolicyOf owner,
                      ServiceDefinition& out) {
  auto& capability = capability_of(out, key);
  if (capability.kind == CapabilityKind::kCancel)
    key.fail(fmt::format("{} takes writes back: no policy applies to it.", capability.name));
  const YamlMap map(value, {"tier", "delay_seconds", "limits"});
  if (const auto v = map.find("tier")) apply_tier(*v, capability, owner);
  for (const char* name : {"delay_seconds", "limits"}) {
    const auto v = map.find(name);
    if (v && capability.kind != CapabilityKind::kWrite)
      v->fail(fmt::format("\"{}\" is only for capabilities of kind write.", name));
  }
  if (const auto v = map.find("delay_seconds")) apply_delay(*v, capability, owner);
  const auto limits = map.find("limits");
  if (!limits) return;
  for (const auto& item : limits->list(16)) {
    auto limit = parse_limit(item, capability);
    refuse_looser(item, limit, definition);
    out.limits.push_back(std::move(limit));
  }
}

}  // namespace

std::int64_t most_within(const Limit& limit, std::int64_t window_ms) {
  const auto windows = (window_ms + limit.window_ms - 1) / limit.window_ms;
  return limit.limit * windows;
}

ServiceDefinition under_policy(ServiceDefinition definition, std::string_view policy, const std::string& name,
                               PolicyOf owner) {
  const auto root = parse_yaml(policy, name);
  const YamlMap map(YamlValue(root, name, ""), {"policy", "service", "limits", "on_exceed", "capabilities"});
  const auto format = map.at("policy");
  if (format.integer(1, 1'000'000) > kPolicyVersion)
    format.fail(fmt::format("this program reads policies of version {}; install a newer one.", kPolicyVersion));
  const auto service = map.at("service");
  if (service.line(32) != definition.service)
    service.fail(fmt::format("the policy is of the service \"{}\", the definition of {}.", printable(service.text()),
                             definition.service));
  if (owner == PolicyOf::kOperator) {
    if (const auto v = map.find("limits")) definition.limits = parse_limits(*v, definition);
    if (const auto v = map.find("on_exceed")) definition.escalate_on_exceed = parse_on_exceed(*v);
  }
  for (const char* key : {"limits", "on_exceed"}) {
    const auto v = map.find(key);
    if (v && owner == PolicyOf::kAuthor)
      v->fail(
          fmt::format("\"{}\" stands in the operator's policies alone: it replaces what the definition says.", key));
  }
  auto out = definition;
  for (const auto& [key, value] : map.at("capabilities").entries())
    apply_capability(key, value, definition, owner, out);
  return out;
}

}  // namespace krux
