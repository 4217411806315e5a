#include "host/gateway/json_rpc.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <set>

#include "core/util/json_out.hpp"

namespace krux {
namespace {

RpcError invalid_request(std::string message) {
  return {rpc_code::kInvalidRequest, std::move(message), {}};
}

std::string result_text(std::string_view id, std::string_view result) {
  std::string text;
  text.reserve(id.size() + result.size() + 40);
  text.append(R"({"jsonrpc":"2.0","id":)").append(id).append(R"(,"result":)").append(result).append("}");
  return text;
}

/// Empty where there is nothing to say.
std::string outcome_text(std::string_view id, const RpcOutcome& outcome) {
  if (std::holds_alternative<RpcSilence>(outcome)) return {};
  if (const auto* error = std::get_if<RpcError>(&outcome)) return rpc_error_text(id, *error);
  return result_text(id, std::get<std::string>(outcome));
}

/// One request, read and checked. It is answered under `id`, unless it is a notification.
struct Request {
  std::string id = "null";
  bool notification = false;
  std::string method;
  std::string_view params;
  std::optional<RpcError> refused;
};

void read_id(const JsonParts& parts, Request& request) {
  const auto* id = parts.find("id");
  request.notification = !id;
  if (!id) return;
  if (id->kind == JsonKind::kString || id->kind == JsonKind::kNumber) {
    request.id = id->raw;
  } else if (id->kind != JsonKind::kNull) {
    request.refused = invalid_request("\"id\" must be a string, a number or null.");
  }
}

/// What is wrong with it, once the id is known.
std::optional<RpcError> read_call(const JsonParts& parts, Request& request) {
  const auto* version = parts.find("jsonrpc");
  if (!version || version->kind != JsonKind::kString || version->text != "2.0")
    return invalid_request("\"jsonrpc\" must be \"2.0\".");
  const auto* method = parts.find("method");
  if (!method || method->kind != JsonKind::kString) return invalid_request("\"method\" must be a string.");
  request.method = method->text;
  const auto* params = parts.find("params");
  if (!params || params->kind == JsonKind::kNull) return std::nullopt;
  if (params->kind == JsonKind::kArray)
    return RpcError{rpc_code::kInvalidParams, "Parameters are given by name: \"params\" must be an object.", {}};
  if (params->kind != JsonKind::kObject) return invalid_request("\"params\" must be an object.");
  request.params = params->raw;
  return std::nullopt;
}

Request read_request(const JsonParts& parts) {
  Request request;
  if (parts.kind != JsonKind::kObject) {
    request.refused = invalid_request("A request must be a JSON object.");
    return request;
  }
  read_id(parts, request);
  if (!request.refused) request.refused = read_call(parts, request);
  // What is no request at all is answered, with the id null, even where it names no id.
  if (request.refused && request.refused->code == rpc_code::kInvalidRequest) request.notification = false;
  return request;
}

void call(const RpcDispatch& dispatch, const Request& request, const RpcReply& reply) {
  if (request.refused) return reply(*request.refused);
  try {
    dispatch({request.method, request.params, request.id}, reply);
  } catch (const Error& error) {
    reply(RpcError{rpc_code::kInternal, error.what(), {}});
  } catch (const std::exception& error) {
    spdlog::error("{} failed: {}", request.method, error.what());
    reply(RpcError{rpc_code::kInternal, "The host could not run this method. Its log says more.", {}});
  }
}

void run_single(const Request& request, const RpcDispatch& dispatch, std::function<void(std::string)> done) {
  call(dispatch, request,
       once([id = request.id, silent = request.notification, done = std::move(done)](const RpcOutcome& outcome) {
         done(silent ? std::string() : outcome_text(id, outcome));
       }));
}

/// The answers of one batch, in the order of its requests. Each slot is written by one reply.
class BatchAnswer {
 public:
  BatchAnswer(std::size_t size, std::function<void(std::string)> done)
      : texts_(size), missing_(size), done_(std::move(done)) {}

  void put(std::size_t slot, std::string text) {
    texts_[slot] = std::move(text);
    if (missing_.fetch_sub(1) == 1) done_(join());
  }

 private:
  std::string join() const {
    std::size_t size = 2;
    for (const auto& text : texts_) size += text.size() + 1;
    std::string out;
    out.reserve(size);
    for (const auto& text : texts_) {
      if (text.empty()) continue;
      out += out.empty() ? '[' : ',';
      out += text;
    }
    if (!out.empty()) out += ']';
    return out;
  }

  std::vector<std::string> texts_;
  std::atomic<std::size_t> missing_;
  const std::function<void(std::string)> done_;
};

/// Of two requests with the same id no client could tell the answers apart: the second is not run.
void refuse_repeated_ids(std::vector<Request>& requests) {
  std::set<std::string_view> seen;
  for (auto& request : requests) {
    if (request.notification || request.id == "null" || seen.insert(request.id).second) continue;
    request.refused = invalid_request("This id stands twice in the batch; the second request was not run.");
  }
}

void run_batch(const JsonParts& batch, const RpcDispatch& dispatch, const RpcLimits& limits,
               std::function<void(std::string)> done) {
  if (batch.count == 0) return done(rpc_error_text("null", invalid_request("The batch is empty.")));
  if (batch.count > limits.batch) {
    return done(rpc_error_text("null", invalid_request(fmt::format("The batch has {} requests, at most {} are allowed.",
                                                                   batch.count, limits.batch))));
  }
  std::vector<Request> requests;
  for (const auto& member : batch.members) {
    std::string why;
    const auto parts = take_apart(member.value.raw, limits.json, why);
    requests.push_back(parts ? read_request(*parts) : Request{});
    if (!parts) requests.back().refused = invalid_request(fmt::format("The request is not valid: {}.", why));
  }
  refuse_repeated_ids(requests);
  const auto answer = std::make_shared<BatchAnswer>(requests.size(), std::move(done));
  for (std::size_t slot = 0; slot < requests.size(); ++slot) {
    const auto& request = requests[slot];
    call(dispatch, request, once([answer, slot, id = request.id, silent = request.notification](const RpcOutcome& o) {
           answer->put(slot, silent ? std::string() : outcome_text(id, o));
         }));
  }
}

}  // namespace

RpcReply once(RpcReply reply) {
  auto called = std::make_shared<std::atomic<bool>>(false);
  return [called, reply = std::move(reply)](RpcOutcome outcome) {
    if (!called->exchange(true)) reply(std::move(outcome));
  };
}

std::int64_t retry_after_seconds(const Error& error) {
  return (error.retry_after_ms().value_or(1000) + 999) / 1000;
}

RpcError rpc_error(const Error& error) {
  auto data = json_object([&](JsonWriter& out) {
    put(out, "type", error.type().name());
    put(out, "retryable", error.retryable());
    if (error.retryable()) put(out, "retry_after", retry_after_seconds(error));
  });
  return {error.type().facts().rpc_code, error.what(), std::move(data)};
}

std::string rpc_error_text(std::string_view id, const RpcError& error) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}{}{}}}}})", id, error.code,
                     json_string(error.message), error.data_json.empty() ? "" : R"(,"data":)", error.data_json);
}

std::string rpc_id_of(std::string_view message) {
  std::string why;
  const auto parts = take_apart(message, {}, why);
  Request request;
  if (parts && parts->kind == JsonKind::kObject) read_id(*parts, request);
  return request.id;
}

bool is_notification(std::string_view message) {
  std::string why;
  const auto parts = take_apart(message, {}, why);
  return parts && parts->kind == JsonKind::kObject && read_request(*parts).notification;
}

bool is_single(std::string_view message) {
  return message.find_first_not_of(" \t\r\n") != message.find('[');
}

void run_json_rpc(std::string_view message, const RpcDispatch& dispatch, const RpcLimits& limits,
                  std::function<void(std::string)> done) {
  std::string why;
  const auto parts = take_apart(message, limits.json, why);
  if (!parts) {
    const RpcError error{rpc_code::kParse, fmt::format("The message cannot be read as JSON: {}.", why), {}};
    return done(rpc_error_text("null", error));
  }
  if (parts->kind == JsonKind::kArray) return run_batch(*parts, dispatch, limits, std::move(done));
  run_single(read_request(*parts), dispatch, std::move(done));
}

}  // namespace krux
