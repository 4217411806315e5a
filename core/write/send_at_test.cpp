// Writes that are scheduled for a time.
#include <catch2/catch.hpp>

#include "core/util/durations.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

struct SendAtFixture : LedgerFixture {
  NewWrite scheduled(const std::string& text, std::int64_t in_ms) {
    auto write = new_write(text);
    write.send_at_ms = clock.wall_ms() + in_ms;
    return write;
  }
  NewContent content(const std::string& text, std::int64_t send_at_ms) {
    NewContent c;
    c.params_json = R"({"text":")" + text + "\"}";
    c.summary = text;
    c.tier = "notify";
    c.send_at_ms = send_at_ms;
    return c;
  }
  std::string claimed() {
    std::string texts;
    for (const auto& write : take()) texts += write.params_json.substr(9, 1);
    return texts;
  }
};

}  // namespace

TEST_CASE("a scheduled write goes out at its time, and can be cancelled until then") {
  SendAtFixture f;
  const auto write = f.submit(f.scheduled("a", 3 * kDay)).write;
  const auto other = f.submit(f.scheduled("b", 3 * kDay)).write;
  CHECK(write.state == State::kBuffered);
  CHECK(write.buffer_until_ms == write.send_at_ms);
  CHECK(f.ledger->get(write.write_id)->send_at_ms == write.send_at_ms);
  f.clock.advance(3 * kDay - 1);
  f.restart();
  CHECK(f.take().empty());
  CHECK(std::holds_alternative<WriteRecord>(f.cancel(other.write_id, "agent_1")));
  f.clock.advance(1);
  CHECK(f.claimed() == "a");
}

TEST_CASE("no time shortens a write's delay") {
  SendAtFixture f;
  const auto write = f.submit(f.scheduled("a", 1'000)).write;
  CHECK(write.buffer_until_ms == f.clock.wall_ms() + 30'000);
  f.submit(f.scheduled("b", -kLateByMs));
  f.clock.advance(29'999);
  CHECK(f.take().empty());
  f.clock.advance(1);
  CHECK(f.claimed() == "ab");
}

TEST_CASE("a clock that is set forward sends nothing before its time") {
  SendAtFixture f;
  f.submit(f.scheduled("a", kDay));
  f.clock.jump_wall(2 * kDay);
  CHECK(f.take().empty());
  f.clock.advance(kDay);
  CHECK(f.claimed() == "a");
}

TEST_CASE("a time that has passed, or that is too far ahead, is refused") {
  SendAtFixture f;
  const auto past = f.refused(f.scheduled("a", -kLateByMs - 1));
  CHECK(past.type() == ErrorCode::kInvalidInput);
  CHECK_THAT(past.what(), Catch::Contains("send_at lies in the past") &&
                              Catch::Contains(format_time(f.clock.wall_ms() - kLateByMs - 1)));
  CHECK_THAT(f.refused(f.scheduled("a", kLongestWindow + 1)).what(),
             Catch::Contains("send_at lies too far ahead") && Catch::Contains("30 days"));
  CHECK_FALSE(f.submit(f.scheduled("a", kLongestWindow)).duplicate);
}

TEST_CASE("the same for the same time is one write, for another time another one") {
  SendAtFixture f;
  auto asked = f.scheduled("a", kHour);
  asked.idempotency_key = "k";
  const auto write = f.submit(asked).write;
  auto same = asked;
  same.idempotency_key.clear();
  CHECK(f.submit(same).write.write_id == write.write_id);
  CHECK_FALSE(f.submit(f.scheduled("a", 2 * kHour)).duplicate);
  CHECK_FALSE(f.submit(new_write("a")).duplicate);
  auto other = f.scheduled("a", 3 * kHour);
  other.idempotency_key = "k";
  CHECK(f.refused(other).type() == ErrorCode::kConflictError);
  // Its time has passed by now: asked for once more it is still the same.
  f.clock.advance(2 * kHour);
  const auto again = f.submit(asked);
  CHECK(again.duplicate);
  CHECK(again.write.write_id == write.write_id);
}

TEST_CASE("an edit changes the time, keeps it, or takes it away, and is kept with it") {
  SendAtFixture f;
  const auto write = f.submit(f.scheduled("a", kHour)).write;
  const auto later = write.send_at_ms + kHour;
  const auto moved = std::get<WriteRecord>(f.edit(write, f.content("a", later), "agent_1"));
  CHECK(moved.content_hash != write.content_hash);
  CHECK(moved.buffer_until_ms == later);
  const auto edits = f.ledger->edits(write.write_id);
  REQUIRE(edits.size() == 1);
  CHECK(edits[0].from_json == R"({"send_at":")" + format_time(write.send_at_ms) + R"(","text":"a"})");
  CHECK(edits[0].to_json == R"({"send_at":")" + format_time(later) + R"(","text":"a"})");
  const auto refused = std::get<Error>(f.edit(moved, f.content("a", f.clock.wall_ms() - kHour), "agent_1"));
  CHECK_THAT(refused.what(), Catch::Contains("in the past"));
  CHECK(f.ledger->get(write.write_id)->send_at_ms == later);
  const auto kept = std::get<WriteRecord>(f.edit(moved, f.content("b", later), "agent_1"));
  CHECK(kept.buffer_until_ms == later);
  const auto at_once = std::get<WriteRecord>(f.edit(kept, f.content("b", 0), "agent_1"));
  CHECK(at_once.buffer_until_ms == f.clock.wall_ms() + 30'000);
  CHECK(f.ledger->get(write.write_id)->send_at_ms == 0);
}

TEST_CASE("what a person accepts names the time that was shown, and waits for it") {
  SendAtFixture f;
  auto asked = f.scheduled("a", kHour);
  asked.approval_reason = "It is asked for.";
  const auto write = f.submit(asked).write;
  const auto moved = std::get<WriteRecord>(f.edit(write, f.content("a", write.send_at_ms - kHour), "agent_1"));
  CHECK(std::get<Error>(f.accept(write)).type() == ErrorCode::kConflictError);
  const auto back = std::get<WriteRecord>(f.edit(moved, f.content("a", write.send_at_ms), "agent_1"));
  CHECK(std::get<WriteRecord>(f.accept(back)).buffer_until_ms == write.send_at_ms);

  auto late = f.scheduled("b", kHour);
  late.approval_reason = "It is asked for.";
  const auto waits = f.submit(late).write;
  f.clock.advance(kDay);
  CHECK(std::get<WriteRecord>(f.accept(waits)).buffer_until_ms == f.clock.wall_ms() + 30'000);
}

TEST_CASE("a scheduled write has its place by its time, and holds up nobody until then") {
  SendAtFixture f;
  const auto say = [&](NewWrite write) {
    write.order = "C1";
    return f.submit(std::move(write)).write;
  };
  say(f.scheduled("d", kDay));
  say(f.scheduled("c", kHour));
  say(new_write("a"));
  f.clock.advance(30'000);
  CHECK(f.claimed() == "a");
  const auto executing = f.ledger->list({.states = {State::kExecuting}}).at(0);
  f.record(executing, WriteEvent::kDone);
  // One whose window ends with it was admitted later, and goes behind it.
  f.clock.advance(kHour - 60'000);
  say(new_write("b"));
  f.clock.advance(30'000);
  CHECK(f.claimed() == "c");
  CHECK(f.claimed().empty());
  f.record(f.ledger->list({.states = {State::kExecuting}}).at(0), WriteEvent::kDone);
  CHECK(f.claimed() == "b");
}

TEST_CASE("limits count a scheduled write when it is asked for and when it goes out") {
  SendAtFixture f;
  const auto limited = [&](const std::string& text, std::int64_t in_ms) {
    auto write = in_ms == 0 ? new_write(text) : f.scheduled(text, in_ms);
    write.limits = {{{{"notes.add"}, 2, kHour, ""}, "", false}};
    return write;
  };
  f.submit(limited("a", kDay));
  f.submit(limited("b", kDay));
  CHECK(f.refused(limited("c", 2 * kDay)).type() == ErrorCode::kBatchProtection);  // two were asked for in this hour
  f.clock.advance(2 * kHour);
  const auto refused = f.refused(limited("c", kDay - 2 * kHour + 59 * kMinute));  // two go out within an hour of it
  CHECK(refused.type() == ErrorCode::kBatchProtection);
  f.submit(limited("c", kDay - kHour));
  f.clock.advance(kDay - 2 * kHour - 10 * kMinute);
  CHECK(f.refused(limited("d", 0)).type() == ErrorCode::kBatchProtection);
  f.clock.advance(3 * kHour);
  CHECK_FALSE(f.submit(limited("d", 0)).duplicate);
}

}  // namespace KRUXOS_TEST_FILE
