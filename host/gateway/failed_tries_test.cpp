#include "host/gateway/failed_tries.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("failed tries lock an address for a while", "[tries]") {
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

TEST_CASE("the memory of failed tries is bounded", "[tries]") {
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

TEST_CASE("addresses that are counted together", "[tries]") {
  CHECK(tries_key("127.0.0.1") == "127.0.0.1");
  CHECK(tries_key("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::");
  CHECK(tries_key("2001:db8:1:2::7") == tries_key("2001:db8:1:2:ffff::"));
  CHECK(tries_key("::ffff:10.0.0.1") != tries_key("::ffff:10.0.0.2"));
  CHECK(tries_key("") == "");
}

}  // namespace KRUXOS_TEST_FILE
