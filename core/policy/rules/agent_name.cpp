#include "core/policy/rules/agent_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/policy/rules/rule.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {

std::string agent_name_problem(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), allowed))
    return fmt::format(
        "\"{}\" is no name for an agent: 1 to 64 letters, digits, dots, underscores and hyphens are accepted.",
        printable(name.substr(0, 80)));
  if (name.starts_with('-')) return "An agent's name must not begin with '-': a command would take it for an option.";
  if (is_id("agent_", small_letters(name))) return "An agent's name must not look like an agent's id.";
  return {};
}

}  // namespace krux
