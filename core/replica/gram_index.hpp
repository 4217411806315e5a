// The tokens of the search index: what FTS5 stores of a text, and what a term asks it for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace krux {

/// From each character of a folded text on, up to four characters within the same field (fields are joined with
/// char(31)): "abcde" gives abcd, bcde, cde, de, e. Terms of one to three characters are prefixes of tokens, a term of
/// four is a token, longer ones need several tokens and a look at the text itself. Fewer rows have a token of four
/// characters than of three: phrases of common syllables are found fast, and no positions need be stored.
constexpr std::size_t kGramLength = 4;

/// Makes the tokenizer "krux_gram" known to a connection; each that touches a search table needs it. Throws
/// krux::Error.
void register_gram_tokenizer(sqlite3* db);

/// The tokens of four characters of a folded text, from first to last: views into it. A shorter text has none.
std::vector<std::string_view> grams_of(std::string_view term);
std::size_t characters_of(std::string_view text);
/// As FTS5's expressions name a token.
std::string quoted_token(std::string_view token);

}  // namespace krux
