#include "emulators/slack/model.hpp"

#include <algorithm>
#include <cstdio>

namespace krux::test::slack {

std::string format_ts(Ts ts) {
  char text[32];
  std::snprintf(text, sizeof text, "%010lld.%06lld", static_cast<long long>(ts / 1000000),
                static_cast<long long>(ts % 1000000));
  return text;
}

std::optional<Ts> parse_ts(std::string_view text, bool allow_short) {
  const std::size_t dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  std::string fraction(dot == std::string_view::npos ? "" : text.substr(dot + 1));
  const auto all_digits = [](std::string_view digits) {
    return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (whole.empty() || whole.size() > 12 || fraction.size() > 6 || !all_digits(whole) || !all_digits(fraction)) {
    return std::nullopt;
  }
  if (!allow_short && (whole.size() != 10 || fraction.size() != 6)) return std::nullopt;
  fraction.resize(6, '0');
  return std::stoll(std::string(whole)) * 1000000 + std::stoll(fraction);
}

}  // namespace krux::test::slack
