#include "core/policy/rules/rule_book.hpp"

#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <fstream>

#include "core/policy/policy_files.hpp"
#include "core/policy/rules/rules_fixture.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace rules_test;

namespace {

const std::string kBlockSend = "policy: 1\nrules:\n  - {name: r, capabilities: [mail.send], tier: blocked}\n";
const std::string kAskSend = "policy: 1\nrules:\n  - {name: r, capabilities: [mail.send], tier: approval_required}\n";

/// A directory of policies, with modes that do not depend on who runs this.
struct Policies {
  support::Scratch scratch;
  const std::filesystem::path rules = scratch.path() / "rules";
  const RuleSubjects subjects{mail_definitions(), nullptr};

  Policies() {
    for (const auto& directory : {scratch.path(), rules, rules / "agents"}) {
      std::filesystem::create_directories(directory);
      ::chmod(directory.c_str(), 0755);
    }
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(rules / name) << text;
    ::chmod((rules / name).c_str(), 0644);
  }
  static Tier tier(const RuleBook& book, const std::string& agent, const std::string& capability = "mail.send") {
    return decide(*book.current(), capability, "{}", agent).tier;
  }
};

}  // namespace

TEST_CASE("three files, or none, are read") {
  const Policies policies;
  CHECK(RuleBook("").current()->empty());
  CHECK(RuleBook(policies.scratch.path() / "nothing").problems().empty());
  policies.write("system.yaml", kAskSend);
  policies.write("organisation.yaml", "policy: 1\nrules: []\n");
  policies.write("agents/Amy.yaml", kBlockSend);
  policies.write("agents/README.md", "These are the agents'.");
  policies.write("agents/old", "x");
  policies.write("team.yaml", kBlockSend);
  const RuleBook book(policies.scratch.path(), policies.subjects);
  CHECK(Policies::tier(book, "bob") == Tier::kApprovalRequired);
  CHECK(Policies::tier(book, "AMY") == Tier::kBlocked);
  CHECK(Policies::tier(book, "amy", "mail.find") == Tier::kAutonomous);
  REQUIRE(book.problems().size() == 2);  // what is no file of rules acts on nothing
  CHECK_THAT(book.problems()[0].reason, Catch::Contains("team.yaml: no rules are read from it"));
  CHECK_FALSE(book.problems()[1].refuses);
  // Neither is a service's policy for lying there.
  CHECK(PolicyFiles(policies.scratch.path()).unused().empty());
}

TEST_CASE("a broken file blocks at the start what it covers, and later leaves the rules before") {
  const Policies policies;
  policies.write("agents/amy.yaml", "policy: 1\nrules: [{name: r}]\n");
  RuleBook book(policies.scratch.path(), policies.subjects);
  REQUIRE(book.problems().size() == 1);
  CHECK_THAT(book.problems()[0].reason, Catch::Contains("agents/amy.yaml:2:"));
  CHECK(Policies::tier(book, "amy") == Tier::kBlocked);
  CHECK(Policies::tier(book, "amy", "mail.find") == Tier::kBlocked);
  CHECK(Policies::tier(book, "bob") == Tier::kAutonomous);
  CHECK(book.current()->rules().front().unreadable);
  // What can be read is named, since a person may let through what nobody can read.
  policies.write("agents/amy.yaml", kBlockSend);
  policies.write("system.yaml", "policy: 1\nrules: [{name: r}]\n");
  const RuleBook both(policies.scratch.path(), policies.subjects);
  const JsonDocument nothing(rapidjson::kObjectType);
  const auto* send = policies.subjects.definitions.front()->find("mail.send");
  REQUIRE(send);
  const auto decision = both.current()->compiled("amy", "mail.send").decide({"amy", *send, nothing, 0, nullptr});
  CHECK_FALSE(decision.tier_rule->unreadable);
  std::filesystem::remove(policies.rules / "system.yaml");

  policies.write("agents/amy.yaml", kAskSend);
  policies.write("system.yaml", kBlockSend);
  book.reload(policies.subjects);
  CHECK(book.problems().empty());
  CHECK(Policies::tier(book, "amy", "mail.find") == Tier::kAutonomous);
  CHECK(Policies::tier(book, "bob") == Tier::kBlocked);

  policies.write("system.yaml", "rules: oops");
  book.reload(policies.subjects);
  CHECK(book.problems().size() == 1);
  CHECK(Policies::tier(book, "bob") == Tier::kBlocked);

  std::filesystem::remove(policies.rules / "system.yaml");
  book.reload(policies.subjects);
  REQUIRE(book.problems().size() == 1);
  CHECK_THAT(book.problems()[0].reason, Catch::Contains("the file is gone"));
  CHECK(Policies::tier(book, "bob") == Tier::kAutonomous);
}

TEST_CASE("a definition that has changed may make rules unreadable") {
  const Policies policies;
  policies.write("system.yaml", kBlockSend);
  RuleBook book(policies.scratch.path(), policies.subjects);
  book.reload({});
  CHECK_THAT(book.problems().front().reason, Catch::Contains("there is no capability \"mail.send\""));
  CHECK(Policies::tier(book, "bob") == Tier::kBlocked);
}

TEST_CASE("the name of an agent's file is one agent's, and no pattern") {
  const auto name = GENERATE(as<std::string>{}, "sales-*", "*", "sales amy", "*-bot", "\xC3\xA9mile", "-amy",
                             std::string(65, 'a'), "agent_0192f0c1-6bf8-7000-8000-000000000000");
  CAPTURE(name);
  const Policies policies;
  policies.write("agents/" + name + ".yaml", kBlockSend);
  policies.write("agents/A.my_1-x.yaml", kBlockSend);
  RuleBook book(policies.scratch.path(), policies.subjects);
  for (const bool again : {false, true}) {
    if (again) book.reload(policies.subjects);
    REQUIRE(book.problems().size() == 1);
    CHECK(book.problems()[0].refuses);
    CHECK_THAT(book.problems()[0].reason, Catch::Contains((policies.rules / "agents" / name).string() + ".yaml: ") &&
                                              Catch::Contains("no agent has such a name"));
    CHECK(Policies::tier(book, "a.MY_1-x") == Tier::kBlocked);
    for (const char* agent : {"sales-bot", "sales amy", "bob"}) CHECK(Policies::tier(book, agent) == Tier::kAutonomous);
  }
}

TEST_CASE("rules that stay in force are about what has come meanwhile too") {
  const Policies policies;
  policies.write("system.yaml", R"(policy: 1
rules:
  - {name: all, capabilities: ["mail.*"], tier: approval_required, limit: {limit: 3, window: 1 h}}
  - {name: long, capabilities: ["mail.*"], tier: blocked, when: [{input: body, min_bytes: 9}]}
)");
  RuleBook book(policies.scratch.path(), policies.subjects);
  const auto definition = parse_definition(
      std::string(kMailDefinition) +
          "  - {name: mail.move, kind: write, tier: notify, purpose: Move., when_to_use: Seldom., delay: 1 h}\n",
      "mail.yaml");
  const RuleSubjects more{{std::make_shared<const ServiceDefinition>(definition)}, nullptr};
  SECTION("where the file is broken") {
    policies.write("system.yaml", "rules: oops");
  }
  SECTION("where others could write the directory") {
    ::chmod(policies.rules.c_str(), 0777);
  }
  book.reload(more);
  REQUIRE(book.problems().size() == 1);
  const auto& about = book.current()->compiled("bob", "mail.move").rules();
  REQUIRE(about.size() == 1);  // it has no body
  CHECK(about[0]->name == "all");
  CHECK(about[0]->counts ==
        std::vector<std::string>{"mail.drop", "mail.label", "mail.move", "mail.pay", "mail.post", "mail.send"});
  // What was covered is so still, though nothing of that name is left.
  book.reload({});
  CHECK(book.current()->compiled("bob", "mail.send").rules().size() == 2);
}

TEST_CASE("rules that others could write are not taken") {
  const Policies policies;
  policies.write("system.yaml", kBlockSend);
  RuleBook before(policies.scratch.path(), policies.subjects);
  policies.write("system.yaml", "policy: 1\nrules:\n  - {name: r, capabilities: [mail.find], tier: blocked}\n");
  const auto path = GENERATE(as<std::string>{}, "", "agents", "system.yaml");
  ::chmod((policies.rules / path).c_str(), path.find('.') == std::string::npos ? 0777 : 0666);
  const RuleBook book(policies.scratch.path(), policies.subjects);
  REQUIRE(book.problems().size() == 1);
  CHECK(book.problems()[0].refuses);
  CHECK(Policies::tier(book, "anybody", "mail.post") == Tier::kBlocked);
  before.reload(policies.subjects);
  REQUIRE(before.problems().size() == 1);
  CHECK(before.problems()[0].refuses);
  CHECK(Policies::tier(before, "anybody") == Tier::kBlocked);
  CHECK(Policies::tier(before, "anybody", "mail.find") == Tier::kAutonomous);
}

}  // namespace KRUXOS_TEST_FILE
