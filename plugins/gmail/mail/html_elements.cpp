#include "html_elements.hpp"

#include <algorithm>

namespace gmail {
namespace {

struct Element {
  std::string_view name;
  std::uint32_t traits;
};

constexpr std::uint32_t kBlock = kClosesP | kSpecial | kEndsInScope | kLine;
constexpr std::uint32_t kList = kBlock | kParagraph | kBreakout;
constexpr std::uint32_t kTitle = kClosesP | kSpecial | kHeading | kLine | kParagraph | kBreakout;
constexpr std::uint32_t kCell = kSpecial | kScope | kMarker | kTablePart;
constexpr std::uint32_t kRows = kSpecial | kTablePart | kTableRows;

/// In the order of their names.
constexpr Element kElements[] = {
    {"a", kFormatting},
    {"address", kBlock},
    {"annotation", kUnseen},
    {"annotation-xml", kUnseen},
    {"applet", kSpecial | kScope | kMarker | kEndsInScope},
    {"area", kSpecial | kVoid},
    {"article", kBlock},
    {"aside", kBlock},
    {"audio", kUnseen},
    {"b", kFormatting | kBreakout},
    {"base", kSpecial | kVoid},
    {"big", kFormatting | kBreakout},
    {"blockquote", kList},
    {"body", kSpecial | kBreakout},
    {"br", kSpecial | kVoid | kBreakout},
    {"button", kSpecial | kEndsInScope},
    {"canvas", kUnseen},
    {"caption", kCell | kLine},
    {"center", kBlock | kBreakout},
    {"code", kFormatting | kBreakout},
    {"col", kSpecial | kVoid | kTablePart},
    {"colgroup", kSpecial | kTablePart},
    {"datalist", kUnseen},
    {"dd", kClosesP | kSpecial | kLine | kBreakout},
    {"details", kBlock},
    {"dialog", kBlock},
    {"dir", kList},
    {"div", kBlock | kBreakout},
    {"dl", kBlock | kBreakout},
    {"dt", kClosesP | kSpecial | kLine | kBreakout},
    {"em", kFormatting | kBreakout},
    {"embed", kSpecial | kVoid | kBreakout},
    {"fieldset", kBlock},
    {"figcaption", kBlock},
    {"figure", kBlock},
    {"font", kFormatting},
    {"footer", kBlock},
    {"form", kBlock},
    {"h1", kTitle},
    {"h2", kTitle},
    {"h3", kTitle},
    {"h4", kTitle},
    {"h5", kTitle},
    {"h6", kTitle},
    {"head", kSpecial | kBreakout},
    {"header", kBlock},
    {"hgroup", kBlock},
    {"hr", kClosesP | kSpecial | kVoid | kLine | kBreakout},
    {"html", kSpecial | kScope},
    {"i", kFormatting | kBreakout},
    {"iframe", kSpecial | kRaw | kUnseen},
    {"img", kSpecial | kVoid | kBreakout},
    {"input", kSpecial | kVoid},
    {"keygen", kSpecial | kVoid},
    {"li", kClosesP | kSpecial | kLine | kBreakout},
    {"link", kSpecial | kVoid},
    {"listing", kBlock | kBreakout},
    {"main", kBlock},
    {"marquee", kSpecial | kScope | kMarker | kEndsInScope},
    {"math", kForeign},
    {"menu", kList},
    {"meta", kSpecial | kVoid | kBreakout},
    {"nav", kBlock},
    {"nobr", kFormatting | kBreakout},
    {"noembed", kSpecial | kRaw | kUnseen},
    {"noframes", kSpecial | kRaw | kUnseen},
    {"object", kSpecial | kScope | kMarker | kEndsInScope},
    {"ol", kList},
    {"option", kLine},
    {"p", kBlock | kParagraph | kBreakout},
    {"param", kSpecial | kVoid},
    {"plaintext", kBlock | kRaw},
    {"pre", kBlock | kBreakout},
    {"s", kFormatting | kBreakout},
    {"script", kSpecial | kRaw | kUnseen},
    {"search", kBlock},
    {"section", kBlock},
    {"select", kSpecial},
    {"small", kFormatting | kBreakout},
    {"source", kSpecial | kVoid},
    {"span", kBreakout},
    {"strike", kFormatting | kBreakout},
    {"strong", kFormatting | kBreakout},
    {"style", kSpecial | kRaw | kUnseen},
    {"sub", kBreakout},
    {"summary", kBlock},
    {"sup", kBreakout},
    {"svg", kForeign},
    {"table", kClosesP | kSpecial | kScope | kTableRows | kEndsInScope | kLine | kParagraph | kBreakout},
    {"tbody", kRows},
    {"td", kCell},
    {"template", kSpecial | kScope | kUnseen},
    {"textarea", kSpecial | kRaw | kLine},
    {"tfoot", kRows},
    {"th", kCell},
    {"thead", kRows},
    {"title", kSpecial | kRaw | kUnseen},
    {"tr", kRows | kLine},
    {"track", kSpecial | kVoid},
    {"tt", kFormatting | kBreakout},
    {"u", kFormatting | kBreakout},
    {"ul", kList},
    {"var", kBreakout},
    {"video", kUnseen},
    {"wbr", kSpecial | kVoid},
    {"xmp", kBlock | kRaw},
};
static_assert(std::is_sorted(std::begin(kElements), std::end(kElements),
                             [](const Element& a, const Element& b) { return a.name < b.name; }));

}  // namespace

std::uint32_t html_traits(std::string_view name) {
  const auto* const at =
      std::lower_bound(std::begin(kElements), std::end(kElements), name,
                       [](const Element& one, std::string_view wanted) { return one.name < wanted; });
  return at != std::end(kElements) && at->name == name ? at->traits : 0;
}

}  // namespace gmail
