#include "host/http/http_types.hpp"

#include <fmt/format.h>

#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::optional<std::string_view> ServerRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> ServerRequest::cookie(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const auto& [header, value] : headers) {
    if (header != "cookie") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const auto end = rest.find(';');
      auto pair = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      while (pair.starts_with(' ')) pair.remove_prefix(1);
      if (!pair.starts_with(name) || pair.substr(name.size(), 1) != "=") continue;
      if (found) return std::nullopt;
      found = pair.substr(name.size() + 1);
    }
  }
  return found;
}

ServerResponse error_response(int status, const ErrorType& type, std::string_view message) {
  ServerResponse response;
  response.status = status;
  response.body =
      fmt::format(R"({{"error":{{"type":{},"message":{}}}}})", json_string(type.name()), json_string(message));
  return response;
}

ServerResponse error_response(const ErrorType& type, std::string_view message) {
  return error_response(type.facts().http_status, type, message);
}

std::optional<std::string> url_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      if (at + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[at + 1]), low = hex_digit(text[at + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      at += 2;
    }
    if (c == '\0') return std::nullopt;
    out += c;
  }
  if (!is_valid_utf8(out)) return std::nullopt;
  return out;
}

std::string url_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    const auto equals = pair.find('=');
    if (url_decode(pair.substr(0, equals)) != name) continue;
    return url_decode(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1));
  }
  return std::nullopt;
}

}  // namespace krux
