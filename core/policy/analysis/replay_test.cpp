// Rules over decisions that the audit log keeps.
#include "core/policy/analysis/replay.hpp"

#include <catch2/catch.hpp>
#include <memory>

#include "core/policy/rules/rules_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace rules_test;
using Verdict = Replayed::Verdict;

namespace {

std::string row(const std::string& decision, const std::string& parameters = "{}",
                const std::string& capability = "mail.send") {
  return R"({"seq":7,"at":"2025-11-25T12:00:00Z","kind":"write.submitted","agent":"bot","write_id":"w_1","body":{)"
         R"("operation":")" +
         capability + R"(","decision":)" + decision + R"(,"parameters":)" + parameters + "}}";
}

Replayed replayed(const std::string& row_json, const std::string& rules) {
  const auto document = parse_json(row_json, "the row", {1 << 20, 64});
  const auto past = past_decision(document);
  REQUIRE(past);
  static std::vector<std::unique_ptr<RuleSet>> kept;  // what is answered points into it
  kept.push_back(std::make_unique<RuleSet>(rules_of(rules)));
  const auto& capability = mail(past->capability.c_str());
  return replay(*past, capability, past->capability == "mail.label" ? mail("mail.drop") : capability, *kept.back());
}

const std::string kTo = R"({"tier":"notify","decided_by":{"definition":"1","capability":"mail.send"},)"
                        R"("looked_at":{"to":"amy@x.example"}})";
const std::string kSizes = R"({"to":{"type":"text","bytes":13},"body":{"type":"text","bytes":500}})";

std::string rule(const std::string& when, const std::string& tier = "approval_required") {
  return "  - {name: r, capabilities: [\"mail.*\"], tier: " + tier + (when.empty() ? "" : ", when: [" + when + "]") +
         "}\n";
}

}  // namespace

TEST_CASE("a past decision is the same, stricter or looser under other rules") {
  CHECK(replayed(row(kTo, kSizes), "").verdict == Verdict::kSame);
  const auto stricter = replayed(row(kTo, kSizes), rule("{recipients: {any_outside: [y.example]}}"));
  CHECK(stricter.verdict == Verdict::kStricter);
  CHECK(stricter.tier == Tier::kApprovalRequired);
  CHECK(stricter.rule->name == "r");
  CHECK(replayed(row(kTo, kSizes), rule("{recipients: {any_outside: [x.example]}}")).verdict == Verdict::kSame);
  const auto* blocked =
      R"({"tier":"blocked","decided_by":{"rule":"old","layer":"system","file":"system.yaml","line":4}})";
  const auto looser = replayed(row(blocked), "");
  CHECK(looser.verdict == Verdict::kLooser);
  CHECK(looser.tier == Tier::kNotify);
  CHECK(replayed(row(blocked), rule("")).verdict == Verdict::kLooser);
  CHECK(replayed(row(blocked), rule("", "blocked")).verdict == Verdict::kSame);
}

TEST_CASE("what was not kept is known by its size, and else not known") {
  const auto verdict = [](const std::string& when) { return replayed(row(kTo, kSizes), rule(when)).verdict; };
  CHECK(verdict("{input: body, min_bytes: 500}") == Verdict::kStricter);
  CHECK(verdict("{input: body, min_bytes: 501}") == Verdict::kSame);
  CHECK(verdict("{input: body, present: false}") == Verdict::kSame);
  CHECK(verdict("{input: subject, present: false}") == Verdict::kStricter);
  CHECK(verdict("{input: body, prefix: x}") == Verdict::kNotKnown);
  CHECK(replayed(row(kTo, kSizes), rule("{input: body, prefix: x}")).why == "The log has not kept the input body.");
  CHECK(verdict("{uploads: true}") == Verdict::kSame);
  CHECK(verdict("{uploads: false}") == Verdict::kStricter);
  // One condition that certainly fails is enough.
  CHECK(verdict("{input: body, prefix: x}, {input: subject, present: true}") == Verdict::kSame);
  // What another rule demands anyway needs nothing that is not kept.
  CHECK(replayed(row(kTo, kSizes),
                 rule("{input: body, prefix: x}") + "  - {name: all, capabilities: [mail.send], tier: blocked}\n")
            .verdict == Verdict::kStricter);
}

TEST_CASE("long values are known by their sizes alone") {
  const auto* cut =
      R"({"tier":"notify","looked_at":{"to":{"bytes":900,"sha256":"ab"},"body":{"bytes":900,"sha256":"ab"}}})";
  const auto* sizes = R"({"to":{"type":"text","bytes":900},"body":{"type":"text","bytes":900}})";
  CHECK(replayed(row(cut, sizes), rule("{recipients: {any_outside: [y.example]}}")).verdict == Verdict::kNotKnown);
  CHECK(replayed(row(cut, sizes), rule("{input: body, prefix: x}")).verdict == Verdict::kNotKnown);
  CHECK(replayed(row(cut, sizes), rule("{input: body, min_bytes: 100}")).verdict == Verdict::kStricter);
}

TEST_CASE("facts are those of then") {
  const auto of = [](const char* truth) {
    return row(
        std::string(R"({"tier":"notify","facts":{"new_link":")") + truth + R"("},"looked_at":{"to":"a@b.example"}})",
        kSizes);
  };
  const auto asked = rule("{fact: new_link}");
  const auto with_facts = [&](const std::string& row_json) {
    const auto document = parse_json(row_json, "the row", {1 << 20, 64});
    const RuleSet rules(rules_of(asked, kSystemFile, &unanswered_facts()));
    return replay(*past_decision(document), mail("mail.send"), mail("mail.send"), rules).verdict;
  };
  CHECK(with_facts(of("yes")) == Verdict::kStricter);
  CHECK(with_facts(of("not known")) == Verdict::kStricter);
  CHECK(with_facts(of("no")) == Verdict::kSame);
  CHECK(with_facts(row(kTo, kSizes)) == Verdict::kNotKnown);
}

TEST_CASE("times are those of the row, and what counts as another capability is under both") {
  CHECK(replayed(row(kTo, kSizes), rule("{time_within: {zone: UTC, weekdays: [tue]}}")).verdict == Verdict::kStricter);
  CHECK(replayed(row(kTo, kSizes), rule("{time_within: {zone: UTC, weekdays: [wed]}}")).verdict == Verdict::kSame);
  const auto* label = R"({"tier":"notify","looked_at":{"labels":["trash"]}})";
  const auto* sizes = R"({"id":{"type":"text","bytes":2},"labels":{"type":"list","entries":1}})";
  const std::string drops = "  - {name: drops, capabilities: [mail.drop], tier: blocked}\n";
  CHECK(replayed(row(label, sizes, "mail.label"), drops).verdict == Verdict::kStricter);
}

TEST_CASE("rows that tell of no decision are none, and odd ones harm nobody") {
  for (const auto* odd :
       {"{}", "[]", "7", R"({"kind":"write.claim","body":{"decision":{"tier":"notify"}}})",
        R"({"kind":"call","body":"x"})", R"({"kind":"call","at":"2025-11-25T12:00:00Z","body":{"decision":7}})",
        R"({"kind":"call","at":"2025-11-25T12:00:00Z","body":{"capability":"mail.find","decision":{"tier":"odd"}}})"}) {
    INFO(odd);
    CHECK_FALSE(past_decision(parse_json(odd, "the row")));
  }
  CHECK(replayed(row(R"({"tier":"notify","facts":7,"looked_at":[1]})", "[]"), "").verdict == Verdict::kSame);
}

}  // namespace KRUXOS_TEST_FILE
