#include "core/bundle/placeholders.hpp"

#include <algorithm>

namespace krux {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

/// Calls `plain` for what stands between placeholders, and `name` for each of them with its whole spelling.
template <class Plain, class Name>
void walk(std::string_view text, Plain&& plain, Name&& name) {
  while (!text.empty()) {
    const auto open = text.find('{');
    const auto close = open == text.npos ? text.npos : text.find_first_of("{}", open + 1);
    const bool whole = close != text.npos && text[close] == '}' && is_name(text.substr(open + 1, close - open - 1));
    const auto end = open == text.npos ? text.size() : open + (whole ? 0 : 1);
    plain(text.substr(0, end));
    text.remove_prefix(end);
    if (!whole) continue;
    const auto length = close - open + 1;
    name(text.substr(1, length - 2), text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace

std::vector<std::string> placeholders_in(std::string_view text) {
  std::vector<std::string> names;
  walk(
      text, [](std::string_view) {}, [&](std::string_view name, std::string_view) { names.emplace_back(name); });
  return names;
}

std::string fill_placeholders(std::string_view text,
                              const std::function<std::optional<std::string>(std::string_view name)>& value) {
  std::string out;
  walk(
      text, [&](std::string_view part) { out += part; },
      [&](std::string_view name, std::string_view spelling) { out += value(name).value_or(std::string(spelling)); });
  return out;
}

bool is_known_placeholder(std::string_view name) {
  for (const std::string_view known : {"port", "token", "n", "write_id"}) {
    if (name == known) return true;
  }
  for (const std::string_view group : {"before.", "params.", "result."}) {
    if (name.starts_with(group) && name.size() > group.size()) return true;
  }
  return false;
}

}  // namespace krux
