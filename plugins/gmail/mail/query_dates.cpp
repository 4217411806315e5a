#include <charconv>
#include <chrono>

#include "query_operators.hpp"

namespace gmail {
namespace {

namespace chr = std::chrono;

std::optional<std::int64_t> number_of(std::string_view digits, std::size_t most_digits) {
  std::int64_t value = 0;
  if (digits.empty() || digits.size() > most_digits) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ms_of(chr::year_month_day day) {
  if (!day.ok()) return std::nullopt;
  return chr::duration_cast<chr::milliseconds>(chr::sys_days(day).time_since_epoch()).count();
}

std::optional<std::int64_t> ms_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  return ms_of(chr::year(static_cast<int>(year)) / chr::month(static_cast<unsigned>(month)) /
               chr::day(static_cast<unsigned>(day)));
}

/// The same day of the month before so many months, or that month's last one.
std::int64_t months_before(std::int64_t now_ms, std::int64_t months) {
  const chr::sys_time<chr::milliseconds> now{chr::milliseconds(now_ms)};
  const auto today = chr::floor<chr::days>(now);
  auto day = chr::year_month_day(today) - chr::months(months);
  if (!day.ok()) day = day.year() / day.month() / chr::last;
  return (chr::sys_days(day) + (now - today)).time_since_epoch().count();
}

}  // namespace

std::optional<std::int64_t> day_ms(std::string_view text) {
  const auto first = text.find_first_of("/-.");
  if (first == std::string_view::npos) {
    const auto seconds = number_of(text, 11);
    // Fewer digits are a year, or a date without its separators: no moment that anybody means.
    if (!seconds || text.size() < 9) return std::nullopt;
    return *seconds * 1000;
  }
  const auto second = text.find(text[first], first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto one = text.substr(0, first), two = text.substr(first + 1, second - first - 1),
             three = text.substr(second + 1);
  const auto a = number_of(one, 4), b = number_of(two, 2), c = number_of(three, 4);
  if (!a || !b || !c) return std::nullopt;
  if (one.size() == 4 && three.size() <= 2) return ms_of(*a, *b, *c);
  if (one.size() <= 2 && three.size() == 4) return ms_of(*c, *a, *b);
  return std::nullopt;
}

std::optional<std::int64_t> age_ms(std::string_view text, std::int64_t now_ms) {
  if (text.size() < 2) return std::nullopt;
  const auto count = number_of(text.substr(0, text.size() - 1), 5);
  if (!count) return std::nullopt;
  switch (text.back()) {
    case 'd':
    case 'D':
      return now_ms - *count * 24 * 3'600'000;
    case 'm':
    case 'M':
      return months_before(now_ms, std::min<std::int64_t>(*count, 12'000));
    case 'y':
    case 'Y':
      return months_before(now_ms, 12 * std::min<std::int64_t>(*count, 1000));
    default:
      return std::nullopt;
  }
}

}  // namespace gmail
