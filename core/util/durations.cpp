#include "core/util/durations.hpp"

#include <fmt/format.h>

#include <utility>

namespace krux {

std::string span_in_words(std::int64_t ms) {
  for (const auto& [unit, name] : {std::pair{kHour, "h"}, {kMinute, "min"}, {kSecond, "s"}}) {
    if (ms % unit == 0) return fmt::format("{} {}", ms / unit, name);
  }
  return fmt::format("{} ms", ms);
}

}  // namespace krux
