// kruxos/kit/time.hpp - moments as services and agents write them; inside an adapter they are Unix milliseconds. Needs
// no RapidJSON.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace kruxos::kit {

/// Which end of a day a date alone stands for.
enum class RangeEnd { kFirst, kLast };

namespace detail {

/// Reads exactly `count` digits at `at`, moving it; -1 when they are not there.
inline int digits(std::string_view text, std::size_t& at, std::size_t count) {
  if (at > text.size() || text.size() - at < count) return -1;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const char c = text[at + i];
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  at += count;
  return value;
}

inline bool literal(std::string_view text, std::size_t& at, char wanted) {
  if (at >= text.size() || text[at] != wanted) return false;
  ++at;
  return true;
}

/// "Z", "+02:00", "-0530" as minutes.
inline std::optional<int> offset_minutes(std::string_view text, std::size_t& at) {
  if (literal(text, at, 'Z') || literal(text, at, 'z')) return 0;
  const bool minus = literal(text, at, '-');
  if (!minus && !literal(text, at, '+')) return std::nullopt;
  const int hours = digits(text, at, 2);
  literal(text, at, ':');
  const int minutes = digits(text, at, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (minus ? -1 : 1) * (hours * 60 + minutes);
}

inline std::optional<int> fraction_ms(std::string_view text, std::size_t& at) {
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
inline std::optional<int> clock_seconds(std::string_view text, std::size_t& at) {
  const int hour = digits(text, at, 2);
  if (!literal(text, at, ':')) return std::nullopt;
  const int minute = digits(text, at, 2);
  if (!literal(text, at, ':')) return std::nullopt;
  const int second = digits(text, at, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return std::nullopt;
  return hour * 3600 + minute * 60 + second;
}

/// The first second of a day, or nothing when there is no such day.
inline std::optional<std::int64_t> day_seconds(int year, int month, int day) {
  if (year < 1970 || month < 1 || day < 1) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * 86'400;
}

/// "2026-11-21", moving `at`: its first second.
inline std::optional<std::int64_t> date(std::string_view text, std::size_t& at) {
  const int year = digits(text, at, 4);
  if (!literal(text, at, '-')) return std::nullopt;
  const int month = digits(text, at, 2);
  if (!literal(text, at, '-')) return std::nullopt;
  return day_seconds(year, month, digits(text, at, 2));
}

}  // namespace detail

/// RFC 3339 at `at`, any offset and fraction, moving it behind what was read.
inline std::optional<std::int64_t> parse_rfc3339_at(std::string_view text, std::size_t& at) {
  const auto day = detail::date(text, at);
  if (!day || at >= text.size() || std::string_view("Tt ").find(text[at++]) == std::string_view::npos)
    return std::nullopt;
  const auto clock = detail::clock_seconds(text, at);
  const auto ms = clock ? detail::fraction_ms(text, at) : std::nullopt;
  const auto offset = ms ? detail::offset_minutes(text, at) : std::nullopt;
  if (!offset) return std::nullopt;
  return (*day + *clock - *offset * 60) * 1000 + *ms;
}

/// The whole text as RFC 3339, or a date alone: its first moment, UTC, or its last one. Years from 1970.
inline std::optional<std::int64_t> parse_rfc3339(std::string_view text, RangeEnd end = RangeEnd::kFirst) {
  std::size_t at = 0;
  if (const auto day = detail::date(text, at); day && at == text.size())
    return *day * 1000 + (end == RangeEnd::kLast ? 86'400'000 - 1 : 0);
  at = 0;
  const auto moment = parse_rfc3339_at(text, at);
  return at == text.size() ? moment : std::nullopt;
}

/// "Sat, 21 Nov 2026 09:30:00 GMT", as in the header Date.
inline std::optional<std::int64_t> parse_http_date(std::string_view text) {
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") return std::nullopt;
  const auto month = months.find(text.substr(8, 3));
  std::size_t day_at = 5, year_at = 12, clock_at = 17;
  const int day_of_month = detail::digits(text, day_at, 2), year = detail::digits(text, year_at, 4);
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  const auto day = detail::day_seconds(year, static_cast<int>(month / 3) + 1, day_of_month);
  const auto clock = detail::clock_seconds(text, clock_at);
  if (!day || !clock) return std::nullopt;
  return (*day + *clock) * 1000;
}

/// RFC 3339, UTC, with milliseconds: "2026-11-21T09:30:00.000Z".
inline std::string format_rfc3339(std::int64_t unix_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> moment{std::chrono::milliseconds(unix_ms)};
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(moment - day);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return text.data();
}

}  // namespace kruxos::kit
