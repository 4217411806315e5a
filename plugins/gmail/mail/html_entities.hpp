// What "&eacute;" and "&#233;" stand for, as browsers read them.
#pragma once

#include <string>
#include <string_view>

namespace gmail {

/// `text` with its character references decoded. In an attribute's value a name without its semicolon is none where a
/// letter, a digit or "=" follows: `?a=1&copy=2`.
std::string without_references(std::string_view text, bool is_attribute = false);

}  // namespace gmail
