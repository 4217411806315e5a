// Capabilities as the tools of the Model Context Protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/capability/capability_handler.hpp"
#include "core/util/json.hpp"
#include "host/gateway/mcp/tool_names.hpp"

namespace krux::mcp {

/// The `tools` of a tools/list: one JSON array, in the order of the definitions.
std::string tools_json(const std::vector<Offered>& offered, const Knows& knows);

/// How a tools/call is answered.
struct ResultForm {
  bool stateless = false;  ///< in that model's form
  std::string labels_key;  ///< of _meta: whose text was read, and who may read it; empty: not told
  Knows knows;
  bool leads_to_page = false;  ///< its client can: a write that waits for a person says how
};
std::string tool_result(const InvocationResult& result, const ResultForm& form);
/// "_meta": who answers, where the model wants it, and what is known of whom the text is by and who may read it.
void put_result_meta(JsonWriter& out, const InvocationResult& result, const ResultForm& form);

/// "resultType" and who answers, which each result of the stateless model has.
void put_result_frame(JsonWriter& out, std::string_view type = "complete");
/// {"name", "title", "version"}, under `name`.
void put_server_info(JsonWriter& out, std::string_view name);

/// A tool's description: when to use it, then what holds here and now.
std::string description_of(const Offered& offered);

}  // namespace krux::mcp
