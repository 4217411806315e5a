#include "host/http/web_socket_handshake.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>

#include "core/util/text.hpp"

namespace krux {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

enum class Case { kCounts, kIgnored };

/// Whether a list that stands in headers of that name has the token.
bool has_token(const ServerRequest& request, std::string_view name, std::string_view token, Case letters) {
  for (const auto& [header, value] : request.headers) {
    if (header != name) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const auto end = rest.find(',');
      const auto item = trimmed(rest.substr(0, end));
      if (item == token || (letters == Case::kIgnored && equal_ignoring_case(item, token))) return true;
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  return false;
}

/// The header's value where there is exactly one.
std::optional<std::string_view> only(const ServerRequest& request, std::string_view name) {
  const auto is_named = [&](const auto& header) { return header.first == name; };
  if (std::count_if(request.headers.begin(), request.headers.end(), is_named) != 1) return std::nullopt;
  return trimmed(*request.header(name));
}

bool is_key(std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  std::size_t size = 0;
  return sodium_base642bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr, &size, nullptr,
                           sodium_base64_VARIANT_ORIGINAL) == 0 &&
         size == bytes.size();
}

ServerResponse bad(std::string_view message) {
  return error_response(400, ErrorCode::kInvalidInput, message);
}

}  // namespace

bool asks_for_web_socket(const ServerRequest& request) {
  return request.method == "GET" && !request.head_alone && has_token(request, "upgrade", "websocket", Case::kIgnored);
}

std::optional<ServerResponse> why_no_web_socket(const ServerRequest& request) {
  if (!has_token(request, "connection", "upgrade", Case::kIgnored))
    return bad("The WebSocket's handshake lacks the header \"Connection: Upgrade\".");
  if (only(request, "sec-websocket-version") != "13") {
    auto response = error_response(426, ErrorCode::kInvalidInput, "Only version 13 of WebSockets is spoken here.");
    response.headers.emplace_back("Sec-WebSocket-Version", "13");
    response.headers.emplace_back("Upgrade", "websocket");
    return response;
  }
  const auto key = only(request, "sec-websocket-key");
  if (!key || !is_key(*key))
    return bad("The WebSocket's handshake needs one Sec-WebSocket-Key: the Base64 of 16 bytes.");
  if (request.header("transfer-encoding") || request.header("content-length").value_or("0") != "0")
    return bad("A request for a WebSocket has no body.");
  return std::nullopt;
}

bool offers_protocol(const ServerRequest& request, std::string_view protocol) {
  return has_token(request, "sec-websocket-protocol", protocol, Case::kCounts);
}

ServerResponse accept_web_socket(const ServerRequest& request, std::string_view protocol,
                                 std::shared_ptr<SocketUser> user) {
  ServerResponse response;
  response.status = 101;
  response.socket.emplace(AcceptedSocket{std::string(only(request, "sec-websocket-key").value_or("")),
                                         std::string(protocol), std::move(user)});
  return response;
}

}  // namespace krux
