// Names of capabilities as names of tools, and back.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace krux::mcp {

/// "notes.add" is "notes__add": hosts take no dots in a tool's name.
std::string tool_name(std::string_view capability);
/// Whether there is a capability of this name.
using Knows = std::function<bool(const std::string&)>;

/// And back. Models make one "_" of two, and agents may know a tool by such a name from elsewhere: "notes_add" is
/// "notes.add" too, where that leaves no doubt. Nothing where there is no such tool.
std::optional<std::string> capability_named(std::string_view tool, const Knows& knows);

/// A text in which each capability that is named stands as its tool. JSON stays JSON.
std::string with_tool_names(std::string_view text, const Knows& knows);

}  // namespace krux::mcp
