// What HTML says of its elements: which end others, which end a line, and which nobody sees.
#pragma once

#include <cstdint>
#include <string_view>

namespace gmail {

enum HtmlTrait : std::uint32_t {
  kClosesP = 1U << 0U,      ///< its start ends a paragraph
  kSpecial = 1U << 1U,      ///< no end tag of another kind ends it
  kFormatting = 1U << 2U,   ///< goes on where what is around it ends
  kVoid = 1U << 3U,         ///< holds nothing
  kScope = 1U << 4U,        ///< end tags within it end nothing outside
  kMarker = 1U << 5U,       ///< formatting ends with it
  kEndsInScope = 1U << 6U,  ///< its end tag ends what is in it
  kHeading = 1U << 7U,
  kTablePart = 1U << 8U,   ///< stands in tables alone
  kTableRows = 1U << 9U,   ///< holds no text of its own: it goes before the table
  kRaw = 1U << 10U,        ///< what is in it is no HTML
  kUnseen = 1U << 11U,     ///< no program shows what is in it
  kLine = 1U << 12U,       ///< stands on lines of its own
  kParagraph = 1U << 13U,  ///< with an empty line around
  kBreakout = 1U << 14U,   ///< ends SVG and MathML around it
  kForeign = 1U << 15U,    ///< svg, math
};

/// 0 for an element that is not known: it is as <span> is.
std::uint32_t html_traits(std::string_view name);

}  // namespace gmail
