#include "core/util/time_words.hpp"

#include <fmt/format.h>

namespace krux {

std::string duration(std::int64_t ms) {
  const auto s = ms / 1000;
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min", s / 60);
  if (s < 86'400)
    return s % 3600 < 60 ? fmt::format("{} h", s / 3600) : fmt::format("{} h {} min", s / 3600, s / 60 % 60);
  return s % 86'400 < 3600 ? fmt::format("{} d", s / 86'400) : fmt::format("{} d {} h", s / 86'400, s / 3600 % 24);
}

std::string relative(std::int64_t at_ms, std::int64_t now_ms) {
  if (at_ms == 0) return "-";
  const auto distance = at_ms - now_ms;
  if (distance > -1000 && distance < 1000) return "now";
  return distance > 0 ? "in " + duration(distance) : duration(-distance) + " ago";
}

}  // namespace krux
