// Emoji, which Slack keeps as `:name:` and people see and type as characters.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace slack {

/// Characters by name, beyond those that are known anyway: what a message says of its own emoji.
using EmojiCharacters = std::map<std::string, std::string, std::less<>>;

/// The text with the characters of each `:name:` that is known; others stay as they are. The colour of a skin joins
/// the emoji that it stands behind.
std::string with_emoji(std::string_view text, const EmojiCharacters& own);

/// The characters that "1f44b-1f3fc" names; empty where it names none.
std::string emoji_of_codes(std::string_view codes);
bool is_known_emoji(std::string_view name);

}  // namespace slack
