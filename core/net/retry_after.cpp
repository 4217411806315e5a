#include "core/net/retry_after.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace krux {
namespace {

constexpr std::int64_t kLongestMs = 24 * 3'600'000;

std::optional<int> number(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || digits.front() == '-' || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> seconds(std::string_view text) {
  const auto dot = text.find('.');
  const auto whole = number(text.substr(0, dot));
  if (!whole) return std::nullopt;
  std::int64_t ms = std::int64_t{*whole} * 1000;
  if (dot != std::string_view::npos) {
    if (!number(text.substr(dot + 1))) return std::nullopt;
    ms += 1000;
  }
  return std::min(ms, kLongestMs);
}

/// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<std::int64_t> http_date(std::string_view text) {
  if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") return std::nullopt;
  if (text[7] != ' ' || text[11] != ' ' || text[16] != ' ' || text[19] != ':' || text[22] != ':') return std::nullopt;
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
  const auto day = number(text.substr(5, 2)), year = number(text.substr(12, 4)), hour = number(text.substr(17, 2)),
             minute = number(text.substr(20, 2)), second = number(text.substr(23, 2));
  if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(month - months.begin() + 1)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return (((days * 24 + *hour) * 60 + *minute) * 60 + *second) * 1000;
}

}  // namespace

std::optional<std::int64_t> parse_retry_after(std::string_view value, std::int64_t wall_ms) {
  if (const auto ms = seconds(value)) return ms;
  const auto at = http_date(value);
  if (!at) return std::nullopt;
  return std::clamp<std::int64_t>(*at - wall_ms, 0, kLongestMs);
}

}  // namespace krux
