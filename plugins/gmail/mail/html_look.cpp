#include "html_look.hpp"

#include <algorithm>
#include <cstdlib>

#include "utf8.hpp"

namespace gmail {
namespace {

using Property = CssProperty;

// What nobody can read, in pixels; and how far away nobody looks.
constexpr double kSmallestFont = 1, kFarAway = -500;
constexpr std::uint32_t kOfAttributes = 0, kOfStyle = 1U << 24U;

bool is_zero(std::string_view value) {
  const auto length = css_length(value);
  return length.is_known && length.pixels <= 0;
}
bool is_far(std::string_view value) {
  const auto length = css_length(value);
  return length.is_known && length.pixels <= kFarAway;
}

HtmlStyle::Size size_of(std::string_view value) {
  using Size = HtmlStyle::Size;
  if (value.empty() || value == "inherit" || value == "unset" || value == "smaller" || value == "larger")
    return Size::kAsAround;
  const auto length = css_length(value);
  const bool relative = value.ends_with("em") && !value.ends_with("rem");
  if (length.is_known && length.pixels <= (relative ? 0 : kSmallestFont)) return Size::kTooSmall;
  return relative || value.ends_with('%') ? Size::kAsAround : Size::kReadable;
}

/// Browsers read "1,5" as no number and leave it out, as they do what is no number at all.
bool is_transparent(std::string_view opacity) {
  if (opacity.empty()) return false;
  char* end = nullptr;
  const std::string copy(opacity);
  const double value = std::strtod(copy.c_str(), &end);
  const std::string_view rest(end);
  if (end == copy.c_str() || (!rest.empty() && rest != "%")) return false;
  return value <= (rest == "%" ? 2 : 0.02);
}

/// "translate(-9999px, 0)", "scale(0)".
bool moves_away(std::string_view transform) {
  const auto open = transform.find('(');
  if (open == std::string_view::npos) return false;
  const auto name = transform.substr(0, open);
  auto value = transform.substr(open + 1);
  value = value.substr(0, value.find_first_of(",)"));
  while (value.starts_with(' ')) value.remove_prefix(1);
  if (name.starts_with("scale")) return is_zero(value);
  return name.starts_with("translate") && is_far(value);
}

/// "rect(0, 0, 0, 0)", "inset(50%)" and more.
bool clips_all(const CssCascade& cascade) {
  auto rect = std::string(cascade.value(Property::kClip));
  const auto position = cascade.value(Property::kPosition);
  if (rect.starts_with("rect(") && (position == "absolute" || position == "fixed")) {
    const auto inner = rect.substr(5, rect.find(')') - 5);
    const bool tiny = inner.find_first_not_of("01px, \t") == std::string::npos;
    if (tiny) return true;
  }
  const auto path = cascade.value(Property::kClipPath);
  if (!path.starts_with("inset(")) return false;
  const std::string percent(path.substr(6));
  char* end = nullptr;
  const double value = std::strtod(percent.c_str(), &end);
  return *end == '%' && value >= 50;
}

bool has_no_room(const CssCascade& cascade) {
  const auto overflow = cascade.value(Property::kOverflow);
  if (!overflow.starts_with("hidden") && !overflow.starts_with("clip")) return false;
  constexpr Property kSizes[] = {Property::kMaxHeight, Property::kMaxWidth, Property::kHeight, Property::kWidth};
  return std::any_of(std::begin(kSizes), std::end(kSizes), [&](Property one) {
    const auto length = css_length(cascade.value(one));
    return length.is_known && length.pixels <= 1;
  });
}

bool is_off_screen(const CssCascade& cascade) {
  const auto position = cascade.value(Property::kPosition);
  const bool is_placed = position == "absolute" || position == "fixed" || position == "relative";
  if (is_placed && (is_far(cascade.value(Property::kLeft)) || is_far(cascade.value(Property::kTop)))) return true;
  return is_far(cascade.value(Property::kMarginLeft)) || is_far(cascade.value(Property::kMarginTop)) ||
         is_far(cascade.value(Property::kTextIndent)) || moves_away(cascade.value(Property::kTransform));
}

/// Of an attribute, where "#" may be missing.
Paint old_paint(std::string_view value) {
  const auto lower = lower_ascii(value);
  const auto paint = paint_of(lower);
  return paint.kind == Paint::Kind::kUncertain ? paint_of("#" + lower) : paint;
}

Paint ground_of(std::string_view value) {
  if (value == "initial" || value == "none" || value == "transparent") return {};
  if (value.find('(') == std::string_view::npos) value = value.substr(0, value.find(' '));
  const auto paint = paint_of(value);
  return paint.kind == Paint::Kind::kNone ? Paint() : paint;  // what is behind it is seen
}

}  // namespace

HtmlLook HtmlLook::within(const HtmlStyle& style) const {
  auto look = *this;
  look.is_gone_ = is_gone_ || style.is_gone;
  if (style.visible != HtmlStyle::Visible::kAsAround) look.is_invisible_ = style.visible == HtmlStyle::Visible::kNo;
  if (style.size != HtmlStyle::Size::kAsAround) look.is_too_small_ = style.size == HtmlStyle::Size::kTooSmall;
  if (style.text.kind != Paint::Kind::kUnset) look.text_ = style.text;
  if (style.ground.kind != Paint::Kind::kUnset) look.ground_ = style.ground;
  return look;
}

HtmlStyle style_of(const HtmlToken& tag, CssCascade cascade) {
  const auto attribute = [&](const char* name, Property property, const char* value) {
    if (tag.has(name) && cascade.value(property).empty()) cascade.say({property, value}, kOfAttributes);
  };
  attribute("hidden", Property::kDisplay, "none");
  for (const auto& one : css_declarations(without_css_comments(tag.attribute("style")))) cascade.say(one, kOfStyle);
  HtmlStyle style;
  style.is_gone = cascade.value(Property::kDisplay) == "none" || is_transparent(cascade.value(Property::kOpacity)) ||
                  has_no_room(cascade) || is_off_screen(cascade) || clips_all(cascade);
  const auto visibility = cascade.value(Property::kVisibility);
  if (visibility == "hidden" || visibility == "collapse") style.visible = HtmlStyle::Visible::kNo;
  if (visibility == "visible" || visibility == "initial") style.visible = HtmlStyle::Visible::kYes;
  style.size = size_of(cascade.value(Property::kFontSize));
  if (tag.name == "font" && tag.has("size") && style.size == HtmlStyle::Size::kAsAround)
    style.size = HtmlStyle::Size::kReadable;
  style.text = paint_of(cascade.value(Property::kColor));
  if (style.text.kind == Paint::Kind::kUnset && cascade.value(Property::kColor).empty()) {
    const auto* const name = tag.name == "body" ? "text" : "color";
    if ((tag.name == "body" || tag.name == "font") && tag.has(name)) style.text = old_paint(tag.attribute(name, 50));
    // A link has a colour of its own.
    if (tag.name == "a" && tag.has("href")) style.text.kind = Paint::Kind::kUncertain;
  }
  style.ground = ground_of(cascade.value(Property::kBackground));
  if (cascade.value(Property::kBackground).empty()) {
    if (tag.has("bgcolor")) style.ground = old_paint(tag.attribute("bgcolor", 50));
    if (tag.has("background")) style.ground.kind = Paint::Kind::kUncertain;
  }
  return style;
}

}  // namespace gmail
