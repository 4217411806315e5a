// What the account's own writes change shows in the next pass, although nothing at Slack is new.
#include <catch2/catch.hpp>

#include "test_support/desk.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using namespace slack;

namespace {

/// A replica that is up to date, and passes that look for what is new only.
struct Quiet : Desk {
  Written sent;
  std::string result, ts, other;

  Quiet() {
    rig.options.look_back_every_ms = 86'400'000;
    rig.restart();
    result = execute(sent);
    ts = emu::format_ts(last()->ts);
    other = rig.say(kA, "somebody else's");
    rig.pass();
    rig.next_pass(1'000);
    REQUIRE(rig.differences().empty());
    rig.host.clock.advance(1'000);
    rig.reset_calls();
  }
  std::string differences_after_a_pass() {
    rig.next_pass(1'000);
    return rig.differences();
  }
  Written reply() {
    Written write;
    write.id = "w_reply";
    write.operation = "slack.reply";
    write.params = ObjectWriter().text("channel", kA).text("thread_ts", other).text("text", "re").done();
    return write;
  }
};

}  // namespace

TEST_CASE("an undone message is gone from the replica with the next pass") {
  Quiet desk;
  SECTION("by its undo") {
    desk.undo(desk.sent, desk.result);
  }
  SECTION("by an undo that found it gone") {
    desk.rig.erase(kA, desk.ts);
    desk.undo(desk.sent, desk.result);
  }
  SECTION("by an undo whose answer was lost, and that was found") {
    desk.rig.erase(kA, desk.ts);
    CHECK(desk.find_undo(desk.sent, desk.result) == KRUX_EFFECT_FOUND);
  }
  SECTION("with replies, it leaves a tombstone") {
    desk.rig.say(kA, "re", desk.ts);
    desk.undo(desk.sent, desk.result, true);
    desk.rig.next_pass(1'000);
    CHECK(desk.rig.replica(kA, desk.ts)->subtype == "tombstone");
  }
  desk.rig.reset_calls();
  CHECK(desk.differences_after_a_pass() == "");
  desk.rig.reset_calls();
  desk.rig.next_pass(1'000);
  CHECK(desk.rig.calls("conversations.history") == 1);  // for what is new, and nothing else any more
}

TEST_CASE("a message that is gone with its thread takes the replies along") {
  Quiet desk;
  const auto answer = desk.rig.say(kA, "re", desk.ts);
  desk.rig.changes->note(kA, desk.ts, "", desk.rig.host.clock.now_ms);
  desk.rig.next_pass(1'000);
  REQUIRE(desk.rig.replica(kA, answer));
  desk.rig.erase(kA, desk.ts);
  desk.rig.erase(kA, answer);
  desk.rig.changes->note(kA, desk.ts, "", desk.rig.host.clock.now_ms);
  CHECK(desk.differences_after_a_pass() == "");
}

TEST_CASE("reactions that were added, removed and undone show with the next pass") {
  Quiet desk;
  auto react = reaction("slack.react", desk.other, "tada"), remove = reaction("slack.remove_react", desk.other, "tada");
  const auto added = desk.execute(react);
  CHECK(desk.differences_after_a_pass() == "");
  CHECK(desk.rig.replica(kA, desk.other)->reactions.size() == 1);
  SECTION("removed") {
    desk.execute(remove);
  }
  SECTION("undone") {
    desk.undo(react, added);
  }
  SECTION("removed without an answer") {
    desk.lose_answer(remove);
  }
  SECTION("found removed") {
    desk.rig.workspace().unreact(desk.rig.message(kA, desk.other), "tada", desk.rig.workspace().bot.user_id);
    CHECK(desk.find(remove).answer == KRUX_EFFECT_FOUND);
  }
  SECTION("found undone") {
    desk.rig.workspace().unreact(desk.rig.message(kA, desk.other), "tada", desk.rig.workspace().bot.user_id);
    CHECK(desk.find_undo(react, added) == KRUX_EFFECT_FOUND);
  }
  CHECK(desk.differences_after_a_pass() == "");
  CHECK(desk.rig.replica(kA, desk.other)->reactions.empty());
}

TEST_CASE("a reply, a reaction to it and its undo show with the next pass") {
  Quiet desk;
  desk.rig.state.behaviour.replies_parent = GENERATE("first_page", "every_page", "newest_chunk_first");
  auto reply = desk.reply();
  std::string result;
  SECTION("answered") {
    result = desk.execute(reply);
  }
  SECTION("found") {
    desk.lose_answer(reply);
    result = desk.find(reply).result_json;
  }
  CHECK(desk.differences_after_a_pass() == "");
  const auto ts = std::string(text_of(parse(result), "ts"));
  REQUIRE(desk.rig.replica(kA, ts));
  auto react = reaction("slack.react", ts, "tada");
  desk.execute(react);
  CHECK(desk.differences_after_a_pass() == "");
  desk.undo(reply, result);
  CHECK(desk.differences_after_a_pass() == "");
}

TEST_CASE("a change that could not be looked at holds back complete_through, and is looked at again") {
  Quiet desk;
  desk.undo(desk.sent, desk.result);
  const auto undone_ms = desk.rig.host.clock.now_ms;
  const auto failing = [&](FakeAnswer answer) {
    desk.rig.override_answer = [&desk, answer](const std::string& method, const Params& params) {
      const bool look = method == "conversations.history" && param(params, "latest") == desk.ts;
      return look ? std::optional(answer) : std::nullopt;
    };
  };
  SECTION("no answer") {
    failing(FakeAnswer::failed(ErrorKind::kTimeout));
    CHECK(desk.rig.next_pass(1'000).complete_through_ms < undone_ms);
    CHECK(desk.rig.replica(kA, desk.ts));
    desk.rig.override_answer = nullptr;
    CHECK(desk.rig.next_pass(1'000).complete_through_ms > undone_ms);
    CHECK(desk.rig.differences() == "");
  }
  SECTION("the look shows nothing, and that there is more") {
    failing({200, R"({"ok":true,"messages":[],"has_more":true})", {}, {}, "", -1});
    CHECK(desk.rig.next_pass(1'000).complete_through_ms < undone_ms);
    CHECK(desk.rig.replica(kA, desk.ts));
  }
  SECTION("never an answer: after three passes it is left to the look back") {
    failing(FakeAnswer::failed(ErrorKind::kTimeout));
    for (int i = 0; i < 2; ++i) CHECK(desk.rig.next_pass(1'000).complete_through_ms < undone_ms);
    CHECK(desk.rig.next_pass(1'000).complete_through_ms > undone_ms);
  }
  SECTION("a refusal: at once") {
    failing(refusal("channel_not_found"));
    CHECK(desk.rig.next_pass(1'000).complete_through_ms > undone_ms);
  }
  SECTION("a limit: the pass waits") {
    failing({429, "", {{"Retry-After", "7"}}, {}, "", -1});
    desk.rig.host.clock.advance(1'000);
    CHECK(desk.rig.step().next == KRUX_SYNC_WAIT);
    desk.rig.override_answer = nullptr;
    CHECK(desk.rig.next_pass(7'000).complete_through_ms > undone_ms);
    CHECK(desk.rig.differences() == "");
  }
}

TEST_CASE("a step that fails keeps the change") {
  Quiet desk;
  desk.undo(desk.sent, desk.result);
  desk.rig.override_answer = [&](const std::string& method, const Params& params) {
    const bool look = method == "conversations.history" && param(params, "latest") == desk.ts;
    return look ? std::optional(refusal("token_revoked")) : std::nullopt;
  };
  desk.rig.host.clock.advance(1'000);
  CHECK_THROWS_AS(desk.rig.pass(), kruxos::ProxyError);
  desk.rig.override_answer = nullptr;
  CHECK(desk.differences_after_a_pass() == "");
}

TEST_CASE("what the replica does not have costs no request, and a new instance waits for the look back") {
  Quiet desk;
  desk.rig.changes->note(kA, "1.000000", "", desk.rig.host.clock.now_ms);
  desk.rig.changes->note("C0UNHEARD1", desk.ts, "1.000000", desk.rig.host.clock.now_ms);
  desk.rig.next_pass(1'000);
  CHECK(desk.rig.calls("conversations.history") + desk.rig.calls("conversations.replies") == 1);
  desk.undo(desk.sent, desk.result);
  desk.rig.restart();
  desk.rig.next_pass(1'000);
  CHECK(desk.rig.replica(kA, desk.ts));
  desk.rig.next_pass(86'400'000);
  CHECK(desk.rig.differences() == "");
}

TEST_CASE("notes: the oldest first, none lost while its message is looked at, and never more than so many") {
  Changes changes;
  CHECK_FALSE(changes.next(100, 1));
  changes.note("", "1.0", "", 1);
  CHECK_FALSE(changes.oldest_ms());
  changes.note("C1", "1.0", "", 10);
  changes.note("C1", "2.0", "", 20);
  CHECK_FALSE(changes.next(9, 1));
  const auto first = changes.next(10, 1);
  REQUIRE(first);
  CHECK(first->ts == "1.0");
  changes.note("C1", "1.0", "", 30);  // while the look is under way
  changes.settled(*first);
  CHECK(changes.next(30, 1)->ts == "2.0");
  changes.put_off(*changes.next(30, 1), 1);
  CHECK(changes.next(30, 1)->ts == "1.0");
  CHECK(changes.next(30, 2)->ts == "2.0");
  changes.settled(*changes.next(30, 1));
  CHECK_FALSE(changes.next(100, 1));
  CHECK(changes.oldest_ms() == 20);
  for (std::size_t i = 0; i < Changes::kMost; ++i) changes.note("C1", "3." + std::to_string(i), "", 40);
  CHECK(changes.oldest_ms() == 40);
}

}  // namespace KRUXOS_TEST_FILE
