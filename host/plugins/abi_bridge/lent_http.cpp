#include "host/plugins/abi_bridge/lent_http.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/lent_call.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

using namespace limits;

constexpr std::size_t kMostAtOnce = 1000, kSideBySide = 4;

std::pair<std::string, std::string> header_of(const krux_header& header) {
  const auto name = text_of(header.name, "A header's name", kLongestHeaderName);
  const auto value = text_of(header.value, "A header's value", kLongestHeader);
  const auto token = [](char c) { return c > ' ' && c < 0x7F && c != ':'; };
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), token) ||
      std::any_of(value.begin(), value.end(), control)) {
    throw invalid_input("A header's name or value has characters that do not belong there.");
  }
  for (const auto mine : {"authorization", "proxy-authorization", "cookie", "host"}) {
    if (equal_ignoring_case(name, mine)) throw invalid_input(fmt::format("The header {} is the host's to set.", name));
  }
  return {std::string(name), std::string(value)};
}

HttpRequest request_of(const krux_http_request& from) {
  HttpRequest request;
  request.method = text_of(from.method, "The method", kLongestMethod);
  request.url = text_of(from.url, "The URL", kLongestUrl);
  if (from.header_count > kMostHeaders || (from.header_count > 0 && !from.headers)) {
    throw invalid_input(fmt::format("A request has at most {} headers.", kMostHeaders));
  }
  for (std::size_t i = 0; i < from.header_count; ++i) request.headers.push_back(header_of(from.headers[i]));
  if (from.body_source) {
    if (!from.body_source->read || from.body_source->total < 0) {
      throw invalid_input("A body that is streamed needs its exact length and a function that reads it.");
    }
    request.body_length = from.body_source->total;
    request.body_source = [source = *from.body_source](char* buffer, std::size_t capacity) {
      const auto got = source.read(source.self, buffer, capacity);
      return got > static_cast<std::int64_t>(capacity) ? -1 : got;
    };
  } else {
    request.body = bytes_of(from.body, "The body", kLargestBody);
  }
  request.timeout_ms = from.timeout_ms;
  request.max_response_bytes = from.max_response_bytes;
  if (KRUX_HAS(krux_http_request, &from, flags)) {
    if ((from.flags & ~std::uint32_t{KRUX_HTTP_ONLY_READS}) != 0)
      throw invalid_input("The request has flags that this host does not know.");
    request.only_reads = (from.flags & KRUX_HTTP_ONLY_READS) != 0;
  }
  return request;
}

constexpr std::size_t kReleasedRequest = offsetof(krux_http_request, flags);

/// Passes an answer on to the adapter, until the call has ended.
class AnswerSink final : public HttpSink {
 public:
  AnswerSink(const krux_http_answer& answer, const CallContext& call) : answer_(answer), call_(call) {}
  bool head(int status, const HttpHeaders& headers) override {
    std::vector<krux_header> abi;
    for (const auto& [name, value] : headers) abi.push_back({to_abi(name), to_abi(value)});
    return !call_.ended() && answer_.head(answer_.self, status, abi.data(), abi.size()) == 0;
  }
  bool body(std::string_view bytes) override {
    return !call_.ended() && answer_.body(answer_.self, to_abi(bytes)) == 0;
  }

 private:
  const krux_http_answer& answer_;
  const CallContext& call_;
};

HttpOutcome exchange(HttpClient& client, const CallContextPtr& call, const krux_http_request* request,
                     const krux_http_answer& answer) {
  try {
    AnswerSink sink(answer, *call);
    return client.send(call, request_of(required(request, "The request", kReleasedRequest)), sink);
  } catch (const Error& e) {
    return {status_of(e), e.what(), e.retry_after_ms()};
  } catch (const std::exception& e) {
    return {KRUX_INTERNAL, e.what(), std::nullopt};
  }
}

}  // namespace

LentHttp::LentHttp(std::shared_ptr<HttpClient> client) : client_(std::move(client)), side_by_side_(kSideBySide) {
  table_.size = sizeof(krux_http_client);
  table_.self = this;
  table_.send = [](void* self, const krux_call* call, const krux_http_request* request,
                   const krux_http_answer* answer) noexcept -> krux_status {
    return static_cast<LentHttp*>(self)->send(call, request, answer);
  };
  table_.send_many = [](void* self, const krux_call* call, const krux_http_request* const* requests,
                        const krux_http_answer* const* answers, krux_status* statuses,
                        std::size_t count) noexcept -> krux_status {
    return static_cast<LentHttp*>(self)->send_many(call, requests, answers, statuses, count);
  };
}

krux_status LentHttp::send(const krux_call* call, const krux_http_request* request,
                           const krux_http_answer* answer) noexcept {
  try {
    if (!answer || answer->size < sizeof(krux_http_answer) || !answer->head || !answer->body || !answer->failed)
      return KRUX_INVALID;
    const auto context = LentCall::find(call);
    const auto outcome =
        context ? exchange(*client_, context, request, *answer)
                : HttpOutcome{KRUX_INVALID, "The call that this request belongs to has ended.", std::nullopt};
    const auto status = is_known(outcome.status) ? outcome.status : KRUX_INTERNAL;
    if (status != KRUX_OK) answer->failed(answer->self, to_abi(outcome.message), outcome.retry_after_ms.value_or(-1));
    return status;
  } catch (...) {
    return KRUX_INTERNAL;
  }
}

krux_status LentHttp::send_many(const krux_call* call, const krux_http_request* const* requests,
                                const krux_http_answer* const* answers, krux_status* statuses,
                                std::size_t count) noexcept {
  if (count == 0) return KRUX_OK;
  if (!requests || !answers || !statuses || count > kMostAtOnce) return KRUX_INVALID;
  try {
    // The client keeps to the quota itself; threads only let as many wait side by side.
    side_by_side_.run(count, [&](std::size_t i) { statuses[i] = send(call, requests[i], answers[i]); });
  } catch (const std::exception&) {  // out of memory, before anything was sent
    return KRUX_INTERNAL;
  }
  return KRUX_OK;
}

}  // namespace krux
