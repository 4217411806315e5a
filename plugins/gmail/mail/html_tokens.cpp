#include "html_tokens.hpp"

#include <algorithm>

#include "html_entities.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLongestTagName = 30;

/// No other is kept: a tag may have any number of them.
constexpr std::string_view kAttributes[] = {"alt",     "background", "bgcolor", "charset", "class", "color",
                                            "content", "face",       "height",  "hidden",  "href",  "id",
                                            "media",   "open",       "size",    "style",   "text",  "width"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_html_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_html_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_html_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string HtmlToken::attribute(std::string_view wanted, std::size_t most_bytes) const {
  const auto at = std::find_if(attributes.begin(), attributes.end(),
                               [&](const HtmlAttribute& one) { return same_ascii(one.name, wanted); });
  return at == attributes.end() ? std::string() : without_references(at->value.substr(0, most_bytes), true);
}

bool HtmlToken::has(std::string_view wanted) const {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](const HtmlAttribute& one) { return same_ascii(one.name, wanted); });
}

bool HtmlTokens::starts_markup() const {
  const char next = at_ + 1 < html_.size() ? html_[at_ + 1] : ' ';
  return is_letter(next) || next == '!' || next == '?' || (next == '/' && at_ + 2 < html_.size());
}

HtmlToken HtmlTokens::next(bool within_foreign) {
  while (at_ < html_.size()) {
    if (html_[at_] != '<' || !starts_markup()) {
      const auto from = at_;
      do {
        at_ = std::min(html_.find('<', at_ + 1), html_.size());
      } while (at_ < html_.size() && !starts_markup());
      HtmlToken token;
      token.kind = HtmlToken::Kind::kText;
      token.text = html_.substr(from, at_ - from);
      return token;
    }
    const auto rest = html_.substr(at_);
    if (within_foreign && rest.starts_with("<![CDATA[")) {
      const auto end = std::min(html_.find("]]>", at_ + 9), html_.size());
      HtmlToken token;
      token.kind = HtmlToken::Kind::kText;
      token.text = html_.substr(at_ + 9, end - at_ - 9);
      token.has_references = false;
      at_ = std::min(end + 3, html_.size());
      return token;
    }
    if (rest.starts_with("<!--")) {
      skip_comment();
    } else if (is_letter(rest[1]) || (rest[1] == '/' && is_letter(rest[2]))) {
      auto token = tag();
      if (token.kind != HtmlToken::Kind::kNothingMore) return token;
    } else {
      skip_behind('>', at_ + (rest[1] == '/' ? 2 : 1));  // "<!doctype", "<?xml", "</>"
    }
  }
  return {};
}

/// "<!-->" and "<!--->" are whole, and "--!>" is an end as well.
void HtmlTokens::skip_comment() {
  const auto rest = html_.substr(at_ + 4);
  if (rest.starts_with('>') || rest.starts_with("->")) return skip_behind('>', at_ + 4);
  for (auto dashes = html_.find("--", at_ + 4); dashes != std::string_view::npos;
       dashes = html_.find("--", dashes + 1)) {
    const auto end = html_.substr(dashes + 2, 2);
    if (end.starts_with('>') || end == "!>") return skip_behind('>', dashes);
  }
  at_ = html_.size();
}

void HtmlTokens::skip_behind(char end, std::size_t from) {
  at_ = std::min(html_.find(end, from), html_.size() - 1) + 1;
}

/// Nothing where it does not end.
HtmlToken HtmlTokens::tag() {
  HtmlToken token;
  token.kind = html_[++at_] == '/' ? HtmlToken::Kind::kEnd : HtmlToken::Kind::kStart;
  if (token.kind == HtmlToken::Kind::kEnd) ++at_;
  for (; at_ < html_.size() && !is_html_blank(html_[at_]) && html_[at_] != '>' && html_[at_] != '/'; ++at_) {
    if (token.name.size() < kLongestTagName) token.name += html_[at_];
  }
  token.name = lower_ascii(token.name);
  while (at_ < html_.size() && html_[at_] != '>') {
    token.closes_itself = false;
    if (is_html_blank(html_[at_]) || html_[at_] == '/') {
      token.closes_itself = html_[at_] == '/';
      ++at_;
    } else {
      attribute(token);
    }
  }
  if (at_ == html_.size()) return {};
  ++at_;
  return token;
}

void HtmlTokens::attribute(HtmlToken& token) {
  const auto from = at_++;  // whatever begins it: "=" too
  while (at_ < html_.size() && !is_html_blank(html_[at_]) && html_[at_] != '=' && html_[at_] != '>' &&
         html_[at_] != '/') {
    ++at_;
  }
  HtmlAttribute found{html_.substr(from, at_ - from)};
  auto next = at_;
  while (next < html_.size() && is_html_blank(html_[next])) ++next;
  if (next < html_.size() && html_[next] == '=') {
    at_ = next + 1;
    while (at_ < html_.size() && is_html_blank(html_[at_])) ++at_;
    found.value = attribute_value();
  }
  const bool is_known = std::any_of(std::begin(kAttributes), std::end(kAttributes),
                                    [&](std::string_view one) { return same_ascii(one, found.name); });
  if (is_known && !token.has(found.name)) token.attributes.push_back(found);
}

std::string_view HtmlTokens::attribute_value() {
  if (at_ >= html_.size()) return {};
  const char quote = html_[at_];
  const auto from = at_;
  if (quote == '"' || quote == '\'') {
    const auto end = std::min(html_.find(quote, at_ + 1), html_.size());
    at_ = std::min(end + 1, html_.size());
    return html_.substr(from + 1, end - from - 1);
  }
  while (at_ < html_.size() && !is_html_blank(html_[at_]) && html_[at_] != '>') ++at_;
  return html_.substr(from, at_ - from);
}

bool HtmlTokens::ends_here(std::size_t at, std::string_view name) const {
  const auto behind = at + name.size();
  if (behind >= html_.size() || !same_ascii(html_.substr(at, name.size()), name)) return false;
  return is_html_blank(html_[behind]) || html_[behind] == '/' || html_[behind] == '>';
}

/// Where "</script" ends a script. Within "<!-- <script" it does not.
std::size_t HtmlTokens::script_end() const {
  bool commented = false, doubly = false;
  for (auto at = at_; at < html_.size(); ++at) {
    const auto rest = html_.substr(at);
    if (!commented && rest.starts_with("<!--")) {
      commented = true;
      at += 1;  // "<!-->" ends it
    } else if (commented && rest.starts_with("-->")) {
      commented = doubly = false;
    } else if (rest.starts_with("</") && ends_here(at + 2, "script")) {
      if (!doubly) return at;
      doubly = false;
    } else if (commented && rest[0] == '<' && ends_here(at + 1, "script")) {
      doubly = true;
    }
  }
  return html_.size();
}

std::string_view HtmlTokens::raw_text(std::string_view name) {
  auto end = html_.size();
  if (name == "script") {
    end = script_end();
  } else if (name != "plaintext") {
    for (end = html_.find("</", at_); end != std::string_view::npos && !ends_here(end + 2, name);) {
      end = html_.find("</", end + 2);
    }
    end = std::min(end, html_.size());
  }
  const auto text = html_.substr(at_, end - at_);
  at_ = end;
  return text;
}

}  // namespace gmail
