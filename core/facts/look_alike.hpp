// Domains that a reader takes for another.
#pragma once

#include <string_view>

namespace krux {

/// Whether `domain` differs from `from` in one or two letters (one of domains of up to eight): put in, left out,
/// changed or swapped. Both in small letters. Equal ones, and those of which one is below the other, look like nothing
/// else.
bool looks_like(std::string_view domain, std::string_view from);

}  // namespace krux
