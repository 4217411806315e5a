#include "core/adapter/call.hpp"

#include <catch2/catch.hpp>
#include <thread>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

CallContext make_call(const Clock& clock, std::int64_t deadline_boot_ms, CallContext::Remember remember = {}) {
  return CallContext({"notes", "a1", 1, "w_1", 1}, clock, deadline_boot_ms, std::move(remember));
}

}  // namespace

TEST_CASE("A call is cancelled by its deadline, by cancel and by end") {
  DrivenClock clock;
  auto call = make_call(clock, clock.boot_ms() + 100);
  CHECK_FALSE(call.cancelled());
  CHECK(call.left_ms() == 100);
  clock.advance(100);
  CHECK(call.cancelled());
  clock.advance(50);
  CHECK(call.left_ms() == 0);

  auto second = make_call(clock, clock.boot_ms() + 100);
  second.cancel();
  CHECK(second.cancelled());
  CHECK_FALSE(second.ended());
  auto third = make_call(clock, clock.boot_ms() + 100);
  third.end();
  CHECK(third.cancelled());
  CHECK(third.ended());
}

TEST_CASE("The wire's record follows unsafe requests and is frozen by end") {
  DrivenClock clock;
  auto call = make_call(clock, clock.boot_ms() + 100);
  CHECK(call.wire() == WireState::kNothingSent);
  REQUIRE(call.begin_unsafe_request());
  CHECK(call.wire() == WireState::kOpen);
  call.request_answered();
  CHECK(call.wire() == WireState::kAnswered);
  REQUIRE(call.begin_unsafe_request());
  CHECK(call.end() == WireState::kOpen);
  call.request_answered();
  CHECK(call.wire() == WireState::kOpen);
  CHECK(call.end() == WireState::kOpen);
}

TEST_CASE("No unsafe request begins once the call is cancelled, late or ended") {
  DrivenClock clock;
  auto cancelled = make_call(clock, clock.boot_ms() + 100);
  cancelled.cancel();
  CHECK_FALSE(cancelled.begin_unsafe_request());
  auto ended = make_call(clock, clock.boot_ms() + 100);
  CHECK(ended.end() == WireState::kNothingSent);
  CHECK_FALSE(ended.begin_unsafe_request());
  auto late = make_call(clock, clock.boot_ms() + 100);
  clock.advance(100);
  CHECK_FALSE(late.begin_unsafe_request());
  CHECK(late.wire() == WireState::kNothingSent);
}

TEST_CASE("end is a fence: what it returns is what the wire shows for ever") {
  DrivenClock clock;
  for (int round = 0; round < 300; ++round) {
    auto call = make_call(clock, clock.boot_ms() + 100);
    std::atomic<bool> sent{false};
    std::thread sender([&] { sent = call.begin_unsafe_request(); });
    const auto wire = call.end();
    sender.join();
    CHECK(sent == (wire == WireState::kOpen));
    CHECK(call.wire() == wire);
  }
}

TEST_CASE("The first word of a failure counts, and none after the end") {
  DrivenClock clock;
  auto call = make_call(clock, clock.boot_ms() + 100);
  CHECK_FALSE(call.failure());
  call.fail({KRUX_REFUSED, true, ErrorCode::kMessageNotFound, "first", std::nullopt});
  call.fail({KRUX_NETWORK, false, {}, "second", std::nullopt});
  CHECK(call.failure()->message == "first");
  auto ended = make_call(clock, clock.boot_ms() + 100);
  ended.end();
  ended.fail({KRUX_REFUSED, true, {}, "late", std::nullopt});
  CHECK_FALSE(ended.failure());
}

TEST_CASE("A note is kept while the call lives, where there is somewhere to keep it") {
  DrivenClock clock;
  std::string kept;
  auto call = make_call(clock, clock.boot_ms() + 100, [&](std::string_view note) {
    kept = note;
    return note != "bad";
  });
  CHECK(call.remember("{}"));
  CHECK(kept == "{}");
  CHECK_FALSE(call.remember("bad"));
  call.end();
  CHECK_FALSE(call.remember("late"));
  CHECK(kept == "bad");
  CHECK_FALSE(make_call(clock, clock.boot_ms() + 100).remember("{}"));
}

TEST_CASE("Cancel callbacks run once, at once when it is too late, and never after they are dropped") {
  DrivenClock clock;
  auto call = make_call(clock, clock.boot_ms() + 100);
  int ran = 0, dropped = 0;
  call.on_cancel([&] { ++ran; });
  const auto token = call.on_cancel([&] { ++dropped; });
  call.drop_on_cancel(token);
  call.drop_on_cancel(token);
  call.cancel();
  call.end();
  CHECK(ran == 1);
  CHECK(dropped == 0);
  call.on_cancel([&] { ++ran; });
  CHECK(ran == 2);

  auto late = make_call(clock, clock.boot_ms() + 100);
  clock.advance(100);
  late.on_cancel([&] { ++ran; });
  CHECK(ran == 3);
}

TEST_CASE("A callback may drop itself and ask for another") {
  DrivenClock clock;
  auto call = make_call(clock, clock.boot_ms() + 100);
  int inner = 0;
  std::uint64_t token = 0;
  token = call.on_cancel([&] {
    call.drop_on_cancel(token);
    call.on_cancel([&] { ++inner; });
  });
  call.cancel();
  CHECK(inner == 1);
}

TEST_CASE("drop_on_cancel waits for a callback that runs") {
  DrivenClock clock;
  for (int round = 0; round < 300; ++round) {
    auto call = make_call(clock, clock.boot_ms() + 100);
    auto owned = std::make_unique<int>(0);
    const auto token = call.on_cancel([&] { ++*owned; });
    std::thread canceller([&] { call.cancel(); });
    call.drop_on_cancel(token);
    owned.reset();  // a sanitizer, or a null pointer, tells when the callback still runs
    canceller.join();
  }
}

TEST_CASE("The worse of both words counts") {
  const CallFailure none{KRUX_REFUSED, true, {}, "", std::nullopt}, maybe{KRUX_NETWORK, false, {}, "", std::nullopt};
  CHECK(judge(none, WireState::kNothingSent).effect_none);
  CHECK(judge(maybe, WireState::kNothingSent).effect_none);
  CHECK(judge(none, WireState::kAnswered).effect_none);
  CHECK_FALSE(judge(maybe, WireState::kAnswered).effect_none);
  CHECK_FALSE(judge(none, WireState::kOpen).effect_none);
  CHECK_FALSE(judge(maybe, WireState::kOpen).effect_none);
}

}  // namespace KRUXOS_TEST_FILE
