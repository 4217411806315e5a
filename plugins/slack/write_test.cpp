// Writing, and looking whether it happened: what each outcome says of the effect.
#include <catch2/catch.hpp>

#include "test_support/desk.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using namespace slack;

TEST_CASE("a message is posted once, with its mark, and the result says which one it became") {
  Desk desk;
  Written write;
  const auto result = parse(desk.execute(write));
  REQUIRE(desk.last());
  CHECK(result["message_id"] == (kA + "/" + emu::format_ts(desk.last()->ts)).c_str());
  CHECK(desk.last()->text == "hello &lt;&amp;&gt; all");
  CHECK(emu::marker_of(desk.last()->metadata) == "w_1");
  CHECK(desk.rig.host.requests.size() == 1);
}

TEST_CASE("a reply goes into its thread") {
  Desk desk;
  Written write;
  const auto parent = desk.rig.say(kA, "parent");
  write.operation = "slack.reply";
  write.params = ObjectWriter().text("channel", kA).text("thread_ts", parent).text("text", "re").done();
  desk.execute(write);
  CHECK(emu::format_ts(desk.last()->thread_ts) == parent);
}

TEST_CASE("the certainty of every outcome of a send") {
  struct Row {
    FakeAnswer answer;
    ErrorKind kind;
    bool no_effect;
  };
  const std::vector<Row> rows = {
      {refusal("channel_not_found"), ErrorKind::kNotFound, true},
      {refusal("not_in_channel"), ErrorKind::kRefused, true},
      {refusal("msg_too_long"), ErrorKind::kRefused, true},
      {refusal("invalid_auth"), ErrorKind::kAuth, true},
      {refusal("ratelimited"), ErrorKind::kRateLimited, true},
      {{429, "", {{"Retry-After", "7"}}, {}, "", -1}, ErrorKind::kRateLimited, true},
      {FakeAnswer::failed(ErrorKind::kRateLimited, "quota", 5), ErrorKind::kRateLimited, true},
      {refusal("internal_error"), ErrorKind::kUnavailable, false},
      {refusal("fatal_error"), ErrorKind::kUnavailable, false},
      {refusal("never_heard_of"), ErrorKind::kUnavailable, false},
      {{503, "", {}, {}, "", -1}, ErrorKind::kUnavailable, false},
      {{200, "{\"ok\":tr", {}, {}, "", -1}, ErrorKind::kUnavailable, false},
      {{200, R"({"ok":true})", {}, {}, "", -1}, ErrorKind::kUnavailable, false},  // and which message is it?
      {{200, R"({"ok":true,"ts":"x"})", {}, {}, "", -1}, ErrorKind::kUnavailable, false},
      {FakeAnswer::failed(ErrorKind::kNetwork), ErrorKind::kNetwork, false},
      {FakeAnswer::failed(ErrorKind::kTimeout), ErrorKind::kTimeout, false},
  };
  for (const auto& row : rows) {
    INFO(row.answer.status << " " << row.answer.body << row.answer.message);
    Desk desk;
    desk.rig.override_answer = [&](const std::string&, const Params&) { return std::optional(row.answer); };
    Written write;
    try {
      desk.execute(write);
      FAIL("it was done");
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == row.kind);
      CHECK(error.has_no_effect() == row.no_effect);
    }
    CHECK(desk.rig.host.requests.size() == 1);  // never repeated
  }
  Desk desk;
  Written write;
  write.operation = "slack.unheard";
  CHECK_THROWS_AS(desk.execute(write), kruxos::ProxyError);
  CHECK(desk.rig.host.requests.empty());
}

TEST_CASE("a message whose answer was lost is found by its mark, page after page, and on Slack's own time") {
  Desk desk;
  desk.rig.service_ahead_ms = GENERATE(0, -5 * 3'600'000, 5 * 3'600'000);
  desk.rig.state.behaviour.history_oldest_only = GENERATE("closest_to_oldest", "newest_first");
  desk.rig.state.limits.set("conversations.history", {0, 7});
  desk.rig.say_many(kA, 30);
  Written write, other;
  other.id = "w_2";
  desk.execute(other);  // the same text, another write's
  desk.lose_answer(write);
  const auto ts = emu::format_ts(desk.last()->ts);
  desk.rig.say_many(kA, 30);
  desk.rig.host.clock.advance(3'600'000);
  const auto found = desk.find(write);
  CHECK(found.answer == KRUX_EFFECT_FOUND);
  CHECK(found.result_json.find(ts) != std::string::npos);
  for (const auto& request : desk.rig.host.requests) {
    CHECK((request.url == "chat.postMessage" || request.url == "auth.test" || request.url == "conversations.history"));
  }
  Written absent;
  absent.id = "w_3";
  absent.first_attempt_at_ms = write.first_attempt_at_ms;
  CHECK(desk.find(absent).answer == KRUX_EFFECT_ABSENT);
}

TEST_CASE("a reply whose answer was lost is found in its thread") {
  Desk desk;
  desk.rig.state.behaviour.replies_parent = GENERATE("first_page", "every_page", "newest_chunk_first");
  desk.rig.state.limits.set("conversations.replies", {0, 4});
  const auto parent = desk.rig.say(kA, "parent");
  for (int i = 0; i < 10; ++i) desk.rig.say(kA, "re", parent);
  Written write;
  write.operation = "slack.reply";
  write.params = ObjectWriter().text("channel", kA).text("thread_ts", parent).text("text", "re").done();
  write.first_attempt_at_ms = desk.rig.host.clock.now_ms;
  CHECK(desk.find(write).answer == KRUX_EFFECT_ABSENT);
  desk.lose_answer(write);
  for (int i = 0; i < 10; ++i) desk.rig.say(kA, "re", parent);
  CHECK(desk.find(write).answer == KRUX_EFFECT_FOUND);
}

TEST_CASE("where marks cannot be seen, a message of ours leaves it open, and none of ours does not") {
  Desk desk("xoxb-test:channels:history,chat:write");
  desk.scopes = GENERATE(std::optional<std::vector<std::string>>{},
                         std::optional(std::vector<std::string>{"channels:history", "chat:write"}));
  Written write;
  write.first_attempt_at_ms = desk.rig.host.clock.now_ms;
  desk.rig.say_many(kA, 3);
  CHECK(desk.find(write).answer == KRUX_EFFECT_ABSENT);
  desk.lose_answer(write);
  const auto found = desk.find(write);
  CHECK(found.answer == KRUX_CANNOT_TELL);
  CHECK_THAT(found.why, Catch::Contains("metadata.message:read"));
  write.id = "w_another";  // which must not take it for its own
  CHECK(desk.find(write).answer == KRUX_CANNOT_TELL);
}

TEST_CASE("a mark whose payload Slack has stripped leaves it open") {
  Desk desk;
  Written write;
  write.first_attempt_at_ms = desk.rig.host.clock.now_ms;
  const auto answer = [&](const std::string& metadata) {
    desk.rig.override_answer = [metadata](const std::string& method, const Params&) -> std::optional<FakeAnswer> {
      if (method != "conversations.history") return std::nullopt;
      return FakeAnswer{
          200,
          R"({"ok":true,"has_more":false,"messages":[{"ts":"1.000000","user":"U0KRUXBOT1","metadata":)" + metadata + "}]}",
          {},
          {},
          "",
          -1};
    };
    return desk.find(write).answer;
  };
  CHECK(answer(R"({"event_type":"kruxos_write"})") == KRUX_CANNOT_TELL);
  CHECK(answer(R"({"event_type":"kruxos_write","event_payload":null})") == KRUX_CANNOT_TELL);
  CHECK(answer(R"({"event_type":"kruxos_write","event_payload":{"write_id":"w_9"}})") == KRUX_EFFECT_ABSENT);
  CHECK(answer(R"({"event_type":"other","event_payload":{"write_id":"w_1"}})") == KRUX_EFFECT_ABSENT);
  CHECK(answer(R"({"event_type":"kruxos_write","event_payload":{"write_id":"w_1"}})") == KRUX_EFFECT_FOUND);
}

TEST_CASE("an incomplete look is no answer") {
  Desk desk;
  Written write;
  write.first_attempt_at_ms = desk.rig.host.clock.now_ms;
  const auto look = [&](const FakeAnswer& answer) {
    desk.rig.override_answer = [answer](const std::string& method, const Params&) {
      return method == "conversations.history" ? std::optional(answer) : std::nullopt;
    };
    try {
      return desk.find(write).answer;
    } catch (const kruxos::ProxyError&) {
      return static_cast<std::int32_t>(KRUX_CANNOT_TELL);  // as the host takes it
    }
  };
  CHECK(look({200, R"({"ok":true,"messages":[],"has_more":true})", {}, {}, "", -1}) == KRUX_CANNOT_TELL);
  CHECK(look({200, R"({"ok":true,"messages":[],"response_metadata":{"next_cursor":"x"}})", {}, {}, "", -1}) ==
        KRUX_CANNOT_TELL);
  CHECK(look({200, R"({"ok":true})", {}, {}, "", -1}) == KRUX_CANNOT_TELL);
  CHECK(look(refusal("channel_not_found")) == KRUX_CANNOT_TELL);
  CHECK(look(FakeAnswer::failed(ErrorKind::kTimeout)) == KRUX_CANNOT_TELL);
  int page = 0;
  desk.rig.override_answer = [&](const std::string& method, const Params&) -> std::optional<FakeAnswer> {
    if (method != "conversations.history") return std::nullopt;
    const auto next = std::to_string(++page);
    return FakeAnswer{
        200, R"({"ok":true,"messages":[],"response_metadata":{"next_cursor":")" + next + "\"}}", {}, {}, "", -1};
  };
  CHECK(desk.find(write).answer == KRUX_CANNOT_TELL);  // and it ends
  CHECK_THAT(desk.find(write).why, Catch::Contains("So many messages"));
}

TEST_CASE("reactions: already there, already gone, and looked for") {
  Desk desk;
  const auto ts = desk.rig.say(kA, "x");
  auto react = reaction("slack.react", ts, "tada"), remove = reaction("slack.remove_react", ts, "tada");
  CHECK(desk.find(react).answer == KRUX_EFFECT_ABSENT);
  CHECK(desk.execute(react) == R"({"status":"ok"})");
  CHECK(desk.find(react).answer == KRUX_EFFECT_FOUND);
  CHECK(desk.find(remove).answer == KRUX_EFFECT_ABSENT);
  CHECK(desk.execute(react) == R"({"status":"ok","already":true})");
  CHECK(desk.execute(remove) == R"({"status":"ok"})");
  CHECK(desk.execute(remove) == R"({"status":"ok","already":true})");
  auto nowhere = reaction("slack.react", "1.000000", "tada");
  CHECK_THROWS_AS(desk.execute(nowhere), kruxos::ProxyError);
}

TEST_CASE("a reaction that was there before, or that came between the attempts, is not the write's own") {
  Desk desk;
  const auto ts = desk.rig.say(kA, "x");
  auto own = reaction("slack.react", ts, "tada"), other = own;
  const bool was_there = GENERATE(true, false);
  if (was_there) desk.execute(other);
  desk.make_point(own);
  CHECK(own.point == (was_there ? R"({"own":["tada"]})" : R"({"own":[]})"));
  bool disturbed = true;
  std::optional<FakeAnswer> disturbance = refusal("ratelimited");
  desk.rig.override_answer = [&](const std::string& method, const Params&) {
    return disturbed && method == "reactions.add" ? disturbance : std::nullopt;
  };
  const auto again = [&] {
    own.attempt = 2;
    disturbed = false;
    return desk.execute(own);
  };
  SECTION("the first attempt certainly did nothing") {
    CHECK_THROWS_AS(desk.execute(own), kruxos::ProxyError);
    disturbed = false;
    if (!was_there) desk.execute(other);
    CHECK(again() == R"({"status":"ok","already":true})");
  }
  SECTION("the first attempt may have done it, and is tried again") {
    disturbance = FakeAnswer::failed(ErrorKind::kTimeout);
    CHECK_THROWS_AS(desk.execute(own), kruxos::ProxyError);
    CHECK_FALSE(own.note.empty());
    disturbed = false;
    if (!was_there) desk.execute(other);  // or its own, which nobody can tell from that
    CHECK(again() == (was_there ? R"({"status":"ok","already":true})" : R"({"status":"ok"})"));
  }
  SECTION("the first attempt may have done it, and is looked for") {
    disturbed = false;
    desk.lose_answer(own);
    const auto found = desk.find(own);
    CHECK(found.answer == KRUX_EFFECT_FOUND);
    CHECK(found.result_json == (was_there ? R"({"status":"ok","already":true})" : R"({"status":"ok"})"));
    if (was_there) {
      CHECK_THROWS_WITH(desk.undo(own, found.result_json), Catch::Contains("was there before this write"));
    } else {
      desk.undo(own, found.result_json);
    }
    CHECK(desk.rig.message(kA, ts).reactions.size() == (was_there ? 1 : 0));
  }
}

TEST_CASE("a point that cannot tell whether the reaction is there keeps the undo from taking another's away") {
  const bool lacks_scope = GENERATE(true, false);
  Desk desk(lacks_scope ? "xoxb-test:reactions:write,channels:history" : "xoxb-test");
  const auto ts = desk.rig.say(kA, "x");
  auto react = reaction("slack.react", lacks_scope ? ts : "1.000000", "tada");
  desk.make_point(react);
  CHECK(react.point == "{}");
  react.params = reaction("slack.react", ts, "tada").params;
  desk.lose_answer(react);
  react.attempt = 2;
  CHECK(desk.execute(react) == R"({"status":"ok","already":true})");
  if (!lacks_scope) CHECK(desk.find(react).result_json == R"({"status":"ok","already":true})");
  Written message;
  desk.rig.reset_calls();
  desk.make_point(message);
  CHECK(message.point == "{}");
  CHECK(desk.rig.host.requests.empty());
}

TEST_CASE("a point that Slack does not answer for fails, so that the attempt is made later") {
  Desk desk;
  auto react = reaction("slack.react", desk.rig.say(kA, "x"), "tada");
  const auto answer =
      GENERATE(refusal("ratelimited"), refusal("invalid_auth"), FakeAnswer::failed(ErrorKind::kTimeout));
  desk.rig.override_answer = [&](const std::string& method, const Params&) {
    return method == "reactions.get" ? std::optional(answer) : std::nullopt;
  };
  CHECK_THROWS_AS(desk.make_point(react), kruxos::ProxyError);
}

TEST_CASE("another reaction of our own does not make it unclear whose the one of the write is") {
  Desk desk;
  const auto ts = desk.rig.say(kA, "x");
  auto earlier = reaction("slack.react", ts, "eyes"), react = reaction("slack.react", ts, "tada");
  desk.execute(earlier);
  desk.make_point(react);
  CHECK(react.point == R"({"own":["eyes"]})");
  SECTION("it was not sent") {
    CHECK(desk.find(react).answer == KRUX_EFFECT_ABSENT);
    CHECK(desk.execute(react) == R"({"status":"ok"})");
  }
  SECTION("its answer was lost, and it is looked for") {
    desk.lose_answer(react);
    const auto found = desk.find(react);
    CHECK(found.result_json == R"({"status":"ok"})");
    CHECK(desk.undo(react, found.result_json) == R"({"status":"ok"})");
    CHECK(desk.rig.message(kA, ts).reactions.size() == 1);
  }
  SECTION("its answer was lost, and it is tried again") {
    desk.lose_answer(react);
    react.attempt = 2;
    CHECK(desk.execute(react) == R"({"status":"ok"})");
  }
  SECTION("a point that an earlier version made") {
    react.point = R"({"was_there":false})";
    desk.lose_answer(react);
    CHECK(desk.find(react).result_json == R"({"status":"ok"})");
    react.point = R"({"was_there":true})";
    CHECK(desk.find(react).result_json == R"({"status":"ok","already":true})");
  }
}

TEST_CASE("a reaction that Slack lists under another name is asked for again, and Slack's answer tells") {
  Desk desk;
  const auto ts = desk.rig.say(kA, "x");
  auto react = reaction("slack.react", ts, "thumbsup");
  desk.make_point(react);
  desk.lose_answer(react);
  REQUIRE(desk.rig.message(kA, ts).reactions[0].name == "+1");
  CHECK(desk.find(react).answer == KRUX_EFFECT_ABSENT);
  react.attempt = 2;
  CHECK(desk.execute(react) == R"({"status":"ok"})");  // there was none of ours before
  CHECK(desk.find_undo(react, R"({"status":"ok"})") == KRUX_EFFECT_ABSENT);
  desk.rig.override_answer = [](const std::string& method, const Params&) -> std::optional<FakeAnswer> {
    if (method != "reactions.get") return std::nullopt;
    return FakeAnswer{
        200, R"({"ok":true,"message":{"reactions":[{"name":"thumbsup","count":3,"users":["U1"]}]}})", {}, {}, "", -1};
  };
  CHECK(desk.find(react).answer == KRUX_CANNOT_TELL);
  CHECK_THAT(desk.find(react).why, Catch::Contains("who reacted"));
}

}  // namespace KRUXOS_TEST_FILE
