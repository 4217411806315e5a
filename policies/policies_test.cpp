// The policies that are shipped fit the definitions that are shipped, and loosen nothing.
#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/policy/policy.hpp"
#include "core/util/yaml_tree.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct Shipped {
  ServiceDefinition before, under;
};

/// Of a copy: the checkout's modes are whatever its owner's umask made them.
Shipped shipped(const std::string& service) {
  const support::Scratch copy;
  const auto file = copy.path() / (service + ".yaml");
  support::copy_safe(std::string(KRUXOS_DEFINITIONS_DIR) + "/" + service + ".yaml", file);
  const auto before = load_definition(file);
  const auto policy = std::string(KRUXOS_POLICIES_DIR) + "/" + service + ".yaml";
  return {before, under_policy(before, read_text_file(policy), policy, PolicyOf::kAuthor)};
}

std::int64_t within_a_day(const ServiceDefinition& definition, const std::string& operation) {
  std::int64_t least = 1'000'000;
  for (const auto& limit : definition.limits) {
    const auto& all = limit.operations;
    if (limit.key.empty() && std::find(all.begin(), all.end(), operation) != all.end())
      least = std::min(least, most_within(limit, 24 * 3'600'000));
  }
  return least;
}

/// The first block of YAML in it that has a version.
std::string sample_policy(const std::string& document) {
  constexpr std::string_view fence = "```yaml\n";
  const auto begin = document.find(std::string(fence) + "policy:");
  REQUIRE(begin != std::string::npos);
  const auto from = begin + fence.size();
  return document.substr(from, document.find("```", from) - from);
}

}  // namespace

TEST_CASE("the document's sample is a policy that Gmail can be put under") {
  const auto document = read_text_file(KRUXOS_POLICIES_DIR "/../docs/policies.md");
  const auto under = under_policy(shipped("gmail").before, sample_policy(document), "gmail.yaml", PolicyOf::kOperator);
  CHECK(under.find("email.draft")->tier == Tier::kBlocked);
  CHECK(under.find("email.send")->delay_ms == 900'000);
  CHECK(within_a_day(under, "email.bulk_delete") == 2);
  CHECK(within_a_day(under, "email.reply") == 240);
}

TEST_CASE("the shipped policies tighten the shipped definitions") {
  const auto [operation, before, under] = GENERATE(table<std::string, std::int64_t, std::int64_t>({
      {"gmail email.send", 480, 60},
      {"gmail email.forward", 480, 20},
      {"gmail email.delete", 120, 30},
      {"gmail email.label", 1'000'000, 4800},
      {"slack slack.send", 720, 100},
      {"slack slack.react", 1'000'000, 1440},
  }));
  CAPTURE(operation);
  const auto service = operation.substr(0, 5);
  const auto policy = shipped(service);
  CHECK(within_a_day(policy.before, operation.substr(6)) == before);
  CHECK(within_a_day(policy.under, operation.substr(6)) == under);
}

TEST_CASE("every write of a shipped definition is limited by its shipped policy or definition") {
  const auto service = GENERATE(as<std::string>{}, "gmail", "slack");
  const auto policy = shipped(service);
  for (const auto& capability : policy.under.capabilities) {
    if (capability.kind != CapabilityKind::kWrite || capability.tier == Tier::kBlocked) continue;
    CAPTURE(capability.name);
    CHECK(within_a_day(policy.under, capability.name) < 1'000'000);
  }
}

}  // namespace KRUXOS_TEST_FILE
