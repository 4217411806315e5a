#include "host/http/response_head.hpp"

#include <fmt/format.h>
#include <time.h>

#include <array>
#include <boost/beast/http/status.hpp>
#include <iterator>

namespace krux {
namespace {

namespace http = boost::beast::http;

/// RFC 9110's date, made once a second.
const std::string& http_date() {
  thread_local time_t made = 0;
  thread_local std::string text;
  const time_t now = ::time(nullptr);
  if (now != made) {
    tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 40> buffer{};
    const auto size = strftime(buffer.data(), buffer.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
    text.assign(buffer.data(), size);
    made = now;
  }
  return text;
}

/// Names come from our own code; a value may hold text from elsewhere and must not begin a new line.
void append_header(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ");
  for (const char c : value) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) head += c;
  }
  head += "\r\n";
}

}  // namespace

std::string response_head(const ServerResponse& response, bool keep_alive, bool old_version) {
  const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(response.status)));
  std::string head;
  head.reserve(256);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                 std::string_view(reason.data(), reason.size()), http_date());
  if (response.status != 204) {
    append_header(head, "Content-Type", response.content_type);
    if (!response.stream) {
      fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.body.size());
    } else if (!old_version) {
      head += "Transfer-Encoding: chunked\r\n";
    }
  }
  head += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  if (response.status == 405 && response.headers.empty())
    head += "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n";
  for (const auto& [name, value] : response.headers) append_header(head, name, value);
  if (!keep_alive) head += "Connection: close\r\n";
  if (keep_alive && old_version) head += "Connection: keep-alive\r\n";
  head += "\r\n";
  return head;
}

}  // namespace krux
