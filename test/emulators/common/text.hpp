// Bytes that come from outside: escapes, letter case, UTF-8.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace krux::test::emulator {

int hex_digit(char c);  // -1: none
std::string lower(std::string text);

// "%41" undone, "+" too unless it stands for itself as in a path. Nothing when an escape is malformed or the bytes are
// not UTF-8.
std::optional<std::string> decode_form_component(std::string_view text, bool plus_is_space = true);

// "a=1&b=2". Of a name that comes twice the first counts; what is malformed is left out.
std::map<std::string, std::string> decode_form(std::string_view text);

}  // namespace krux::test::emulator
