#include "core/net/request_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace krux {
namespace {

constexpr std::size_t kMostHeaderBytes = 64 * 1024;

constexpr std::array<std::string_view, 14> kHostsOwn{"accept-encoding",
                                                     "authorization",
                                                     "connection",
                                                     "content-length",
                                                     "cookie",
                                                     "cookie2",
                                                     "expect",
                                                     "host",
                                                     "http2-settings",
                                                     "keep-alive",
                                                     "te",
                                                     "trailer",
                                                     "transfer-encoding",
                                                     "upgrade"};

/// Services that know them take a request for another one than the host has judged.
constexpr std::array<std::string_view, 5> kDisguises{"x-http-method", "x-http-method-override", "x-method-override",
                                                     "x-original-url", "x-rewrite-url"};

bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (std::isalnum(byte) != 0 || others.find(c) != std::string_view::npos);
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool is_hosts_own(std::string_view name) {
  const auto folded = lower(name);
  return folded.starts_with("proxy-") || std::find(kHostsOwn.begin(), kHostsOwn.end(), folded) != kHostsOwn.end();
}

std::optional<std::string> headers_problem(const HttpHeaders& headers) {
  std::size_t total = 0, types = 0;
  for (const auto& [name, value] : headers) {
    if (!is_token(name)) return "a header's name contains characters that are not allowed";
    const auto folded = lower(name);
    if (std::find(kDisguises.begin(), kDisguises.end(), folded) != kDisguises.end())
      return fmt::format("the header {} would make another request of this one; send that request instead", name);
    if (folded == "content-type" && ++types > 1) return "the header Content-Type is there twice";
    if (is_hosts_own(name)) return fmt::format("the header {} is set by the host alone; leave it out", name);
    if (!is_header_value(value)) {
      return fmt::format("the value of the header {} contains a line end or another control character", name);
    }
    total += name.size() + value.size() + 4;
  }
  if (total > kMostHeaderBytes) return "the request's headers are larger than 64 KiB";
  return std::nullopt;
}

void line(SecretBytes& out, std::string_view name, std::string_view value) {
  for (const auto part : {name, std::string_view(": "), value, std::string_view("\r\n")}) append(out, part);
}

}  // namespace

std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name) {
  const auto folded = lower(name);
  for (const auto& [key, value] : headers) {
    if (key.size() == name.size() && lower(key) == folded) return value;
  }
  return std::nullopt;
}

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

std::optional<std::string> request_problem(const HttpRequest& request) {
  if (!is_token(request.method) || request.method.size() > 32) return "the request's method is not a valid one";
  if (const auto method = lower(request.method); method == "connect" || method == "trace" || method == "track") {
    return fmt::format("the method {} is not allowed", request.method);
  }
  if (request.body_source && request.body_length < 0) return "a streamed body needs its exact length";
  if (request.timeout_ms < 0) return "the request's time-out is negative";
  return headers_problem(request.headers);
}

std::uint64_t body_bytes(const HttpRequest& request) {
  return request.body_source ? static_cast<std::uint64_t>(request.body_length) : request.body.size();
}

SecretBytes request_head(const HttpRequest& request, const Url& url, const RequestSecret& secret,
                         std::string_view user_agent) {
  SecretBytes out;
  out.reserve(1024 + secret.value.size());
  for (const auto part : {std::string_view(request.method), std::string_view(" ")}) append(out, part);
  append(out, url.target());
  const bool in_query = !secret.parameter.empty() && !secret.value.empty();
  if (in_query) {
    for (const auto part :
         {std::string_view(url.query.empty() ? "?" : "&"), secret.parameter, std::string_view("="), secret.value})
      append(out, part);
  }
  append(out, " HTTP/1.1\r\n");
  line(out, "Host", url.authority());
  if (!secret.value.empty() && !in_query) line(out, secret.header, secret.value);
  if (!find_header(request.headers, "User-Agent")) line(out, "User-Agent", user_agent);
  if (!find_header(request.headers, "Accept")) line(out, "Accept", "*/*");
  line(out, "Accept-Encoding", "identity");
  for (const auto& [name, value] : request.headers) line(out, name, value);
  const auto length = body_bytes(request);
  if (length > 0 || !request.safe() || request.only_reads) line(out, "Content-Length", std::to_string(length));
  append(out, "\r\n");
  return out;
}

}  // namespace krux
