#include "css_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "html_tokens.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::pair<std::string_view, CssProperty> kNames[] = {
    {"display", CssProperty::kDisplay},
    {"visibility", CssProperty::kVisibility},
    {"opacity", CssProperty::kOpacity},
    {"font-size", CssProperty::kFontSize},
    {"font", CssProperty::kFontSize},
    {"color", CssProperty::kColor},
    {"background", CssProperty::kBackground},
    {"background-color", CssProperty::kBackground},
    {"background-image", CssProperty::kBackground},
    {"overflow", CssProperty::kOverflow},
    {"overflow-x", CssProperty::kOverflow},
    {"overflow-y", CssProperty::kOverflow},
    {"max-height", CssProperty::kMaxHeight},
    {"max-width", CssProperty::kMaxWidth},
    {"height", CssProperty::kHeight},
    {"width", CssProperty::kWidth},
    {"position", CssProperty::kPosition},
    {"left", CssProperty::kLeft},
    {"top", CssProperty::kTop},
    {"margin-left", CssProperty::kMarginLeft},
    {"margin-top", CssProperty::kMarginTop},
    {"text-indent", CssProperty::kTextIndent},
    {"transform", CssProperty::kTransform},
    {"clip", CssProperty::kClip},
    {"clip-path", CssProperty::kClipPath},
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The end of what begins at `at`, up to ";" outside quotation marks and brackets.
std::size_t declaration_end(std::string_view text, std::size_t at) {
  int depth = 0;
  char quote = '\0';
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\') {
      ++at;
    } else if (quote != '\0') {
      if (c == quote || c == '\n') quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      --depth;
    } else if (c == ';' && depth <= 0) {
      break;
    }
  }
  return std::min(at, text.size());
}

/// The size within "italic 0/1.2 serif".
std::string font_size(std::string_view shorthand) {
  while (!shorthand.empty()) {
    const auto end = std::min(shorthand.find(' '), shorthand.size());
    const auto word = shorthand.substr(0, end);
    const auto size = word.substr(0, word.find('/'));
    if (word.find('/') != std::string_view::npos) return std::string(size);
    const bool has_unit = !size.empty() && (size[0] == '.' || (size[0] >= '0' && size[0] <= '9')) &&
                          (size.back() > '9' || size.back() == '%' || size == "0");
    if (has_unit) return std::string(size);
    shorthand = without_blanks(shorthand.substr(end));
  }
  return "medium";
}

bool is_known_display(std::string_view value) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz- ";
  return value.find_first_not_of(kLetters) == std::string_view::npos;
}

/// Browsers leave out a value that they do not know. Of the two properties that hide most, so is it done here.
bool is_taken(CssProperty property, std::string_view value) {
  if (value.empty()) return false;
  if (property == CssProperty::kDisplay) return is_known_display(value);
  if (property == CssProperty::kVisibility) {
    return value == "hidden" || value == "visible" || value == "collapse" || value == "inherit" || value == "initial" ||
           value == "unset" || value == "revert";
  }
  return true;
}

struct NamedColor {
  std::string_view name;
  std::uint32_t color;
};
constexpr NamedColor kColors[] = {
    {"white", 0xffffff},     {"black", 0x000000},       {"silver", 0xc0c0c0},        {"gray", 0x808080},
    {"grey", 0x808080},      {"red", 0xff0000},         {"maroon", 0x800000},        {"yellow", 0xffff00},
    {"olive", 0x808000},     {"lime", 0x00ff00},        {"green", 0x008000},         {"aqua", 0x00ffff},
    {"cyan", 0x00ffff},      {"teal", 0x008080},        {"blue", 0x0000ff},          {"navy", 0x000080},
    {"fuchsia", 0xff00ff},   {"magenta", 0xff00ff},     {"purple", 0x800080},        {"orange", 0xffa500},
    {"snow", 0xfffafa},      {"ivory", 0xfffff0},       {"ghostwhite", 0xf8f8ff},    {"floralwhite", 0xfffaf0},
    {"mintcream", 0xf5fffa}, {"azure", 0xf0ffff},       {"aliceblue", 0xf0f8ff},     {"whitesmoke", 0xf5f5f5},
    {"seashell", 0xfff5ee},  {"honeydew", 0xf0fff0},    {"lavenderblush", 0xfff0f5}, {"oldlace", 0xfdf5e6},
    {"linen", 0xfaf0e6},     {"beige", 0xf5f5dc},       {"lightyellow", 0xffffe0},   {"lightcyan", 0xe0ffff},
    {"lightgray", 0xd3d3d3}, {"lightgrey", 0xd3d3d3},   {"darkgray", 0xa9a9a9},      {"darkgrey", 0xa9a9a9},
    {"gainsboro", 0xdcdcdc}, {"dimgray", 0x696969},     {"dimgrey", 0x696969},       {"pink", 0xffc0cb},
    {"gold", 0xffd700},      {"navajowhite", 0xffdead}, {"antiquewhite", 0xfaebd7},  {"brown", 0xa52a2a},
};

Paint solid(std::uint32_t color) {
  return {Paint::Kind::kColor, static_cast<std::uint8_t>(color >> 16U & 0xffU),
          static_cast<std::uint8_t>(color >> 8U & 0xffU), static_cast<std::uint8_t>(color & 0xffU)};
}
constexpr Paint kUncertain{Paint::Kind::kUncertain}, kNone{Paint::Kind::kNone};

Paint hexadecimal(std::string_view digits) {
  if (std::any_of(digits.begin(), digits.end(), [](char c) { return hex_digit(c) < 0; })) return kUncertain;
  std::string all;
  if (digits.size() == 3 || digits.size() == 4) {
    for (const char c : digits) all.append(2, c);
  } else if (digits.size() == 6 || digits.size() == 8) {
    all = digits;
  } else {
    return kUncertain;
  }
  std::uint32_t color = 0;
  for (const char c : all.substr(0, 6)) color = color * 16 + static_cast<std::uint32_t>(hex_digit(c));
  if (all.size() == 8 && all.substr(6) != "ff") return all.substr(6) == "00" ? kNone : kUncertain;
  return solid(color);
}

double number_of(std::string_view text, std::size_t& length) {
  const std::string copy(text.substr(0, 40));
  char* end = nullptr;
  const bool is_number = !copy.empty() && copy.find_first_of("+-.0123456789") == 0;
  const double value = is_number ? std::strtod(copy.c_str(), &end) : 0;
  length = is_number ? static_cast<std::size_t>(end - copy.c_str()) : 0;
  return std::isfinite(value) ? value : 0;
}

/// "rgb(255, 255, 255)", "rgba(0 0 0 / 0%)"; other functions are uncertain.
Paint function(std::string_view value) {
  const auto open = value.find('(');
  const auto name = value.substr(0, open);
  if ((name != "rgb" && name != "rgba" && name != "hsl" && name != "hsla") || value.back() != ')') return kUncertain;
  auto rest = value.substr(open + 1, value.size() - open - 2);
  std::array<double, 4> numbers{0, 0, 0, 1};
  std::size_t count = 0;
  while (!(rest = without_blanks(rest)).empty() && count < numbers.size()) {
    std::size_t length = 0;
    auto number = number_of(rest, length);
    if (length == 0) return kUncertain;
    rest.remove_prefix(length);
    if (rest.starts_with('%')) {
      number = count < 3 ? number * 2.55 : number / 100;
      rest.remove_prefix(1);
    }
    numbers[count++] = number;
    rest = without_blanks(rest);
    if (rest.starts_with(',') || rest.starts_with('/')) rest.remove_prefix(1);
  }
  if (!rest.empty() || count < 3) return kUncertain;
  if (numbers[3] <= 0.02) return kNone;
  if (numbers[3] < 1 || name.starts_with("hsl")) return kUncertain;
  std::uint32_t color = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    color = color << 8U | static_cast<std::uint32_t>(std::clamp(numbers[i], 0.0, 255.0));
  }
  return solid(color);
}

}  // namespace

std::string without_css_comments(std::string_view text) {
  std::string out;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == '\0' && text.substr(at, 2) == "/*") {
      const auto end = text.find("*/", at + 2);
      if (end == std::string_view::npos) break;
      at = end + 1;
      continue;
    }
    out += c;
    if (c == '\\' && at + 1 < text.size()) {
      out += text[++at];
    } else if (quote != '\0') {
      if (c == quote || c == '\n') quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    }
  }
  return out;
}

std::string without_css_escapes(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    std::uint32_t value = 0;
    std::size_t digits = 0;
    while (digits < 6 && at + 1 + digits < text.size() && hex_digit(text[at + 1 + digits]) >= 0) {
      value = value * 16 + static_cast<std::uint32_t>(hex_digit(text[at + 1 + digits++]));
    }
    if (digits == 0) {
      out += text[++at];
      continue;
    }
    append_utf8(out, value == 0 || value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0xfffd : value);
    at += digits;
    if (at + 1 < text.size() && is_html_blank(text[at + 1])) ++at;
  }
  return out;
}

std::vector<CssDeclaration> css_declarations(std::string_view text) {
  std::vector<CssDeclaration> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = declaration_end(text, at);
    const auto one = text.substr(at, end - at);
    at = end + 1;
    const auto colon = one.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = lower_ascii(without_css_escapes(without_blanks(one.substr(0, colon))));
    const auto* const known =
        std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& entry) { return entry.first == name; });
    if (known == std::end(kNames)) continue;
    CssDeclaration found{known->second, lower_ascii(without_css_escapes(without_blanks(one.substr(colon + 1))))};
    if (const auto bang = found.value.rfind('!'); bang != std::string::npos) {
      found.is_important = without_blanks(std::string_view(found.value).substr(bang + 1)) == "important";
      found.value.resize(bang);
    }
    found.value = without_blanks(found.value);
    if (name == "font") found.value = font_size(found.value);
    // An image may stand for whatever colour: what is said of it does not take away a colour that is said.
    if (name == "background-image" && found.value == "none") continue;
    if (!is_taken(found.property, found.value)) continue;
    const auto before = std::find_if(out.begin(), out.end(), [&](const CssDeclaration& other) {
      return other.property == found.property && other.is_important == found.is_important;
    });
    if (before == out.end()) {
      out.push_back(std::move(found));
    } else {
      *before = std::move(found);
    }
  }
  return out;
}

void CssCascade::say(const CssDeclaration& declaration, std::uint32_t weight) {
  constexpr std::uint32_t kImportant = 1U << 31U;
  const auto at = static_cast<std::size_t>(declaration.property);
  const auto own = declaration.is_important ? weight | kImportant : weight;
  if (own < weights_[at]) return;
  weights_[at] = own;
  values_[at] = declaration.value;
}

std::string_view CssCascade::value(CssProperty property) const {
  return values_[static_cast<std::size_t>(property)];
}

bool look_the_same(const Paint& text, const Paint& ground) {
  if (text.kind == Paint::Kind::kNone) return true;
  if (text.kind != Paint::Kind::kColor || ground.kind != Paint::Kind::kColor) return false;
  constexpr int kLeast = 12;  // of 255, in each of the three
  const auto near = [](std::uint8_t a, std::uint8_t b) { return std::abs(static_cast<int>(a) - b) <= kLeast; };
  return near(text.red, ground.red) && near(text.green, ground.green) && near(text.blue, ground.blue);
}

Paint paint_of(std::string_view value) {
  if (value.empty()) return {};
  if (value == "transparent") return kNone;
  if (value == "inherit" || value == "currentcolor" || value == "unset") return {};
  if (value.front() == '#') return hexadecimal(value.substr(1));
  if (value.find('(') != std::string_view::npos) return function(value);
  const auto* const named =
      std::find_if(std::begin(kColors), std::end(kColors), [&](const NamedColor& one) { return one.name == value; });
  return named == std::end(kColors) ? kUncertain : solid(named->color);
}

CssLength css_length(std::string_view value) {
  std::size_t length = 0;
  const auto number = number_of(value, length);
  if (length == 0) return {};
  const auto unit = value.substr(length);
  if (number == 0 && unit.find_first_of(" (,/") == std::string_view::npos) return {true, 0};
  constexpr std::pair<std::string_view, double> kUnits[] = {{"px", 1},    {"pt", 4.0 / 3}, {"em", 16},   {"rem", 16},
                                                            {"ex", 8},    {"ch", 8},       {"pc", 16},   {"in", 96},
                                                            {"cm", 37.8}, {"mm", 3.78},    {"vw", 12.8}, {"vh", 8}};
  for (const auto& [name, pixels] : kUnits) {
    if (unit == name) return {true, number * pixels};
  }
  return {};
}

}  // namespace gmail
