// A tool's input as a definition has it: each property an input of its own where it is simple, or the whole as one
// object.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools.hpp"
#include "wrapped.hpp"

namespace mcp {

struct Input {
  std::string name;         ///< for agents
  std::string argument;     ///< for the server
  std::string type;         ///< of a definition: "String", "Integer", "Number", "Boolean", "Array", "Object"
  std::string description;  ///< one line
  bool required = false;
  std::string more;  ///< further keys of the definition, as YAML in one line: "minimum: 1, maximum: 100"
};

/// Nothing where they cannot be told one by one (no object, more than 60, a property of several types): the tool then
/// has the one input kWhole, an Object. What an argument is called does not depend on the order of the properties, and
/// stays what it was in `before`: a definition that the operator has made his own goes by it.
std::optional<std::vector<Input>> inputs_of(const Tool& tool, const WrappedTool* before = nullptr);

inline constexpr const char* kWhole = "arguments";

}  // namespace mcp
