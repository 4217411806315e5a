// What the operator sets: services.SERVICE.adapter.
#pragma once
#include <string>
#include <string_view>

#include "adapter.hpp"
#include "stdio_link.hpp"
#include "wrapped.hpp"

namespace mcp {

/// JSON Schema of it: of a server that is a program also how that is confined.
std::string config_schema_of(const Wrapped& wrapped);

ToolErrors tool_errors_of(std::string_view config_json);

/// Of a server that is a program. Throws ProxyError kInvalid where a path cannot be shown to it.
StdioOptions program_of(const Wrapped& wrapped, std::string_view config_json);

}  // namespace mcp
