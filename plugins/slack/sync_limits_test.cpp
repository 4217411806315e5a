// Slack's limits on a driven clock, and workspaces of every size.
#include <catch2/catch.hpp>

#include <deque>
#include <map>

#include "read.hpp"
#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::testing::FakeAnswer;
using slack::Params;
using slack::Rig;

namespace {

constexpr std::int64_t kMinute = 60'000;

/// What the host's quota does: it refuses what would go beyond a limit before anything is sent.
struct Quota {
  std::map<std::string, std::int64_t> per_minute;
  std::map<std::string, std::deque<std::int64_t>> sent;

  std::optional<FakeAnswer> operator()(const std::string& method, std::int64_t now) {
    const auto limit = per_minute.find(method);
    if (limit == per_minute.end()) return std::nullopt;
    auto& window = sent[method];
    while (!window.empty() && window.front() <= now - kMinute) window.pop_front();
    if (static_cast<std::int64_t>(window.size()) < limit->second) {
      window.push_back(now);
      return std::nullopt;
    }
    return FakeAnswer::failed(kruxos::ErrorKind::kRateLimited, "quota", window.front() + kMinute - now);
  }
};

void keep_to(Rig& rig, Quota& quota) {
  rig.override_answer = [&](const std::string& method, const Params&) { return quota(method, rig.host.clock.now_ms); };
}

}  // namespace

TEST_CASE("three channels of forty messages at one request a minute and fifteen items") {
  Rig rig;
  rig.state.limits.preset("non_marketplace");
  Quota quota{{{"conversations.history", 1}, {"conversations.replies", 1}}, {}};
  for (const auto* id : {"C0000000A", "C0000000B", "C0000000C"}) {
    rig.add_channel(id, id);
    rig.say_many(id, 40);
  }
  SECTION("by the host's quota") {
    keep_to(rig, quota);
  }
  SECTION("by Slack's Retry-After alone") {}
  const auto began = rig.host.clock.now_ms;
  rig.pass();
  CHECK(rig.differences().empty());
  const auto minutes = (rig.host.clock.now_ms - began + kMinute - 1) / kMinute;
  CHECK(minutes >= 8);  // nine pages
  CHECK(minutes <= 9);
  if (rig.override_answer) CHECK(rig.refused_for_rate == 0);
}

TEST_CASE("many threads at one request a minute do not keep new messages waiting") {
  Rig rig;
  rig.state.limits.preset("non_marketplace");
  Quota quota{{{"conversations.history", 1}, {"conversations.replies", 1}}, {}};
  keep_to(rig, quota);
  const std::string id = "C0000000A";
  rig.add_channel(id, "general");
  for (int i = 0; i < 12; ++i) rig.say(id, "reply", rig.say(id, "parent"));
  rig.pass();
  auto last = rig.host.clock.now_ms;
  std::int64_t longest = 0, whole = 0;
  for (int i = 0; i < 40; ++i) {
    const auto ts = rig.say(id, "news");
    const auto done = rig.next_pass();
    CHECK(rig.replica(id, ts));
    longest = std::max(longest, rig.host.clock.now_ms - last);
    last = rig.host.clock.now_ms;
    whole += done.complete_through_ms > 1;
  }
  CHECK(longest <= 4 * kMinute);
  CHECK(whole > 0);  // and the threads get their turn
  CHECK(rig.refused_for_rate == 0);
}

TEST_CASE("two thousand channels: a step reads no cursor of each") {
  Rig rig;
  rig.workspace().set_synthetic(2000, 10, 2000);
  rig.pass();
  CHECK(rig.calls("conversations.history") == 2000);
  rig.store.cursor_reads = 0;
  rig.reset_calls();
  rig.host.clock.advance(kMinute);
  std::uint64_t steps = 0;
  for (std::int32_t next = KRUX_SYNC_MORE; next != KRUX_SYNC_DONE; ++steps) next = rig.step().next;
  CHECK(rig.calls("conversations.history") == 2000);
  CHECK(rig.store.cursor_reads <= 3 * steps);
  CHECK(steps <= 100);
}

TEST_CASE(
    "a workspace of 43000 channels and 200000 users: reads are served at once and new messages do not wait for the "
    "lists") {
  Rig rig;
  rig.workspace().set_synthetic(43'000, 200'000, 3);
  const std::string id = "C0000000A";
  rig.add_channel(id, "general");
  rig.say_many(id, 5);
  Quota quota{{{"conversations.list", 20}, {"users.list", 20}, {"conversations.history", 50}}, {}};
  keep_to(rig, quota);
  rig.step();
  const auto found = slack::read_capability(rig.store.reader(), "slack.search", R"({"query":"message 3"})");
  CHECK(found.find("message 3 of") != std::string::npos);
  const auto channels = slack::read_capability(rig.store.reader(), "slack.channels", R"({"name_contains":"gen"})");
  CHECK(channels.find("\"name\":\"general\"") != std::string::npos);
  const auto began = rig.host.clock.now_ms;
  rig.pass();
  CHECK(rig.store.rows(slack::kChannels).size() == 43'001);
  CHECK(rig.host.clock.now_ms - began <= 4 * kMinute);  // 44 pages
  CHECK(rig.store.rows(slack::kUsers).size() < 200'000);
  const auto ts = rig.say(id, "news");
  rig.next_pass();
  CHECK(rig.replica(id, ts));
  // The users come at the rate that Slack allows, pass after pass.
  const auto users = rig.store.rows(slack::kUsers).size();
  rig.next_pass();
  CHECK(rig.store.rows(slack::kUsers).size() >= users + 19'000);
  CHECK(rig.store.largest_commit < 500);
}

}  // namespace KRUXOS_TEST_FILE
