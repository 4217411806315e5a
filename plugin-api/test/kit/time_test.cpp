#include <kruxos/kit/time.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;

TEST_CASE("moments by RFC 3339, and dates alone") {
  CHECK(parse_rfc3339("2026-11-21T09:30:00Z") == 1'795'253'400'000);
  CHECK(parse_rfc3339("2026-11-21t09:30:00.25z") == 1'795'253'400'250);
  CHECK(parse_rfc3339("2026-11-21 11:30:00+02:00") == 1'795'253'400'000);
  CHECK(parse_rfc3339("2026-11-21T04:00:00.1239-0530") == 1'795'253'400'123);
  CHECK(parse_rfc3339("2026-11-21") == 1'795'219'200'000);
  CHECK(parse_rfc3339("2026-11-21", RangeEnd::kLast) == 1'795'219'200'000 + 86'399'999);
  CHECK(parse_rfc3339("2026-11-21T09:30:00Z", RangeEnd::kLast) == 1'795'253'400'000);
  CHECK(parse_rfc3339("2024-02-29"));
  for (const char* bad : {"", "2026", "yesterday", "2026-02-30", "2026-13-01", "2026-11-21T24:00:00Z", "1969-01-01",
                          "2026-11-21T09:30:00", "2026-11-21T09:30Z", "2026-11-21T09:30:00.Z", "2026-11-21X",
                          "2026-11-21T09:30:00+25:00", "2026-11-21T09:30:00Zz", "26-11-21", "1700000001.000100"}) {
    INFO(bad);
    CHECK_FALSE(parse_rfc3339(bad));
  }
}

TEST_CASE("a moment within a sentence") {
  const std::string_view text = "Retry after 2026-05-29T12:00:05.000Z, please";
  std::size_t at = 12;
  CHECK(parse_rfc3339_at(text, at) == 1'780'056'005'000);
  CHECK(text.substr(at) == ", please");
  for (const char* none : {"", "2026", "2026-05-29", "2026-13-01T00:00:00Z", "x026-05-29T12:00:05Z"}) {
    at = 0;
    CHECK_FALSE(parse_rfc3339_at(none, at));
  }
}

TEST_CASE("times as agents get them, and the Date header") {
  CHECK(format_rfc3339(1'795'253'400'007) == "2026-11-21T09:30:00.007Z");
  CHECK(format_rfc3339(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(parse_http_date("Sat, 21 Nov 2026 09:30:00 GMT") == 1'795'253'400'000);
  for (const char* bad : {"", "Sat, 21 Nov 2026 09:30:00", "Sat, 21 Foo 2026 09:30:00 GMT", "Saturday, 21-Nov-26",
                          "Sat, 31 Feb 2026 09:30:00 GMT", "Sat, 21 anF 2026 09:30:00 GMT"}) {
    INFO(bad);
    CHECK_FALSE(parse_http_date(bad));
  }
}

}  // namespace KRUXOS_TEST_FILE
