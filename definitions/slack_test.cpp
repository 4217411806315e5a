// The shipped definition says what the documents promise.
#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/definition/input_check.hpp"
#include "core/definition/prompt_parser.hpp"
#include "core/definition/token_pattern.hpp"
#include "core/util/error.hpp"
#include "definitions/shipped_prompts.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// Of a copy: the checkout's modes are whatever its owner's umask made them.
ServiceDefinition shipped() {
  const support::Scratch copy;
  support::copy_safe(std::string(KRUXOS_DEFINITIONS_DIR) + "/slack.yaml", copy.path() / "slack.yaml");
  return load_definition(copy.path() / "slack.yaml");
}

std::string params_of(const std::string& capability, const std::string& arguments) {
  const auto definition = shipped();
  const auto* found = definition.find(capability);
  REQUIRE(found);
  return check_arguments(*found, arguments).params_json;
}

}  // namespace

TEST_CASE("slack: seven capabilities and cancel, with their tiers, delays and what can be undone") {
  const auto d = shipped();
  struct Row {
    const char* name;
    Tier tier;
    CapabilityKind kind;
    std::int64_t delay_ms;
    bool immediate, undoable;
  };
  using enum Tier;
  using enum CapabilityKind;
  const Row rows[] = {
      {"slack.search", kAutonomous, kRead, -1, false, false},
      {"slack.read", kAutonomous, kRead, -1, false, false},
      {"slack.channels", kAutonomous, kRead, -1, false, false},
      {"slack.send", kNotify, kWrite, 30'000, false, true},
      {"slack.reply", kNotify, kWrite, 30'000, false, true},
      {"slack.react", kAutonomous, kWrite, 0, true, true},
      {"slack.remove_react", kAutonomous, kWrite, 0, true, false},
      {"slack.cancel", kAutonomous, kCancel, -1, false, false},
  };
  CHECK(d.capabilities.size() == std::size(rows));
  for (const auto& row : rows) {
    INFO(row.name);
    const auto* c = d.find(row.name);
    REQUIRE(c);
    CHECK(c->tier == row.tier);
    CHECK(c->kind == row.kind);
    CHECK(c->delay_ms.value_or(-1) == row.delay_ms);
    CHECK(c->immediate == row.immediate);
    CHECK(c->undoable == row.undoable);
    CHECK_FALSE(c->fetches);
  }
  CHECK(d.find("slack.send")->when_absent == WhenAbsent::kAsk);
  CHECK(d.find("slack.react")->when_absent == WhenAbsent::kResend);
}

TEST_CASE("slack: times, limits and hosts") {
  const auto d = shipped();
  CHECK(d.sync_interval_ms == 60'000);
  CHECK(d.rollback_retention_ms == 24 * 3'600'000);
  CHECK(d.api_base_url == "https://slack.com/api/");
  REQUIRE(d.limits.size() == 2);
  CHECK(d.limits[0].limit == 10);
  CHECK(d.limits[0].key == "channel");
  CHECK(d.limits[1].limit == 30);
  CHECK(d.limits[1].key.empty());
  CHECK(d.escalate_on_exceed);
}

TEST_CASE("slack: a pasted token is a bot's or a user's, and not a rotating one") {
  const TokenPattern pattern(shipped().connect_token_pattern);
  CHECK(pattern.matches("xoxb-1234-5678-abcDEF"));
  CHECK(pattern.matches("xoxp-1234-5678-abcDEF"));
  CHECK_FALSE(pattern.matches("xoxe.xoxb-1-abcdef"));
  CHECK_FALSE(pattern.matches("xoxb-1234 5678"));
  CHECK_FALSE(pattern.matches("password"));
}

TEST_CASE("slack: arguments of the documents' examples are accepted, with their defaults") {
  CHECK(params_of("slack.search", R"({"channel":"engineering","query":"deployment","limit":10})") ==
        R"({"channel":"engineering","limit":10,"offset":0,"query":"deployment"})");
  CHECK(params_of("slack.search", "{}") == R"({"limit":20,"offset":0})");
  CHECK(params_of("slack.search", R"({"from_date":"1700000001.000001","to_date":"2026-11-21"})").find("from_date") !=
        std::string::npos);
  CHECK(params_of("slack.channels", "") == R"({"limit":100,"offset":0})");
  CHECK(params_of("slack.react", R"({"channel":"C1","ts":"1.2","emoji":"eyes"})") ==
        R"({"channel":"C1","reaction":"eyes","ts":"1.2"})");
  CHECK(params_of("slack.react", R"({"message_id":"C1/1.2","reaction":"eyes"})") ==
        R"({"message_id":"C1/1.2","reaction":"eyes"})");
  CHECK(params_of("slack.reply", R"({"message_id":"C1/1.2","text":"x"})") == R"({"message_id":"C1/1.2","text":"x"})");
  CHECK(params_of("slack.cancel", R"({"buffer_id":"w_1"})") == R"({"write_id":"w_1"})");
}

TEST_CASE("slack: what does not fit is refused") {
  const auto refused = [](const char* capability, const char* arguments) {
    INFO(capability << arguments);
    CHECK_THROWS_AS(params_of(capability, arguments), Error);
  };
  refused("slack.search", R"({"limit":101})");
  refused("slack.search", R"({"limit":0})");
  refused("slack.search", R"({"from_date":"yesterday"})");
  refused("slack.send", R"({"channel":"general"})");
  refused("slack.send", R"({"channel":"general","text":""})");
  refused("slack.reply", R"({"channel":"general","text":"x"})");
  refused("slack.reply", R"({"thread_ts":"1.2","text":"x"})");
  refused("slack.react", R"({"ts":"1.2","reaction":"eyes"})");
  refused("slack.remove_react", R"({"message_id":"","reaction":"eyes"})");
  refused("slack.channels", R"({"limit":1001})");
  refused("slack.read", "{}");
}

TEST_CASE("slack: prompts speak of tools that they need, by their names") {
  const auto d = shipped();
  REQUIRE(d.prompts.size() == 2);
  CHECK(d.prompts[0].name == "slack.catch_up");
  test::check_tools_of_prompts(d);
  CHECK(missing_arguments(d.prompts[0], {{"channel", "general"}}).empty());
}

}  // namespace KRUXOS_TEST_FILE
