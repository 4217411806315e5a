// The shipped definition says what the documents promise.
#include <catch2/catch.hpp>

#include "core/account/permission.hpp"
#include "core/capability/write_json.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/definition/input_check.hpp"
#include "core/definition/prompt_parser.hpp"
#include "core/net/quota.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "definitions/shipped_prompts.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// Of a copy: the checkout's modes are whatever its owner's umask made them.
ServiceDefinition gmail() {
  const support::Scratch copy;
  support::copy_safe(std::string(KRUXOS_DEFINITIONS_DIR) + "/gmail.yaml", copy.path() / "gmail.yaml");
  return load_definition(copy.path() / "gmail.yaml");
}

std::string arguments_of(const std::string& capability, const std::string& arguments) {
  const auto definition = gmail();
  const auto* found = definition.find(capability);
  REQUIRE(found);
  return check_arguments(*found, arguments).params_json;
}

/// The rule that counts for a path.
QuotaRule rule_of(const ServiceDefinition& d, const std::string& path) {
  for (const auto& rule : d.quota) {
    if (glob_match(rule.match, path)) return rule;
  }
  return {};
}

}  // namespace

TEST_CASE("gmail: thirteen capabilities with their tiers, delays and what can be undone") {
  const auto d = gmail();
  struct Row {
    const char* name;
    Tier tier;
    CapabilityKind kind;
    std::int64_t delay_ms;
    bool undoable;
    WhenAbsent when_absent;
  };
  using enum Tier;
  using enum CapabilityKind;
  using enum WhenAbsent;
  constexpr std::int64_t minute = 60'000, hour = 3'600'000;
  const Row rows[] = {
      {"email.search", kAutonomous, kRead, -1, false, kAsk},
      {"email.read", kAutonomous, kRead, -1, false, kAsk},
      {"email.labels", kAutonomous, kRead, -1, false, kAsk},
      {"email.attachment", kAutonomous, kRead, -1, false, kAsk},
      {"email.send", kNotify, kWrite, 5 * minute, false, kAsk},
      {"email.reply", kNotify, kWrite, 5 * minute, false, kAsk},
      {"email.forward", kNotify, kWrite, 5 * minute, false, kAsk},
      {"email.delete", kNotify, kWrite, 24 * hour, true, kResend},
      {"email.label", kAutonomous, kWrite, 30'000, true, kResend},
      {"email.move", kAutonomous, kWrite, hour, true, kResend},
      {"email.draft", kAutonomous, kWrite, 0, true, kResend},
      {"email.bulk_delete", kBlocked, kWrite, 24 * hour, true, kResend},
      {"email.cancel", kAutonomous, kCancel, -1, false, kAsk},
  };
  CHECK(d.capabilities.size() == std::size(rows));
  for (const auto& row : rows) {
    INFO(row.name);
    const auto* c = d.find(row.name);
    REQUIRE(c);
    CHECK(c->tier == row.tier);
    CHECK(c->kind == row.kind);
    CHECK(c->delay_ms.value_or(-1) == row.delay_ms);
    CHECK(c->undoable == row.undoable);
    if (row.kind == kWrite) CHECK(c->when_absent == row.when_absent);
    const std::string name = row.name;
    CHECK(c->fetches == (name == "email.read" || name == "email.attachment"));
  }
}

TEST_CASE("gmail: the mails of one conversation are in order, whichever way they get into it") {
  const auto definition = gmail();
  const auto order = [&](const char* capability, const char* params) {
    return order_of(*definition.find(capability), parse_json(params, "params"));
  };
  const auto reply = order("email.reply", R"({"message_id":"m1","body":"x","to":"a@b.test","thread_id":"T1"})");
  CHECK(reply == "T1");
  CHECK(order("email.reply", R"({"message_id":"m2","body":"y","to":"a@b.test","thread_id":"T1"})") == reply);
  CHECK(order("email.send", R"({"to":"a@b.test","thread_id":"T1"})") == reply);
  CHECK(order("email.send", R"({"to":"a@b.test"})").empty());
}

TEST_CASE("gmail: times and limits") {
  const auto d = gmail();
  CHECK(d.prefix == "email");
  CHECK(d.sync_interval_ms == 120'000);
  CHECK(d.rollback_retention_ms == 72 * 3'600'000);
  REQUIRE(d.limits.size() == 3);
  CHECK((d.limits[0].limit == 5 && d.limits[0].window_ms == 600'000));
  CHECK((d.limits[1].limit == 20 && d.limits[1].window_ms == 3'600'000));
  CHECK((d.limits[2].limit == 5 && d.limits[2].window_ms == 3'600'000));
  CHECK(d.escalate_on_exceed);
}

TEST_CASE("gmail: each method costs what Google counts, of one allowance") {
  const auto d = gmail();
  const std::pair<const char*, double> costs[] = {
      {"gmail/v1/users/me/messages/18cf192837465abc", 20},
      {"gmail/v1/users/me/messages/18cf192837465abc/modify", 5},
      {"gmail/v1/users/me/messages/18cf192837465abc/trash", 20},
      {"gmail/v1/users/me/messages/18cf192837465abc/untrash", 5},
      {"gmail/v1/users/me/messages/18cf192837465abc/attachments/x", 20},
      {"gmail/v1/users/me/messages", 5},
      {"gmail/v1/users/me/history", 2},
      {"gmail/v1/users/me/labels", 1},
      {"gmail/v1/users/me/profile", 1},
      {"gmail/v1/users/me/drafts", 10},
      {"upload/gmail/v1/users/me/drafts", 10},
      {"gmail/v1/users/me/drafts/r1", 20},
      {"gmail/v1/users/me/drafts/send", 100},
  };
  for (const auto& [path, cost] : costs) {
    INFO(path);
    const auto rule = rule_of(d, path);
    CHECK(rule.cost == cost);
    CHECK(rule.bucket == "units");
    CHECK(rule.per_minute <= 6'000);
  }
}

TEST_CASE("gmail: a sync that reads all it may leaves room for what is sent") {
  DrivenClock clock;
  Quota quota(gmail().quota, clock);
  std::int64_t waited = -1;
  for (int i = 0; i < 4'000; ++i) {
    while (const auto wait = quota.try_acquire("gmail/v1/users/me/messages/1", {})) clock.advance(wait);
    if (i % 500 != 499) continue;
    waited = quota.try_acquire("gmail/v1/users/me/drafts/send", {});
    INFO(i);
    CHECK(waited < 20'000);  // what a write waits for
    if (waited == 0) continue;
    clock.advance(waited);
    CHECK(quota.try_acquire("gmail/v1/users/me/drafts/send", {}) == 0);
  }
}

TEST_CASE("gmail: what adds TRASH or SPAM is a deletion") {
  const auto d = gmail();
  for (const auto* name : {"email.label", "email.move"}) {
    INFO(name);
    const auto& c = *d.find(name);
    const auto governs = [&](const std::string& params) {
      return counted_capability(d, c, parse_json(params, "params")).name;
    };
    CHECK(governs(R"({"message_id":"1","add_labels":["STARRED","TRASH"]})") == "email.delete");
    CHECK(governs(R"({"message_id":"1","add_labels":["SPAM"],"remove_labels":["INBOX"]})") == "email.delete");
    CHECK(governs(R"({"message_id":"1","add_labels":["INBOX"],"remove_labels":["TRASH"]})") == name);
    CHECK(governs(R"({"message_id":"1","remove_labels":["SPAM"]})") == name);
  }
}

TEST_CASE("gmail: profiles ask for no more than they promise") {
  const auto d = gmail();
  REQUIRE(d.oauth.flows.size() == 1);
  const std::string scope = "https://www.googleapis.com/auth/gmail.";
  const auto profile = [&](const std::string& name) {
    const auto* found = d.oauth.find_profile(name);
    REQUIRE(found);
    return *found;
  };
  CHECK(profile("read").scopes == std::vector<std::string>{scope + "readonly"});
  CHECK(profile("draft").scopes == std::vector<std::string>{scope + "readonly", scope + "compose"});
  CHECK(profile("draft").without == std::vector<std::string>{"email.send", "email.reply", "email.forward"});
  CHECK(profile("full").scopes == std::vector<std::string>{scope + "modify"});
  CHECK(d.oauth.default_profile == "full");
}

TEST_CASE("gmail: arguments of the documents' examples are accepted, with their defaults") {
  CHECK(arguments_of("email.search", R"({"query":"is:unread","max_results":10})") ==
        R"({"limit":10,"offset":0,"query":"is:unread"})");
  CHECK(arguments_of("email.search", "{}") == R"({"limit":20,"offset":0})");
  CHECK(arguments_of("email.read", R"({"message_id":"1"})") ==
        R"({"include_html":false,"max_chars":8000,"message_id":"1","offset":0})");
  CHECK(arguments_of("email.attachment", R"({"message_id":"1","attachment_id":"0.2"})") ==
        R"({"attachment_id":"0.2","max_chars":8000,"message_id":"1","offset":0})");
  CHECK(arguments_of("email.labels", "") == R"({"limit":100,"offset":0})");
  CHECK(arguments_of("email.send", R"({"to":"a@example.com"})") ==
        R"x({"body":"","from":"me","subject":"(no subject)","to":"a@example.com"})x");
  CHECK(arguments_of("email.reply", R"({"message_id":"1","body":"x"})") ==
        R"({"body":"x","message_id":"1","reply_all":false})");
  CHECK(arguments_of("email.cancel", R"({"buffer_id":"w_1"})") == R"({"write_id":"w_1"})");
}

TEST_CASE("gmail: what does not fit is refused") {
  const auto refused = [](const char* capability, const char* arguments) {
    INFO(capability << arguments);
    CHECK_THROWS_AS(arguments_of(capability, arguments), Error);
  };
  refused("email.search", R"({"limit":101})");
  refused("email.search", R"({"is_read":"yes"})");
  refused("email.read", "{}");
  refused("email.read", R"({"message_id":"1","max_chars":0})");
  refused("email.read", R"({"message_id":"1","max_chars":60001})");
  refused("email.read", R"({"message_id":"1","offset":-1})");
  refused("email.read", R"({"message_id":"1","include_html":"yes"})");
  refused("email.attachment", R"({"message_id":"1"})");
  refused("email.attachment", R"({"message_id":"1","attachment_id":"1","max_chars":60001})");
  refused("email.labels", R"({"limit":1001})");
  refused("email.send", R"({"subject":"x"})");
  refused("email.reply", R"({"message_id":"1"})");
  refused("email.label", R"({"message_id":"1"})");
  refused("email.bulk_delete", R"({"message_ids":[]})");
}

TEST_CASE("gmail: prompts speak of tools that they need, by their names") {
  const auto d = gmail();
  REQUIRE(d.prompts.size() == 2);
  CHECK(d.prompts[0].name == "email.triage");
  test::check_tools_of_prompts(d);
  CHECK(missing_arguments(d.prompts[0], {}).empty());
}

}  // namespace KRUXOS_TEST_FILE
