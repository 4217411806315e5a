#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace krux {

/// Nobody waits longer, whatever a service or an adapter says; kruxos/abi/call.h promises it.
inline constexpr std::int64_t kLongestRetryAfterMs = std::int64_t{7} * 24 * 3'600'000;

/// How long a Retry-After header asks to wait, in milliseconds from `wall_ms`: seconds (a fraction is rounded up) or an
/// HTTP date (RFC 9110 IMF-fixdate; one in the past is 0). At most a day. Nothing when it cannot be read.
std::optional<std::int64_t> parse_retry_after(std::string_view value, std::int64_t wall_ms);

}  // namespace krux
