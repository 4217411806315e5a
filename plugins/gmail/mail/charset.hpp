// Text of any charset to UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace gmail {

/// `charset` is a mail's name of it (charset_labels.hpp), or empty; a mark at the beginning says more than it. What
/// cannot be converted becomes U+FFFD; a charset that is not known is read as UTF-8, or as Windows-1252 where it is
/// none, and `known` becomes false. The result is valid UTF-8, and its lines end with "\n"; what nobody sees
/// (invisible.hpp) is still in it.
std::string to_utf8(std::string_view bytes, std::string_view charset, bool& known);

/// Loads the converters of the charsets that mail is written in, and keeps them: an adapter in a process of its own can
/// open no file once it runs, and the converters are files.
void load_charsets();

}  // namespace gmail
