#include "timestamp.hpp"

#include <array>
#include <charconv>
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

std::optional<std::int64_t> parse_moment(std::string_view text, RangeEnd end) {
  if (const auto moment = kruxos::kit::parse_rfc3339(text, end)) return moment;
  // Shorter numbers are no timestamps of messages but mistakes, such as a year alone.
  if (text.substr(0, text.find('.')).size() < 9) return std::nullopt;
  const auto as_ts = micros(text);
  return as_ts ? std::optional(*as_ts / 1000) : std::nullopt;
}

}  // namespace slack
