// How soon a program is started again.
#include "restarts.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

TEST_CASE("gaps between starts grow to a minute, and begin anew with an answer") {
  mcp::Restarts restarts;
  std::int64_t now = 1000;
  CHECK(restarts.wait_ms(now) == 0);
  for (const std::int64_t gap : {0, 1, 2, 4, 8, 16, 32, 60, 60}) {
    restarts.started(now);
    CHECK(restarts.wait_ms(now) == gap * 1000);
    if (gap > 0) CHECK(restarts.wait_ms(now + gap * 1000 - 1) == 1);
    now += gap * 1000;
    CHECK(restarts.wait_ms(now) == 0);
  }
  restarts.begin_anew();
  CHECK(restarts.wait_ms(now) == 0);
  restarts.started(now);
  CHECK(restarts.wait_ms(now) == 1000);
}

TEST_CASE("a clock that was set back makes nobody wait for longer") {
  mcp::Restarts restarts;
  for (int i = 0; i < 4; ++i) restarts.started(1'000'000);
  CHECK(restarts.wait_ms(1'000'000) == 4000);
  CHECK(restarts.wait_ms(10) == 0);
}

}  // namespace KRUXOS_TEST_FILE
