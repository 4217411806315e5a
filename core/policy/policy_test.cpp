#include "core/policy/policy.hpp"

#include <catch2/catch.hpp>

#include "core/bundle/bundle_fixture.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;

namespace {

ServiceDefinition definition() {
  return parse_definition(test::kMockDefinition, "mock.yaml");
}

/// The policy whose capabilities are these lines.
ServiceDefinition with(const std::string& capabilities, PolicyOf owner = PolicyOf::kAuthor) {
  return under_policy(definition(), "policy: 1\nservice: mock\ncapabilities:\n" + capabilities, "p.yaml", owner);
}

std::string refusal(const std::string& policy, PolicyOf owner = PolicyOf::kAuthor) {
  try {
    under_policy(definition(), policy, "p.yaml", owner);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was accepted";
}

std::string refused(const std::string& capabilities, PolicyOf owner = PolicyOf::kAuthor) {
  return refusal("policy: 1\nservice: mock\ncapabilities:\n" + capabilities, owner);
}

}  // namespace

TEST_CASE("a policy raises tiers, lengthens delays and adds limits, and leaves the rest as it was") {
  const auto tight = under_policy(definition(), test::kMockPolicy, "p.yaml", PolicyOf::kAuthor);
  const auto loose = definition();
  const auto* add = tight.find("mock.add");
  REQUIRE(add);
  CHECK(add->tier == Tier::kApprovalRequired);
  CHECK(add->delay_ms == 300'000);
  REQUIRE(tight.limits.size() == 3);
  CHECK(tight.limits[2].operations == std::vector<std::string>{"mock.add"});
  CHECK(tight.limits[2].limit == 5);
  CHECK(tight.limits[2].window_ms == 3'600'000);
  for (const auto* name : {"mock.find", "mock.edit", "mock.drop", "mock.cancel"}) {
    CHECK(tight.find(name)->tier == loose.find(name)->tier);
    CHECK(tight.find(name)->delay_ms == loose.find(name)->delay_ms);
  }
  CHECK(tight.hosts == loose.hosts);
}

TEST_CASE("every step upwards is a policy's, none downwards") {
  const std::vector<std::string> tiers{"autonomous", "notify", "approval_required", "blocked"};
  for (std::size_t from = 0; from < tiers.size(); ++from) {
    const auto text = test::replaced(test::kMockDefinition, "tier: notify", "tier: " + tiers[from]);
    const auto base = parse_definition(text, "mock.yaml");
    for (std::size_t to = 0; to < tiers.size(); ++to) {
      INFO(tiers[from] << " to " << tiers[to]);
      const auto policy = "policy: 1\nservice: mock\ncapabilities: {mock.add: {tier: " + tiers[to] + "}}\n";
      if (to < from) {
        CHECK_THROWS_WITH(under_policy(base, policy, "p.yaml", PolicyOf::kAuthor),
                          Contains("p.yaml:3:") && Contains("can only tighten"));
      } else {
        CHECK(to_string(under_policy(base, policy, "p.yaml", PolicyOf::kAuthor).find("mock.add")->tier) == tiers[to]);
      }
    }
  }
}

TEST_CASE("a delay is lengthened or kept, and makes an immediate write a buffered one") {
  CHECK(with("  mock.add: {delay_seconds: 30}\n").find("mock.add")->delay_ms == 30'000);
  CHECK_THAT(refused("  mock.add: {delay_seconds: 29.9}\n"), Contains("p.yaml:4:29: ") && Contains("30 s"));
  const auto later = with("  mock.edit: {delay_seconds: 5}\n");
  CHECK(later.find("mock.edit")->delay_ms == 5'000);
  CHECK_FALSE(later.find("mock.edit")->immediate);
  CHECK(with("  mock.edit: {delay_seconds: 0}\n").find("mock.edit")->immediate);
  // The host's default may be longer.
  CHECK_THAT(refused("  mock.drop: {delay_seconds: 300}\n"), Contains("names no delay of mock.drop"));
  CHECK_THAT(refused("  mock.add: {delay_seconds: -1}\n"), Contains("p.yaml:4:"));
  CHECK_THAT(refused("  mock.add: {delay_seconds: 9999999999}\n"), Contains("p.yaml:4:"));
}

TEST_CASE("a limit that would let through more than the definition's own is refused") {
  // 30 within 1 h are at most 60 within 2 h.
  CHECK(with("  mock.edit: {limits: [{limit: 60, window: 2 h}]}\n").limits.size() == 3);
  CHECK_THAT(refused("  mock.edit: {limits: [{limit: 61, window: 2 h}]}\n"), Contains("looser") && Contains("60"));
  CHECK_THAT(refused("  mock.edit: {limits: [{limit: 31, window: 30 min}]}\n"), Contains("looser") && Contains("30"));
  // 5 within 1 min may be more within 1 h, and holds besides.
  CHECK(with("  mock.edit: {limits: [{limit: 5, window: 1 min}]}\n").limits.size() == 3);
  CHECK_THAT(refused("  mock.add: {limits: [{limit: 11, window: 1 h, per: room}]}\n"), Contains("looser"));
  CHECK(with("  mock.add: {limits: [{limit: 2, window: 1 h, per: room}]}\n").limits.back().key == "room");
  CHECK(with("  mock.drop: {limits: [{limit: 1000, window: 1 s}]}\n").limits.size() == 3);
  CHECK_THAT(refused("  mock.add: {limits: [{limit: 1, window: 1 h, per: nothing}]}\n"), Contains("has no input"));
  for (const auto* bad : {"{limit: 0, window: 1 h}", "{limit: 5}", "{window: 1 h}", "{limit: 5, window: 1 h, a: 1}",
                          "{limit: 5, window: 31 d}", "5"})
    CHECK_THAT(refused("  mock.add: {limits: [" + std::string(bad) + "]}\n"), Contains("p.yaml:4:"));
}

TEST_CASE("what a policy does not know is refused with its place") {
  CHECK_THAT(refused("  mock.ad: {tier: blocked}\n"),
             Contains("p.yaml:4:3: ") && Contains("not a capability") && Contains("mock.add"));
  CHECK_THAT(refused("  mock.add: {teir: blocked}\n"), Contains("p.yaml:4:14: ") && Contains("tier"));
  CHECK_THAT(refused("  mock.add: {tier: free}\n"), Contains("p.yaml:4:"));
  CHECK_THAT(refused("  mock.cancel: {tier: blocked}\n"), Contains("takes writes back"));
  CHECK_THAT(refused("  mock.find: {delay_seconds: 5}\n"), Contains("only for capabilities of kind write"));
  CHECK_THAT(refused("  mock.find: {limits: []}\n"), Contains("only for capabilities of kind write"));
  CHECK(with("  mock.find: {tier: blocked}\n").find("mock.find")->tier == Tier::kBlocked);
  CHECK_THAT(refusal("policy: 2\nservice: mock\ncapabilities: {}\n"), Contains("p.yaml:1:") && Contains("version 1"));
  CHECK_THAT(refusal("policy: 1\nservice: other\ncapabilities: {}\n"), Contains("p.yaml:2:") && Contains("of mock"));
  CHECK_THAT(refusal("policy: 1\nservice: mock\n"), Contains("capabilities"));
  CHECK_THAT(refusal("policy: 1\nservice: mock\ncapabilities: {}\nhosts: []\n"), Contains("p.yaml:4:1: "));
  for (const std::string bytes : {"", "[", "a", "\xff\xfe", "policy: 1", "- policy: 1", "&a policy: 1", "\x1b[31m"})
    CHECK_THAT(refusal(bytes), Contains("p.yaml"));
}

TEST_CASE("an operator's policy may loosen, but nothing that is blocked past a person's approval") {
  const auto operators = PolicyOf::kOperator;
  CHECK(with("  mock.drop: {tier: autonomous}\n", operators).find("mock.drop")->tier == Tier::kAutonomous);
  CHECK(with("  mock.add: {delay_seconds: 5}\n", operators).find("mock.add")->delay_ms == 5'000);
  CHECK(with("  mock.drop: {delay_seconds: 5}\n", operators).find("mock.drop")->delay_ms == 5'000);
  // A delay of nothing is no immediate write: those answer with the outcome.
  CHECK_FALSE(with("  mock.add: {delay_seconds: 0}\n", operators).find("mock.add")->immediate);

  const auto blocked =
      parse_definition(test::replaced(test::kMockDefinition, "tier: notify", "tier: blocked"), "mock.yaml");
  const auto opened = [&](const std::string& tier) {
    return under_policy(blocked, "policy: 1\nservice: mock\ncapabilities: {mock.add: {tier: " + tier + "}}\n", "p.yaml",
                        operators);
  };
  CHECK(opened("approval_required").find("mock.add")->tier == Tier::kApprovalRequired);
  CHECK_THROWS_WITH(opened("notify"), Contains("p.yaml:3:") && Contains("approval_required and no further"));
}

TEST_CASE("an operator's policy replaces limits as a whole, an author's cannot") {
  const std::string text =
      "policy: 1\nservice: mock\nlimits: [{operations: [mock.add], limit: 500, window: 1 h}]\non_exceed: reject\n"
      "capabilities: {mock.add: {limits: [{limit: 400, window: 1 h}]}}\n";
  const auto under = under_policy(definition(), text, "p.yaml", PolicyOf::kOperator);
  REQUIRE(under.limits.size() == 2);
  CHECK(under.limits[0].limit == 500);
  CHECK(under.limits[1].limit == 400);
  CHECK_FALSE(under.escalate_on_exceed);
  CHECK_THAT(refusal(text), Contains("p.yaml:3:") && Contains("operator's policies alone"));
  CHECK_THAT(refusal(test::replaced(text, "mock.add]", "mock.find]"), PolicyOf::kOperator), Contains("not a write"));
  CHECK_THAT(refusal(test::replaced(text, "limit: 400", "limit: 501"), PolicyOf::kOperator), Contains("never act"));
}

}  // namespace KRUXOS_TEST_FILE
