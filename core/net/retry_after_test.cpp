#include "core/net/retry_after.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {
constexpr std::int64_t kNow = 784'111'777'000;  // Sun, 06 Nov 1994 08:49:37 GMT
}

TEST_CASE("Retry-After in seconds") {
  CHECK(parse_retry_after("0", kNow) == 0);
  CHECK(parse_retry_after("30", kNow) == 30'000);
  CHECK(parse_retry_after("1.5", kNow) == 2'000);
  CHECK(parse_retry_after("2000000000", kNow) == 24 * 3'600'000);
}

TEST_CASE("Retry-After as a date") {
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNow) == 0);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", kNow) == 30'000);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", kNow) == 0);
  CHECK(parse_retry_after("Thu, 31 Dec 2099 23:59:59 GMT", kNow) == 24 * 3'600'000);
  CHECK(parse_retry_after("Wed, 01 Mar 2000 00:00:00 GMT", 951'782'400'000) == 86'400'000);  // 2000 was a leap year
}

TEST_CASE("a Retry-After that cannot be read is none") {
  for (const auto* bad :
       {"", "-1", "+5", "soon", "1,5", "1.", ".5", "99999999999999999999", "30 ", " 30",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:3x GMT", "Sun,-06 Nov 1994 08:49:37 GMT"}) {
    INFO(bad);
    CHECK_FALSE(parse_retry_after(bad, kNow).has_value());
  }
}

}  // namespace KRUXOS_TEST_FILE
