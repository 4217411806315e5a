// Texts as Gmail gives them, made into what people read, and as addresses take them.
#pragma once

#include <string>
#include <string_view>

namespace gmail {

/// At most so many bytes of valid UTF-8, cut between characters.
std::string cut(std::string text, std::size_t most);

/// A header's value, or a file's name, decoded and in one line, at most so many bytes.
std::string header_text(std::string_view value, std::size_t most);

/// "Don&#39;t" as "Don't": Gmail's snippets are written for web pages.
std::string without_entities(std::string_view text);

}  // namespace gmail
