// Times as Gmail's refusals tell them and as agents get them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gmail {

/// "2026-05-29T12:00:05.000Z" at the beginning of `text`, in Unix milliseconds; the fraction is left out.
std::optional<std::int64_t> parse_moment(std::string_view text);

/// RFC 3339 UTC with milliseconds.
std::string format_moment(std::int64_t unix_ms);

}  // namespace gmail
