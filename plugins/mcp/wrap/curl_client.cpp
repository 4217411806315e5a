#include "curl_client.hpp"

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace mcp {
namespace {

using kruxos::from_abi;
using kruxos::to_abi;

std::int64_t now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

struct Lists {
  curl_slist* list = nullptr;
  ~Lists() { curl_slist_free_all(list); }
  void add(const std::string& line) {
    auto* longer = curl_slist_append(list, line.c_str());
    if (!longer) throw std::bad_alloc();
    list = longer;
  }
};

/// Hands on what comes, as it comes; nothing is thrown through libcurl.
struct Receiver {
  CURL* curl;
  const krux_http_answer* answer;
  std::uint64_t most;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::uint64_t got = 0;
  bool told = false, stopped = false, too_large = false;

  /// Of the answer itself, once all its lines are there.
  bool tell_head() {
    if (std::exchange(told, true)) return true;
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    std::vector<krux_header> head;
    for (const auto& [name, value] : headers) head.push_back({to_abi(name), to_abi(value)});
    stopped = answer->head(answer->self, static_cast<std::int32_t>(status), head.data(), head.size()) != 0;
    return !stopped;
  }
  static std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* self) noexcept {
    try {
      const std::string_view line(bytes, count);
      auto& headers = static_cast<Receiver*>(self)->headers;
      if (line.starts_with("HTTP/")) headers.clear();  // those of a 100 before it are not the answer's
      if (const auto colon = line.find(':'); colon != std::string_view::npos) {
        auto value = line.substr(colon + 1);
        while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
        while (!value.empty() && (value.back() == '\r' || value.back() == '\n' || value.back() == ' '))
          value.remove_suffix(1);
        headers.emplace_back(line.substr(0, colon), value);
      }
      return count;
    } catch (...) {
      return 0;
    }
  }
  static std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* self) noexcept {
    try {
      auto& me = *static_cast<Receiver*>(self);
      me.too_large = (me.got += count) > me.most;
      if (me.too_large || !me.tell_head()) return 0;
      me.stopped = me.answer->body(me.answer->self, {bytes, count}) != 0;
      return me.stopped ? 0 : count;
    } catch (...) {
      return 0;
    }
  }
};

krux_status fail(const krux_http_answer* answer, krux_status status, const std::string& why) {
  answer->failed(answer->self, to_abi(why), -1);
  return status;
}

}  // namespace

krux_status CurlClient::send(void* self, const krux_call* call, const krux_http_request* request,
                             const krux_http_answer* answer) noexcept {
  try {
    const auto& me = *static_cast<const CurlClient*>(self);
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), &curl_easy_cleanup);
    if (!curl) return fail(answer, KRUX_INTERNAL, "libcurl could not be used.");
    const auto url = me.base_ + std::string(from_abi(request->url));
    Lists headers;
    for (std::size_t i = 0; i < request->header_count; ++i)
      headers.add(std::string(from_abi(request->headers[i].name)) + ": " +
                  std::string(from_abi(request->headers[i].value)));
    headers.add("Expect:");  // no 100 is waited for
    if (!me.token_.empty()) headers.add("Authorization: Bearer " + me.token_);
    Receiver receiver{curl.get(), answer, request->max_response_bytes};
    const auto left = std::max<std::int64_t>(call->deadline_ms - now(), 1);
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl.get(), CURLOPT_POST, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(request->body.len));
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, request->body.ptr);
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.list);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, &Receiver::take_header);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &receiver);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Receiver::take_body);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &receiver);
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(left));
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");  // nobody else is told the token; the host uses none either
    const auto done = curl_easy_perform(curl.get());
    if (receiver.too_large) return fail(answer, KRUX_UNAVAILABLE, "The server's answer is too large.");
    if (receiver.stopped) return fail(answer, KRUX_CANCELLED, "Nothing more of the answer was wanted.");
    if (done == CURLE_OPERATION_TIMEDOUT) return fail(answer, KRUX_TIMEOUT, "The server did not answer in time.");
    if (done != CURLE_OK)
      return fail(answer, KRUX_NETWORK,
                  std::string("The server could not be reached: ") + curl_easy_strerror(done) + ".");
    return receiver.tell_head() ? KRUX_OK : KRUX_CANCELLED;
  } catch (const std::exception& error) {
    return fail(answer, KRUX_INTERNAL, error.what());
  }
}

PlainCall::PlainCall(int seconds) {
  table_.size = sizeof table_;
  table_.deadline_ms = now() + seconds * 1'000;
  table_.cancelled = [](void*) noexcept -> std::int32_t { return 0; };
  table_.fail = [](void*, const krux_failure*) noexcept {};
  table_.now_ms = [](void*) noexcept { return now(); };
  table_.remember = [](void*, krux_str) noexcept -> krux_status { return KRUX_UNSUPPORTED; };
  table_.progress = [](void*, double, double, krux_str) noexcept {};
  table_.tell = [](void*, std::int32_t, krux_str) noexcept {};
  table_.ask = [](void*, krux_str, krux_str) noexcept -> krux_status { return KRUX_UNSUPPORTED; };
}

}  // namespace mcp
