// Quota rules of definitions, and what the configuration makes of them.
#include "core/definition/quota_rules.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"
#include "core/util/yaml_value.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::vector<QuotaRule> definition(const std::string& yaml) {
  const auto root = parse_yaml(yaml, "t");
  return parse_quota(YamlValue(root, "t", ""));
}
std::vector<QuotaRule> changes(const std::string& yaml) {
  const auto root = parse_yaml(yaml, "t");
  return parse_quota_changes(YamlValue(root, "t", ""));
}
template <class Parse>
std::string refusal(Parse parse, const std::string& yaml) {
  try {
    parse(yaml);
    return "accepted";
  } catch (const ConfigError& e) {
    return e.what();
  }
}

const char* const kRules = R"(
- {match: mail/send, per_minute: 6000, burst: 600, cost: 100, bucket: units}
- {match: "mail/*", per_minute: 5400, burst: 300, cost: 20, bucket: units}
- {match: other, per_minute: 50}
)";

}  // namespace

TEST_CASE("rules of a bucket share one allowance") {
  const auto rules = definition(kRules);
  REQUIRE(rules.size() == 3);
  CHECK((rules[0].bucket == "units" && rules[1].bucket == "units" && rules[2].bucket.empty()));
  CHECK((rules[0].cost == 100 && rules[1].cost == 20));
  CHECK(refusal(definition, "- {match: a, per_minute: 1, bucket: x}\n- {match: a, per_minute: 1, bucket: y}") ==
        "accepted");
  CHECK(refusal(definition, "- {match: a, per_minute: 1, bucket: x}\n- {match: a, per_minute: 1, bucket: x}")
            .find("already") != std::string::npos);
  CHECK(refusal(definition, "- {bucket: units, per_minute: 1}").find("match") != std::string::npos);
}

TEST_CASE("the configuration gives a bucket another size, in one line") {
  const auto rules = changed_quota(definition(kRules), changes("- {bucket: units, per_minute: 15000}"));
  REQUIRE(rules.size() == 3);
  CHECK((rules[0].per_minute == 15'000 && rules[0].burst == 1'500 && rules[0].cost == 100));
  CHECK((rules[1].per_minute == 13'500 && rules[1].burst == 750 && rules[1].cost == 20));
  CHECK((rules[2].per_minute == 50 && rules[2].burst == 0));
}

TEST_CASE("a rule of the configuration replaces those of its match and stays in its bucket") {
  const auto rules =
      changed_quota(definition(kRules), changes("- {match: \"mail/*\", per_minute: 100, cost: 5, bucket: units}"));
  REQUIRE(rules.size() == 3);
  CHECK((rules[0].match == "mail/*" && rules[0].cost == 5 && rules[0].bucket == "units"));
  CHECK((rules[1].match == "mail/send" && rules[2].match == "other"));
}

TEST_CASE("a bucket that the definition lacks changes nothing") {
  const auto rules = changed_quota(definition(kRules), changes("- {bucket: calls, per_minute: 1}"));
  CHECK((rules.size() == 3 && rules[0].per_minute == 6'000));
}

TEST_CASE("a bucket alone takes nothing but its size") {
  CHECK(refusal(changes, "- {bucket: units, per_minute: 1, cost: 5}").find("\"cost\" belongs") != std::string::npos);
  CHECK(refusal(changes, "- {bucket: units}").find("per_minute") != std::string::npos);
  CHECK(refusal(changes, "- {per_minute: 5}").find("match") != std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
