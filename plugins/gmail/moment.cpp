#include "moment.hpp"

#include <time.h>

#include <array>
#include <charconv>
#include <cstdio>

namespace gmail {

std::optional<std::int64_t> parse_moment(std::string_view text) {
  const auto number = [&](std::size_t at, std::size_t digits, int& out) {
    if (at + digits > text.size()) return false;
    const auto* end = text.data() + at + digits;
    return std::from_chars(text.data() + at, end, out).ptr == end;
  };
  tm t{};
  const bool fits = number(0, 4, t.tm_year) && number(5, 2, t.tm_mon) && number(8, 2, t.tm_mday) &&
                    number(11, 2, t.tm_hour) && number(14, 2, t.tm_min) && number(17, 2, t.tm_sec) && text[4] == '-' &&
                    text[7] == '-' && text[10] == 'T' && text[13] == ':' && text[16] == ':' && t.tm_mon >= 1 &&
                    t.tm_mon <= 12;
  if (!fits) return std::nullopt;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  return static_cast<std::int64_t>(timegm(&t)) * 1000;
}

std::string format_moment(std::int64_t unix_ms) {
  auto seconds = static_cast<time_t>(unix_ms / 1000);
  auto ms = static_cast<int>(unix_ms % 1000);
  if (ms < 0) {
    ms += 1000;
    --seconds;
  }
  tm t{};
  gmtime_r(&seconds, &t);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1,
                t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, ms);
  return text.data();
}

}  // namespace gmail
