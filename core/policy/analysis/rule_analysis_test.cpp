#include "core/policy/analysis/rule_analysis.hpp"

#include <catch2/catch.hpp>

#include "core/policy/analysis/lists.hpp"
#include "core/policy/analysis/random_rules_fixture.hpp"
#include "core/policy/analysis/samples.hpp"
#include "core/policy/analysis/text_samples.hpp"
#include "core/policy/policy.hpp"
#include "core/util/text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace rules_test;

namespace {

std::vector<Loosened> compared(const std::string& before, const std::string& now, const FactSource* facts = nullptr) {
  const auto old_set = set_of(before, facts), new_set = set_of(now, facts);
  const auto definitions = mail_definitions();
  return loosened({old_set, definitions}, {new_set, definitions}, kTuesdayNoon);
}

RuleDecision decide_about(const RuleSet& set, const Loosened& found) {
  const SampleFacts facts(found.request.facts);
  return decide(set, found.capability, found.request.params_json, found.agent, found.request.wall_ms, &facts);
}

bool has_as_strict(const RuleDecision& decision, const Rule& rule) {
  for (const auto& limit : mail_definitions().front()->limits) {
    if (limit.operations == rule.counts && rule.limit->escalate &&
        most_within(limit, rule.limit->window_ms) <= rule.limit->limit)
      return true;
  }
  return std::any_of(decision.limits.begin(), decision.limits.end(), [&](const Rule* other) {
    const auto& theirs = *rule.limit;
    const auto& mine = *other->limit;
    return (mine.key.empty() || mine.key == theirs.key) && (theirs.escalate || !mine.escalate) &&
           most_within(limit_of(*other), theirs.window_ms) <= theirs.limit &&
           std::includes(other->counts.begin(), other->counts.end(), rule.counts.begin(), rule.counts.end());
  });
}

/// What the new decision does not demand of what the old one held.
bool is_looser(const RuleDecision& before, const RuleDecision& now, const CapabilityDefinition& capability) {
  if (before.tier >= Tier::kApprovalRequired && std::max(now.tier, capability.tier) < before.tier) return true;
  if (capability.kind != CapabilityKind::kWrite || now.tier == Tier::kBlocked) return false;
  if (std::max(before.delay_ms, base_delay_ms(capability)) > std::max(now.delay_ms, base_delay_ms(capability)))
    return true;
  if (before.approvals > now.approvals) return true;
  return std::any_of(before.limits.begin(), before.limits.end(),
                     [&](const Rule* rule) { return !has_as_strict(now, *rule); });
}

}  // namespace

TEST_CASE("fewer people for the same is looser, and a rule that wants fewer is needless") {
  const auto rule = [](const std::string& name, const std::string& more) {
    return "  - {name: " + name + ", capabilities: [mail.send], tier: approval_required" + more + "}\n";
  };
  for (const auto* fewer : {"", ", approvals: 2"}) {
    const auto found = compared(rule("board", ", approvals: 3"), rule("board", fewer));
    REQUIRE(found.size() == 1);
    CHECK(found[0].part == Loosened::Part::kApprovals);
    CHECK(found[0].old_demand == "the approval of 3 people by system.yaml:3 (board)");
    CHECK(found[0].new_demand == "fewer people");
  }
  CHECK(compared(rule("board", ", approvals: 2"), rule("board", ", approvals: 3")).empty());
  CHECK(
      compared(rule("board", ", approvals: 2"), "  - {name: no, capabilities: [mail.send], tier: blocked}\n").empty());
  // Where it is urgent alone.
  const auto part = compared(rule("board", ", approvals: 2"),
                             rule("board", "") + rule("urgent", ", approvals: 2, when: [{input: urgent, is: true}]"));
  REQUIRE(part.size() == 1);
  CHECK(part[0].request.params_json.find("\"urgent\":true") == std::string::npos);

  const auto set = set_of(rule("one", "") + rule("two", ", approvals: 2") + rule("three", ", approvals: 3"));
  const auto idle = idle_rules(set, mail_definitions(), kTuesdayNoon);
  REQUIRE(idle.size() == 2);
  CHECK(idle[0].rule->name == "one");
  CHECK(idle[1].rule->name == "two");
  CHECK(idle[1].instead->name == "three");
}

TEST_CASE("what a change permits is shown by a request") {
  const std::string old_rules = R"(
  - {name: outside, capabilities: [mail.send], tier: approval_required, when: [{recipients: {any_outside: [x.org]}}]}
)";
  CHECK(compared(old_rules, old_rules).empty());
  const auto found = compared(old_rules, R"(
  - {name: outside, capabilities: [mail.send], tier: approval_required, when: [{recipients: {any_outside: [x.org, "*.x.org"]}}]}
)");
  REQUIRE(found.size() == 1);
  CHECK(found[0].part == Loosened::Part::kTier);
  CHECK(found[0].capability == "mail.send");
  CHECK(found[0].request.params_json.find("a@other.x.org") != std::string::npos);
  CHECK(found[0].old_demand == "approval_required by system.yaml:4 (outside)");
  // Two rules together hold as much as one.
  CHECK(compared("  - {name: all, capabilities: [mail.send], tier: blocked}\n", R"(
  - {name: short, capabilities: [mail.send], tier: blocked, when: [{input: body, max_bytes: 9}]}
  - {name: long, capabilities: [mail.send], tier: blocked, when: [{input: body, min_bytes: 10}]}
)")
            .empty());
  // Of one agent, in one hour of the week.
  const auto narrow = compared("  - {name: all, capabilities: [mail.send], tier: blocked}\n", R"(
  - {name: most, capabilities: [mail.send], tier: blocked, agents: ["a*"]}
  - {name: rest, capabilities: [mail.send], tier: blocked, when: [{time_outside: {zone: Asia/Kolkata, weekdays: [sun], from: "03:00", to: "03:01"}}]}
)");
  REQUIRE(narrow.size() == 1);
  CHECK(narrow[0].agent.front() != 'a');
}

TEST_CASE("delays and limits are compared too") {
  const auto parts = [](const std::string& before, const std::string& now) {
    std::string all;
    for (const auto& one : compared(before, now)) all += one.part == Loosened::Part::kDelay ? "delay " : "limit ";
    return all;
  };
  const std::string slow = "  - {name: s, capabilities: [mail.send], delay_seconds: 900}\n";
  CHECK(parts(slow, "  - {name: s, capabilities: [mail.send], delay_seconds: 600}\n") == "delay ");
  CHECK(parts(slow, "  - {name: s, capabilities: [mail.send], tier: blocked}\n").empty());
  CHECK(parts("  - {name: s, capabilities: [mail.send], delay_seconds: 300}\n", "").empty());  // the definition's
  const std::string few = "  - {name: f, capabilities: [mail.send], limit: {limit: 4, window: 1 h}}\n";
  CHECK(parts(few, "") == "limit ");
  CHECK(parts(few, "  - {name: f, capabilities: [mail.send], limit: {limit: 4, window: 30 min}}\n") == "limit ");
  CHECK(parts(few, "  - {name: f, capabilities: [\"mail.*\"], limit: {limit: 4, window: 2 h}}\n").empty());
  CHECK(parts("  - {name: f, capabilities: [mail.send], limit: {limit: 30, window: 1 h}}\n", "").empty());
}

TEST_CASE("rules that do nothing are found") {
  const auto set = set_of(R"(
  - {name: all, capabilities: [mail.send], tier: blocked, when: [{recipients: {any_outside: [x.org]}}]}
  - {name: part, capabilities: [mail.send], tier: approval_required, agents: [bot], when: [{recipients: {any_outside: [x.org, y.org]}}]}
  - {name: other, capabilities: [mail.send], tier: approval_required, when: [{recipients: {any_outside: [y.org]}}]}
  - {name: never, capabilities: [mail.post], tier: blocked, when: [{input: room, prefix: yellow}]}
  - {name: same, capabilities: [mail.post], tier: notify, when: [{input: room, one_of: [red, blue]}]}
  - {name: again, capabilities: [mail.post], tier: notify, when: [{input: room, none_of: [green]}]}
)");
  std::string found;
  for (const auto& idle : idle_rules(set, mail_definitions(), kTuesdayNoon))
    found += idle.rule->name + (idle.instead ? " for " + idle.instead->name : "") + "; ";
  CHECK(found == "part for all; never; again for same; ");
}

TEST_CASE("a comparison is right about requests at random") {
  Random random(GENERATE(range(1u, 3u)));
  const SomeFacts known;
  int loosening = 0, keeping = 0;
  for (int round = 0; round < 50; ++round) {
    const auto before = random.rules(3, &known),
               now = random.chance(40) ? before + random.rules(1, &known) : random.rules(4, &known);
    CAPTURE(before, now);
    const auto definitions = mail_definitions();
    const RuleSet first(some_rules(before, &known));
    const RuleSet second(some_rules(now, &known));
    const auto found = loosened({first, definitions}, {second, definitions}, kTuesdayNoon);
    for (const auto& one : found) {
      CAPTURE(one.capability, one.agent, one.request.params_json, one.old_demand);
      CHECK(is_looser(decide_about(first, one), decide_about(second, one), mail(one.capability)));
    }
    (found.empty() ? keeping : loosening) += 1;
    if (!found.empty()) continue;
    for (int i = 0; i < 120; ++i) {
      const auto request = random.request();
      CAPTURE(request.capability, request.agent, request.params, request.wall_ms);
      const auto old_decision =
          decide(first, request.capability, request.params, request.agent, request.wall_ms, &request.facts);
      const auto new_decision =
          decide(second, request.capability, request.params, request.agent, request.wall_ms, &request.facts);
      CHECK_FALSE(is_looser(old_decision, new_decision, mail(request.capability)));
    }
  }
  CHECK(loosening > 3);
  CHECK(keeping > 3);
  CAPTURE(random.counts());
  CHECK(random.most_were_accepted());
}

TEST_CASE("each request lies in a region that answers as it does") {
  Random random(GENERATE(range(11u, 13u)));
  const SomeFacts known;
  int asked_about = 0;
  for (int round = 0; round < 25; ++round) {
    const auto yaml = random.rules(3, &known);
    if (yaml.empty()) continue;
    CAPTURE(yaml);
    const auto rules = rules_of(yaml, kSystemFile, &known);
    for (int i = 0; i < 20; ++i) {
      const auto request = random.request();
      std::vector<const Rule*> about;
      for (const auto& rule : rules) {
        if (rule.covers.front() == request.capability) about.push_back(&rule);
      }
      const auto conditions = conditions_of(about);
      const auto document = parse_json(request.params, "p");
      const RuleRequest asked(request.agent, mail(request.capability), document, request.wall_ms, &request.facts);
      ConditionList holding;
      std::vector<ConditionList> failing;
      for (const auto* condition : conditions) {
        if (asked.holds(*condition))
          holding.push_back(condition);
        else
          failing.push_back({condition});
      }
      CAPTURE(request.capability, request.params, request.wall_ms);
      const RequestSpace space(mail(request.capability), conditions, Bounds::kDefinition, kTuesdayNoon - 3'600'000);
      CHECK(space.find(holding, failing));
      asked_about += conditions.empty() ? 0 : 1;
    }
  }
  CHECK(asked_about > 80);
  CAPTURE(random.counts());
  CHECK(random.most_were_accepted());
}

TEST_CASE("adding a rule never loosens a decision") {
  Random random(7);
  const SomeFacts known;
  int stricter = 0;
  for (int round = 0; round < 50; ++round) {
    const auto some = random.rules(4, &known);
    auto fewer = some_rules(some, &known);
    auto more = fewer;
    const auto added = random.rules(2, &known);
    for (const auto& source : {kOrganisationFile, file_of("bot")}) {
      if (added.empty() || (source.layer == RuleLayer::kAgent && added.find("agents:") != std::string::npos)) continue;
      const auto layer = rules_of(added, source, &known);
      more.insert(more.begin(), layer.begin(), layer.end());
    }
    const RuleSet before(std::move(fewer)), after(std::move(more));
    for (int i = 0; i < 50; ++i) {
      const auto r = random.request();
      const auto a = decide(before, r.capability, r.params, r.agent, r.wall_ms, &r.facts);
      const auto b = decide(after, r.capability, r.params, r.agent, r.wall_ms, &r.facts);
      CAPTURE(some, added, r.capability, r.params);
      CHECK(b.tier >= a.tier);
      CHECK(b.delay_ms >= a.delay_ms);
      CHECK(b.limits.size() >= a.limits.size());
      stricter += b.tier > a.tier || b.delay_ms > a.delay_ms || b.limits.size() > a.limits.size() ? 1 : 0;
    }
  }
  CHECK(stricter > 100);
  CAPTURE(random.counts());
  CHECK(random.most_were_accepted());
}

TEST_CASE("texts that stand for all texts keep to their bounds") {
  TextMarks marks;
  marks.whole = {"abc"};
  marks.prefixes = {"ab", "abz"};
  marks.suffixes = {"bc", "c"};
  marks.from_bytes = {6, 9};
  marks.max_length = 3;
  const auto samples = text_samples(marks);
  const auto has = [&](auto fits) { return std::any_of(samples.begin(), samples.end(), fits); };
  CHECK(has([](const std::string& s) { return s.size() >= 9 && code_points(s) == 3; }));
  CHECK(has([](const std::string& s) { return s == "abc"; }));
  CHECK(has(
      [](const std::string& s) { return s.starts_with("ab") && !s.ends_with("c") && s.size() == 6; }));  // one of four
  CHECK(has([](const std::string& s) { return s.ends_with("c") && !s.ends_with("bc") && s.size() >= 6; }));
  CHECK(unused_character(1, {"0123"}) == "4");
}

TEST_CASE("what stands between a beginning and an end is in no text that is asked about") {
  std::string all;
  for (char c = '!'; c < 0x7f; ++c) all += c;
  for (const char left : {'Q', '~', '"', '\\', '-'}) {
    auto used = all;
    used.erase(used.find(left), 1);
    CHECK(unused_character(1, {used, " "}) == std::string(1, left));
  }
  CHECK_THROWS_AS(unused_character(1, {all, " "}), TooManyCases);
  CHECK(unused_character(2, {all, " "}).size() == 2);
  // Agents' names have small letters, digits and these.
  CHECK(unused_character(1, {"0123456789abcdefghijklmnopqrstuvwxyz"}) == "_");
  // It shows in what is found: ~ is no stand-in where it is asked about.
  CHECK(compared("  - {name: r, capabilities: [mail.send], tier: blocked, when: [{input: body, prefix: a}]}\n",
                 "  - {name: r, capabilities: [mail.send], tier: blocked, when: [{input: body, one_of: "
                 "[0123456789bcdefghijklmnopqrstuvwxyz, a, \"a~\"]}]}\n")
            .size() == 1);
}

TEST_CASE("samples without bound end as too many") {
  TextMarks marks;
  for (int i = 0; i < 400; ++i) {
    marks.prefixes.push_back("p" + std::to_string(i));
    marks.suffixes.push_back(std::to_string(i) + "s");
  }
  CHECK_THROWS_AS(text_samples(marks), TooManyCases);
  TextMarks large;
  for (int i = 0; i < 40; ++i) large.prefixes.push_back("p" + std::to_string(i));
  large.from_bytes = {2'000'000};
  large.max_length = 4'000'000;
  CHECK_THROWS_AS(text_samples(large), TooManyCases);
  large.from_bytes = {200'000};
  CHECK(text_samples(large).size() > 80);
  ListMarks lists;
  for (int i = 1; i <= 40; ++i) lists.from_entries.push_back(900 + i);
  CHECK_THROWS_AS(list_samples({{{true}, std::string(4000, 'x')}}, lists), TooManyCases);
  CHECK(list_samples({{{true}, "x"}}, lists).size() > 40);
}

}  // namespace KRUXOS_TEST_FILE
