#include "glob.hpp"

#include <cstddef>

namespace filesystem {
namespace {

/// Bytes of the character that begins there.
std::size_t width_at(std::string_view text, std::size_t at) {
  std::size_t width = 1;
  while (at + width < text.size() && (static_cast<unsigned char>(text[at + width]) & 0xC0) == 0x80) ++width;
  return width;
}

}  // namespace

bool fits(std::string_view pattern, std::string_view name) {
  // Where the last '*' stands, and how much of the name it has been given: what comes later never needs an earlier one.
  std::size_t p = 0, n = 0, star = std::string_view::npos, given = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      given = n;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      n += width_at(name, n);
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      given += width_at(name, given);
      n = given;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace filesystem
