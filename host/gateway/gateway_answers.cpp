#include "host/gateway/gateway_answers.hpp"

#include <fmt/format.h>

namespace krux {
namespace {

/// A result of this length needs no room of its own: a write's acknowledgement above all.
constexpr std::size_t kShortResult = 2 << 10;

constexpr const char* kNotRead =
    "The messages of this agent that are not answered yet, and the answers that it has not read, hold as much memory "
    "as an agent may have. Read the answers, then send this one again.";

}  // namespace

ServerResponse event_stream(std::function<void(std::shared_ptr<ResponseStream>)> stream,
                            std::shared_ptr<MemoryShare> memory) {
  ServerResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("X-Accel-Buffering", "no");  // for proxies, which would hold events back
  response.memory = std::move(memory);
  response.stream = std::move(stream);
  return response;
}

ServerResponse refusal(std::string_view path, const Error& why) {
  auto response = error_response(why.type(), why.what());
  if (path != kMcpPath) response.body = rpc_error_text("null", rpc_error(why));
  if (why.retryable()) response.headers.emplace_back("Retry-After", std::to_string(retry_after_seconds(why)));
  return response;
}

ServerResponse not_authenticated(std::string_view path) {
  auto response =
      refusal(path, {ErrorCode::kNotAuthenticated,
                     "A valid agent key is needed: send \"Authorization: Bearer <key>\". The operator makes "
                     "keys with `kruxos agent create <name>`."});
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"kruxos\"");
  return response;
}

ServerResponse locked(std::string_view path, std::int64_t wait_ms) {
  return refusal(path, {ErrorCode::kRateLimited,
                        fmt::format("Too many tries with a wrong key came from this address. Try again in {} s.",
                                    (wait_ms + 999) / 1000),
                        true, wait_ms});
}

ServerResponse wrong_method(const char* allowed) {
  auto response =
      error_response(405, ErrorCode::kInvalidInput, fmt::format("This path is served to {} only.", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

ServerResponse not_now(const std::string& why) {
  auto response = error_response(ErrorCode::kRateLimited, why);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

ServerResponse not_read() {
  return not_now(kNotRead);
}

Error not_read_error() {
  return {ErrorCode::kRateLimited, kNotRead, true, 1000};
}

RpcOutcome within(MemoryShare& memory, RpcOutcome outcome) {
  const auto* result = std::get_if<std::string>(&outcome);
  if (!result || result->size() <= kShortResult || memory.grow(result->size())) return outcome;
  return rpc_error({ErrorCode::kRateLimited,
                    "The call was carried out, but its answer is left out: this agent's answers that are not sent yet "
                    "hold as much memory as an agent may have. Read those, then ask again, for less at a time; a write "
                    "is in proxy.list_writes."});
}

}  // namespace krux
