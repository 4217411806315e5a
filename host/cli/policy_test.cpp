// kruxos policy: over directories, without a host.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "core/util/json.hpp"
#include "host/cli/command_line.hpp"
#include "host/cli/fake_console.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const char* const kDefinition = R"(schema: 1
service: notes
display_name: Notes
description: Notes.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://notes.example/
limits: [{operations: [notes.add], limit: 10, window: 1 h}]
capabilities:
  - {name: notes.find, kind: read, tier: autonomous, purpose: Find., when_to_use: Often., inputs: [{name: query, type: String, description: Q.}]}
  - {name: notes.add, kind: write, tier: notify, purpose: Add., when_to_use: Often., delay: 30 s, recipients: [whom, added],
     counts_as: [{input: title, holds: [drop], capability: notes.drop}],
     inputs: [{name: title, type: String, description: T., required: true}, {name: whom, type: String, description: W.}]}
  - {name: notes.drop, kind: write, tier: approval_required, purpose: Drop., when_to_use: Seldom., delay: 1 h}
)";

struct Directories {
  support::Scratch scratch;
  test::FakeConsole console;

  Directories() {
    put("definitions/notes.yaml", kDefinition);
    put("old/rules/system.yaml", R"(policy: 1
rules:
  - {name: outside, capabilities: [notes.add], tier: approval_required, when: [{recipients: {any_outside: [x.org]}}], reason: It leaves the house.}
  - {name: secrets, capabilities: ["notes.*"], agents: [sales-*], tier: blocked, when: [{time_within: {zone: UTC, weekdays: [sat, sun]}}]}
)");
  }
  void put(const std::string& name, const std::string& text) const {
    const auto file = scratch.path() / name;
    fs::create_directories(file.parent_path());
    for (auto at = file.parent_path(); at != scratch.path().parent_path(); at = at.parent_path())
      ::chmod(at.c_str(), 0755);
    support::write_safe(file, text);
  }
  std::string at(const std::string& name) const { return (scratch.path() / name).string(); }
  int run(std::vector<std::string> arguments) {
    console.out_text.str("");
    console.err_text.str("");
    arguments.insert(arguments.begin(), {"--data-dir", scratch.path().string(), "policy"});
    arguments.insert(arguments.end(), {"--definitions", at("definitions")});
    return cli::run_command(arguments, console, {});
  }
  std::string out() const { return console.out_text.str(); }
  std::string err() const { return console.err_text.str(); }
  JsonDocument json() const { return parse_json(out(), "the output"); }
};

}  // namespace

TEST_CASE("a directory of policies is validated and shown") {
  Directories d;
  CHECK(d.run({"validate", d.at("old")}) == 0);
  CHECK_THAT(d.out(), Contains("valid, 2 rules."));
  CHECK(d.run({"show", "--policies", d.at("old"), "--agent", "bob"}) == 0);
  CHECK_THAT(d.out(), Contains("outside") && Contains("system.yaml:3") && Contains("a recipient is outside x.org") &&
                          !Contains("secrets"));
  CHECK(d.run({"show", "--policies", d.at("old"), "--json"}) == 0);
  CHECK(d.json()["rules"].Size() == 2);
  d.put("bad/rules/agents/amy.yaml", "policy: 1\nrules:\n  - {name: r, capabilities: [notes.ad], tier: blocked}\n");
  CHECK(d.run({"validate", d.at("bad")}) == 1);
  CHECK_THAT(d.out(), Contains("amy.yaml:3:") && Contains("did you mean \"notes.add\"?"));
  CHECK(d.run({"validate", d.at("bad"), "--json"}) == 1);
  CHECK_FALSE(d.json()["valid"].GetBool());
  CHECK(d.run({"show", "--policies", d.at("bad")}) == 1);
  d.put("limited/rules/system.yaml",
        "policy: 1\nrules:\n  - {name: few, capabilities: [\"notes.*\"], limit: {limit: 3, window: 1 h, per: title, "
        "on_exceed: reject}}\n");
  CHECK(d.run({"show", "--policies", d.at("limited"), "--json"}) == 0);
  CHECK(std::string(d.json()["rules"][0]["demands"].GetString()) == "3 of notes.add in 1 h per title, else refused");
  for (const auto* many : {"2", "3"})
    d.put(std::string("people") + many + "/rules/system.yaml",
          std::string("policy: 1\nrules:\n  - {name: board, capabilities: [notes.add], tier: approval_required, "
                      "approvals: ") +
              many + "}\n");
  CHECK(d.run({"show", "--policies", d.at("people2")}) == 0);
  CHECK_THAT(d.out(), Contains("approval_required, by the approval of 2 people"));
  CHECK(d.run({"check", "notes.add", "--policies", d.at("people2"), "--agent", "amy", "--arguments",
               R"({"title":"a"})"}) == 0);
  CHECK_THAT(d.out(), Contains("approvals") && Contains("2 by"));
  CHECK(d.run({"analyze", "--old", d.at("people2"), "--new", d.at("people3")}) == 0);
  CHECK(d.run({"analyze", "--old", d.at("people3"), "--new", d.at("people2")}) == 1);
  CHECK_THAT(d.out(), Contains("number of approvals is loosened") && Contains("the approval of 3 people"));
  d.put("pattern/rules/agents/sales-*.yaml", "policy: 1\nrules: []\n");
  CHECK(d.run({"validate", d.at("pattern")}) == 1);
  CHECK_THAT(d.out(), Contains("sales-*.yaml: no rules are read from it, since no agent has such a name"));
  CHECK(d.run({"validate", d.at("nowhere")}) == 2);
  CHECK_THAT(d.err(), Contains("is no directory of policies"));
}

TEST_CASE("a call is checked, and each part of the decision has its rule") {
  Directories d;
  const auto check = [&](const std::string& capability, const std::string& arguments,
                         std::vector<std::string> more = {}) {
    std::vector<std::string> all{"check",   capability,  "--policies",  d.at("old"),
                                 "--agent", "sales-amy", "--arguments", arguments};
    all.insert(all.end(), more.begin(), more.end());
    return d.run(all);
  };
  CHECK(check("notes.add", R"({"title":"a","whom":"b@y.org"})", {"--at", "2026-11-25T10:00:00Z"}) == 0);
  CHECK_THAT(d.out(), Contains("approval_required by " + d.at("old/rules/system.yaml") + ":3 (outside)") &&
                          Contains("It leaves the house.") && Contains("30 s by the definition") &&
                          Contains("10 of notes.add in 1 h"));
  CHECK(check("notes.add", R"({"title":"a","added":"b@x.org"})", {"--at", "2026-11-28T10:00:00Z", "--json"}) == 0);
  CHECK(std::string(d.json()["parts"][0]["rule"].GetString()) == "secrets");
  CHECK(d.json()["parts"][0]["line"].GetInt() == 4);
  CHECK(check("notes.add", R"({"title":"drop"})", {"--at", "2026-11-25T10:00:00Z"}) == 0);
  CHECK_THAT(d.out(), Contains("notes.drop") && Contains("approval_required by the definition") && Contains("1 h"));
  CHECK(check("notes.find", "{}", {"--at", "2026-11-25T10:00:00Z"}) == 0);
  CHECK_THAT(d.out(), Contains("autonomous") && !Contains("delay"));
  CHECK(check("notes.fid", "{}") == 4);
  CHECK(check("notes.add", R"({"title":7})") == 1);
  CHECK(check("notes.add", "[]") == 1);
  CHECK(check("notes.add", R"({"title":"a"})", {"--at", "tomorrow"}) == 1);
}

TEST_CASE("a change is compared, and rules that do nothing are named") {
  Directories d;
  CHECK(d.run({"analyze", d.at("old")}) == 0);
  CHECK_THAT(d.out(), Contains("Each of the 2 rules matters."));
  d.put("new/rules/system.yaml", R"(policy: 1
rules:
  - {name: outside, capabilities: [notes.add], tier: approval_required, when: [{recipients: {any_outside: [x.org, "*.x.org"]}}]}
  - {name: again, capabilities: [notes.add], tier: notify, when: [{recipients: {any_outside: [x.org, y.org, "*.x.org"]}}]}
  - {name: secrets, capabilities: ["notes.*"], agents: [sales-*], tier: blocked, when: [{time_within: {zone: UTC, weekdays: [sat, sun]}}]}
)");
  CHECK(d.run({"analyze", d.at("new")}) == 1);
  CHECK_THAT(d.out(),
             Contains("system.yaml:4: the rule \"again\" is needless") && Contains("system.yaml:3 (\"outside\")"));
  CHECK(d.run({"analyze", "--old", d.at("old"), "--new", d.at("new")}) == 1);
  CHECK_THAT(d.out(),
             Contains("notes.add") && Contains("a@other.x.org") && Contains("approval_required by " + d.at("old")));
  CHECK(d.run({"analyze", "--old", d.at("new"), "--new", d.at("old")}) == 0);
  CHECK_THAT(d.out(), Contains("permits nothing that the old one held"));
  CHECK(d.run({"analyze", "--old", d.at("old"), "--new", d.at("new"), "--json"}) == 1);
  CHECK(d.json()["loosened"][0]["arguments"].IsObject());
  CHECK(d.run({"analyze", "--old", d.at("old")}) == 2);
  // A service's policy that opens what the definition held.
  d.put("open/notes.yaml", "policy: 1\nservice: notes\ncapabilities: {notes.drop: {tier: notify}}\n");
  d.put("shut/notes.yaml", "policy: 1\nservice: notes\ncapabilities: {notes.find: {tier: blocked}}\n");
  CHECK(d.run({"analyze", "--old", d.at("shut"), "--new", d.at("open"), "--json"}) == 1);
  CHECK(d.json()["loosened"].Size() == 2);
}

}  // namespace KRUXOS_TEST_FILE
