#include "names.hpp"

#include <algorithm>

#include "tools.hpp"

namespace mcp {
namespace {

constexpr std::size_t kHashDigits = 6;

bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_large(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What reads most like the name, of any length; `lossy` where that is not all of it.
std::string read_plainly(std::string_view name, bool& lossy) {
  std::string out;
  lossy = name.empty();
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (is_large(c)) {
      const bool begins = i > 0 && (is_small(name[i - 1]) || is_digit(name[i - 1]));
      const bool ends_capitals = i > 0 && is_large(name[i - 1]) && i + 1 < name.size() && is_small(name[i + 1]);
      if ((begins || ends_capitals) && !out.empty() && out.back() != '_') out += '_';
      out += static_cast<char>(c - 'A' + 'a');
    } else if (is_small(c) || is_digit(c) || c == '_') {
      out += c;
    } else {
      if (!out.empty() && out.back() != '_') out += '_';
      lossy = lossy || (c != '-' && c != '.' && c != '/' && c != ' ');
    }
  }
  while (out.ends_with('_') && !name.ends_with('_')) out.pop_back();
  if (out.empty() || !is_small(out[0])) {
    out.insert(0, "x_");
    lossy = true;
  }
  return out;
}

std::string with_digits(std::string out, std::string_view name, std::size_t longest) {
  out.resize(std::min(out.size(), longest - kHashDigits - 1));
  while (out.ends_with('_')) out.pop_back();
  return out + '_' + sha256_hex(name).substr(0, kHashDigits);
}

}  // namespace

std::string plain_name(std::string_view name, std::size_t longest) {
  bool lossy = false;
  auto out = read_plainly(name, lossy);
  return !lossy && out.size() <= longest ? out : with_digits(std::move(out), name, longest);
}

std::string told_apart(std::string_view name, std::size_t longest, std::size_t tries) {
  bool lossy = false;
  auto hashed = std::string(name);
  if (tries > 0) hashed += '\n' + std::to_string(tries);
  return with_digits(read_plainly(name, lossy), hashed, longest);
}

}  // namespace mcp
