// What holds of the prompts of each shipped definition.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "core/definition/prompt_parser.hpp"

namespace krux::test {

/// They speak of the tools that they need, of all of them and no others, by their names.
inline void check_tools_of_prompts(const ServiceDefinition& definition) {
  for (const auto& prompt : definition.prompts) {
    std::string said;
    filled(prompt.messages.at(0).text, prompt, {}, [&](std::string_view own) {
      said += own;
      return std::string();
    });
    for (const auto& capability : definition.capabilities) {
      INFO(prompt.name << ", " << capability.name);
      const bool needed = std::count(prompt.needs.begin(), prompt.needs.end(), capability.name) > 0;
      CHECK((said.find(capability.name) != std::string::npos) == needed);
    }
  }
}

}  // namespace krux::test
