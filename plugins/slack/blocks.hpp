// What a message says in blocks and attachments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emoji.hpp"
#include "json.hpp"

namespace slack {

struct BlockTexts {
  std::string more;       ///< lines that the message's own text does not say, as agents read them
  std::string unmarked;   ///< the text without the marks of bold and the like; empty where it has none
  EmojiCharacters emoji;  ///< those in it whose characters it tells
};

/// `shown`: the message's own text as agents read it.
BlockTexts texts_of_blocks(const Json& message, std::string_view shown);

}  // namespace slack
