// What CSS says of whether a text can be seen: the properties that hide, as a mail writes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gmail {

/// The properties that are looked at. Shorthands stand for the one of them that matters.
enum class CssProperty : std::uint8_t {
  kDisplay,
  kVisibility,
  kOpacity,
  kFontSize,
  kColor,
  kBackground,
  kOverflow,
  kMaxHeight,
  kMaxWidth,
  kHeight,
  kWidth,
  kPosition,
  kLeft,
  kTop,
  kMarginLeft,
  kMarginTop,
  kTextIndent,
  kTransform,
  kClip,
  kClipPath,
};
constexpr std::size_t kCssProperties = 20;

struct CssDeclaration {
  CssProperty property;
  std::string value{};  ///< in lower case, without blanks around it
  bool is_important = false;
};

/// Of "display: none; color: red". Others are left out.
std::vector<CssDeclaration> css_declarations(std::string_view text);

/// Without comments; what stands in quotation marks stays.
std::string without_css_comments(std::string_view text);

/// `\6e` is "n": escapes decoded.
std::string without_css_escapes(std::string_view text);

/// What counts for one element, of all that is said of it.
class CssCascade {
 public:
  /// `weight`: of the selector; what comes later counts among equals.
  void say(const CssDeclaration& declaration, std::uint32_t weight);
  std::string_view value(CssProperty property) const;

 private:
  std::array<std::string, kCssProperties> values_;
  std::array<std::uint32_t, kCssProperties> weights_{};
};

/// A colour, or that there is none, or that it cannot be told: an image, a gradient.
struct Paint {
  enum class Kind : std::uint8_t { kUnset, kColor, kNone, kUncertain };
  Kind kind = Kind::kUnset;
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Paint&) const = default;
};
/// Whether nobody could tell a text of one on the other.
bool look_the_same(const Paint& text, const Paint& ground);
/// Of an attribute or a property. A name that is not known is uncertain.
Paint paint_of(std::string_view value);

/// In pixels as a screen has them; nothing for percentages, and for what is no single length. `zero` where it is none
/// whatever the unit.
struct CssLength {
  bool is_known = false;
  double pixels = 0;
};
CssLength css_length(std::string_view value);

}  // namespace gmail
