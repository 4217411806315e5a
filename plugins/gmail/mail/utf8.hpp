// Text that came from outside, as the boundary wants it: valid UTF-8 without NUL.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gmail {

bool is_utf8(std::string_view text);

/// What is no UTF-8 becomes U+FFFD, NUL is left out.
std::string clean_text(std::string_view bytes);

/// As clean_text, in one line: control characters become blanks, and marks that turn the direction of writing, with
/// which one name is made to look like another, are left out.
std::string clean_line(std::string_view bytes);

/// At most `most_bytes`, without cutting a character in two. Whether something was cut.
bool cut_text(std::string& text, std::size_t most_bytes);

void append_utf8(std::string& out, char32_t c);

}  // namespace gmail
