#include "emulators/common/http_types.hpp"

#include <fmt/format.h>

namespace krux::test::emulator {
namespace {

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 302:
      return "Found";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Payload Too Large";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

}  // namespace

std::string serialize(const HttpAnswer& answer, std::size_t extra_length) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status));
  if (!answer.content_type.empty()) text += fmt::format("Content-Type: {}\r\n", answer.content_type);
  for (const auto& [name, value] : answer.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += fmt::format("Content-Length: {}\r\n\r\n", answer.body.size() + extra_length);
  return text + answer.body;
}

}  // namespace krux::test::emulator
