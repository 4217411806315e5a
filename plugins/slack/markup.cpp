#include "markup.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slack {
namespace {

constexpr std::string_view kLess = "&lt;";

/// What stands for the entity at the beginning of `text`, which loses it.
char take_entity(std::string_view& text) {
  constexpr std::pair<std::string_view, char> entities[] = {{"&amp;", '&'}, {kLess, '<'}, {"&gt;", '>'}};
  const auto* const at = std::find_if(std::begin(entities), std::end(entities),
                                      [&](const auto& entity) { return text.starts_with(entity.first); });
  const bool found = at != std::end(entities);
  text.remove_prefix(found ? at->first.size() : 1);
  return found ? at->second : '&';
}

/// What somebody typed as <!channel> stays what it is when an agent quotes it.
bool would_call(std::string_view text) {
  return text.starts_with("&lt;!");
}

enum class Form { kShown, kSeen };

std::string unescaped(std::string_view text, Form form) {
  std::string out;
  for (;;) {
    const auto plain = text.substr(0, text.find('&'));
    out += plain;
    text.remove_prefix(plain.size());
    if (text.empty()) return out;
    if (form == Form::kShown && would_call(text)) {
      out += kLess;
      text.remove_prefix(kLess.size());
    } else {
      out += take_entity(text);
    }
  }
}

bool is_address(std::string_view text) {
  return text.find("://") != std::string_view::npos || text.starts_with("mailto:") || text.starts_with("tel:");
}

/// Whether the label is the address as people write it: without the scheme, or a slash at the end.
bool names_itself(std::string_view address, std::string_view label) {
  if (address.ends_with('/') && !label.ends_with('/')) address.remove_suffix(1);
  if (address == label) return true;
  constexpr std::string_view schemes[] = {"http://", "https://", "mailto:", "tel:"};
  return std::any_of(std::begin(schemes), std::end(schemes), [&](std::string_view scheme) {
    return address.starts_with(scheme) && address.substr(scheme.size()) == label;
  });
}

/// What stands between < and >, as the form has it; `hidden` as seen_text() has it.
class Control {
 public:
  Control(std::string_view inner, Form form, std::vector<std::string>* hidden)
      : inner_(inner), form_(form), hidden_(hidden) {
    const auto bar = inner.find('|');
    target_ = inner.substr(0, bar);
    if (bar != std::string_view::npos) label_ = inner.substr(bar + 1);
  }

  std::string text() const {
    if (inner_.starts_with('@') || inner_.starts_with('#'))
      return label_.empty() ? whole() : std::string(inner_.substr(0, 1)) + without_sign(plain(label_), inner_.front());
    if (inner_.starts_with('!')) return special();
    return is_address(target_) ? link() : whole();
  }

 private:
  std::string plain(std::string_view text) const { return unescaped(text, form_); }
  std::string whole() const { return "<" + std::string(inner_) + ">"; }
  static std::string without_sign(std::string label, char sign) {
    return label.starts_with(sign) ? label.substr(1) : label;
  }

  /// <!here>, <!subteam^S1|@team>, <!date^1700000000^{date}|the day>.
  std::string special() const {
    for (const std::string_view all : {"here", "channel", "everyone", "group"}) {
      if (target_.substr(1) == all) return "@" + std::string(all);
    }
    if (label_.empty()) return whole();
    return target_.starts_with("!subteam") ? "@" + without_sign(plain(label_), '@') : plain(label_);
  }

  std::string link() const {
    const auto address = plain(target_), label = plain(label_);
    if (label.empty()) return address.starts_with("mailto:") ? address.substr(7) : address;
    if (names_itself(address, label)) return label;
    if (hidden_) hidden_->push_back(address);
    return form_ == Form::kSeen ? label : label + " (" + address + ")";
  }

  std::string_view inner_, target_, label_;
  Form form_;
  std::vector<std::string>* hidden_;
};

std::string written(std::string_view markup, Form form, std::vector<std::string>* hidden) {
  std::string out;
  for (;;) {
    const auto begin = markup.find('<');
    const auto end = begin == std::string_view::npos ? begin : markup.find('>', begin);
    if (end == std::string_view::npos) return out += unescaped(markup, form);
    out += unescaped(markup.substr(0, begin), form);
    out += Control(markup.substr(begin + 1, end - begin - 1), form, hidden).text();
    markup.remove_prefix(end + 1);
  }
}

}  // namespace

std::string shown_text(std::string_view markup) {
  return written(markup, Form::kShown, nullptr);
}

std::string seen_text(std::string_view markup, std::vector<std::string>& hidden) {
  return written(markup, Form::kSeen, &hidden);
}

std::vector<std::string_view> mentioned(std::string_view text) {
  std::vector<std::string_view> ids;
  for (auto at = text.find("<@"); at != std::string_view::npos; at = text.find("<@", at + 2)) {
    const auto id = text.substr(at + 2, text.find('>', at) - at - 2);
    if (at + 2 + id.size() < text.size() && !id.empty() && id.size() <= 32) ids.push_back(id);
  }
  return ids;
}

std::string shown_plain(std::string_view text) {
  std::string out;
  for (auto at = text.find("<!"); at != std::string_view::npos; at = text.find("<!")) {
    out.append(text.substr(0, at)).append("&lt;!");
    text.remove_prefix(at + 2);
  }
  return out.append(text);
}

}  // namespace slack
