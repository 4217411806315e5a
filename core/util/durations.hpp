#pragma once

#include <cstdint>
#include <string>

/// Spans of time in milliseconds, the unit of every time here.
namespace krux {

/// "24 h", "5 min", "30 s"; in the largest unit that it is a whole number of.
std::string span_in_words(std::int64_t ms);

inline constexpr std::int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;
/// The longest window: of a write, which is how far ahead it can be scheduled, and of a limit.
inline constexpr std::int64_t kLongestWindow = 30 * kDay;

}  // namespace krux
