#include "html_open.hpp"

#include <algorithm>
#include <utility>

namespace gmail {
namespace {

// Deeper elements are counted, and what is in them is taken for hidden: nobody writes such mail.
constexpr std::size_t kDeepest = 10'000;
// Of names, and of formatting that goes on.
constexpr std::size_t kMostNames = 5'000, kMostFormatting = 50, kMostAlike = 3;
constexpr std::size_t kMostLookedAgain = 20'000'000;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && !is_html_blank(text[end])) ++end;
    if (end > at) out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

void drop(std::vector<std::uint32_t>& places, std::uint32_t at) {
  if (!places.empty() && places.back() == at) places.pop_back();
}

/// SVG's and MathML's elements in which HTML goes on.
bool holds_html(std::string_view name) {
  return is_one_of(name, {"foreignobject", "desc", "title", "mi", "mo", "mn", "ms", "mtext"});
}
/// Those of SVG that are never drawn.
bool is_undrawn(std::string_view name) {
  return is_one_of(name, {"desc", "title", "metadata", "defs", "style", "script", "symbol", "clippath", "mask"});
}

}  // namespace

std::uint16_t HtmlOpen::id_of(std::string_view name) {
  if (const auto at = names_.find(name); at != names_.end()) return at->second;
  if (names_.size() >= kMostNames) name = "";
  const auto [at, is_new] = names_.emplace(name, static_cast<std::uint16_t>(names_.size()));
  if (is_new) by_name_.emplace_back();
  return at->second;
}

std::uint32_t HtmlOpen::top_of(std::string_view name) const {
  const auto at = names_.find(name);
  return at == names_.end() || by_name_[at->second].empty() ? kNone : by_name_[at->second].back();
}

bool HtmlOpen::within_foreign() const {
  return !open_.empty() && open_.back().is_foreign && (open_.back().traits & kScope) == 0;
}

bool HtmlOpen::holds_rows() const {
  return !open_.empty() && (open_.back().traits & kTableRows) != 0;
}

/// Of the element that holds what comes now: around the table where it comes in a table, but in no cell, and is none of
/// its parts.
std::uint32_t HtmlOpen::place(std::uint32_t traits) const {
  if (!holds_rows() || (traits & kTablePart) != 0) return current();
  const auto table = top_of("table");
  return table == kNone ? current() : open_[table].around;
}

const HtmlLook& HtmlOpen::look() const {
  static const HtmlLook gone = HtmlLook().within({.is_gone = true});
  if (too_deep_ > 0) return gone;
  const auto at = place();
  return at == kNone ? page_ : open_[at].look;
}

bool HtmlOpen::is_in_scope(std::uint32_t at, std::uint32_t bound) const {
  if (at == kNone || (bound != kNone && bound > at)) return false;
  return scopes_.empty() || scopes_.back() <= at;
}

/// The topmost element of that name in the innermost table, or that table.
std::uint32_t HtmlOpen::table_part(std::string_view name) const {
  const auto table = top_of("table"), within = top_of("template"), at = top_of(name);
  if (table == kNone || at == kNone || at < table) return kNone;
  return within != kNone && within > at ? kNone : at;
}

std::uint32_t HtmlOpen::highest_of(std::uint32_t least, std::initializer_list<std::string_view> names) const {
  for (const auto name : names) {
    if (const auto at = top_of(name); at != kNone && (least == kNone || at > least)) least = at;
  }
  return least;
}

std::uint32_t HtmlOpen::push(New made, bool is_foreign) {
  if (open_.size() >= kDeepest) {
    ++too_deep_;
    return kNone;
  }
  const auto around = place(made.traits);
  const auto at = static_cast<std::uint32_t>(open_.size());
  const auto below = !is_foreign ? at : open_.empty() ? kNone : open_.back().html_below;
  const auto look = (around == kNone ? page_ : open_[around].look).within(made.style);
  by_name_[made.name].push_back(at);
  if (made.traits & kSpecial) specials_.push_back(at);
  if (made.traits & kScope) scopes_.push_back(at);
  if (made.traits & kHeading) headings_.push_back(at);
  const auto& element = made.subject.element;
  if ((made.traits & kSpecial) && !is_one_of(element, {"address", "div", "p"})) barriers_.push_back(at);
  if (made.traits & kMarker) formatting_.push_back({made.name, made.traits, kNone, true, {}, {}});
  open_.push_back(
      {made.name, is_foreign, false, made.traits, around, below, made.style, look, std::move(made.subject)});
  return at;
}

void HtmlOpen::pop() {
  const auto at = current();
  const auto& top = open_.back();
  too_deep_ = 0;
  drop(by_name_[top.name], at);
  for (auto* places : {&specials_, &barriers_, &scopes_, &headings_}) drop(*places, at);
  if (top.traits & kMarker) {
    while (!formatting_.empty() && !formatting_.back().is_marker) formatting_.pop_back();
    if (!formatting_.empty()) formatting_.pop_back();
  } else if (top.traits & kFormatting) {
    for (auto one = formatting_.rbegin(); one != formatting_.rend() && !one->is_marker; ++one) {
      if (one->at == at) one->at = kNone;
    }
  }
  open_.pop_back();
}

void HtmlOpen::pop_above(std::uint32_t at) {
  while (open_.size() > static_cast<std::size_t>(at) + 1) pop();
}

void HtmlOpen::pop_until(std::uint32_t at) {
  while (open_.size() > at) pop();
  while (!open_.empty() && open_.back().is_gone) pop();
}

/// What is within it goes on without it.
void HtmlOpen::take_away(std::uint32_t at) {
  auto& element = open_[at];
  std::erase(by_name_[element.name], at);
  const bool is_plain = element.style == HtmlStyle();
  element.style = {};
  element.subject = {};
  element.traits = 0;
  element.is_gone = true;
  if (!is_plain) look_again_from(at);
}

void HtmlOpen::look_again_from(std::uint32_t at) {
  looked_again_ += open_.size() - at;
  if (looked_again_ > kMostLookedAgain) return;
  for (; at < open_.size(); ++at) {
    auto& one = open_[at];
    one.look = (one.around == kNone ? page_ : open_[one.around].look).within(one.style);
  }
}

void HtmlOpen::note_formatting(const New& made, std::uint32_t at) {
  auto first = formatting_.size();
  std::size_t alike = 0, earliest = 0;
  while (first > 0 && !formatting_[first - 1].is_marker) {
    --first;
    if (formatting_[first].name != made.name || !(formatting_[first].style == made.style)) continue;
    ++alike;
    earliest = first;
  }
  const auto place_of = [&](std::size_t i) { return formatting_.begin() + static_cast<std::ptrdiff_t>(i); };
  if (alike >= kMostAlike) {
    formatting_.erase(place_of(earliest));
  } else if (formatting_.size() - first >= kMostFormatting) {
    formatting_.erase(place_of(first));
  }
  formatting_.push_back({made.name, made.traits, at, false, made.style, made.subject});
}

/// As its place in formatting_, or its size.
std::size_t HtmlOpen::last_formatting(std::string_view name) const {
  const auto id = names_.find(name);
  for (auto i = formatting_.size(); id != names_.end() && i > 0 && !formatting_[i - 1].is_marker; --i) {
    if (formatting_[i - 1].name == id->second) return i - 1;
  }
  return formatting_.size();
}

void HtmlOpen::reopen_formatting() {
  auto first = formatting_.size();
  while (first > 0 && !formatting_[first - 1].is_marker && formatting_[first - 1].at == kNone) --first;
  for (; first < formatting_.size() && open_.size() < kDeepest; ++first) {
    auto& one = formatting_[first];
    one.at = push({one.name, one.traits, one.style, one.subject}, false);
  }
}

HtmlOpen::New HtmlOpen::styled(const HtmlToken& tag, std::uint32_t traits) {
  New made{id_of(tag.name), traits};
  CssCascade cascade;
  bool is_certain = true;
  if (const auto name = names_.find(tag.name); name != names_.end()) made.subject.element = name->first;
  if (!rules_.empty()) {
    made.subject.classes = words_of(tag.attribute("class"));
    made.subject.id = tag.attribute("id");
    auto outer = kNone;
    is_certain = rules_.say(
        made.subject,
        [&](std::size_t level) -> const CssSubject* {
          outer = level == 0 ? place(traits) : open_[outer].around;
          return outer == kNone ? nullptr : &open_[outer].subject;
        },
        cascade);
  }
  made.style = style_of(tag, std::move(cascade));
  const bool is_unseen = (traits & kUnseen) != 0 || (tag.name == "dialog" && !tag.has("open"));
  made.style.is_gone = made.style.is_gone || is_unseen || !is_certain;
  return made;
}

bool HtmlOpen::start(const HtmlToken& tag) {
  const auto traits = html_traits(tag.name);
  if (within_foreign() && start_foreign(tag, traits)) return true;
  if (!make_room(tag, traits)) return false;
  const bool is_inline = (traits & kSpecial) == 0 || ((traits & (kVoid | kMarker)) != 0 && (traits & kTablePart) == 0);
  if (is_inline || is_one_of(tag.name, {"button", "select", "xmp"})) reopen_formatting();
  auto made = styled(tag, traits);
  if ((traits & (kVoid | kRaw)) != 0 || (tag.name == "form" && holds_rows())) {
    void_look_ = look().within(made.style);
    return true;
  }
  if (traits & kForeign) {
    if (!tag.closes_itself) push(std::move(made), true);
    return true;
  }
  if ((traits & kFormatting) == 0) {
    push(std::move(made), false);
  } else if (const auto at = push(made, false); at != kNone) {
    note_formatting(made, at);
  }
  return true;
}

/// False where the tag ends SVG and MathML.
bool HtmlOpen::start_foreign(const HtmlToken& tag, std::uint32_t traits) {
  const bool is_old_font = tag.name == "font" && (tag.has("color") || tag.has("face") || tag.has("size"));
  if ((traits & kBreakout) != 0 || is_old_font) {
    while (within_foreign()) pop();
    return false;
  }
  auto made = styled(tag, traits & kUnseen);
  made.style.is_gone = made.style.is_gone || is_undrawn(tag.name);
  if (holds_html(tag.name)) made.traits |= kScope;
  if (!tag.closes_itself) push(std::move(made), true);
  return true;
}

bool HtmlOpen::make_room(const HtmlToken& tag, std::uint32_t traits) {
  const auto& name = tag.name;
  if (name == "html") return open_.empty() && too_deep_ == 0;
  if (name == "head" || name == "frameset" || name == "frame") return false;
  if (name == "body") return open_.empty() || (open_.size() == 1 && is_open("html"));
  if (name == "form" && is_open("form")) return false;
  if (traits & kTablePart) return make_room_in_table(name);
  if (traits & kClosesP) close_p();
  close_others(name, traits);
  return true;
}

bool HtmlOpen::make_room_in_table(const std::string& name) {
  const auto table = table_part("table");
  if (table == kNone) return false;
  if (is_one_of(name, {"td", "th"})) {
    pop_above(highest_of(table, {"tr", "tbody", "thead", "tfoot"}));
  } else if (name == "tr") {
    pop_above(highest_of(table, {"tbody", "thead", "tfoot"}));
  } else if (name == "col") {
    pop_above(highest_of(table, {"colgroup"}));
  } else {
    pop_above(table);
  }
  return true;
}

/// Elements that end where another of their kind begins.
void HtmlOpen::close_others(const std::string& name, std::uint32_t traits) {
  if (traits & kHeading) {
    if (!headings_.empty() && headings_.back() == current()) pop_until(current());
  } else if (name == "li" || name == "dd" || name == "dt") {
    const auto item = name == "li" ? top_of("li") : highest_of(kNone, {"dd", "dt"});
    if (item != kNone && !barriers_.empty() && barriers_.back() == item) pop_until(item);
  } else if (name == "option" || name == "optgroup") {
    if (top_of("option") != kNone && top_of("option") == current()) pop_until(current());
  } else if (name == "button") {
    end_in_scope(top_of("button"));
  } else if (name == "a" || name == "nobr") {
    if (last_formatting(name) < formatting_.size()) end_formatting(name);
  } else if (name == "table" && holds_rows()) {
    pop_until(top_of("table"));
  }
}

void HtmlOpen::close_p() {
  end_in_scope(top_of("p"), top_of("button"));
}

void HtmlOpen::end_in_scope(std::uint32_t at, std::uint32_t bound) {
  if (is_in_scope(at, bound)) pop_until(at);
}

void HtmlOpen::end(std::string_view name) {
  if (too_deep_ > 0) {
    --too_deep_;
    return;
  }
  const auto traits = html_traits(name);
  const auto at = top_of(name);
  if (open_.empty()) return;
  if (const auto html = open_.back().html_below; at != kNone && open_[at].is_foreign && (html == kNone || at > html)) {
    return pop_until(at);
  }
  if (name == "p") {
    close_p();
  } else if (traits & kHeading) {
    end_in_scope(headings_.empty() ? kNone : headings_.back());
  } else if (name == "li") {
    end_in_scope(at, highest_of(kNone, {"ol", "ul"}));
  } else if (is_one_of(name, {"dd", "dt"}) || (traits & kEndsInScope && name != "form" && name != "table")) {
    end_in_scope(at);
  } else if ((traits & kTablePart) != 0 || name == "table") {
    if (table_part(name) != kNone) pop_until(table_part(name));
  } else if (name == "template") {
    if (at != kNone) pop_until(at);
  } else if (name == "form") {
    // What is in it stays in it.
    if (at == current()) {
      pop_until(at);
    } else if (is_in_scope(at)) {
      std::erase(by_name_[open_[at].name], at);
      open_[at].is_gone = true;
    }
  } else if (traits & kFormatting) {
    end_formatting(name);
  } else if (!is_one_of(name, {"body", "html", "head", "br"})) {
    end_other(name);
  }
}

void HtmlOpen::end_formatting(std::string_view name) {
  const auto i = last_formatting(name);
  if (i == formatting_.size()) return end_other(name);
  const auto at = formatting_[i].at;
  if (at != kNone && !is_in_scope(at)) return;
  formatting_.erase(formatting_.begin() + static_cast<std::ptrdiff_t>(i));
  if (at == kNone) return;
  if (!specials_.empty() && specials_.back() > at) {
    take_away(at);
  } else {
    pop_until(at);
  }
}

void HtmlOpen::end_other(std::string_view name) {
  const auto at = top_of(name);
  if (at != kNone && (specials_.empty() || specials_.back() < at)) pop_until(at);
}

}  // namespace gmail
