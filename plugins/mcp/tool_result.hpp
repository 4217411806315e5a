// What a tool has answered, as what a capability answers.
#pragma once
#include <string>
#include <string_view>

namespace mcp {

struct ToolResult {
  std::string json;     ///< one JSON object: `structured` or `text`, and `content`
  bool failed = false;  ///< the server says that it went wrong
  std::string words;    ///< with failed: what it says of that, one line
};

/// Of a result of `tools/call`. Throws ProxyError where it is none: a question, an answer of another kind.
ToolResult read_result(std::string_view result_json);

}  // namespace mcp
