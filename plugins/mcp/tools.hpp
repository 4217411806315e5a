// The tools that an upstream server names.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>

#include <string>
#include <vector>

#include "link.hpp"

namespace mcp {

/// One tool as its server describes it. Nothing here is checked beyond its form: the server may say anything.
struct Tool {
  std::string name;         ///< 1 to 256 bytes
  std::string title;        ///< for people; empty: none
  std::string description;  ///< for models; empty: none
  std::string input_schema_json = "{}";
  bool reads_only = false;  ///< readOnlyHint
  bool destroys = true;     ///< destructiveHint
  bool can_repeat = false;  ///< idempotentHint
  /// Of all that an agent or an operator has gone by: name, title, description, schemas, annotations. The same for the
  /// same tool, however the server orders its members. SHA-256 in 64 hexadecimal digits.
  std::string pin;
};

/// Throws ProxyError kUnavailable where it is no tool: no name, no object as its input's schema.
Tool read_tool(const kruxos::kit::Json& object);

/// All pages of `tools/list`. A name that stands there twice is refused, as are more than 1,000 tools.
std::vector<Tool> list_tools(const kruxos::Call& call, Link& link);

/// SHA-256 in hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace mcp
