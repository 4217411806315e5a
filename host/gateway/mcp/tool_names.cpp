#include "host/gateway/mcp/tool_names.hpp"

namespace krux::mcp {
namespace {

constexpr std::size_t kLongestTool = 128;

bool is_of_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::string with_dots(std::string_view tool) {
  std::string name;
  for (std::size_t i = 0; i < tool.size(); ++i) {
    const bool dot = tool.substr(i, 2) == "__";
    name += dot ? '.' : tool[i];
    i += dot ? 1 : 0;
  }
  return name;
}

}  // namespace

std::string tool_name(std::string_view capability) {
  std::string name;
  for (const char c : capability) name += c == '.' ? std::string("__") : std::string(1, c);
  return name;
}

std::optional<std::string> capability_named(std::string_view tool, const Knows& knows) {
  if (tool.size() > kLongestTool) return std::nullopt;
  if (auto name = with_dots(tool); knows(name)) return name;
  if (tool.find("__") != std::string_view::npos) return std::nullopt;
  std::optional<std::string> found;
  for (auto at = tool.find('_'); at != std::string_view::npos; at = tool.find('_', at + 1)) {
    std::string name(tool);
    name[at] = '.';
    if (!knows(name)) continue;
    if (found) return std::nullopt;
    found = std::move(name);
  }
  return found;
}

std::string with_tool_names(std::string_view text, const Knows& knows) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && is_of_a_name(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    auto word = text.substr(at, end - at);
    at = end;
    const auto dots = word.size() - (word.find_last_not_of('.') + 1);  // a sentence's end
    const auto name = word.substr(0, word.size() - dots);
    const bool named = name.find('.') != std::string_view::npos && knows(std::string(name));
    out += named ? tool_name(name) : std::string(name);
    out.append(dots, '.');
  }
  return out;
}

}  // namespace krux::mcp
