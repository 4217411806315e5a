// The templates and the document's sample are rules that the shipped definitions can be put under.
#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/policy/analysis/rule_analysis.hpp"
#include "core/policy/definition_set.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/policy/rules/rule_book.hpp"
#include "core/util/yaml_tree.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kNow = 1'764'072'000'000;

/// Copies, as an operator would make them: the checkout's modes are whatever its owner's umask made them.
struct Copies {
  support::Scratch scratch;

  fs::path directory(const std::string& name) const {
    fs::create_directories(scratch.path() / name);
    for (auto at = scratch.path() / name; at != scratch.path().parent_path(); at = at.parent_path())
      ::chmod(at.c_str(), 0755);
    return scratch.path() / name;
  }
  void copy(const fs::path& from, const std::string& to) const {
    const auto into = directory(to);
    for (const auto& entry : fs::directory_iterator(from)) {
      if (entry.path().extension() == ".yaml") support::copy_safe(entry.path(), into / entry.path().filename());
    }
  }
};

struct Shipment : Copies {
  Shipment() {
    copy(KRUXOS_DEFINITIONS_DIR, "definitions");
    copy(KRUXOS_POLICIES_DIR, "policies");
  }
  std::vector<std::shared_ptr<const ServiceDefinition>> definitions() const {
    return DefinitionSet(scratch.path() / "definitions", scratch.path() / "policies").all();
  }
};

std::vector<std::string> templates() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(KRUXOS_POLICIES_DIR "/templates"))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("each template is in force as it is copied, and each of its rules matters") {
  REQUIRE(templates().size() == 3);
  const Shipment shipment;
  for (const auto& name : templates()) {
    CAPTURE(name);
    const auto into = "policies-" + name;
    shipment.copy(fs::path(KRUXOS_POLICIES_DIR) / "templates" / name / "rules", into + "/rules");
    const RuleBook book(shipment.scratch.path() / into, {shipment.definitions(), &unanswered_facts()});
    for (const auto& problem : book.problems()) FAIL_CHECK(problem.reason);
    const auto rules = book.current();
    CHECK(rules->rules().size() >= 3);
    for (const auto& idle : idle_rules(*rules, shipment.definitions(), kNow)) FAIL_CHECK(idle.rule->name);
    const RuleSet none;
    const auto definitions = shipment.definitions();
    CHECK(loosened({none, definitions}, {*rules, definitions}, kNow).empty());
    CHECK_FALSE(loosened({*rules, definitions}, {none, definitions}, kNow).empty());
  }
}

TEST_CASE("the restrictive template lets files out to nobody, and nothing at night") {
  const Shipment shipment;
  shipment.copy(KRUXOS_POLICIES_DIR "/templates/enterprise-restrictive/rules", "own/rules");
  const RuleBook book(shipment.scratch.path() / "own", {shipment.definitions(), &unanswered_facts()});
  const auto definitions = shipment.definitions();
  const auto tier = [&](const std::string& name, const char* arguments, std::int64_t at_ms) {
    for (const auto& definition : definitions) {
      const auto* capability = definition->find(name);
      if (!capability) continue;
      const auto params = parse_json(arguments, "the arguments");
      return book.current()->compiled("bot", name).decide({"bot", *capability, params, at_ms, nullptr}).tier;
    }
    return Tier::kAutonomous;
  };
  CHECK(tier("email.send", R"({"to":"a@example.org","attachments":["up_1"]})", kNow) == Tier::kBlocked);
  CHECK(tier("email.send", R"({"to":"a@mail.example.com","attachments":["up_1"]})", kNow) == Tier::kApprovalRequired);
  CHECK(tier("email.search", "{}", kNow) == Tier::kAutonomous);
  CHECK(tier("email.search", "{}", kNow + 12 * 3'600'000) == Tier::kBlocked);
}

TEST_CASE("the document's rules can be read") {
  const auto document = read_text_file(KRUXOS_POLICIES_DIR "/../docs/policies.md");
  const auto begin = document.find("```yaml\npolicy: 1\nrules:");
  REQUIRE(begin != std::string::npos);
  const auto from = begin + 8;
  const auto text = document.substr(from, document.find("```", from) - from);
  const Shipment shipment;
  const auto rules =
      parse_rules(text, {"policies.md", RuleLayer::kSystem, {}}, {shipment.definitions(), &unanswered_facts()});
  CHECK(rules.size() == 3);
  CHECK(rules[2].covers == std::vector<std::string>{"email.send"});
}

}  // namespace KRUXOS_TEST_FILE
