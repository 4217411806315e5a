// How secrets look in texts: keys, passwords and one-time codes, links that reset a password.
#pragma once

#include <string>
#include <string_view>

namespace krux {

// Each: the first of it in words, or an empty text.
std::string key_in(std::string_view text);
std::string password_in(std::string_view text);
std::string reset_link_in(std::string_view text);

}  // namespace krux
