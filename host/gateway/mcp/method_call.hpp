// One message of the Model Context Protocol under way. Internal to its methods.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/gateway/json_span.hpp"
#include "host/gateway/mcp/methods.hpp"
#include "host/gateway/mcp/tools.hpp"

namespace krux::mcp {

inline constexpr std::size_t kLongestShown = 100;

inline RpcError invalid_params(std::string message) {
  return {rpc_code::kInvalidParams, std::move(message), {}};
}

inline RpcError invalid_request(std::string message) {
  return {rpc_code::kInvalidRequest, std::move(message), {}};
}

/// What is about tasks, of a client that has not declared them.
RpcError needs_tasks();

/// All that are spoken.
std::vector<std::string> versions();
bool is_with_sessions(std::string_view version);

/// An object's members; none where there is no text. Nothing, and in `why` the reason, where it is no object.
std::optional<JsonParts> members(std::string_view text, std::string& why);
/// A member of that kind.
const JsonSpan* find(const JsonParts& parts, std::string_view name, JsonKind kind);

/// One message under way.
struct Methods::Call {
  AgentMethods::CallerPtr caller;
  const Head& head;
  const std::string& method;
  const std::string_view id;
  std::shared_ptr<Answer> answer;
  RpcReply reply;
  JsonParts params{}, meta{};
  bool stateless = false;

  void refuse(int status, RpcError error) {
    answer->status = status;
    reply(std::move(error));
  }

  std::optional<RpcError> take(std::string_view text);
  std::optional<RpcError> why_unlike_head() const;
  std::optional<RpcError> choose_model();
  std::optional<RpcError> why_not_in_conversation() const;
  /// The result's members, and those that the model has in each.
  template <class Fill>
  std::string result(Fill fill) const {
    return json_object([&](JsonWriter& out) {
      if (stateless) put_result_frame(out);
      fill(out);
    });
  }
  /// In which its client may take it back by a message of its own; empty: in none.
  std::string session() const { return stateless ? std::string() : session_key(head); }
  /// The client wants to hear how far it has come, under this token; empty: it does not.
  std::string progress_token() const {
    const auto* token = meta.find("progressToken");
    const bool fits = token && (token->kind == JsonKind::kString || token->kind == JsonKind::kNumber);
    return fits ? std::string(token->raw) : std::string();
  }
  void put_cache_hints(JsonWriter& out) const;
  /// The client takes a task where an answer would be long in coming.
  bool knows_tasks() const;
};

}  // namespace krux::mcp
