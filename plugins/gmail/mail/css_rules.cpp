#include "css_rules.hpp"

#include <algorithm>
#include <optional>

#include "html_tokens.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kMostRules = 5'000, kMostSteps = 5'000'000;
constexpr int kDeepestBlock = 8;
constexpr double kScreenWidth = 1280, kScreenHeight = 800;

/// Where the next of `marks` stands outside quotation marks and brackets.
std::size_t find_outside(std::string_view text, std::size_t at, std::string_view marks) {
  char quote = '\0';
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\') {
      ++at;
    } else if (quote != '\0') {
      if (c == quote || c == '\n') quote = '\0';
    } else if (depth == 0 && marks.find(c) != std::string_view::npos) {
      return at;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return text.size();
}

/// The "}" of the block whose "{" stands at `open`.
std::size_t block_end(std::string_view text, std::size_t open) {
  int depth = 1;
  for (auto at = open + 1;; ++at) {
    at = find_outside(text, at, "{}");
    if (at >= text.size()) return text.size();
    depth += text[at] == '{' ? 1 : -1;
    if (depth == 0) return at;
  }
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = find_outside(text, at, std::string_view(&mark, 1));
    out.push_back(without_blanks(text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

/// "(max-width: 600px)" of a computer's screen. What is not known is not so.
bool is_so(std::string_view feature) {
  const auto colon = feature.find(':');
  const auto name = without_blanks(feature.substr(0, colon));
  const auto value = colon == std::string_view::npos ? std::string_view() : without_blanks(feature.substr(colon + 1));
  if (name == "prefers-color-scheme") return value == "light";
  const auto length = css_length(value);
  if (!length.is_known) return false;
  if (name == "min-width" || name == "min-device-width") return kScreenWidth >= length.pixels;
  if (name == "max-width" || name == "max-device-width") return kScreenWidth <= length.pixels;
  if (name == "min-height" || name == "min-device-height") return kScreenHeight >= length.pixels;
  if (name == "max-height" || name == "max-device-height") return kScreenHeight <= length.pixels;
  return false;
}

/// "only screen and (min-width: 480px)".
bool fits_screen(std::string_view query) {
  bool is_first = true, negated = false, fits = true;
  while (!(query = without_blanks(query)).empty()) {
    if (query.front() == '(') {
      const auto end = std::min(query.find(')'), query.size());
      fits = fits && is_so(without_blanks(query.substr(1, end - 1)));
      query.remove_prefix(std::min(end + 1, query.size()));
    } else {
      const auto end = std::min(query.find_first_of(" \t\r\n\f("), query.size());
      const auto word = query.substr(0, end);
      if (is_first && word == "not") {
        negated = true;
      } else if (word != "only" && word != "and") {
        fits = fits && (word == "all" || word == "screen");
      }
      query.remove_prefix(std::max<std::size_t>(end, 1));
    }
    is_first = false;
  }
  return fits != negated;
}

bool is_for_screens(std::string_view media) {
  const auto lower = lower_ascii(without_blanks(media));
  const auto queries = split(lower, ',');
  return std::any_of(queries.begin(), queries.end(), fits_screen);
}

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// "div.note#x"; nothing where it asks for more than element, classes and id.
std::optional<CssCompound> compound_of(std::string_view text) {
  CssCompound out;
  for (std::size_t at = 0; at < text.size();) {
    const char kind = text[at];
    if (kind == '*' && at == 0) {
      ++at;
      continue;
    }
    const auto from = kind == '.' || kind == '#' ? at + 1 : at;
    for (at = from; at < text.size() && is_identifier(text[at]);) ++at;
    std::string name(text.substr(from, at - from));
    if (name.empty()) return std::nullopt;
    if (kind == '.') {
      out.classes.push_back(std::move(name));
    } else if (kind == '#') {
      out.id = std::move(name);
    } else {
      if (from != 0) return std::nullopt;
      out.element = lower_ascii(name);
    }
  }
  return out;
}

/// Escapes of what a name may hold without; nothing where others are among them.
std::optional<std::string> plain_selector(std::string_view selector) {
  std::string out;
  for (auto at = selector.find('\\'); at != std::string_view::npos; at = selector.find('\\')) {
    out += selector.substr(0, at);
    auto end = at + 1;
    while (end < selector.size() && end < at + 7 &&
           std::string_view("0123456789abcdefABCDEF").find(selector[end]) != std::string_view::npos) {
      ++end;
    }
    if (end == at + 1) {
      end = std::min(end + 1, selector.size());
    } else if (end < selector.size() && is_html_blank(selector[end])) {
      ++end;
    }
    const auto character = without_css_escapes(selector.substr(at, end - at));
    if (character.empty() || !std::all_of(character.begin(), character.end(), is_identifier)) return std::nullopt;
    out += character;
    selector.remove_prefix(end);
  }
  return out.append(selector);
}

/// Outermost first; empty where one of them cannot be told.
std::vector<CssCompound> compounds_of(std::string_view given) {
  std::vector<CssCompound> out;
  const auto plain = plain_selector(given);
  if (!plain) return out;
  std::string_view selector = *plain;
  bool within_parent = false;
  while (!(selector = without_blanks(selector)).empty()) {
    if (selector.front() == '>') {
      within_parent = true;
      selector.remove_prefix(1);
      continue;
    }
    const auto end = std::min(selector.find_first_of(" \t\r\n\f>+~"), selector.size());
    auto compound = compound_of(selector.substr(0, end));
    if (!compound || end == 0) return {};
    compound->within_parent = within_parent;
    within_parent = false;
    out.push_back(std::move(*compound));
    selector.remove_prefix(end);
  }
  return out;
}

std::uint32_t weight_of(const std::vector<CssCompound>& compounds) {
  std::size_t ids = 0, classes = 0, elements = 1;  // above what attributes and browsers themselves say
  for (const auto& one : compounds) {
    ids += one.id.empty() ? 0 : 1;
    classes += one.classes.size();
    elements += one.element.empty() ? 0 : 1;
  }
  constexpr std::size_t kMost = 255;
  return static_cast<std::uint32_t>(std::min(ids, kMost) << 16U | std::min(classes, kMost) << 8U |
                                    std::min(elements, kMost));
}

/// By which a rule is found: the innermost's rarest part.
std::string key_of(const CssCompound& innermost) {
  if (!innermost.id.empty()) return "#" + innermost.id;
  if (!innermost.classes.empty()) return "." + innermost.classes.front();
  return innermost.element;
}

}  // namespace

bool CssCompound::fits(const CssSubject& subject) const {
  if (!element.empty() && element != subject.element) return false;
  if (!id.empty() && id != subject.id) return false;
  return std::all_of(classes.begin(), classes.end(), [&](const std::string& one) {
    return std::find(subject.classes.begin(), subject.classes.end(), one) != subject.classes.end();
  });
}

void CssRules::add(std::string_view sheet, std::string_view media) {
  if (is_for_screens(media)) read(without_css_comments(sheet), 0);
}

void CssRules::read(std::string_view text, int depth) {  // NOLINT(misc-no-recursion)
  for (std::size_t at = 0; at < text.size();) {
    const auto end = find_outside(text, at, "{;}");
    if (end >= text.size()) return;
    auto head = without_blanks(text.substr(at, end - at));
    for (const std::string_view mark : {"<!--", "-->"}) {
      if (head.starts_with(mark)) head = without_blanks(head.substr(mark.size()));
    }
    at = end + 1;
    if (text[end] == '}' || (text[end] == ';' && head.starts_with('@'))) continue;
    if (text[end] == ';') {  // a selector goes on up to its block
      const auto open = find_outside(text, at, "{");
      at = open < text.size() ? block_end(text, open) + 1 : text.size();
      continue;
    }
    const auto close = block_end(text, end);
    const auto body = text.substr(end + 1, close - end - 1);
    at = close + 1;
    if (!head.starts_with('@')) {
      add_rule(head, body);
    } else if (depth < kDeepestBlock) {
      const auto name = lower_ascii(head.substr(0, head.find_first_of(" \t\r\n\f(")));
      if (name == "@layer" || (name == "@media" && is_for_screens(head.substr(name.size())))) read(body, depth + 1);
    }
  }
}

void CssRules::add_rule(std::string_view selectors, std::string_view body) {
  const auto declarations = std::make_shared<const std::vector<CssDeclaration>>(css_declarations(body));
  if (declarations->empty()) return;
  for (const auto selector : split(selectors, ',')) {
    auto compounds = compounds_of(selector);
    if (compounds.empty() || rules_.size() >= kMostRules) continue;
    const auto weight = weight_of(compounds);
    by_key_.emplace(key_of(compounds.back()), rules_.size());
    rules_.push_back({std::move(compounds), declarations, weight});
  }
}

bool CssRules::fits(const CssCompound& wanted, const CssSubject& subject) {
  steps_ += 1 + wanted.classes.size() * subject.classes.size();
  return steps_ < kMostSteps && wanted.fits(subject);
}

bool CssRules::fits(const Rule& rule, const CssSubject& subject, const Around& around) {
  auto left = rule.compounds.size();
  if (!fits(rule.compounds[--left], subject)) return false;
  bool within_parent = rule.compounds[left].within_parent;
  for (std::size_t out = 0; left > 0; ++out) {
    const auto* outer = around(out);
    if (!outer) return false;
    const auto& wanted = rule.compounds[left - 1];
    if (fits(wanted, *outer)) {
      within_parent = wanted.within_parent;
      --left;
    } else if (within_parent) {
      return false;
    }
  }
  return true;
}

bool CssRules::say(const CssSubject& subject, const Around& around, CssCascade& cascade) {
  std::vector<std::size_t> found;
  const auto look_up = [&](const std::string& key) {
    const auto [first, last] = by_key_.equal_range(key);
    for (auto at = first; at != last && steps_ < kMostSteps; ++at, ++steps_) found.push_back(at->second);
  };
  look_up("");
  look_up(std::string(subject.element));
  for (const auto& one : subject.classes) look_up("." + one);
  if (!subject.id.empty()) look_up("#" + subject.id);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const auto at : found) {
    const auto& rule = rules_[at];
    if (!fits(rule, subject, around)) continue;
    for (const auto& one : *rule.declarations) cascade.say(one, rule.weight);
  }
  steps_ += subject.classes.size();
  return steps_ < kMostSteps;
}

}  // namespace gmail
