#include "html_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLongestTarget = 500;

struct Entity {
  std::string_view name;
  char32_t character;
};
constexpr Entity kEntities[] = {
    {"amp", '&'},      {"lt", '<'},        {"gt", '>'},       {"quot", '"'},     {"apos", '\''},    {"nbsp", 0xa0},
    {"iexcl", 0xa1},   {"cent", 0xa2},     {"pound", 0xa3},   {"yen", 0xa5},     {"sect", 0xa7},    {"copy", 0xa9},
    {"laquo", 0xab},   {"shy", 0xad},      {"reg", 0xae},     {"deg", 0xb0},     {"plusmn", 0xb1},  {"acute", 0xb4},
    {"micro", 0xb5},   {"para", 0xb6},     {"middot", 0xb7},  {"raquo", 0xbb},   {"frac12", 0xbd},  {"iquest", 0xbf},
    {"Auml", 0xc4},    {"Ouml", 0xd6},     {"times", 0xd7},   {"Uuml", 0xdc},    {"szlig", 0xdf},   {"agrave", 0xe0},
    {"aacute", 0xe1},  {"acirc", 0xe2},    {"atilde", 0xe3},  {"auml", 0xe4},    {"aring", 0xe5},   {"aelig", 0xe6},
    {"ccedil", 0xe7},  {"egrave", 0xe8},   {"eacute", 0xe9},  {"ecirc", 0xea},   {"euml", 0xeb},    {"igrave", 0xec},
    {"iacute", 0xed},  {"icirc", 0xee},    {"iuml", 0xef},    {"ntilde", 0xf1},  {"ograve", 0xf2},  {"oacute", 0xf3},
    {"ocirc", 0xf4},   {"otilde", 0xf5},   {"ouml", 0xf6},    {"oslash", 0xf8},  {"ugrave", 0xf9},  {"uacute", 0xfa},
    {"ucirc", 0xfb},   {"uuml", 0xfc},     {"zwnj", 0x200c},  {"zwj", 0x200d},   {"ndash", 0x2013}, {"mdash", 0x2014},
    {"lsquo", 0x2018}, {"rsquo", 0x2019},  {"sbquo", 0x201a}, {"ldquo", 0x201c}, {"rdquo", 0x201d}, {"bdquo", 0x201e},
    {"bull", 0x2022},  {"hellip", 0x2026}, {"euro", 0x20ac},  {"trade", 0x2122}, {"larr", 0x2190},  {"rarr", 0x2192},
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
bool is_html_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}
bool starts_as(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), text.begin(), [](char a, char b) { return a == lower(b); });
}

/// The character that an entity after "&" stands for, and its length; length 0 where it is none.
std::pair<char32_t, std::size_t> entity(std::string_view text) {
  const auto end = text.substr(0, 12).find(';');
  if (end == std::string_view::npos || end == 0) return {0, 0};
  const auto name = text.substr(0, end);
  if (name[0] != '#') {
    const auto* const at =
        std::find_if(std::begin(kEntities), std::end(kEntities), [&](const Entity& e) { return e.name == name; });
    return at == std::end(kEntities) ? std::pair<char32_t, std::size_t>{0, 0} : std::pair{at->character, end + 1};
  }
  const bool hex = name.size() > 1 && lower(name[1]) == 'x';
  const auto digits = name.substr(hex ? 2 : 1);
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size()) return {0, 0};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  return {surrogate || value > 0x10ffff || value == 0 ? 0xfffd : value, end + 1};
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto [character, length] = text[i] == '&' ? entity(text.substr(i + 1)) : std::pair<char32_t, std::size_t>{};
    if (length == 0) {
      out += text[i];
      continue;
    }
    append_utf8(out, character);
    i += length;
  }
  return out;
}

struct Tag {
  std::string name;
  bool closing = false;
  std::string href, alt;
};

template <std::size_t N>
bool any_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Elements whose text is not the mail's. Mail programs run no scripts: what stands for one (noscript) is shown.
bool is_silent(std::string_view name) {
  constexpr std::array<std::string_view, 10> kSilent = {"script", "style", "title", "template", "iframe",
                                                        "object", "svg",   "math",  "textarea", "select"};
  return any_of(kSilent, name);
}
bool breaks_line(std::string_view name) {
  constexpr std::array<std::string_view, 24> kBlocks = {
      "p",  "div", "br", "tr", "table", "ul",         "ol",      "li",     "h1",     "h2",      "h3",  "h4",
      "h5", "h6",  "hr", "dl", "dt",    "blockquote", "section", "header", "footer", "article", "pre", "center"};
  return any_of(kBlocks, name);
}
bool parts_paragraphs(std::string_view name) {
  constexpr std::array<std::string_view, 10> kParagraphs = {"p",  "h1", "h2", "h3",    "h4",
                                                            "h5", "h6", "ul", "table", "blockquote"};
  return any_of(kParagraphs, name);
}

class Reader {
 public:
  Reader(std::string_view html, std::size_t most) : html_(html), most_(most) {}

  std::string read() {
    while (at_ < html_.size() && out_.size() < most_) {
      if (html_[at_] == '<' && starts_markup()) {
        markup();
      } else {
        text();
      }
    }
    while (!out_.empty() && is_html_blank(out_.back())) out_.pop_back();
    cut_text(out_, most_);
    return std::move(out_);
  }

 private:
  bool starts_markup() const {
    const char next = at_ + 1 < html_.size() ? html_[at_ + 1] : ' ';
    return is_letter(next) || next == '/' || next == '!' || next == '?';
  }

  void markup() {
    if (html_.substr(at_, 4) == "<!--") {
      skip_comment();
    } else if (html_[at_ + 1] == '!' || html_[at_ + 1] == '?') {
      skip_behind(">", at_ + 2);
    } else {
      element(tag());
    }
  }

  /// As browsers have it: "<!-->" and "<!--->" are whole, and "--!>" is an end as well.
  void skip_comment() {
    const auto rest = html_.substr(at_ + 4);
    if (rest.starts_with('>') || rest.starts_with("->")) return skip_behind(">", at_ + 4);
    const auto end = std::min(html_.find("-->", at_ + 4), html_.find("--!>", at_ + 4));
    at_ = end == std::string_view::npos ? html_.size() : html_.find('>', end) + 1;
  }

  void skip_behind(std::string_view end, std::size_t from) {
    const auto at = html_.find(end, from);
    at_ = at == std::string_view::npos ? html_.size() : at + end.size();
  }

  Tag tag() {
    Tag tag;
    ++at_;
    if (html_[at_] == '/') {
      tag.closing = true;
      ++at_;
    }
    for (; at_ < html_.size() && !is_html_blank(html_[at_]) && html_[at_] != '>' && html_[at_] != '/'; ++at_) {
      if (tag.name.size() < 20) tag.name += lower(html_[at_]);
    }
    while (at_ < html_.size() && html_[at_] != '>') attribute(tag);
    if (at_ < html_.size()) ++at_;
    return tag;
  }

  void attribute(Tag& tag) {
    if (is_html_blank(html_[at_]) || html_[at_] == '/' || html_[at_] == '=') {
      ++at_;
      return;
    }
    const auto from = at_;
    while (at_ < html_.size() && !is_html_blank(html_[at_]) && html_[at_] != '=' && html_[at_] != '>') ++at_;
    const auto name = html_.substr(from, at_ - from);
    while (at_ < html_.size() && is_html_blank(html_[at_])) ++at_;
    if (at_ >= html_.size() || html_[at_] != '=') return;
    ++at_;
    while (at_ < html_.size() && is_html_blank(html_[at_])) ++at_;
    const auto value = attribute_value();
    if (name.size() == 4 && starts_as(name, "href")) tag.href = decoded(value.substr(0, kLongestTarget + 1));
    if (name.size() == 3 && starts_as(name, "alt")) tag.alt = decoded(value.substr(0, 200));
  }

  std::string_view attribute_value() {
    if (at_ >= html_.size()) return {};
    const char quote = html_[at_];
    if (quote == '"' || quote == '\'') {
      const auto end = std::min(html_.find(quote, at_ + 1), html_.size());
      const auto value = html_.substr(at_ + 1, end - at_ - 1);
      at_ = std::min(end + 1, html_.size());
      return value;
    }
    const auto from = at_;
    while (at_ < html_.size() && !is_html_blank(html_[at_]) && html_[at_] != '>') ++at_;
    return html_.substr(from, at_ - from);
  }

  void element(const Tag& tag) {
    if (!tag.closing && is_silent(tag.name)) {
      skip_element(tag.name);
      return;
    }
    if (tag.name == "a") link(tag);
    if (tag.name == "img" && !tag.alt.empty()) put_all("[" + clean_line(tag.alt) + "]");
    if (tag.name == "td" || tag.name == "th") pending_blank_ = true;
    if (tag.name == "pre") preformatted_ = !tag.closing;
    if (breaks_line(tag.name)) break_line(parts_paragraphs(tag.name) ? 2 : 1, tag.name == "br");
    if (tag.name == "li" && !tag.closing) put_all("- ");
    if (tag.name == "hr") put_all("---");
  }

  /// Up to its end, which many a mail does not have: then everything else belongs to it.
  void skip_element(const std::string& name) {
    while (at_ < html_.size()) {
      const auto end = html_.find("</", at_);
      if (end == std::string_view::npos) break;
      at_ = end;
      if (starts_as(html_.substr(end + 2), name)) {
        skip_behind(">", end);
        return;
      }
      at_ = end + 2;
    }
    at_ = html_.size();
  }

  void link(const Tag& tag) {
    if (!tag.closing) {
      target_ = clean_line(tag.href);
      link_from_ = out_.size();
      return;
    }
    const bool useful =
        target_.size() <= kLongestTarget &&
        (starts_as(target_, "http://") || starts_as(target_, "https://") || starts_as(target_, "mailto:"));
    const auto text = std::string_view(out_).substr(std::min(link_from_, out_.size()));
    const auto bare = target_.substr(std::min(target_.size(), target_.find(':') + 1));
    if (useful && text.find(bare.substr(bare.starts_with("//") ? 2 : 0)) == std::string_view::npos) {
      put_all(" (" + target_ + ")");
    }
    target_.clear();
  }

  void text() {
    const auto from = at_;
    at_ = std::min(html_.find('<', at_ + 1), html_.size());
    put_all(decoded(html_.substr(from, at_ - from)));
  }

  /// `always`: where the line is empty too.
  void break_line(std::size_t lines, bool always) {
    pending_blank_ = false;
    if (out_.empty()) return;
    wanted_lines_ = always ? std::min<std::size_t>(wanted_lines_ + 1, 2) : std::max(wanted_lines_, lines);
  }

  void put_all(std::string_view text) {
    for (const char c : text) {
      if (is_html_blank(c) && !(preformatted_ && c == '\n')) {
        pending_blank_ = true;
      } else if (c == '\n') {
        break_line(1, true);
      } else {
        put(c);
      }
    }
  }

  void put(char c) {
    if (wanted_lines_ > 0) {
      out_.append(wanted_lines_, '\n');
    } else if (pending_blank_ && !out_.empty() && out_.back() != '\n' && out_.back() != ' ') {
      out_ += ' ';
    }
    wanted_lines_ = 0;
    pending_blank_ = false;
    out_ += c;
  }

  const std::string_view html_;
  const std::size_t most_;
  std::size_t at_ = 0, wanted_lines_ = 0, link_from_ = 0;
  bool pending_blank_ = false, preformatted_ = false;
  std::string out_, target_;
};

}  // namespace

std::string html_to_text(std::string_view html, std::size_t most_bytes) {
  return clean_text(Reader(html, most_bytes).read());
}

}  // namespace gmail
