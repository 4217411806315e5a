// Text that comes from services and agents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krux {

bool is_valid_utf8(std::string_view text);
/// `code`: of a character, no half of a pair.
void append_utf8(std::string& out, std::uint32_t code);

/// Of Unicode, in UTF-8.
std::size_t code_points(std::string_view text);

/// NULs and invalid bytes of `text` become U+FFFD; returns how many there were.
std::size_t replace_odd_text(std::string& text);

/// What looks or reads the same in plain characters: NFKC without what is not seen (soft hyphens, joiners, marks of
/// direction). Plain ASCII stays as it is; what is no UTF-8 becomes U+FFFD.
std::string undisguised(std::string_view text);
/// NFKC, then full case folding (utf8proc), with NUL and char(31) kept out except where `keep_separators`. Invalid
/// bytes become U+FFFD.
std::string fold(std::string_view text, bool keep_separators = false);
/// Of a folded text: Latin and Greek letters lose their accents and become the plain ones that people type for them
/// (ü u, ø o, æ ae), as ё becomes е; what shows a letter in colour goes too (U+FE0E, U+FE0F).
/// Marks that make another letter of it in its script stay.
std::string without_accents(std::string_view folded);

/// For terminals and logs: control characters, escape sequences, bidirectional overrides and invalid bytes become
/// visible escapes (\x1b, \u202e); tabs and line feeds as \t and \n.
std::string printable(std::string_view text);

/// The same with its line feeds as they are: for what people read.
std::string printable_lines(std::string_view text);

/// What somebody calls himself, as one line: white space of every kind becomes single spaces, with none at the ends;
/// what printable() would escape is left out; double quotation marks of every kind become apostrophes, so that the name
/// does not end before its end where it stands in quotes.
std::string plain_line(std::string_view text);

/// RFC 3339 UTC with milliseconds: "2026-11-21T09:30:00.000Z".
std::string format_time(std::int64_t unix_ms);
/// Parses RFC 3339 (any offset, optional fraction) or a date alone; throws krux::Error InvalidInput naming `what`.
std::int64_t parse_time(std::string_view text, std::string_view what);

/// Lower-case hexadecimal SHA-256.
std::string sha256_hex(std::string_view bytes);

/// Of ASCII letters alone; other bytes are compared as they are.
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// Of RFC 4648, with its padding.
bool is_base64(std::string_view text);

/// Equality in time that depends on the length alone.
bool equal_constant_time(std::string_view a, std::string_view b);

}  // namespace krux
