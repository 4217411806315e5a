// How an element's text looks, as far as it decides whether a person sees it.
#pragma once

#include <cstdint>

#include "css_rules.hpp"
#include "html_tokens.hpp"

namespace gmail {

/// What an element itself says.
struct HtmlStyle {
  enum class Visible : std::uint8_t { kAsAround, kNo, kYes };
  enum class Size : std::uint8_t { kAsAround, kTooSmall, kReadable };
  bool is_gone = false;  ///< with all that is in it, whatever that says
  Visible visible = Visible::kAsAround;
  Size size = Size::kAsAround;
  Paint text{}, ground{};
  bool operator==(const HtmlStyle&) const = default;
};

/// With what is around it.
class HtmlLook {
 public:
  HtmlLook within(const HtmlStyle& style) const;
  bool is_hidden() const { return is_gone_ || is_invisible_ || is_too_small_ || look_the_same(text_, ground_); }

 private:
  bool is_gone_ = false, is_invisible_ = false, is_too_small_ = false;
  // A page is white and its text black, unless something is said.
  Paint text_{Paint::Kind::kColor, 0, 0, 0}, ground_{Paint::Kind::kColor, 255, 255, 255};
};

/// Of a start tag, its `style`, and what style sheets say (`cascade`).
HtmlStyle style_of(const HtmlToken& tag, CssCascade cascade);

}  // namespace gmail
