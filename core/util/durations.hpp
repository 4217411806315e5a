#pragma once

#include <cstdint>

/// Spans of time in milliseconds, the unit of every time here.
namespace krux {

inline constexpr std::int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

}  // namespace krux
