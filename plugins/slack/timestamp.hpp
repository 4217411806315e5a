// Slack's message timestamps ("1700000001.000100": seconds and microseconds, the message's id within its channel) and
// times as agents give them.
#pragma once

#include <kruxos/kit/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slack {

using kruxos::kit::RangeEnd;

/// Microseconds since 1970, or nothing when `ts` is not a timestamp.
std::optional<std::int64_t> micros(std::string_view ts);
std::string from_micros(std::int64_t value);

/// Milliseconds, rounded down; `ts` must be a timestamp.
std::int64_t millis(std::string_view ts);

/// The microseconds behind the point, six digits: the order of messages within a millisecond. `ts` must be a timestamp.
std::string fraction(std::string_view ts);

/// "2026-11-22T10:00:00Z": RFC 3339, UTC, rounded down to seconds; `ts` must be a timestamp.
std::string readable_time(std::string_view ts);

/// RFC 3339 (any offset, optional fraction), a date alone (its first moment, UTC; its last one for the end of a range),
/// or a Slack timestamp; in milliseconds.
std::optional<std::int64_t> parse_moment(std::string_view text, RangeEnd end = RangeEnd::kFirst);

}  // namespace slack
