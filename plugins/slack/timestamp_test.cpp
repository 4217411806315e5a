#include "timestamp.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace slack;

TEST_CASE("Slack's timestamps keep their microseconds") {
  CHECK(micros("1700000001.000100") == 1'700'000'001'000'100);
  CHECK(micros("1700000001") == 1'700'000'001'000'000);
  CHECK(micros("1700000001.5") == 1'700'000'001'500'000);
  CHECK(micros("0000000000.000000") == 0);
  CHECK(from_micros(1'700'000'001'000'100) == "1700000001.000100");
  CHECK(millis("1700000001.999999") == 1'700'000'001'999);
  for (const char* bad : {"", ".", "1.", ".5", "-1.0", "1700000001.-00100", "1700000001.0000001", "abc", "1 2",
                          "1700000001.000100x", "999999999999.0", "1e9", "+1.0", "1700000001,000100"}) {
    INFO(bad);
    CHECK_FALSE(micros(bad));
  }
  CHECK_FALSE(micros(std::string_view("1700000001\0.0", 13)));
}

TEST_CASE("times as agents give them") {
  CHECK(parse_moment("2026-11-21T09:30:00Z") == 1'795'253'400'000);
  CHECK(parse_moment("2026-11-21t09:30:00.25z") == 1'795'253'400'250);
  CHECK(parse_moment("2026-11-21 11:30:00+02:00") == 1'795'253'400'000);
  CHECK(parse_moment("2026-11-21T04:00:00.1239-0530") == 1'795'253'400'123);
  CHECK(parse_moment("2026-11-21") == 1'795'219'200'000);
  CHECK(parse_moment("2026-11-21", RangeEnd::kLast) == 1'795'219'200'000 + 86'399'999);
  CHECK(parse_moment("2026-11-21T09:30:00Z", RangeEnd::kLast) == 1'795'253'400'000);
  CHECK(parse_moment("1700000001.000100") == 1'700'000'001'000);
  CHECK(parse_moment("1700000001") == 1'700'000'001'000);
  for (const char* bad : {"", "2026", "yesterday", "2026-02-30", "2026-13-01", "2026-11-21T24:00:00Z", "1969-01-01",
                          "2026-11-21T09:30:00", "2026-11-21T09:30Z", "2026-11-21T09:30:00.Z", "2026-11-21X",
                          "2026-11-21T09:30:00+25:00", "2026-11-21T09:30:00Zz", "26-11-21"}) {
    INFO(bad);
    CHECK_FALSE(parse_moment(bad));
  }
  CHECK(parse_moment("2024-02-29"));
}

TEST_CASE("a timestamp as people and models read it") {
  CHECK(readable_time("1700000001.000100") == "2023-11-14T22:13:21Z");
  CHECK(readable_time("1795253400.999999") == "2026-11-21T09:30:00Z");
  CHECK(readable_time("0.0") == "1970-01-01T00:00:00Z");
  CHECK(readable_time("1709164799.5") == "2024-02-28T23:59:59Z");
  CHECK(readable_time("99999999999.0") == "5138-11-16T09:46:39Z");
  CHECK(parse_moment(readable_time("1700000001.000000")) == 1'700'000'001'000);
}

}  // namespace KRUXOS_TEST_FILE
