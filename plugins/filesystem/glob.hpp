// Patterns for names: '*' stands for any characters, '?' for one.
#pragma once
#include <string_view>

namespace filesystem {

/// In time that is the product of both lengths, whatever the pattern.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace filesystem
