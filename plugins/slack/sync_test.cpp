// The sync against the emulator's workspace: what is new, what has changed, what is gone.
#include <catch2/catch.hpp>

#include "test_support/rig.hpp"
#include "timestamp.hpp"

namespace KRUXOS_TEST_FILE {

using slack::Rig;
using slack::SyncOptions;

namespace {

constexpr std::int64_t kHour = 3'600'000;
const std::string kA = "C0000000A", kB = "C0000000B", kC = "C0000000C";

SyncOptions all_of_it() {
  SyncOptions options;
  options.initial_messages = 100'000;
  return options;
}

}  // namespace

TEST_CASE("first sync: the newest messages of each channel that the bot is in, and no more") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.add_channel(kB, "random").info.is_member = false;
  rig.say_many(kA, 130);
  rig.say_many(kB, 5);
  const auto done = rig.pass();
  CHECK(rig.replica_size() == 100);
  CHECK_FALSE(rig.replica(kA, emu::format_ts(rig.channel(kA).messages.begin()->first)));
  CHECK(rig.replica(kA, emu::format_ts(rig.channel(kA).messages.rbegin()->first))->text == "message 129 of " + kA);
  CHECK(rig.store.rows(slack::kChannels).size() == 2);
  CHECK(done.complete_through_ms > 0);
  CHECK(done.complete_through_ms <= rig.host.clock.now_ms);
  CHECK(rig.store.reports.empty());
  // All of it by POST forms, and not one of them twice.
  for (const auto& request : rig.host.requests) CHECK(request.method == "POST");
  CHECK(rig.calls("conversations.history") == 1);
}

TEST_CASE("an incremental pass asks for what is new and costs one request a channel") {
  SyncOptions options;
  options.look_back_every_ms = 24 * kHour;
  Rig rig(options);
  rig.add_channel(kA, "general");
  rig.say_many(kA, 20);
  rig.pass();
  rig.reset_calls();
  const auto ts = rig.say(kA, "news");
  rig.next_pass();
  CHECK(rig.calls("conversations.history") == 1);
  CHECK(rig.replica(kA, ts)->text == "news");
  CHECK(rig.differences().empty());
  const auto last = *std::find_if(rig.host.requests.begin(), rig.host.requests.end(),
                                  [](const auto& r) { return r.url == "conversations.history"; });
  CHECK_FALSE(slack::param(slack::params_of(last), "oldest").empty());
}

TEST_CASE("edits, reactions and deletions of the last 72 hours are found by looking back") {
  const std::string direction = GENERATE("closest_to_oldest", "newest_first");
  Rig rig;
  rig.state.behaviour.history_oldest_only = direction;
  rig.options.page_size = 7;
  rig.restart();
  rig.add_channel(kA, "general");
  rig.say_many(kA, 30);
  rig.pass();
  std::vector<std::string> ts;
  for (const auto& [at, message] : rig.channel(kA).messages) ts.push_back(emu::format_ts(at));
  rig.edit(kA, ts[3], "changed");
  rig.workspace().react(rig.message(kA, ts[4]), "tada", "U0PERSON01");
  rig.erase(kA, ts[5]);
  rig.erase(kA, ts.back());  // the newest one
  rig.erase(kA, ts.front());
  rig.next_pass();
  INFO(rig.differences());
  CHECK(rig.differences().empty());
  CHECK(rig.replica(kA, ts[3])->text == "changed");
  CHECK_FALSE(rig.replica(kA, ts[3])->edited_ts.empty());
  CHECK(rig.replica(kA, ts[4])->reactions.size() == 1);
  CHECK_FALSE(rig.replica(kA, ts.back()));
  // And what comes after the deleted newest one is not missed.
  rig.say(kA, "after");
  rig.next_pass();
  CHECK(rig.differences().empty());
}

TEST_CASE("a newest message that is older than the look back is still seen to be deleted") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.say_many(kA, 3);
  rig.pass();
  rig.erase(kA, emu::format_ts(rig.channel(kA).messages.rbegin()->first));
  rig.next_pass(100 * kHour);
  CHECK(rig.differences().empty());
}

TEST_CASE("what is older than the look back stays as it was") {
  Rig rig;
  rig.add_channel(kA, "general");
  const auto old = rig.say(kA, "old");
  rig.say(kA, "newest");
  rig.pass();
  rig.host.clock.advance(80 * kHour);
  rig.say(kA, "young");
  rig.edit(kA, old, "changed");
  rig.next_pass();
  CHECK(rig.replica(kA, old)->text == "old");
  CHECK(rig.replica_size() == 3);
}

TEST_CASE("messages beyond the first sync's are not swept by a look back that reaches them") {
  SyncOptions options;
  options.initial_messages = 10;
  Rig rig(options);
  rig.add_channel(kA, "general");
  rig.say_many(kA, 30);
  rig.pass();
  CHECK(rig.replica_size() == 10);
  rig.next_pass();
  CHECK(rig.replica_size() == 10);  // nor fetched
  rig.say_many(kA, 5);
  rig.next_pass();
  CHECK(rig.replica_size() == 15);
}

TEST_CASE("a channel that was empty, and one that becomes so") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.pass();
  CHECK(rig.replica_size() == 0);
  const auto ts = rig.say(kA, "first");
  rig.next_pass();
  CHECK(rig.differences().empty());
  rig.erase(kA, ts);
  rig.next_pass();
  CHECK(rig.replica_size() == 0);
}

TEST_CASE("several messages of one millisecond are kept apart") {
  Rig rig;
  rig.add_channel(kA, "general");
  for (int i = 0; i < 5; ++i) {
    emu::Draft draft;
    draft.user = "U0PERSON01";
    draft.text = "at once " + std::to_string(i);
    rig.workspace().post(rig.channel(kA), draft, rig.host.clock.now_ms * 1000 - 5'000'000 + i);
  }
  rig.pass();
  rig.next_pass();
  CHECK(rig.differences().empty());
}

TEST_CASE("a pass never claims more than what every readable channel had") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.add_channel(kB, "broken");
  rig.say(kA, "x");
  rig.override_answer = [](const std::string& method, const slack::Params& params) {
    const bool hit = method == "conversations.history" && slack::param(params, "channel") == kB;
    return hit ? std::optional(kruxos::testing::FakeAnswer{500, "oops", {}, {}, "", -1}) : std::nullopt;
  };
  CHECK(rig.pass().complete_through_ms == 1);  // nothing of B was ever seen; 0 would mean "now"
  rig.override_answer = nullptr;
  const auto began = rig.host.clock.now_ms + 60'000;
  CHECK(rig.next_pass().complete_through_ms >= began);
}

TEST_CASE("Slack's clock may differ from the host's") {
  const std::int64_t ahead = GENERATE(-7 * kHour, 7 * kHour);
  Rig rig(all_of_it());
  rig.service_ahead_ms = ahead;
  rig.add_channel(kA, "general");
  rig.say_many(kA, 5);
  rig.pass();
  const auto newest = emu::format_ts(rig.channel(kA).messages.rbegin()->first);
  rig.host.clock.advance(5'000);
  rig.erase(kA, newest);
  rig.say(kA, "more");
  rig.next_pass();
  INFO(rig.differences());
  CHECK(rig.differences().empty());
}

TEST_CASE("what was laid into the replica after a look began survives it") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.say_many(kA, 3);
  rig.pass();
  // A message that the host has just posted, while Slack's page was under way.
  rig.override_answer = [&](const std::string& method,
                            const slack::Params&) -> std::optional<kruxos::testing::FakeAnswer> {
    if (method == "conversations.history") {
      slack::Message sent;
      sent.channel = kA;
      sent.ts = slack::from_micros((rig.host.clock.now_ms + 2'000) * 1000);
      sent.text = "just sent";
      rig.store.store().put(slack::message_record(sent, 0));
      rig.store.store().commit();
      rig.override_answer = nullptr;
    }
    return std::nullopt;
  };
  rig.next_pass();
  CHECK(rig.replica_size() == 4);
}

TEST_CASE("a message without a time is counted as left out, as long as Slack gives it") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.say_many(kA, 3);
  rig.override_answer = [](const std::string& method,
                           const slack::Params&) -> std::optional<kruxos::testing::FakeAnswer> {
    if (method != "conversations.history") return std::nullopt;
    return kruxos::testing::FakeAnswer::json(
        200, R"({"ok":true,"messages":[{"type":"message","ts":"soon","text":"x"}],"has_more":false})");
  };
  rig.pass();
  REQUIRE(rig.store.left_out().size() == 1);
  CHECK(rig.store.left_out()[0].find("without a time: soon") != std::string::npos);
  rig.override_answer = nullptr;
  rig.next_pass();
  CHECK(rig.store.left_out().empty());
}

TEST_CASE("a record that the replica leaves out keeps nothing else out") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.say_many(kA, 3);
  rig.say(kA, std::string(2 << 20, 'x'));
  rig.say_many(kA, 3);
  rig.pass();
  CHECK(rig.replica_size() == 6);
  REQUIRE(rig.store.left_out().size() == 1);
  CHECK(rig.store.left_out()[0].find("1 MiB") != std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
