#include <catch2/catch.hpp>

#include "core/policy/rules/recipients.hpp"
#include "core/policy/rules/rules_fixture.hpp"
#include "core/util/durations.hpp"
#include "core/util/text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace rules_test;

namespace {

RuleSet when(const std::string& condition, const std::string& capability = "mail.send",
             const FactSource* facts = nullptr) {
  return set_of("  - {name: r, capabilities: [" + capability + "], tier: blocked, when: [" + condition + "]}\n", facts);
}

std::string to(const std::string& text) {
  return "{\"to\":" + json_string(text) + "}";
}

bool reaches(const std::string& condition, const std::string& recipients) {
  return blocks(when("{recipients: {" + condition + "}}"), "mail.send", to(recipients));
}

}  // namespace

TEST_CASE("conditions of inputs") {
  const auto [condition, params, holds] = GENERATE(table<std::string, std::string, bool>({
      {"{input: body, present: true}", R"({"body":""})", true},
      {"{input: body, present: true}", R"({"body":null})", false},
      {"{input: body, present: false}", R"({})", true},
      {"{input: body, min_bytes: 4}", R"({"body":"\u00e9\u00e9"})", true},
      {"{input: body, min_bytes: 5}", R"({"body":"\u00e9\u00e9"})", false},
      {"{input: body, max_bytes: 4}", R"({})", true},
      {"{input: body, equals: a}", R"({"body":"a"})", true},
      {"{input: body, equals: a}", R"({"body":"A"})", false},
      {"{input: body, one_of: [b, a]}", R"({"body":"a"})", true},
      {"{input: body, one_of: [b, a]}", R"({})", false},
      {"{input: body, none_of: [b, a]}", R"({"body":"c"})", true},
      {"{input: body, none_of: [b, a]}", R"({"body":"a"})", false},
      {"{input: body, none_of: [b, a]}", R"({})", true},
      {"{input: body, prefix: ab}", R"({"body":"abc"})", true},
      {"{input: body, suffix: bc}", R"({"body":"abc"})", true},
      {"{input: body, suffix: bc}", R"({"body":"c"})", false},
      {"{input: urgent, is: true}", R"({"urgent":true})", true},
      {"{input: urgent, is: true}", R"({})", false},
      {"{input: urgent, is: false}", R"({})", true},
      {"{input: files, min_entries: 2}", R"({"files":["a","b"]})", true},
      {"{input: files, max_entries: 1}", R"({"files":["a","b"]})", false},
      {"{input: files, suffix: .exe}", R"({"files":["a.txt","b.exe"]})", true},
      {"{input: files, none_of: [a]}", R"({"files":["a"]})", false},
      {"{input: files, none_of: [a]}", R"({"files":["a","b"]})", true},
      {"{uploads: true}", R"({"files":["a"]})", true},
      {"{uploads: true}", R"({"files":[]})", false},
      {"{uploads: false}", R"({})", true},
      {"{fact: x}, {input: urgent, is: true}", R"({"urgent":true})", true},  // not known counts as yes
      // What is not of its input's type cannot be told: it holds.
      {"{input: body, prefix: ab}", R"({"body":7})", true},
      {"{input: body, max_bytes: 1}", R"({"body":["long"]})", true},
      {"{input: urgent, is: true}", R"({"urgent":"no"})", true},
      {"{input: files, suffix: .exe}", R"({"files":[7]})", true},
  }));
  CAPTURE(condition, params);
  struct Facts final : FactSource {
    std::vector<std::string> names() const override { return {"x"}; }
    FactAnswer ask(std::string_view, const FactQuestion&) const override { return {}; }
  } facts;
  CHECK(blocks(when(condition, "mail.send", &facts), "mail.send", params) == holds);
}

TEST_CASE("numbers are bounded both ways") {
  const auto set = when("{input: count, minimum: 10}, {input: count, maximum: 20}", "mail.find");
  for (const auto& [count, holds] : std::vector<std::pair<std::string, bool>>{{"9", false},
                                                                              {"10", true},
                                                                              {"20", true},
                                                                              {"21", false},
                                                                              {"10.5", true},
                                                                              {"1e300", false},
                                                                              {"\"x\"", true}}) {
    CAPTURE(count);
    CHECK(blocks(set, "mail.find", "{\"count\":" + count + "}") == holds);
  }
  CHECK_FALSE(blocks(set, "mail.find", "{}"));
}

TEST_CASE("recipients are inside or outside by their domains") {
  const std::string ours = "[example.com, \"*.example.com\"]";
  const auto [recipients, inside, outside] = GENERATE(table<std::string, bool, bool>({
      {"amy@example.com", true, false},
      {"Amy <amy@EXAMPLE.com>", true, false},
      {"\"Lee, Amy\" <amy@mail.example.com>", true, false},
      {"amy@example.com, bob@other.org", true, true},
      {"amy@notexample.com", false, true},
      {"amy@example.com.evil.org", false, true},
      {"amy@example.com <bob@other.org>", false, true},
      {"\"amy@example.com\" <bob@other.org>", false, true},
      // What is read in more than one way counts as either.
      {"amy", true, true},
      {"amy@localhost", true, true},
      {"amy@example.com (see bob@other.org)", true, true},
      {"friends: amy@example.com;", true, true},
      {"\"amy\"@example.com", true, true},
      {"amy@b\xC3\xBC"
       "cher.example",
       true, true},
      {"<amy@example.com> bob@other.org", true, true},
      {"<a@example.com> <b@example.com>", true, true},
      {"amy@example.com, \"", true, true},
      {"amy@exa\tmple.com", true, true},
      {",", true, true},
      {"", false, false},
      {"  ", false, false},
  }));
  CAPTURE(recipients);
  CHECK(reaches("any_inside: " + ours, recipients) == inside);
  CHECK(reaches("any_outside: " + ours, recipients) == outside);
}

TEST_CASE("recipients that are no addresses are asked for to the letter") {
  const auto set = when("{input: payee, none_of: [CH93, GB29]}", "mail.pay");
  CHECK_FALSE(blocks(set, "mail.pay", R"({"payee":"CH93"})"));
  CHECK(blocks(set, "mail.pay", R"({"payee":"CH 93"})"));
  CHECK(blocks(set, "mail.pay", R"({"payee":"DE89"})"));
  CHECK_THROWS_WITH(when("{recipients: {any_outside: [a.example]}}", "mail.pay"),
                    Catch::Contains("ask for them by \"input\""));
  CHECK_THROWS_WITH(when("{recipients: {min_count: 2}}", "mail.pay"), Catch::Contains("are no mail addresses"));
}

TEST_CASE("recipients of all parameters are counted") {
  const auto set = when("{recipients: {min_count: 3}}");
  CHECK(blocks(set, "mail.send", R"({"to":"a@x.org, b@x.org","cc":"c@x.org"})"));
  CHECK(blocks(set, "mail.send", R"({"to":["a@x.org","b@x.org","c@x.org"]})"));
  CHECK_FALSE(blocks(set, "mail.send", R"({"to":"a@x.org, \"b, c\" <b@x.org>"})"));
}

TEST_CASE("times are those of the zone") {
  const auto hours =
      when("{time_within: {zone: Europe/Berlin, weekdays: [mon, tue, wed, thu, fri], from: \"08:00\", to: \"18:00\"}}");
  const auto at = [&](const RuleSet& set, const char* time) {
    return blocks(set, "mail.send", "{}", "bot", parse_time(time, "a time"));
  };
  CHECK(at(hours, "2026-01-12T07:00:00Z"));  // a Monday, in winter
  CHECK_FALSE(at(hours, "2026-01-12T06:59:59Z"));
  CHECK(at(hours, "2026-07-13T06:00:00Z"));  // in summer
  CHECK_FALSE(at(hours, "2026-07-13T16:00:00Z"));
  CHECK_FALSE(at(hours, "2026-01-11T10:00:00Z"));  // a Sunday
  // In the night after the clocks went forward 02:30 there is none.
  const auto gap = when("{time_within: {zone: Europe/Berlin, weekdays: [sun], from: \"02:00\", to: \"03:00\"}}");
  CHECK_FALSE(at(gap, "2026-03-29T01:30:00Z"));
  CHECK(at(gap, "2026-10-25T01:30:00Z"));
  CHECK(at(gap, "2026-10-25T00:30:00Z"));  // twice, when they go back
  SECTION("over midnight, by the day on which it began") {
    const auto night = when("{time_within: {zone: UTC, weekdays: [fri], from: \"22:00\", to: \"06:00\"}}");
    CHECK(at(night, "2026-01-16T23:00:00Z"));
    CHECK(at(night, "2026-01-17T05:59:00Z"));
    CHECK_FALSE(at(night, "2026-01-16T05:00:00Z"));
    CHECK_FALSE(at(night, "2026-01-17T22:30:00Z"));
  }
  SECTION("outside") {
    const auto outside = when("{time_outside: {zone: America/New_York, from: \"09:00\", to: \"24:00\"}}");
    CHECK(at(outside, "2026-01-12T13:59:00Z"));
    CHECK_FALSE(at(outside, "2026-01-12T14:00:00Z"));
  }
}

TEST_CASE("facts are yes, no or not known, which counts as yes") {
  struct Facts final : FactSource {
    Truth truth;
    explicit Facts(Truth t) : truth(t) {}
    std::vector<std::string> names() const override { return {"known_sender"}; }
    FactAnswer ask(std::string_view fact, const FactQuestion& question) const override {
      CHECK(fact == "known_sender");
      CHECK(question.capability.name == "mail.send");
      CHECK(question.agent == "bot");
      return {truth, {}};
    }
  };
  const auto [truth, is, is_not] = GENERATE(table<Truth, bool, bool>(
      {{Truth::kYes, true, false}, {Truth::kNo, false, true}, {Truth::kNotKnown, true, true}}));
  const Facts facts(truth);
  const auto blocked = [&](const std::string& condition) {
    return decide(when(condition, "mail.send", &facts), "mail.send", "{}", "bot", kTuesdayNoon, &facts).tier ==
           Tier::kBlocked;
  };
  CHECK(blocked("{fact: known_sender}") == is);
  CHECK(blocked("{fact: known_sender, is: false}") == is_not);
}

TEST_CASE("what an agent has called is counted, and not known counts as called and as not called") {
  struct Calls final : FactSource {
    std::vector<std::string> names() const override { return {}; }
    FactAnswer ask(std::string_view, const FactQuestion&) const override { return {}; }
    FactAnswer has_called(const RuleCondition& asked, const FactQuestion&) const override {
      CHECK(asked.texts == std::vector<std::string>{"*.send", "mail.find"});
      CHECK(asked.window_ms == 3'600'000);
      if (count < 0) return {};
      return {count >= asked.number ? Truth::kYes : Truth::kNo, "evidence"};
    }
    int count = 0;
  } calls;
  const auto blocked = [&](const std::string& test) {
    const auto set = when("{after: [mail.find, \"*.send\"], within: 1 h" + test + "}", "mail.send", &calls);
    CHECK(set.ask_when_called("mail.find"));
    CHECK(set.ask_when_called("chat.send"));
    CHECK_FALSE(set.ask_when_called("mail.drop"));
    return decide(set, "mail.send", "{}", "bot", kTuesdayNoon, &calls).tier == Tier::kBlocked;
  };
  const auto [count, once, thrice, at_most_two, never] = GENERATE(table<int, bool, bool, bool, bool>({
      {0, false, false, true, true},
      {1, true, false, true, false},
      {2, true, false, true, false},
      {3, true, true, false, false},
      {-1, true, true, true, true},
  }));
  CAPTURE(count);
  calls.count = count;
  CHECK(blocked("") == once);
  CHECK(blocked(", at_least: 3") == thrice);
  CHECK(blocked(", at_most: 2") == at_most_two);
  CHECK(blocked(", at_most: 0") == never);
}

TEST_CASE("the strictest of all that match decides, whatever their order and layer") {
  auto all = rules_of(R"(
  - {name: slow, capabilities: [mail.send], delay_seconds: 600}
  - {name: big, capabilities: [mail.send], tier: approval_required, when: [{input: body, min_bytes: 3}]}
)");
  const auto organisation = rules_of(R"(
  - {name: slower, capabilities: ["mail.*"], delay_seconds: 900, when: [{input: body, prefix: a}]}
  - {name: few, capabilities: [mail.send], limit: {limit: 2, window: 1 h}}
  - {name: same, capabilities: [mail.send], tier: approval_required}
)",
                                     kOrganisationFile);
  const auto own =
      rules_of("  - {name: loose, capabilities: [mail.send], tier: notify, delay_seconds: 1}\n", file_of("bot"));
  all.insert(all.begin(), organisation.begin(), organisation.end());
  all.insert(all.begin(), own.begin(), own.end());
  const RuleSet set(std::move(all));
  const auto found = decide(set, "mail.send", R"({"body":"abc"})", "BOT");
  CHECK(found.tier == Tier::kApprovalRequired);
  CHECK(found.tier_rule->name == "big");  // of those that say the same the first layer's
  CHECK(found.delay_ms == 900'000);
  CHECK(found.delay_rule->file == "organisation.yaml");
  REQUIRE(found.limits.size() == 1);
  CHECK(found.limits[0]->name == "few");
  const auto other = decide(set, "mail.send", R"({"body":"b"})", "other");
  CHECK(other.tier_rule->name == "same");
  CHECK(other.delay_rule->name == "slow");
  CHECK(set.compiled("other", "mail.send").always().tier == Tier::kApprovalRequired);
  CHECK(set.compiled("other", "mail.find").empty());
  const auto document = parse_json(R"({"body":"abc"})", "p");
  CHECK(set.compiled("bot", "mail.send").matching({"bot", mail("mail.send"), document, kTuesdayNoon, nullptr}).size() ==
        6);
}

TEST_CASE("of the times for an approval the shortest counts, whatever the rules demand besides") {
  const auto set = set_of(R"(
  - {name: day, capabilities: [mail.send], expires_after: 24 h}
  - {name: soon, capabilities: [mail.send], tier: approval_required, expires_after: 2 h, when: [{input: body, prefix: a}]}
  - {name: never, capabilities: [mail.send], tier: blocked, when: [{input: body, prefix: z}]}
)");
  const auto found = decide(set, "mail.send", R"({"body":"abc"})");
  CHECK(found.expires_ms == 2 * kHour);
  CHECK(found.expires_rule->name == "soon");
  CHECK(found.tier == Tier::kApprovalRequired);
  const auto other = decide(set, "mail.send", R"({"body":"b"})");
  CHECK(other.expires_ms == kDay);
  CHECK(other.tier == Tier::kAutonomous);
  auto both = decide(set, "mail.send", R"({"body":"z"})");
  both.take_stricter(found);
  CHECK(both.expires_ms == 2 * kHour);
  CHECK(decide(set_of("  - {name: r, capabilities: [mail.send], tier: notify}\n"), "mail.send", "{}").expires_ms == 0);
}

TEST_CASE("conditions are words for people") {
  const auto rules = rules_of(
      "  - {name: r, capabilities: [mail.send], tier: blocked, when: [{recipients: {any_outside: [example.com]}}, "
      "{input: body, min_bytes: 10}, {time_outside: {zone: UTC, weekdays: [sat, sun]}}]}\n");
  CHECK(in_words(rules[0].when) ==
        "a recipient is outside example.com, and body has 10 bytes or more, and the time is outside Sat Sun "
        "00:00-24:00 (UTC)");
  CHECK(in_words(std::vector<RuleCondition>()) == "always");
}

TEST_CASE("of the rules that match the one that wants most people counts, also behind a stricter tier of another") {
  const auto set = set_of(R"(
  - {name: asks, capabilities: [mail.send], tier: approval_required, delay_seconds: 5000}
  - {name: two, capabilities: [mail.send], tier: approval_required, approvals: 2}
  - {name: three, capabilities: [mail.send], tier: approval_required, approvals: 3, when: [{input: urgent, is: true}]}
  - {name: never, capabilities: [mail.send], tier: approval_required, approvals: 5, when: [{input: body, equals: no}]}
  - {name: blocked, capabilities: [mail.send], tier: blocked, when: [{input: body, equals: stop}]}
)");
  const auto plain = decide(set, "mail.send", R"({"body":"a"})");
  CHECK(plain.approvals == 2);
  CHECK(plain.approvals_rule->name == "two");
  CHECK(plain.tier_rule->name == "asks");
  CHECK(decide(set, "mail.send", R"({"body":"a","urgent":true})").approvals == 3);
  const auto blocked = decide(set, "mail.send", R"({"body":"stop"})");
  CHECK(blocked.tier == Tier::kBlocked);
  CHECK(decide(set, "mail.drop", R"({"id":"1"})").approvals == 0);
  auto both = decide(set, "mail.send", R"({"body":"a"})");
  both.take_stricter(decide(set, "mail.send", R"({"body":"a","urgent":true})"));
  CHECK(both.approvals == 3);
  CHECK(both.approvals_rule->name == "three");
}

}  // namespace KRUXOS_TEST_FILE
