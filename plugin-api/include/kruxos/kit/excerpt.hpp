// kruxos/kit/excerpt.hpp - a long text as agents read it: so many characters from an offset on. Needs no RapidJSON.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kruxos::kit {

/// A part of a text in UTF-8. Counted in characters (Unicode code points), so that none is cut in two.
struct Excerpt {
  std::string_view text{};            ///< as long-lived as the text that it is of
  std::size_t total = 0;              ///< characters of the whole text
  std::optional<std::size_t> next{};  ///< the offset at which it goes on; nothing at the text's end
};

namespace detail {

inline bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
}

/// Where the character of that number begins, counted from 0; the text's size where it has no more.
inline std::size_t place_of(std::string_view text, std::size_t number) {
  std::size_t at = 0;
  while (at < text.size() && (!begins_character(text[at]) || number-- > 0)) ++at;
  return at;
}

}  // namespace detail

/// At most `most` characters of `text` from `offset` on; none where the text is shorter than that.
inline Excerpt excerpt(std::string_view text, std::size_t offset, std::size_t most) {
  Excerpt out;
  out.total = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), detail::begins_character));
  if (offset >= out.total) return out;
  const auto rest = text.substr(detail::place_of(text, offset));
  out.text = rest.substr(0, detail::place_of(rest, most));
  if (out.total - offset > most) out.next = offset + most;
  return out;
}

}  // namespace kruxos::kit
