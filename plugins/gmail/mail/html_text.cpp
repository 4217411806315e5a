#include "html_text.hpp"

#include <algorithm>

#include "html_entities.hpp"
#include "html_open.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLongestTarget = 500, kLongestAlternative = 200;

bool starts_as(std::string_view text, std::string_view lower_case) {
  return same_ascii(text.substr(0, lower_case.size()), lower_case);
}

/// Lines of text, made of pieces with any blanks.
class Lines {
 public:
  explicit Lines(std::size_t most) : most_(most) {}

  bool is_full() const { return out_.size() > most_; }  // done() cuts between characters
  std::size_t size() const { return out_.size(); }
  std::string_view since(std::size_t at) const { return std::string_view(out_).substr(std::min(at, out_.size())); }
  void want_blank() { pending_blank_ = true; }

  /// `always`: where the line is empty too.
  void break_line(std::size_t lines, bool always) {
    pending_blank_ = false;
    if (out_.empty()) return;
    wanted_lines_ = always ? std::min<std::size_t>(wanted_lines_ + 1, 2) : std::max(wanted_lines_, lines);
  }

  void put(std::string_view text, bool keeps_lines) {
    for (const char c : text) {
      if (is_full()) return;
      if (c == '\n' && keeps_lines) {
        break_line(1, true);
      } else if (is_html_blank(c) || c == '\v') {
        pending_blank_ = true;
      } else {
        put(c);
      }
    }
  }

  std::string done() {
    while (!out_.empty() && is_html_blank(out_.back())) out_.pop_back();
    cut_text(out_, most_);
    return std::move(out_);
  }

 private:
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

  const std::size_t most_;
  std::size_t wanted_lines_ = 0;
  bool pending_blank_ = false;
  std::string out_;
};

class Reader {
 public:
  Reader(std::string_view html, std::size_t most, CssRules& rules)
      : tokens_(html), open_(rules), seen_(most), hidden_(kMostHiddenBytes) {}

  SeenText read() {
    while (!seen_.is_full()) {
      const auto token = tokens_.next(open_.within_foreign());
      if (token.kind == HtmlToken::Kind::kNothingMore) break;
      if (token.kind == HtmlToken::Kind::kText) {
        text(token.has_references ? without_references(token.text) : std::string(token.text));
      } else if (token.kind == HtmlToken::Kind::kStart) {
        start(token);
      } else {
        end(token);
      }
    }
    return {seen_.done(), hidden_.done()};
  }

 private:
  Lines& lines(const HtmlLook& look) { return look.is_hidden() ? hidden_ : seen_; }
  Lines& lines() { return lines(open_.look()); }

  void text(const std::string& decoded) {
    const auto is_blank = std::all_of(decoded.begin(), decoded.end(), is_html_blank);
    if (is_blank) {
      // Between rows and cells there is none.
      if (!decoded.empty()) lines().put(" ", false);
      return;
    }
    open_.reopen_formatting();
    lines().put(decoded, open_.is_open("pre") || open_.is_open("listing"));
  }

  void start(const HtmlToken& tag) {
    const auto traits = html_traits(tag.name);
    const bool is_raw = (traits & kRaw) != 0 && !open_.within_foreign();
    if ((traits & kClosesP) != 0 && open_.is_open("p")) lines().break_line(2, false);
    if (!open_.start(tag)) return;
    if (is_raw) return raw(tag.name, traits);
    auto& to = (traits & kVoid) != 0 ? lines(open_.void_look()) : lines();
    if (tag.name == "a") link_begins(tag);
    if (tag.name == "img") image(tag);
    if (tag.name == "td" || tag.name == "th") to.want_blank();
    break_line(to, tag.name, traits);
    if (tag.name == "li") to.put("- ", false);
    if (tag.name == "hr") to.put("---", false);
  }

  void end(const HtmlToken& tag) {
    const auto traits = html_traits(tag.name);
    if (tag.name == "a") link_ends();
    if (tag.name == "td" || tag.name == "th") lines().want_blank();
    break_line(lines(), tag.name, traits);
    open_.end(tag.name);
  }

  static void break_line(Lines& to, std::string_view name, std::uint32_t traits) {
    if (traits & (kLine | kParagraph)) to.break_line((traits & kParagraph) != 0 ? 2 : 1, false);
    if (name == "br") to.break_line(1, true);
  }

  /// Of what is no HTML people see xmp, textarea and plaintext.
  void raw(const std::string& name, std::uint32_t traits) {
    const auto content = tokens_.raw_text(name);
    if (traits & kUnseen) return;
    auto& to = lines(open_.void_look());
    to.break_line(1, false);
    to.put(name == "textarea" ? without_references(content) : std::string(content), true);
    to.break_line(1, false);
  }

  /// One that is as large as a dot is there to be counted, not seen.
  void image(const HtmlToken& tag) {
    const auto alternative = clean_line(tag.attribute("alt", kLongestAlternative));
    if (alternative.find_first_not_of(' ') == std::string::npos) return;
    const auto is_dot = [&](const char* size) {
      const auto value = tag.attribute(size, 20);
      return value == "0" || value == "1" || value == "0px" || value == "1px";
    };
    auto& to = is_dot("width") && is_dot("height") ? hidden_ : lines(open_.void_look());
    to.put("[" + alternative + "]", false);
  }

  void link_begins(const HtmlToken& tag) {
    target_ = clean_line(tag.attribute("href", kLongestTarget + 1));
    link_from_ = lines().size();
  }

  void link_ends() {
    const bool useful =
        target_.size() <= kLongestTarget &&
        (starts_as(target_, "http://") || starts_as(target_, "https://") || starts_as(target_, "mailto:"));
    const auto bare = target_.substr(std::min(target_.size(), target_.find(':') + 1));
    const auto said = bare.substr(bare.starts_with("//") ? 2 : 0);
    if (useful && lines().since(link_from_).find(said) == std::string_view::npos) {
      lines().put(" (" + target_ + ")", false);
    }
    target_.clear();
  }

  HtmlTokens tokens_;
  HtmlOpen open_;
  Lines seen_, hidden_;
  std::string target_;
  std::size_t link_from_ = 0;
};

/// Style sheets count for the whole mail, wherever they stand in it.
void read_sheets(std::string_view html, CssRules& rules) {
  HtmlTokens tokens(html);
  for (auto token = tokens.next(false); token.kind != HtmlToken::Kind::kNothingMore; token = tokens.next(false)) {
    if (token.kind != HtmlToken::Kind::kStart || (html_traits(token.name) & kRaw) == 0) continue;
    const auto content = tokens.raw_text(token.name);
    if (token.name == "style") rules.add(content, token.attribute("media", 500));
  }
}

}  // namespace

SeenText html_to_text(std::string_view html, std::size_t most_bytes) {
  CssRules rules;
  read_sheets(html, rules);
  const auto read = Reader(html, most_bytes, rules).read();
  auto out = set_apart_invisible(read.seen);
  auto hidden = set_apart_invisible(read.hidden);
  for (const auto& more : {hidden.seen, hidden.hidden}) {
    if (!out.hidden.empty() && !more.empty()) out.hidden += '\n';
    out.hidden += more;
  }
  cut_text(out.hidden, kMostHiddenBytes);
  return out;
}

}  // namespace gmail
