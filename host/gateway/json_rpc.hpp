// JSON-RPC 2.0 over any carrier: one text in, one text out.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "core/util/error.hpp"
#include "host/gateway/json_span.hpp"

namespace krux {

struct RpcError {
  int code = rpc_code::kInternal;
  std::string message;
  std::string data_json;  ///< one JSON value; may be empty
};

/// Of one that may be repeated: when, at the earliest.
std::int64_t retry_after_seconds(const Error& error);

/// With the table's code, and what an agent's program can act on as data: type, retryable, retry_after in seconds.
RpcError rpc_error(const Error& error);

/// Whoever has asked wants no answer any more.
struct RpcSilence {};
/// The result as one JSON value, or an error.
using RpcOutcome = std::variant<std::string, RpcError, RpcSilence>;
using RpcReply = std::function<void(RpcOutcome)>;
/// Runs `reply` at the first call only.
RpcReply once(RpcReply reply);

/// One request; lent for the call.
struct RpcRequest {
  const std::string& method;
  std::string_view params;  ///< an object's text, or empty when none were given
  std::string_view id;      ///< JSON; "null" of a notification too
};

/// Runs one method. `reply` runs once, on any thread, also when nobody will read it (a notification).
using RpcDispatch = std::function<void(const RpcRequest& request, RpcReply reply)>;

struct RpcLimits {
  JsonLimits json;
  std::size_t batch = 100;  ///< at most kMaxParts
};

/// One message, and no batch.
bool is_single(std::string_view message);

/// Answers one message, single or batch. `done` runs exactly once with the answer's text, which is empty when the
/// message held nothing but notifications, or nobody wants an answer any more; on this thread or on the one of the last
/// reply. Never throws.
void run_json_rpc(std::string_view message, const RpcDispatch& dispatch, const RpcLimits& limits,
                  std::function<void(std::string)> done);

/// The JSON of the id of a single request; "null" where it has none that can be answered under.
std::string rpc_id_of(std::string_view message);
/// A single request without an id, which nobody answers.
bool is_notification(std::string_view message);

/// {"jsonrpc":"2.0","id":id,"error":{...}}; `id` is JSON.
std::string rpc_error_text(std::string_view id, const RpcError& error);

}  // namespace krux
