#include <catch2/catch.hpp>

#include "core/util/durations.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using Fixture = LedgerFixture;
using State = WriteState;

namespace {

NewWrite to_channel(const std::string& channel, const std::string& text, bool escalate = false) {
  auto w = new_write(text);
  w.params_json = R"({"channel":")" + channel + R"(","text":")" + text + "\"}";
  w.limits = {{{{"notes.add"}, 3, kHour, "channel"}, channel, escalate}, {{{"notes.add"}, 5, kHour, ""}, "", escalate}};
  return w;
}

NewContent moved_to(const std::string& channel) {
  const auto w = to_channel(channel, "moved");
  NewContent c;
  c.params_json = w.params_json;
  c.limits = w.limits;
  c.summary = "moved";
  c.tier = "notify";
  return c;
}

}  // namespace

TEST_CASE("a limit counts an agent's writes for each value of its key, and over all") {
  Fixture f;
  for (const auto* text : {"1", "2", "3"}) f.submit(to_channel("a", text));
  const auto refused = f.refused(to_channel("a", "4"));
  CHECK(refused.type() == ErrorCode::kBatchProtection);
  CHECK_FALSE(refused.retryable());
  CHECK_THAT(refused.what(), Catch::Contains("3 in 1 h") && Catch::Contains("channel is a"));
  CHECK_THAT(refused.context_json(), Catch::Contains("\"limit\":3") && Catch::Contains("\"free_at\":\""));
  for (const auto* text : {"1", "2"}) f.submit(to_channel("b", text));
  CHECK(f.refused(to_channel("c", "1")).type() == ErrorCode::kBatchProtection);
  auto other = to_channel("a", "4");
  other.agent_id = "agent_2";
  CHECK_FALSE(f.submit(other).duplicate);
  CHECK(f.ledger->counts().buffered == 6);
}

TEST_CASE("the window slides, and neither a restart nor a clock that is set forward empties it") {
  Fixture f;
  for (const auto* text : {"1", "2", "3"}) {
    f.submit(to_channel("a", text));
    f.clock.advance(1000);
  }
  CHECK(f.refused(to_channel("a", "4")).type() == ErrorCode::kBatchProtection);
  f.clock.jump_wall(2 * kHour);
  CHECK(f.refused(to_channel("a", "4")).type() == ErrorCode::kBatchProtection);
  f.clock.advance(kHour - 3001);
  CHECK(f.refused(to_channel("a", "4")).type() == ErrorCode::kBatchProtection);
  f.clock.advance(1);
  f.submit(to_channel("a", "4"));
  CHECK(f.refused(to_channel("a", "5")).type() == ErrorCode::kBatchProtection);
  SECTION("a restart") {
    f.restart();
    f.submit(to_channel("b", "1"));  // by the wall clock alone the first three are long past
    Fixture g;
    for (const auto* text : {"1", "2", "3"}) g.submit(to_channel("a", text));
    g.restart();
    CHECK(g.refused(to_channel("a", "4")).type() == ErrorCode::kBatchProtection);
  }
}

TEST_CASE("what was cancelled does not count, what is repeated is no excess") {
  Fixture f;
  f.submit(to_channel("a", "1"));
  f.submit(to_channel("a", "2"));
  const auto last = f.submit(to_channel("a", "3")).write;
  CHECK(f.submit(to_channel("a", "3")).duplicate);
  f.cancel(last.write_id, "agent_1");
  CHECK_FALSE(f.submit(to_channel("a", "4")).duplicate);
  CHECK(f.refused(to_channel("a", "5")).type() == ErrorCode::kBatchProtection);
}

TEST_CASE("an excess goes to a person where the definition says so") {
  Fixture f;
  for (const auto* text : {"1", "2", "3"}) CHECK(f.submit(to_channel("a", text, true)).write.state == State::kBuffered);
  const auto asked = f.submit(to_channel("a", "4", true)).write;
  CHECK(asked.state == State::kPendingApproval);
  CHECK_THAT(asked.approval_reason, Catch::Contains("3 in 1 h"));
  CHECK(std::get<WriteRecord>(f.accept(asked)).state == State::kBuffered);
}

TEST_CASE("no more than so many of an agent's writes wait for a person") {
  Fixture f;
  const auto asked = [](const std::string& text) {
    auto w = new_write(text);
    w.approval_reason = "always";
    return w;
  };
  for (std::int64_t i = 0; i < kMostPendingApprovals; ++i) f.submit(asked(std::to_string(i)));
  CHECK(f.refused(asked("more")).type() == ErrorCode::kBatchProtection);
  auto other = asked("more");
  other.agent_id = "agent_2";
  f.submit(other);
}

TEST_CASE("an edit has to fit the limits of what it becomes") {
  Fixture f;
  for (const auto* text : {"1", "2", "3"}) f.submit(to_channel("a", text));
  const auto write = f.submit(to_channel("b", "1")).write;
  const auto refused = f.edit(write, moved_to("a"), "agent_1");
  REQUIRE(std::holds_alternative<Error>(refused));
  CHECK(std::get<Error>(refused).type() == ErrorCode::kBatchProtection);
  CHECK(f.ledger->get(write.write_id)->summary == "1");
  CHECK(std::get<WriteRecord>(f.edit(write, moved_to("c"), "agent_1")).summary == "moved");
}

TEST_CASE("how much of a limit is used is told by the values of its key") {
  Fixture f;
  for (const auto* text : {"1", "2", "3"}) f.submit(to_channel("a", text));
  f.submit(to_channel("b", "1"));
  const auto rules = to_channel("", "").limits;
  const auto used = f.ledger->limit_use("agent_1", rules[0]);
  REQUIRE(used.size() == 2);
  CHECK(used.at("a").counted == 3);
  CHECK(used.at("a").free_at_ms == f.clock.wall_ms() + kHour);
  CHECK(used.at("b").counted == 1);
  CHECK(f.ledger->limit_use("agent_1", rules[1]).at("").counted == 4);
  CHECK(f.ledger->limit_use("agent_2", rules[0]).empty());
}

}  // namespace KRUXOS_TEST_FILE
