// Checks on the documents that the control plane is given. What it does not understand it refuses: a test whose
// fault or seed was misspelt must not pass.
#pragma once

#include <string>
#include <vector>

#include "emulators/common/json_out.hpp"

namespace krux::test::emulator {

// False, with `problem` saying why, unless `document` is an object with no other keys than these.
inline bool only_keys(const rapidjson::Value& document, const std::vector<const char*>& keys, std::string& problem) {
  if (!document.IsObject()) {
    problem = "expected a JSON object";
    return false;
  }
  for (const auto& entry : document.GetObject()) {
    bool known = false;
    const std::string name = entry.name.GetString();
    for (const char* key : keys) known = known || name == key;
    if (known) continue;
    problem = "unknown key '" + name + "'";
    return false;
  }
  return true;
}

// The same, and that the values of `numbers` are whole numbers and those of `others` texts or, for "when", an object.
inline bool typed_keys(const rapidjson::Value& document, std::vector<const char*> others,
                       const std::vector<const char*>& numbers, std::string& problem) {
  for (const char* key : others) {
    const rapidjson::Value* found = find_member(document, key);
    const bool fits = !found || (std::string(key) == "when" ? found->IsObject() : found->IsString());
    if (!fits) problem = std::string(key) + " has the wrong type";
  }
  for (const char* key : numbers) {
    const rapidjson::Value* found = find_member(document, key);
    if (found && !found->IsInt64()) problem = std::string(key) + " is a whole number";
  }
  others.insert(others.end(), numbers.begin(), numbers.end());
  return problem.empty() && only_keys(document, others, problem);
}

}  // namespace krux::test::emulator
