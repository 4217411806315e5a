// Times as text.
#include <fmt/compile.h>
#include <fmt/format.h>
#include <time.h>

#include <array>

#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

struct Digits {
  std::string_view text;
  std::size_t at = 0;
  bool ok = true;

  int take(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i, ++at) {
      if (at >= text.size() || text[at] < '0' || text[at] > '9') {
        ok = false;
        return 0;
      }
      value = value * 10 + (text[at] - '0');
    }
    return value;
  }
  bool skip(char c) {
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }
  void expect(char c) { ok = skip(c) && ok; }
};

int days_in_month(int year, int month) {
  static constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

/// Milliseconds of the fraction behind the seconds; further digits are dropped.
int take_fraction(Digits& d) {
  int ms = 0, places = 0;
  while (d.at < d.text.size() && d.text[d.at] >= '0' && d.text[d.at] <= '9') {
    if (places < 3) ms = ms * 10 + (d.text[d.at] - '0');
    ++places;
    ++d.at;
  }
  if (places == 0) d.ok = false;
  for (; places < 3; ++places) ms *= 10;
  return ms;
}

int take_offset_minutes(Digits& d) {
  if (d.skip('Z') || d.skip('z')) return 0;
  const int sign = d.skip('-') ? -1 : 1;
  if (sign == 1) d.expect('+');
  const int hours = d.take(2);
  d.expect(':');
  const int minutes = d.take(2);
  if (hours > 23 || minutes > 59) d.ok = false;
  return sign * (hours * 60 + minutes);
}

}  // namespace

std::string format_time(std::int64_t unix_ms) {
  auto seconds = static_cast<time_t>(unix_ms / 1000);
  auto ms = unix_ms % 1000;
  if (ms < 0) {
    ms += 1000;
    --seconds;
  }
  tm t{};
  gmtime_r(&seconds, &t);
  // Compiled: a call's answer has several.
  return fmt::format(FMT_COMPILE("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z"), t.tm_year + 1900, t.tm_mon + 1,
                     t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, ms);
}

std::int64_t parse_time(std::string_view text, std::string_view what) {
  Digits d{text};
  tm t{};
  t.tm_year = d.take(4) - 1900;
  d.expect('-');
  t.tm_mon = d.take(2) - 1;
  d.expect('-');
  t.tm_mday = d.take(2);
  int ms = 0, offset = 0;
  if (d.ok && d.at < text.size()) {
    if (!d.skip('T') && !d.skip('t')) d.expect(' ');
    t.tm_hour = d.take(2);
    d.expect(':');
    t.tm_min = d.take(2);
    d.expect(':');
    t.tm_sec = d.take(2);
    if (d.skip('.')) ms = take_fraction(d);
    offset = take_offset_minutes(d);
  }
  const bool valid = d.ok && d.at == text.size() && t.tm_mon >= 0 && t.tm_mon < 12 && t.tm_mday >= 1 &&
                     t.tm_mday <= days_in_month(t.tm_year + 1900, t.tm_mon + 1) && t.tm_hour < 24 && t.tm_min < 60 &&
                     t.tm_sec < 61;
  if (!valid) {
    throw invalid_input(fmt::format(
        "{} is not a time: use RFC 3339, such as 2026-11-21T09:30:00Z, or a date, such as 2026-11-21.", what));
  }
  return (std::int64_t{timegm(&t)} - offset * 60) * 1000 + ms;
}

}  // namespace krux
