// Encodings that mail and the API use. Decoders of mail take any bytes and never fail; those of the API refuse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace krux::test::gmail {

std::string encode_base64url(std::string_view bytes);                      // with padding, as Google's JSON has it
std::optional<std::string> decode_base64url(std::string_view text);        // padding optional, "+" and "/" taken too
std::string decode_base64(std::string_view text);                          // skips what is not of the alphabet
std::string decode_quoted_printable(std::string_view text, bool as_word);  // as_word: of RFC 2047, "_" is a space

std::string format_id(std::uint64_t id);                     // 16 hex digits
std::optional<std::uint64_t> parse_id(std::string_view id);  // up to 16 hex digits in lower case

// In UTF-8, whatever it was in: charsets beside UTF-8, US-ASCII, Latin-1 and Windows-1252 are read as Latin-1; bytes
// that fit no charset become U+FFFD.
std::string to_utf8(std::string_view bytes, std::string_view charset);

// "Tue, 14 Nov 2023 22:13:20 +0000"
std::string format_date(std::int64_t ms);
// A Date header's milliseconds; nothing when it cannot be read.
std::optional<std::int64_t> parse_date(std::string_view text);

}  // namespace krux::test::gmail
