#include "host/web/page_text.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "core/util/html.hpp"
#include "core/util/json_parts.hpp"
#include "core/util/text.hpp"
#include "core/util/time_words.hpp"
#include "core/write/acceptances.hpp"

namespace krux::web {
namespace {

/// Not in the middle of a character.
std::string_view beginning(std::string_view text, std::size_t most, bool* cut) {
  if (text.size() <= most) return text;
  if (cut) *cut = true;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

using Words = std::pair<std::string_view, std::string_view>;

template <std::size_t size>
std::string words_for(const std::array<Words, size>& all, std::string_view name) {
  for (const auto& [known, words] : all) {
    if (known == name) return std::string(words);
  }
  return printable(name);
}

constexpr std::array<Words, 12> kStates{{{"pending_approval", "waits for your approval"},
                                         {"held", "is held"},
                                         {"buffered", "goes out by itself"},
                                         {"executing", "is going out now"},
                                         {"unknown", "may have happened: its outcome is unknown"},
                                         {"dead_letter", "did not happen, and is tried again"},
                                         {"completed", "has happened"},
                                         {"failed", "was refused by its service"},
                                         {"cancelled", "is cancelled"},
                                         {"rejected", "is rejected"},
                                         {"rolled_back", "is undone"},
                                         {"discarded", "is given up"}}};
constexpr std::array<Words, 10> kDecisions{{{"accept", "accepted"},
                                            {"accepted_by_one", "accepted as one of several"},
                                            {"acceptances_void", "made void what others had accepted"},
                                            {"reject", "rejected"},
                                            {"edit", "edited"},
                                            {"cancel", "cancelled"},
                                            {"operator_resend", "sent again"},
                                            {"operator_discard", "given up"},
                                            {"operator_happened", "recorded as having happened"},
                                            {"operator_release", "released"}}};

}  // namespace

std::string shown(std::string_view text, std::size_t most, bool* cut) {
  const auto part = beginning(text, most, cut);
  return escape_html(printable(part)) + (part.size() < text.size() ? "…" : "");
}

std::string shown_lines(std::string_view text, std::size_t most, bool* cut) {
  const auto part = beginning(text, most, cut);
  return escape_html(printable_lines(part)) + (part.size() < text.size() ? "…" : "");
}

std::string in_words(const JsonValue& value) {
  return value.IsString() ? std::string(view(value)) : to_json(value);
}

std::string members_in_words(const JsonValue& object) {
  std::string out;
  for (const auto& member : object.GetObject()) {
    if (!out.empty()) out += "; ";
    out.append(view(member.name)).append(": ");
    if (!member.value.IsArray()) {
      out += in_words(member.value);
      continue;
    }
    bool first = true;
    for (const auto& item : member.value.GetArray()) {
      out.append(first ? "" : ", ").append(in_words(item));
      first = false;
    }
  }
  return out;
}

std::string moment(std::int64_t at_ms, std::int64_t now_ms) {
  if (at_ms == 0) return {};
  const auto utc = format_time(at_ms);
  return fmt::format("<time datetime=\"{}\">{}, {} {} UTC</time>", utc, relative(at_ms, now_ms), utc.substr(0, 10),
                     utc.substr(11, 8));
}

std::string state_in_words(std::string_view state) {
  return words_for(kStates, state);
}

std::string decision_in_words(std::string_view outcome) {
  return words_for(kDecisions, outcome);
}

std::string acceptances(const JsonValue& write) {
  const auto& approvals = part(write, "approvals");
  std::vector<std::string> given;
  for (const auto& one : items(approvals, "given").GetArray()) given.push_back(text(one, "who"));
  return acceptances_in_words(number(approvals, "needed"), given);
}

}  // namespace krux::web
