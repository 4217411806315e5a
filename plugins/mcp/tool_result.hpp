// What a tool has answered, as what a capability answers.
#pragma once
#include <cstddef>
#include <optional>
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

/// What the host passes on and keeps: the same, or nothing where the host takes no such answer.
std::optional<std::string> taken_by_host(const ToolResult& result, std::size_t most_bytes);
/// What is kept with a write that was done: that, or a sentence that stands for it.
std::string kept_with_write(const ToolResult& result);

}  // namespace mcp
