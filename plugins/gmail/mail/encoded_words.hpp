// RFC 2047's encoded words, read as leniently as they are written. GMime 3.2.13 loses what follows a padded word.
#pragma once

#include <string>
#include <string_view>

namespace gmail {

/// Words and the text between them as UTF-8 without NUL. Not bounded: the caller is.
std::string decode_words(std::string_view value);

/// Each run of words as one, in UTF-8 and base64; the text between them as UTF-8. For GMime's parsers.
std::string normal_words(std::string_view value);

/// Text that is to be read literally: where it holds "=?", by which words begin, it becomes words as a whole. Other
/// text stays as it is. UTF-8 alone.
std::string literal_words(std::string_view text);

/// Where a word begins that has not ended when the text does, or may be one; the text's size where there is none.
std::size_t unfinished_word(std::string_view text);

std::string base64(std::string_view bytes);

/// Skips what is no base64; nothing is refused. Padding in the middle begins anew.
std::string from_base64(std::string_view text);

}  // namespace gmail
