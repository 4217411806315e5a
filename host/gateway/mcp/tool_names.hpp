// Names of capabilities as names of tools, and back.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace krux::mcp {

/// "notes.add" is "notes__add": hosts take no dots in a tool's name.
std::string tool_name(std::string_view capability);
/// And back, whether there is such a capability or not.
std::string capability_name(std::string_view tool);

/// Whether there is a capability of this name.
using Knows = std::function<bool(const std::string&)>;

/// A text in which each capability that is named stands as its tool. JSON stays JSON.
std::string with_tool_names(std::string_view text, const Knows& knows);

}  // namespace krux::mcp
