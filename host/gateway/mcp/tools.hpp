// Capabilities as the tools of the Model Context Protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/capability/capability_handler.hpp"
#include "core/util/json.hpp"

namespace krux::mcp {

/// "notes.add" is "notes__add": hosts take no dots in a tool's name.
std::string tool_name(std::string_view capability);
/// And back, whether there is such a capability or not.
std::string capability_name(std::string_view tool);

/// The `tools` of a tools/list: one JSON array, in the order of the definitions.
std::string tools_json(const std::vector<Offered>& offered);

/// The result of a tools/call. `stateless`: in that model's form.
std::string tool_result(const InvocationResult& result, bool stateless);

/// "resultType" and who answers, which each result of the stateless model has.
void put_result_frame(JsonWriter& out);
/// {"name", "title", "version"}, under `name`.
void put_server_info(JsonWriter& out, std::string_view name);

/// A tool's description: when to use it, then what holds here and now.
std::string description_of(const Offered& offered);

}  // namespace krux::mcp
