// Files of rules, and requests that they are asked about: the bytes are a file, a line of three hyphens, and
// parameters.
#include "core/policy/rules/rule_set.hpp"

#include "core/policy/rules/rules_fixture.hpp"
#include "core/util/error.hpp"
#include "fuzz.hpp"

namespace {

using namespace krux;
using namespace rules_test;
using krux::fuzz::require;

JsonDocument params_of(std::string_view text) {
  try {
    auto document = parse_json(text, "the parameters");
    if (document.IsObject()) return document;
  } catch (const Error&) {
    // No parameters, then.
  }
  return JsonDocument(rapidjson::kObjectType);
}

void ask(const RuleSet& rules, const JsonValue& params) {
  for (const auto& capability : mail_definitions().front()->capabilities) {
    const auto& compiled = rules.compiled("bot", capability.name);
    const RuleRequest request("bot", capability, params, 1'764'072'000'000, nullptr);
    const auto decision = compiled.decide(request);
    const auto always = compiled.always();
    require(decision.tier >= always.tier && decision.delay_ms >= always.delay_ms, "what always holds holds now");
    Tier strictest = Tier::kAutonomous;
    for (const auto* rule : compiled.matching(request)) strictest = std::max(strictest, rule->tier.value_or(strictest));
    require(strictest == decision.tier, "the strictest of all that match decides");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(text.find("\n---\n"), text.size());
  const auto params = params_of(end < text.size() ? text.substr(end + 5) : "{}");
  try {
    const RuleSet rules(parse_rules(text.substr(0, end), kSystemFile, {mail_definitions(), nullptr}));
    ask(rules, params);
  } catch (const ConfigError& error) {
    require(std::string_view(error.what()).starts_with("system.yaml"), "a refusal names the file");
  }
  return 0;
}
