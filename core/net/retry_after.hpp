#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace krux {

/// How long a Retry-After header asks to wait, in milliseconds from `wall_ms`: seconds (a fraction is rounded up) or an
/// HTTP date (RFC 9110 IMF-fixdate; one in the past is 0). At most a day. Nothing when it cannot be read.
std::optional<std::int64_t> parse_retry_after(std::string_view value, std::int64_t wall_ms);

}  // namespace krux
