// What a server says, as one line that a definition takes.
#pragma once
#include <kruxos/kit/text.hpp>

#include <string>
#include <string_view>

namespace mcp {

/// Without control characters and what misleads the eye; several spaces are one. Cut between characters at `most`
/// bytes.
inline std::string one_line(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : kruxos::kit::clean_line(text)) {
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c;
  }
  (void)kruxos::kit::cut_text(out, most);
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

/// Whether one_line() leaves it as it is, so that it can stand among the values of an input.
inline bool is_one_line(std::string_view text) {
  return !text.empty() && one_line(text, text.size()) == text;
}

}  // namespace mcp
