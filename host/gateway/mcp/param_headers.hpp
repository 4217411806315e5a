// Inputs of tools that are repeated in headers, so that what stands between client and host need not read bodies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/definition/definition.hpp"
#include "host/gateway/json_rpc.hpp"

namespace krux::mcp {

/// The protocol's code for a head that does not say what its body does.
inline constexpr int kHeaderMismatch = -32020;

/// What a request's head has behind "Mcp-Param-" (in lower case), and its value.
using ParamHeaders = std::vector<std::pair<std::string, std::string>>;

/// Why a call's head does not say the same as its arguments (an object's text, or empty); nothing: it does. `inputs`
/// are those that have a header. The error's data names them, by header: whoever did not know can send it anew.
std::optional<RpcError> why_unlike_arguments(const std::vector<InputDefinition>& inputs, const ParamHeaders& headers,
                                             std::string_view arguments);

}  // namespace krux::mcp
