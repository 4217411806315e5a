#include "host/gateway/sessions.hpp"

#include <catch2/catch.hpp>

#include "core/util/ids.hpp"
#include "host/gateway/failed_tries.hpp"

using namespace krux;

TEST_CASE("a session is its agent's, and ends when it is idle", "[sessions]") {
  DrivenClock clock;
  Sessions sessions(clock, {1'000, 3});
  const auto id = sessions.create("a");
  CHECK(is_id("sess_", id));
  CHECK(sessions.use(id, "a"));
  CHECK_FALSE(sessions.use(id, "b"));
  CHECK_FALSE(sessions.end(id, "b"));
  CHECK_FALSE(sessions.use("sess_x", "a"));
  clock.advance(999);
  CHECK(sessions.use(id, "a"));
  clock.advance(999);
  CHECK(sessions.use(id, "a"));
  clock.advance(1'000);
  CHECK_FALSE(sessions.use(id, "a"));
  CHECK(sessions.size() == 0);
}

TEST_CASE("the wall clock does not end a session", "[sessions]") {
  DrivenClock clock;
  Sessions sessions(clock, {1'000, 3});
  const auto id = sessions.create("a");
  clock.jump_wall(100'000);
  CHECK(sessions.use(id, "a"));
}

TEST_CASE("an agent's sessions are counted, idle ones make room", "[sessions]") {
  DrivenClock clock;
  Sessions sessions(clock, {1'000, 3});
  const auto first = sessions.create("a");
  clock.advance(1);
  const auto second = sessions.create("a");
  clock.advance(1);
  sessions.create("a");
  clock.advance(1);
  CHECK(sessions.use(first, "a"));
  const auto others = sessions.create("b");
  sessions.create("a");
  CHECK(sessions.size() == 4);
  CHECK(sessions.use(first, "a"));
  CHECK_FALSE(sessions.use(second, "a"));
  CHECK(sessions.use(others, "b"));
  clock.advance(1'000);
  sessions.create("c");
  CHECK(sessions.size() == 1);
}

TEST_CASE("failed tries lock an address for a while", "[sessions]") {
  DrivenClock clock;
  FailedTries tries(clock, {3, 60'000, 2});
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(tries.locked_for("x"));
    tries.failed("x");
    clock.advance(1'000);
  }
  CHECK(tries.locked_for("x") == 57'000);
  CHECK_FALSE(tries.locked_for("y"));
  clock.advance(56'999);
  CHECK(tries.locked_for("x") == 1);
  clock.advance(1);
  CHECK_FALSE(tries.locked_for("x"));
  tries.failed("x");
  CHECK(tries.locked_for("x") == 1'000);
}

TEST_CASE("the memory of failed tries is bounded", "[sessions]") {
  DrivenClock clock;
  FailedTries tries(clock, {1, 60'000, 2});
  tries.failed("x");
  clock.advance(1);
  tries.failed("y");
  clock.advance(1);
  tries.failed("z");
  CHECK_FALSE(tries.locked_for("x"));
  CHECK(tries.locked_for("y"));
  CHECK(tries.locked_for("z"));
}

TEST_CASE("addresses that are counted together", "[sessions]") {
  CHECK(tries_key("127.0.0.1") == "127.0.0.1");
  CHECK(tries_key("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::");
  CHECK(tries_key("2001:db8:1:2::7") == tries_key("2001:db8:1:2:ffff::"));
  CHECK(tries_key("::ffff:10.0.0.1") != tries_key("::ffff:10.0.0.2"));
  CHECK(tries_key("") == "");
}
