#include <catch2/catch.hpp>

#include "core/policy/rules/rules_fixture.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace rules_test;

namespace {

struct OneFact final : FactSource {
  std::vector<std::string> names() const override { return {"sender_is_known"}; }
  FactAnswer ask(std::string_view, const FactQuestion&) const override { return {}; }
};

std::string refusal(const std::string& rules, const RuleSource& source = kSystemFile) {
  static const OneFact facts;
  try {
    rules_of(rules, source, &facts);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

/// A rule over mail.send with these members.
std::string with(const std::string& members) {
  return refusal("  - {name: r, capabilities: [mail.send], tier: blocked, " + members + "}\n");
}
std::string when(const std::string& condition) {
  return with("when: [" + condition + "]");
}

}  // namespace

TEST_CASE("a rule is read whole") {
  const auto rules = rules_of(R"(
  - name: outside
    capabilities: [mail.send, "mail.l*"]
    agents: [Sales-*, Bot]
    tier: approval_required
    delay_seconds: 1.5
    limit: {limit: 3, window: 1 h, on_exceed: reject}
    reason: A person looks at it.
  - {name: second, capabilities: ["*"], tier: notify}
)");
  REQUIRE(rules.size() == 2);
  const auto& rule = rules[0];
  CHECK(rule.line == 4);
  CHECK(rule.name == "outside");
  CHECK(rule.agents == std::vector<std::string>{"sales-*", "bot"});
  CHECK(rule.covers == std::vector<std::string>{"mail.label", "mail.send"});
  CHECK(rule.counts == rule.covers);
  CHECK(rule.tier == Tier::kApprovalRequired);
  CHECK(rule.delay_ms == 1500);
  CHECK_FALSE(rule.limit->escalate);
  // Every read and write, and nothing that takes back.
  CHECK(rules[1].covers ==
        std::vector<std::string>{"mail.drop", "mail.find", "mail.label", "mail.pay", "mail.post", "mail.send"});
  CHECK(rules_of("  - {name: r, capabilities: [mail.find], tier: blocked}\n", file_of("Amy")).front().agents ==
        std::vector<std::string>{"amy"});
}

TEST_CASE("how many people must accept it stands beside the tier that asks") {
  const auto rules = rules_of(
      "  - {name: r, capabilities: [mail.send], tier: approval_required, approvals: 2}\n"
      "  - {name: s, capabilities: [mail.send], tier: approval_required}\n");
  CHECK(rules[0].approvals == 2);
  CHECK_FALSE(rules[1].approvals.has_value());
  const auto rule = [](const std::string& members, const std::string& capability = "mail.send") {
    return refusal("  - {name: r, capabilities: [" + capability + "], " + members + "}\n");
  };
  CHECK(rule("tier: approval_required, approvals: 5") == "accepted");
  for (const auto* members : {"approvals: 2", "tier: blocked, approvals: 2", "tier: notify, approvals: 2",
                              "delay_seconds: 100, approvals: 2"})
    CHECK_THAT(rule(members), Catch::Contains("tier: approval_required"));
  for (const auto* number : {"1", "6", "0", "-2", "two", "2.5", "[2]", "99999999999999999999"})
    CHECK_THAT(rule(std::string("tier: approval_required, approvals: ") + number), Catch::Contains("approvals"));
  CHECK_THAT(rule("tier: approval_required, approvals: 2", "mail.find"), Catch::Contains("is of writes"));
}

TEST_CASE("a pattern covers what has everything that its conditions name") {
  const auto rules = rules_of(
      "  - {name: r, capabilities: [\"mail.*\"], tier: blocked, when: [{input: id, prefix: x}]}\n"
      "  - {name: s, capabilities: [\"*\"], limit: {limit: 1, window: 1 h, per: id}}\n");
  CHECK(rules[0].covers == std::vector<std::string>{"mail.drop", "mail.label"});
  CHECK(rules[1].counts == std::vector<std::string>{"mail.drop", "mail.label"});
}

TEST_CASE("what a rule's file may not say is refused with its place") {
  const auto [rule, why] = GENERATE(table<std::string, std::string>({
      {"{name: r, capabilities: [mail.sent], tier: blocked}",
       "system.yaml:3:30: rules[0].capabilities[0]: there is no capability \"mail.sent\" (did you mean "
       "\"mail.send\"?)."},
      {"{name: r, capabilities: [\"post.*\"], tier: blocked}", "no capability fits \"post.*\""},
      {"{name: r, capabilities: [\"m*l.send\"], tier: blocked}", "is no pattern that is read here"},
      {"{name: r, capabilities: [\"*mail*\"], tier: blocked}", "is no pattern that is read here"},
      {"{name: r, capabilities: [], tier: blocked}", "the list is empty"},
      {"{name: r, capabilities: [mail.cancel], tier: blocked}", "it takes writes back"},
      {"{capabilities: [mail.send], tier: blocked}", "name"},
      {"{name: r, tier: blocked}", "capabilities"},
      {"{name: r, capabilities: [mail.send], tier: blocked, priority: 1}", "priority"},
      {"{name: r, capabilities: [mail.send]}", "nothing follows from the rule"},
      {"{name: r, capabilities: [mail.send], tier: autonomous}", "a rule only restricts"},
      {"{name: r, capabilities: [mail.send], tier: allowed}", "tier"},
      {"{name: r, capabilities: [mail.send], delay_seconds: 0}", "delay_seconds"},
      {"{name: r, capabilities: [mail.find], expires_after: 2 h}", "\"expires_after\" is of writes"},
      {"{name: r, capabilities: [mail.send], expires_after: 30 s}", "expires_after"},
      {"{name: r, capabilities: [mail.send], expires_after: 31 d}", "expires_after"},
      {"{name: r, capabilities: [mail.send], expires_after: soon}", "expires_after"},
      {"{name: r, capabilities: [mail.find], delay_seconds: 5}", "\"delay_seconds\" is of writes"},
      {"{name: r, capabilities: [mail.find], limit: {limit: 1, window: 1 h}}", "\"limit\" is of writes"},
      {"{name: r, capabilities: [mail.send], limit: {limit: 1, window: 1 h, per: room}}", "it has no input \"room\""},
      {"{name: r, capabilities: [mail.send], limit: {limit: 1, window: 1 h, per: to}}", "says whom it reaches"},
      {"{name: r, capabilities: [mail.send], limit: {limit: 0, window: 1 h}}", "limit"},
      {"{name: r, capabilities: [mail.send], limit: {limit: 1, window: 31 d}}", "window"},
      {"{name: r, capabilities: [mail.send], tier: blocked, agents: []}", "the list is empty"},
      {"{name: r, capabilities: [mail.send], tier: blocked, agents: [\"a b\"]}", "is no agent's name"},
      {"{name: r, capabilities: [mail.send], tier: blocked, agents: [\"a*b\"]}", "is no pattern"},
  }));
  CAPTURE(rule);
  CHECK_THAT(refusal("  - " + rule + "\n"), Catch::Contains(why) && Catch::StartsWith("system.yaml:3"));
}

TEST_CASE("a condition that nothing has, or that is none, is refused") {
  const auto [condition, why] = GENERATE(table<std::string, std::string>({
      {"{input: room, equals: red}", "mail.send: it has no input \"room\"."},
      {"{input: urgent, prefix: a}", "of type Boolean, which this condition does not look at"},
      {"{input: body, is: true}", "of type String"},
      {"{input: body, minimum: 3}", "of type String"},
      {"{input: body, min_entries: 3}", "of type String"},
      {"{input: files, min_bytes: 3}", "of type Array"},
      {"{input: to, suffix: \"@x.com\"}", "says whom it reaches: use \"recipients\""},
      {"{input: body}", "one test of the input"},
      {"{input: body, prefix: a, suffix: b}", "an entry of its own"},
      {"{input: body, prefix: \"\"}", "every text begins"},
      {"{input: body, matches: a}", "matches"},
      {"{input: body, one_of: []}", "the list is empty"},
      {"{input: body, min_bytes: 0}", "min_bytes"},
      {"{input: body, min_bytes: many}", "min_bytes"},
      {"{input: \"Body!\", present: true}", "is no name of an input"},
      {"{recipients: {any_outside: [\"exa mple\"]}}", "is no domain"},
      {"{recipients: {any_outside: [\"b\\u00fccher.example\"]}}", "is no domain"},
      {"{recipients: {any_outside: [localhost]}}", "is no domain"},
      {"{recipients: {any_outside: [\"*.*.example.com\"]}}", "is no domain"},
      {"{recipients: {}}", "one of any_inside"},
      {"{recipients: {min_count: 1000}}", "min_count"},
      {"{recipients: {min_count: 1}, uploads: true}", "an entry of its own"},
      {"{recipients: {min_count: 1}, prefix: a}", "\"prefix\" is a test of an input"},
      {"{uploads: maybe}", "uploads"},
      {"{time_within: {zone: Mars/Base, weekdays: [mon]}}", "is no time zone of this system"},
      {"{time_within: {zone: \"../etc/passwd\", weekdays: [mon]}}", "is no time zone of this system"},
      {"{time_within: {weekdays: [mon]}}", "zone"},
      {"{time_within: {zone: UTC}}", "name weekdays, or a time of day"},
      {"{time_within: {zone: UTC, weekdays: [monday]}}", "weekdays"},
      {"{time_within: {zone: UTC, from: \"8:00\", to: \"09:00\"}}", "a time of day is expected"},
      {"{time_within: {zone: UTC, from: \"08:00\", to: \"24:01\"}}", "a time of day is expected"},
      {"{time_within: {zone: UTC, from: \"08:00\", to: \"08:00\"}}", "the window is empty"},
      {"{fact: sender_is_knwon}", "there is no fact \"sender_is_knwon\" (did you mean \"sender_is_known\"?)"},
      {"{after: [mail.read], within: 1 h}", "there is no read or write \"mail.read\" (did you mean"},
      {"{after: [mail.cancel], within: 1 h}", "there is no read or write \"mail.cancel\""},
      {"{after: [\"m*l.find\"], within: 1 h}", "is no pattern that is read here"},
      {"{after: [], within: 1 h}", "the list is empty"},
      {"{after: mail.find, within: 1 h}", "after"},
      {"{after: [mail.find]}", "within"},
      {"{after: [mail.find], within: 30 s}", "within"},
      {"{after: [mail.find], within: 8 d}", "within"},
      {"{after: [mail.find], within: 1 h, at_least: 0}", "at_least"},
      {"{after: [mail.find], within: 1 h, at_least: 101}", "at_least"},
      {"{after: [mail.find], within: 1 h, at_most: 100}", "at_most"},
      {"{after: [mail.find], within: 1 h, at_least: 1, at_most: 2}", "an entry of its own"},
      {"{after: [mail.find], within: 1 h, is: true}", "\"is\" is a test of an input"},
      {"{after: [mail.find], within: 1 h, fact: sender_is_known}", "an entry of its own"},
      {"{input: body, prefix: a, within: 1 h}", "\"within\" is a test of what was called"},
      {"{within: 1 h}", "one of input, recipients"},
      {"{}", "one of input, recipients"},
      {"always", "a condition is expected"},
  }));
  CAPTURE(condition);
  CHECK_THAT(when(condition), Catch::Contains(why));
}

TEST_CASE("conditions that never hold together are refused") {
  const auto [conditions, contradicts] = GENERATE(table<std::string, bool>({
      {"{input: body, min_bytes: 10}, {input: body, max_bytes: 9}", true},
      {"{input: body, min_bytes: 10}, {input: body, max_bytes: 10}", false},
      {"{input: body, present: false}, {input: body, prefix: a}", true},
      {"{input: body, equals: abc}, {input: body, prefix: b}", true},
      {"{input: body, prefix: abc}, {input: body, suffix: cd}, {input: body, max_bytes: 4}", false},
      {"{input: body, prefix: abc}, {input: body, suffix: cd}, {input: body, max_bytes: 3}", true},
      {"{input: body, one_of: [a, b]}, {input: body, none_of: [a, b, c]}", true},
      {"{input: urgent, is: true}, {input: urgent, is: false}", true},
      {"{uploads: true}, {input: files, max_entries: 0}", true},
      {"{uploads: false}, {input: files, present: true}", false},
      {"{recipients: {any_inside: [a.example]}}, {recipients: {any_outside: [a.example]}}", false},
      {"{recipients: {min_count: 1}}, {input: to, present: false}, {input: cc, present: false}", true},
      {"{time_within: {zone: UTC, weekdays: [mon]}}, {time_within: {zone: UTC, weekdays: [tue]}}", true},
      {"{time_within: {zone: UTC, weekdays: [mon]}}, {time_within: {zone: Asia/Tokyo, weekdays: [tue]}}", false},
      {"{time_within: {zone: Europe/Berlin, from: \"02:00\", to: \"03:00\"}}, {time_outside: {zone: Europe/Berlin, "
       "from: "
       "\"01:00\", to: \"04:00\"}}",
       true},
      // Both were an hour ahead of UTC in 1970, all the year.
      {"{time_within: {zone: Europe/London, from: \"17:00\", to: \"18:00\"}}, {time_outside: {zone: Europe/Berlin, "
       "from: "
       "\"08:00\", to: \"18:00\"}}",
       false},
      {"{fact: sender_is_known}, {fact: sender_is_known, is: false}", false},  // where it is not known
      {"{after: [mail.find], within: 1 h}, {after: [mail.find], within: 1 h, at_most: 0}", false},  // likewise
  }));
  CAPTURE(conditions);
  CHECK((when(conditions).find("never hold together") != std::string::npos) == contradicts);
}

TEST_CASE("names are a file's own, and an agent's file is for nobody else") {
  const std::string one = "  - {name: r, capabilities: [mail.send], tier: blocked}\n";
  CHECK_THAT(refusal(one + one), Catch::Contains("the file has a rule \"r\" already"));
  CHECK_THAT(refusal("  - {name: r, capabilities: [mail.send], tier: blocked, agents: [amy]}\n", file_of("bob")),
             Catch::Contains("are the agent bob's alone"));
  CHECK_THROWS_WITH(parse_rules("policy: 2\nrules: []\n", kSystemFile, {mail_definitions(), nullptr}),
                    Catch::Contains("reads policies of version 1"));
  CHECK_THROWS_WITH(parse_rules("rules: []\n", kSystemFile, {mail_definitions(), nullptr}), Catch::Contains("policy"));
  CHECK_THROWS_WITH(parse_rules("policy: 1\nrules: {}\n", kSystemFile, {mail_definitions(), nullptr}),
                    Catch::Contains("rules"));
  CHECK_THROWS_AS(parse_rules("", kSystemFile, {mail_definitions(), nullptr}), ConfigError);
}

}  // namespace KRUXOS_TEST_FILE
