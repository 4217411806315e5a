#include "emulators/slack/kept_text.hpp"

#include <algorithm>
#include <cctype>

#include "emulators/slack/emoji.hpp"

namespace krux::test::slack {
namespace {

bool is_control(std::string_view inner) {
  constexpr std::string_view begins[] = {"@", "#", "!", "http://", "https://", "mailto:"};
  return std::any_of(std::begin(begins), std::end(begins), [&](auto begin) { return inner.starts_with(begin); });
}

// Slack's <…> at the beginning of `text`; empty where there is none.
std::string_view control_at(std::string_view text) {
  const std::size_t end = text.starts_with('<') ? text.find('>') : std::string_view::npos;
  if (end == std::string_view::npos || !is_control(text.substr(1, end - 1))) return {};
  return text.substr(0, end + 1);
}

// A bare link at the beginning of `text`, without the punctuation of the sentence that it stands in.
std::string_view link_at(std::string_view text) {
  if (!text.starts_with("http://") && !text.starts_with("https://")) return {};
  auto link = text.substr(0, text.find_first_of(" \t\r\n<>\"`"));
  while (!link.empty() && std::string_view(".,;:!?)'").find(link.back()) != std::string_view::npos)
    link.remove_suffix(1);
  return link.size() > link.find("//") + 2 ? link : std::string_view();
}

bool is_entity(std::string_view text) {
  return text.starts_with("&amp;") || text.starts_with("&lt;") || text.starts_with("&gt;");
}

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') {
      out += is_entity(text.substr(i)) ? "&" : "&amp;";
    } else if (text[i] == '<' || text[i] == '>') {
      out += text[i] == '<' ? "&lt;" : "&gt;";
    } else {
      out += text[i];
    }
  }
  return out;
}

bool ends_a_word(std::string_view text) {
  return text.empty() || !std::isalnum(static_cast<unsigned char>(text.back()));
}

}  // namespace

std::string kept_text(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    std::size_t taken = 1;
    if (const auto control = control_at(rest); !control.empty()) {
      kept += control;
      taken = control.size();
    } else if (const auto link = ends_a_word(text.substr(0, at)) ? link_at(rest) : std::string_view(); !link.empty()) {
      kept += "<" + escaped(link) + ">";
      taken = link.size();
    } else if (const auto name = emoji_at(rest, taken); !name.empty()) {
      kept.append(":").append(name).append(":");
    } else {
      kept += is_entity(rest) ? "&" : escaped(rest.substr(0, 1));
    }
    at += taken;
  }
  return kept;
}

}  // namespace krux::test::slack
