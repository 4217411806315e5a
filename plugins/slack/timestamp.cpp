#include "timestamp.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace slack {
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

std::string fraction(std::string_view ts) {
  const auto whole = from_micros(micros(ts).value_or(0));
  return whole.substr(whole.find('.') + 1);
}

std::string readable_time(std::string_view ts) {
  const std::chrono::sys_seconds moment{std::chrono::seconds(millis(ts) / 1000)};
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(moment - day);
  std::string out = "0000-00-00T00:00:00Z";
  // By hand: each message of an answer has one, and printf takes longer than the rest of the message.
  const auto put = [&](std::size_t last, int places, std::int64_t value) {
    for (; places > 0; --places, value /= 10) out[last--] = static_cast<char>('0' + value % 10);
  };
  put(3, 4, int{date.year()});
  put(6, 2, unsigned{date.month()});
  put(9, 2, unsigned{date.day()});
  put(12, 2, time.hours().count());
  put(15, 2, time.minutes().count());
  put(18, 2, time.seconds().count());
  return out;
}

std::optional<std::int64_t> parse_moment(std::string_view text, RangeEnd end) {
  if (const auto moment = kruxos::kit::parse_rfc3339(text, end)) return moment;
  // Shorter numbers are no timestamps of messages but mistakes, such as a year alone.
  if (text.substr(0, text.find('.')).size() < 9) return std::nullopt;
  const auto as_ts = micros(text);
  return as_ts ? std::optional(*as_ts / 1000) : std::nullopt;
}

}  // namespace slack
