// What the gateway answers where no method does. Internal to the gateway.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/util/error.hpp"
#include "host/gateway/agent_memory.hpp"
#include "host/gateway/json_rpc.hpp"
#include "host/http/http_types.hpp"

namespace krux {

inline constexpr std::string_view kRpcPath = "/rpc", kMcpPath = "/mcp", kUploadsPath = "/uploads";

/// Server-sent events.
ServerResponse event_stream(std::function<void(std::shared_ptr<ResponseStream>)> stream,
                            std::shared_ptr<MemoryShare> memory);

/// The message's id is not known: it has not been looked at, or not to its end.
/// To /mcp the codes of our own mean something else.
ServerResponse refusal(std::string_view path, const Error& why);
ServerResponse not_authenticated(std::string_view path);
ServerResponse locked(std::string_view path, std::int64_t wait_ms);
ServerResponse wrong_method(const char* allowed);
ServerResponse not_now(const std::string& why);
/// The agent is to read its answers first.
ServerResponse not_read();
Error not_read_error();

/// A result that would be too much is left out: the agent has others to read first.
RpcOutcome within(MemoryShare& memory, RpcOutcome outcome);

}  // namespace krux
