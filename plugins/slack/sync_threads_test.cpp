// Threads: new, changed and deleted replies, wherever their first message stands.
#include <catch2/catch.hpp>

#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using slack::Rig;

namespace {

constexpr std::int64_t kHour = 3'600'000;
const std::string kA = "C0000000A";

/// A channel with one thread of `replies` replies; returns the first message's ts.
std::string thread_of(Rig& rig, int replies) {
  if (!rig.workspace().channel(kA)) rig.add_channel(kA, "general");
  auto parent = rig.say(kA, "parent");
  for (int i = 0; i < replies; ++i) rig.say(kA, "reply " + std::to_string(i), parent);
  return parent;
}

}  // namespace

TEST_CASE("replies come with the first sync, however Slack pages them") {
  const std::string paging = GENERATE("first_page", "every_page", "newest_chunk_first");
  Rig rig;
  rig.options.page_size = 4;
  rig.restart();
  rig.state.behaviour.replies_parent = paging;
  const auto parent = thread_of(rig, 13);
  thread_of(rig, 1);
  rig.pass();
  INFO(rig.differences());
  CHECK(rig.differences().empty());
  CHECK_FALSE(rig.replica(kA, parent)->replies_pending);
}

TEST_CASE("new, edited and deleted replies of an active thread") {
  Rig rig;
  const auto parent = thread_of(rig, 3);
  rig.pass();
  const auto& replies = rig.channel(kA).threads.at(*emu::parse_ts(parent));
  const auto first = emu::format_ts(*replies.begin()), last = emu::format_ts(*replies.rbegin());
  SECTION("a new one") {
    rig.say(kA, "one more", parent);
  }
  SECTION("an edit and a reaction") {
    rig.edit(kA, first, "changed");
    rig.workspace().react(rig.message(kA, last), "eyes", "U0PERSON01");
  }
  SECTION("a deletion") {
    rig.erase(kA, first);
  }
  SECTION("the last one's deletion") {
    rig.erase(kA, last);
  }
  SECTION("all of them") {
    const auto all = replies;
    for (const auto ts : all) rig.erase(kA, emu::format_ts(ts));
  }
  SECTION("the first message's deletion leaves a tombstone") {
    rig.erase(kA, parent);
    rig.next_pass();
    CHECK(rig.replica(kA, parent)->subtype == "tombstone");
  }
  SECTION("first message and replies") {
    rig.erase(kA, parent);
    const auto all = replies;
    for (const auto ts : all) rig.erase(kA, emu::format_ts(ts));
    rig.next_pass();
    CHECK(rig.replica_size() == 0);
  }
  rig.next_pass();
  INFO(rig.differences());
  CHECK(rig.differences().empty());
}

TEST_CASE("a thread whose first message is older than the look back lives on as long as it is active") {
  Rig rig;
  const auto parent = thread_of(rig, 1);
  rig.pass();
  for (int day = 0; day < 5; ++day) {
    rig.host.clock.advance(40 * kHour);
    rig.say(kA, "day " + std::to_string(day), parent);
    rig.say(kA, "elsewhere " + std::to_string(day));
    rig.next_pass();
    INFO(rig.differences());
    CHECK(rig.differences().empty());
  }
  const auto last = emu::format_ts(*rig.channel(kA).threads.at(*emu::parse_ts(parent)).rbegin());
  rig.edit(kA, last, "changed");
  rig.next_pass();
  CHECK(rig.replica(kA, last)->text == "changed");
  // Quiet for longer than the look back: nobody asks for it any more.
  rig.next_pass(200 * kHour);
  rig.reset_calls();
  rig.next_pass();
  CHECK(rig.calls("conversations.replies") == 0);
}

TEST_CASE("an old thread that is deleted altogether while it is active is cleared away") {
  Rig rig;
  const auto parent = thread_of(rig, 1);
  rig.host.clock.advance(80 * kHour);
  rig.say(kA, "late reply", parent);
  rig.say(kA, "newest");
  rig.pass();
  rig.erase(kA, parent);
  const auto all = rig.channel(kA).threads.at(*emu::parse_ts(parent));
  for (const auto ts : all) rig.erase(kA, emu::format_ts(ts));
  rig.next_pass();
  INFO(rig.differences());
  CHECK(rig.differences().empty());
}

TEST_CASE("a reply that was sent to the channel too") {
  Rig rig;
  const auto parent = thread_of(rig, 2);
  const auto shown = rig.say(kA, "everybody!", parent, true);
  rig.pass();
  CHECK(rig.differences().empty());
  CHECK(rig.replica(kA, shown)->subtype == "thread_broadcast");
  SECTION("is edited") {
    rig.edit(kA, shown, "changed");
  }
  SECTION("is deleted") {
    rig.erase(kA, shown);
  }
  SECTION("stays") {}
  rig.next_pass();
  INFO(rig.differences());
  CHECK(rig.differences().empty());
}

TEST_CASE("a broadcast reply whose thread is older than what was fetched is deleted with the look back") {
  slack::SyncOptions options;
  options.initial_messages = 5;
  Rig rig(options);
  const auto parent = thread_of(rig, 1);
  rig.say_many(kA, 10);
  const auto shown = rig.say(kA, "everybody!", parent, true);
  rig.pass();
  CHECK(rig.replica(kA, shown));
  CHECK_FALSE(rig.replica(kA, parent));
  rig.erase(kA, shown);
  rig.next_pass();
  CHECK_FALSE(rig.replica(kA, shown));
}

TEST_CASE("a thread that fails is reported, and the others are fetched") {
  Rig rig;
  const auto bad = thread_of(rig, 2), good = thread_of(rig, 2);
  rig.override_answer = [&](const std::string& method, const slack::Params& params) {
    const bool hit = method == "conversations.replies" && slack::param(params, "ts") == bad;
    return hit ? std::optional(
                     kruxos::testing::FakeAnswer{200, R"({"ok":false,"error":"internal_error"})", {}, {}, "", -1})
               : std::nullopt;
  };
  rig.pass();
  CHECK(rig.replica_size() == 4);
  CHECK(rig.store.reports.count("threads of " + kA) == 1);
  rig.override_answer = nullptr;
  rig.next_pass();
  CHECK(rig.differences().empty());
  CHECK(rig.store.reports.empty());
}

TEST_CASE("a thread's cursor that Slack forgets begins the thread anew") {
  Rig rig;
  rig.options.page_size = 3;
  rig.restart();
  thread_of(rig, 10);
  bool once = true;
  rig.override_answer = [&](const std::string& method, const slack::Params& params) {
    const bool hit = method == "conversations.replies" && !slack::param(params, "cursor").empty() && once;
    if (hit) once = false;
    return hit ? std::optional(
                     kruxos::testing::FakeAnswer{200, R"({"ok":false,"error":"invalid_cursor"})", {}, {}, "", -1})
               : std::nullopt;
  };
  rig.pass();
  CHECK_FALSE(once);
  CHECK(rig.differences().empty());
}

}  // namespace KRUXOS_TEST_FILE
