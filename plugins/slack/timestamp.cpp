#include "timestamp.hpp"

#include <time.h>

#include <array>
#include <charconv>
#include <cstdio>

namespace slack {
namespace {

/// Reads exactly `count` digits at `at`, moving it; -1 when they are not there.
int digits(std::string_view text, std::size_t& at, std::size_t count) {
  if (text.size() - at < count || at > text.size()) return -1;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const char c = text[at + i];
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  at += count;
  return value;
}

bool literal(std::string_view text, std::size_t& at, char wanted) {
  if (at >= text.size() || text[at] != wanted) return false;
  ++at;
  return true;
}

/// "Z", "+02:00", "-0530" as minutes.
std::optional<int> offset_minutes(std::string_view text, std::size_t& at) {
  if (literal(text, at, 'Z') || literal(text, at, 'z')) return 0;
  const bool minus = literal(text, at, '-');
  if (!minus && !literal(text, at, '+')) return std::nullopt;
  const int hours = digits(text, at, 2);
  literal(text, at, ':');
  const int minutes = digits(text, at, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (minus ? -1 : 1) * (hours * 60 + minutes);
}

std::optional<int> fraction_ms(std::string_view text, std::size_t& at) {
  if (!literal(text, at, '.')) return 0;
  int ms = 0, places = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++places) {
    if (places < 3) ms = ms * 10 + (text[at] - '0');
  }
  if (places == 0) return std::nullopt;
  for (; places < 3; ++places) ms *= 10;
  return ms;
}

/// "09:30:00", moving `at`: seconds since midnight.
std::optional<int> clock_seconds(std::string_view text, std::size_t& at) {
  const int hour = digits(text, at, 2);
  if (!literal(text, at, ':')) return std::nullopt;
  const int minute = digits(text, at, 2);
  if (!literal(text, at, ':')) return std::nullopt;
  const int second = digits(text, at, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return std::nullopt;
  return hour * 3600 + minute * 60 + second;
}

/// The first second of a day, or nothing when there is no such day (timegm would quietly correct it).
std::optional<std::int64_t> civil(int year, int month, int day) {
  if (year < 1970 || month < 1 || day < 1) return std::nullopt;
  tm t{};
  t.tm_year = year - 1900;
  t.tm_mon = month - 1;
  t.tm_mday = day;
  const tm asked = t;
  const auto midnight = timegm(&t);
  if (t.tm_mday != asked.tm_mday || t.tm_mon != asked.tm_mon) return std::nullopt;
  return std::int64_t{midnight};
}

/// "2026-11-21", moving `at`: its first second.
std::optional<std::int64_t> date(std::string_view text, std::size_t& at) {
  const int year = digits(text, at, 4);
  if (!literal(text, at, '-')) return std::nullopt;
  const int month = digits(text, at, 2);
  if (!literal(text, at, '-')) return std::nullopt;
  return civil(year, month, digits(text, at, 2));
}

std::optional<std::int64_t> rfc3339(std::string_view text, RangeEnd end) {
  std::size_t at = 0;
  const auto day = date(text, at);
  if (!day) return std::nullopt;
  if (at == text.size()) return *day * 1000 + (end == RangeEnd::kLast ? 86'400'000 - 1 : 0);
  if (!literal(text, at, 'T') && !literal(text, at, 't') && !literal(text, at, ' ')) return std::nullopt;
  const auto clock = clock_seconds(text, at);
  const auto ms = clock ? fraction_ms(text, at) : std::nullopt;
  const auto offset = ms ? offset_minutes(text, at) : std::nullopt;
  if (!offset || at != text.size()) return std::nullopt;
  return (*day + *clock - *offset * 60) * 1000 + *ms;
}

}  // namespace

std::optional<std::int64_t> micros(std::string_view ts) {
  const auto dot = ts.find('.');
  const auto whole = ts.substr(0, dot);
  const auto part = dot == std::string_view::npos ? std::string_view("0") : ts.substr(dot + 1);
  if (whole.empty() || whole.size() > 11 || part.empty() || part.size() > 6) return std::nullopt;
  std::int64_t seconds = 0, fraction = 0;
  const auto read = [](std::string_view text, std::int64_t& out) {
    if (text.front() == '-') return false;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
    return end.ec == std::errc() && end.ptr == text.data() + text.size();
  };
  if (!read(whole, seconds) || !read(part, fraction)) return std::nullopt;
  for (auto places = part.size(); places < 6; ++places) fraction *= 10;
  return seconds * 1'000'000 + fraction;
}

std::string from_micros(std::int64_t value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(value / 1'000'000),
                static_cast<long long>(value % 1'000'000));
  return text.data();
}

std::int64_t millis(std::string_view ts) {
  return micros(ts).value_or(0) / 1000;
}

std::optional<std::int64_t> parse_moment(std::string_view text, RangeEnd end) {
  if (const auto moment = rfc3339(text, end)) return moment;
  // Shorter numbers are no timestamps of messages but mistakes, such as a year alone.
  if (text.substr(0, text.find('.')).size() < 9) return std::nullopt;
  const auto as_ts = micros(text);
  return as_ts ? std::optional(*as_ts / 1000) : std::nullopt;
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") return std::nullopt;
  const auto month = months.find(text.substr(8, 3));
  std::size_t day_at = 5, year_at = 12, clock_at = 17;
  const int day_of_month = digits(text, day_at, 2), year = digits(text, year_at, 4);
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  const auto day = civil(year, static_cast<int>(month / 3) + 1, day_of_month);
  const auto clock = clock_seconds(text, clock_at);
  if (!day || !clock) return std::nullopt;
  return (*day + *clock) * 1000;
}

std::string format_moment(std::int64_t unix_ms) {
  const auto seconds = static_cast<time_t>(unix_ms / 1000);
  tm t{};
  gmtime_r(&seconds, &t);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1,
                t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, static_cast<int>(unix_ms % 1000));
  return text.data();
}

}  // namespace slack
