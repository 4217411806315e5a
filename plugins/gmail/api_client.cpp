#include "api_client.hpp"

#include <algorithm>

namespace gmail {
namespace {

constexpr std::uint64_t kLargestAnswer = 16 << 20;
// A message of 50 MB, the most that Gmail receives, in base64.
constexpr std::uint64_t kLargestStream = 96 << 20;
// 34 MB, which a mail of 25 MB has in base64, over a line of 3 Mbit/s.
constexpr std::uint32_t kStreamMs = 90'000;
constexpr std::size_t kKeptOfRefusal = 64 << 10;

/// Half a minute, and as long as a line of 2 Mbit/s takes for so many bytes.
std::uint32_t time_for(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(30'000 + bytes / 250);
}

kruxos::HttpRequest get_request(const std::string& url) {
  kruxos::HttpRequest request;
  request.url = url;
  request.headers = {{"Accept", "application/json"}};
  request.max_response_bytes = kLargestAnswer;
  return request;
}

/// `may_be_empty`: some methods that change something answer without a body.
Fetched read_answer(const kruxos::Call& call, std::string_view what, const kruxos::HttpResult& result,
                    bool may_be_empty = false) {
  Fetched out;
  if (!result.ok()) {
    out.error = failure_of<GmailError>(result);
  } else if (!is_success(result.response)) {
    out.error = error_of(what, result.response, call.now_ms());
  } else {
    out.body = parse(may_be_empty && result.response.body.empty() ? "{}" : result.response.body);
    if (out.body.HasParseError() || !out.body.IsObject()) out.error = malformed(what);
  }
  return out;
}

rapidjson::Document or_throw(Fetched fetched) {
  if (fetched.error) throw GmailError(*fetched.error);
  return std::move(fetched.body);
}

}  // namespace

rapidjson::Document ApiClient::get(const kruxos::Call& call, std::string_view what, const std::string& url) const {
  return or_throw(read_answer(call, what, http_.send(call, get_request(url))));
}

rapidjson::Document ApiClient::send(const kruxos::Call& call, std::string_view what, const std::string& method,
                                    const std::string& url, std::string body_json) const {
  auto request = get_request(url);
  request.method = method;
  if (!body_json.empty()) request.headers.emplace_back("Content-Type", "application/json; charset=utf-8");
  request.body = std::move(body_json);
  return or_throw(read_answer(call, what, http_.send(call, request), true));
}

rapidjson::Document ApiClient::upload(const kruxos::Call& call, std::string_view what, const std::string& url,
                                      MailUpload& mail) const {
  auto request = get_request(url + "?uploadType=multipart");
  request.method = "POST";
  request.headers.emplace_back("Content-Type", mail.content_type());
  request.body_length = static_cast<std::int64_t>(mail.size());
  request.timeout_ms = time_for(mail.size());
  request.body_source = [&](char* buffer, std::size_t capacity) {
    return static_cast<std::int64_t>(mail.read(buffer, capacity));
  };
  return or_throw(read_answer(call, what, http_.send(call, request)));
}

std::vector<Fetched> ApiClient::get_many(const kruxos::Call& call, std::string_view what,
                                         std::span<const std::string> urls) const {
  std::vector<kruxos::HttpRequest> requests;
  requests.reserve(urls.size());
  for (const auto& url : urls) requests.push_back(get_request(url));
  std::vector<Fetched> out;
  out.reserve(urls.size());
  for (const auto& result : http_.send_many(call, requests)) out.push_back(read_answer(call, what, result));
  return out;
}

void ApiClient::stream(const kruxos::Call& call, std::string_view what, const std::string& url,
                       const std::function<void(std::string_view)>& on_body) const {
  auto request = get_request(url);
  request.max_response_bytes = kLargestStream;
  request.timeout_ms = kStreamMs;
  std::string beginning;  // a refusal is short
  auto result = http_.send(call, request, [&](std::string_view part) {
    beginning.append(part.substr(0, kKeptOfRefusal - std::min(kKeptOfRefusal, beginning.size())));
    on_body(part);
    return true;
  });
  if (!result.ok()) throw failure_of<GmailError>(result);
  if (is_success(result.response)) return;
  result.response.body = std::move(beginning);
  throw error_of(what, result.response, call.now_ms());
}

}  // namespace gmail
