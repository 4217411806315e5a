// How often something is done.
#include "pace.hpp"

#include <catch2/catch.hpp>
#include <chrono>

namespace KRUXOS_TEST_FILE {

TEST_CASE("what is due is due by the clock, however often somebody asks") {
  using namespace std::chrono_literals;
  confined::Pace pace(100ms);
  const auto begin = confined::Clock::now();
  CHECK(pace.until_due(begin) == 0ms);
  CHECK(pace.is_due(begin));
  CHECK_FALSE(pace.is_due(begin));
  CHECK(pace.until_due(begin + 40ms) == 60ms);
  CHECK_FALSE(pace.is_due(begin + 99ms));
  CHECK(pace.is_due(begin + 250ms));
  CHECK_FALSE(pace.is_due(begin + 349ms));
}

}  // namespace KRUXOS_TEST_FILE
