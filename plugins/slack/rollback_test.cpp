// Undoing a write, and looking whether that happened.
#include <catch2/catch.hpp>

#include "test_support/desk.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using namespace slack;

TEST_CASE("a message is undone by deleting it, once") {
  Desk desk;
  Written write;
  const auto result = desk.execute(write);
  CHECK(desk.find_undo(write, result) == KRUX_EFFECT_ABSENT);
  CHECK(desk.undo(write, result) == R"({"status":"ok"})");
  CHECK_FALSE(desk.last());
  CHECK(desk.find_undo(write, result) == KRUX_EFFECT_FOUND);
  CHECK(desk.undo(write, result) == R"({"status":"ok","already":true})");
}

TEST_CASE("a reply in a long thread is undone") {
  Desk desk;
  const auto parent = desk.rig.say(kA, "parent");
  for (int i = 0; i < 30; ++i) desk.rig.say(kA, "re", parent);
  Written write;
  write.operation = "slack.reply";
  write.params = ObjectWriter().text("channel", kA).text("thread_ts", parent).text("text", "mine").done();
  const auto result = desk.execute(write);
  for (int i = 0; i < 30; ++i) desk.rig.say(kA, "re", parent);
  desk.rig.state.behaviour.replies_parent = GENERATE("first_page", "every_page", "newest_chunk_first");
  CHECK(desk.find_undo(write, result) == KRUX_EFFECT_ABSENT);
  CHECK(desk.undo(write, result) == R"({"status":"ok"})");
  CHECK(desk.rig.channel(kA).threads.at(*emu::parse_ts(parent)).size() == 60);
}

TEST_CASE("a message that was changed is not deleted unless forced") {
  Desk desk;
  Written write;
  const auto result = desk.execute(write);
  desk.rig.edit(kA, emu::format_ts(desk.last()->ts), "changed by hand");
  try {
    desk.undo(write, result);
    FAIL("it was deleted");
  } catch (const kruxos::ProxyError& error) {
    CHECK(error.kind() == ErrorKind::kConflict);
    CHECK(error.has_no_effect());
    CHECK(error.type() == "RollbackConflict");
  }
  CHECK(desk.last());
  desk.undo(write, result, true);
  CHECK_FALSE(desk.last());
}

TEST_CASE("a message that was replied to is not deleted unless forced, and reactions do not keep it") {
  Desk desk;
  Written write;
  const auto result = desk.execute(write);
  const auto ts = emu::format_ts(desk.last()->ts);
  desk.rig.workspace().react(*desk.last(), "heart", "U0PERSON01");
  const auto answer = desk.rig.say(kA, "a person answers", ts);
  try {
    desk.undo(write, result);
    FAIL("it was deleted");
  } catch (const kruxos::ProxyError& error) {
    CHECK(error.kind() == ErrorKind::kConflict);
    CHECK(error.has_no_effect());
    CHECK(error.type() == "RollbackConflict");
    CHECK(std::string(error.what()).find("replied") != std::string::npos);
  }
  const bool force = GENERATE(true, false);
  if (!force) desk.rig.erase(kA, answer);
  CHECK(desk.undo(write, result, force) == R"({"status":"ok"})");
}

TEST_CASE("an undo's look changes nothing, and its deletion may have") {
  Desk desk;
  Written write;
  const auto result = desk.execute(write);
  const auto certainty = [&](const std::string& failing) {
    desk.rig.override_answer = [&](const std::string& method, const Params&) {
      return method == failing ? std::optional(FakeAnswer::failed(ErrorKind::kTimeout)) : std::nullopt;
    };
    try {
      desk.undo(write, result);
    } catch (const kruxos::ProxyError& error) {
      return error.has_no_effect();
    }
    FAIL("it was done");
    return false;
  };
  CHECK(certainty("conversations.history"));
  CHECK_FALSE(certainty("chat.delete"));
  CHECK_THROWS_AS(desk.undo(write, "{}"), kruxos::ProxyError);
  CHECK_THROWS_AS(desk.undo(write, "nonsense"), kruxos::ProxyError);
}

TEST_CASE("a reaction is undone unless it was there before") {
  Desk desk;
  const auto ts = desk.rig.say(kA, "x");
  auto react = reaction("slack.react", ts, "tada");
  const auto result = desk.execute(react);
  const auto again = desk.execute(react);
  CHECK_THROWS_WITH(desk.undo(react, again), Catch::Contains("not known whether the reaction was there before"));
  CHECK(desk.rig.message(kA, ts).reactions.size() == 1);
  CHECK(desk.undo(react, again, true) == R"({"status":"ok"})");
  CHECK(desk.undo(react, again) == R"({"status":"ok","already":true})");  // it is gone anyway
  desk.execute(react);
  CHECK(desk.undo(react, result) == R"({"status":"ok"})");
  CHECK(desk.rig.message(kA, ts).reactions.empty());
  CHECK(desk.undo(react, result) == R"({"status":"ok","already":true})");
  CHECK(Writer::supports_rollback("slack.send"));
  CHECK(Writer::supports_rollback("slack.react"));
  CHECK_FALSE(Writer::supports_rollback("slack.remove_react"));
}

}  // namespace KRUXOS_TEST_FILE
