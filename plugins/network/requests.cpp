#include "requests.hpp"

#include <kruxos/kit/http.hpp>
#include <kruxos/kit/text.hpp>

#include <algorithm>
#include <array>

#include "base64.hpp"

namespace network {
namespace {

using kruxos::ErrorKind;
using kruxos::HttpRequest;
using kruxos::HttpResponse;
using kruxos::ProxyError;
using kruxos::kit::integer_of;
using kruxos::kit::Json;
using kruxos::kit::text_of;

constexpr int kMostRedirects = 5;
constexpr std::uint64_t kLargestAnswer = 8 << 20;  ///< to a write: it is read to its end, or its outcome is unknown
constexpr std::size_t kMostHeaders = 50;
constexpr std::array kSendMethods{"POST", "PUT", "PATCH", "DELETE"};

kruxos::Headers headers_of(const Json& params) {
  kruxos::Headers headers;
  const auto* given = kruxos::kit::member(params, "headers");
  if (!given || !given->IsObject()) return headers;
  for (const auto& [name, value] : given->GetObject()) {
    if (!value.IsString())
      throw ProxyError(ErrorKind::kInvalid, "Each of the headers is a text: {\"Accept\": \"application/json\"}.")
          .no_effect();
    headers.emplace_back(std::string(name.GetString(), name.GetStringLength()),
                         std::string(value.GetString(), value.GetStringLength()));
  }
  if (headers.size() > kMostHeaders)
    throw ProxyError(ErrorKind::kInvalid, "A request has at most 50 headers.").no_effect();
  return headers;
}

bool has_header(const kruxos::Headers& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return kruxos::kit::same_ascii(header.first, name); });
}

/// What an agent gave to one site is nothing of another's.
kruxos::Headers for_another_site(const kruxos::Headers& headers) {
  kruxos::Headers kept;
  for (const auto& header : headers) {
    if (kruxos::kit::same_ascii(header.first, "Accept") || kruxos::kit::same_ascii(header.first, "Accept-Language"))
      kept.push_back(header);
  }
  return kept;
}

bool is_redirect(const HttpResponse& response) {
  const auto status = response.status;
  return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
         response.header("Location");
}

std::size_t most_bytes_of(const Json& params) {
  return static_cast<std::size_t>(integer_of(params, "max_bytes", 262'144));
}

std::uint32_t timeout_of(const Json& params) {
  return static_cast<std::uint32_t>(integer_of(params, "timeout_seconds", 30) * 1000);
}

/// Cookies stay here: nothing would send them back.
std::string headers_json(const kruxos::Headers& headers) {
  kruxos::kit::ObjectWriter out;
  std::vector<std::string> seen;
  for (const auto& [given, value] : headers) {
    const auto name = kruxos::kit::lower_ascii(given);
    if (name == "set-cookie" || std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    out.text(name, kruxos::kit::clean_line(value));
  }
  return out.done();
}

std::string answer_json(const Address& at, HttpResponse response, bool is_cut, std::size_t most, int redirects) {
  auto& body = response.body;
  auto text = body;
  is_cut = kruxos::kit::cut_text(text, most) || is_cut;
  body.resize(std::min(body.size(), most));
  const bool is_text = text.find('\0') == std::string::npos && kruxos::kit::is_utf8(text);
  kruxos::kit::ObjectWriter out;
  out.integer("status", response.status)
      .text("url", at.text())
      .raw("headers", headers_json(response.headers))
      .text("body", is_text ? text : base64_of(body))
      .text("encoding", is_text ? "text" : "base64")
      .flag("body_is_cut", is_cut);
  if (redirects > 0) out.integer("redirects", redirects);
  return out.done();
}

}  // namespace

Address Requests::checked(std::string_view url) const {
  auto address = parse_address(url);
  allowed_.must_have(address.host);
  return address;
}

std::string Requests::get(const kruxos::Call& call, const Json& params) const {
  auto at = checked(text_of(params, "url"));
  HttpRequest request{std::string(text_of(params, "method", "GET"))};
  request.headers = headers_of(params);
  request.timeout_ms = timeout_of(params);
  const auto most = most_bytes_of(params);
  for (int redirects = 0;; ++redirects) {
    request.url = at.text();
    std::string body;
    bool is_cut = false;
    auto result = http_.send(call, request, [&](std::string_view part) {
      body.append(part.substr(0, most - body.size() + 1));
      is_cut = body.size() > most;
      return !is_cut;
    });
    if (!is_cut) result.or_throw();
    result.response.body = std::move(body);
    if (!is_redirect(result.response)) return answer_json(at, std::move(result.response), is_cut, most, redirects);
    if (redirects == kMostRedirects)
      throw ProxyError(ErrorKind::kRefused, "The address leads on more than 5 times; name where it ends.")
          .type("TooManyRedirects");
    const auto next = resolve(at, *result.response.header("Location"));
    allowed_.must_have(next.host);
    if (next.origin != at.origin) request.headers = for_another_site(request.headers);
    at = next;
  }
}

std::string Requests::send(const kruxos::Call& call, const Json& params, std::string_view write_id) const {
  const auto at = checked(text_of(params, "url"));
  HttpRequest request{std::string(text_of(params, "method"))};
  if (std::find(kSendMethods.begin(), kSendMethods.end(), request.method) == kSendMethods.end())
    throw ProxyError(ErrorKind::kInvalid, "The method is POST, PUT, PATCH or DELETE.").no_effect();
  request.url = at.text();
  request.headers = headers_of(params);
  // Services that know it do nothing twice.
  if (!has_header(request.headers, "Idempotency-Key")) request.headers.emplace_back("Idempotency-Key", write_id);
  if (!has_header(request.headers, "Content-Type") && !text_of(params, "content_type").empty())
    request.headers.emplace_back("Content-Type", text_of(params, "content_type"));
  request.body = text_of(params, "body");
  request.timeout_ms = timeout_of(params);
  request.max_response_bytes = kLargestAnswer;
  auto result = http_.send(call, request);
  if (result.error == ErrorKind::kInvalid) throw ProxyError(*result.error, result.message).no_effect();
  auto response = result.or_throw();
  if (response.status >= 500)
    throw ProxyError(ErrorKind::kUnavailable, at.host + " answered " + std::to_string(response.status) +
                                                  ", which does not say whether it has done what it was asked to.");
  return answer_json(at, std::move(response), false, most_bytes_of(params), 0);
}

}  // namespace network
