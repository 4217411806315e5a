#include "bench/rpc_client.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "bench/report.hpp"

namespace krux::bench {

RpcClient::RpcClient(std::uint16_t port, std::string key)
    : key_(std::move(key)), fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), buffer_(1 << 20, '\0') {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const timeval patience{120, 0};  // longer than any call may wait
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) wrong("the gateway cannot be reached");
}

RpcClient::~RpcClient() {
  close(fd_);
}

namespace {

std::string call_of(std::string_view capability, std::string_view arguments_json, int id) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"capabilities.invoke","params":{{"capability":"{}",)"
                     R"("arguments":{}}}}})",
                     id, capability, arguments_json);
}

/// The number that `text` begins with.
std::size_t number_of(std::string_view text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string_view header_in(std::string_view head, std::string_view name) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (auto at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
    const auto line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (line.size() <= name.size() + 1 || line[name.size()] != ':') continue;
    if (!std::equal(name.begin(), name.end(), line.begin(),
                    [&](char wanted, char given) { return same(given, wanted); }))
      continue;
    const auto value = line.substr(name.size() + 1);
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
  }
  return {};
}

std::string RpcClient::post(std::string_view body) const {
  return fmt::format(
      "POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      key_, body.size(), body);
}

std::string RpcClient::get(std::string_view path) const {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", path, key_);
}

std::string RpcClient::request(std::string_view capability, std::string_view arguments_json) const {
  return post(call_of(capability, arguments_json, 1));
}

std::string RpcClient::batch(std::string_view capability, std::string_view arguments_json, int count) const {
  std::string body;
  for (int i = 0; i < count; ++i) body += (i == 0 ? "[" : ",") + call_of(capability, arguments_json, i);
  return post(body + "]");
}

std::string RpcClient::tool_request(std::string_view tool, std::string_view arguments_json) const {
  const auto body =
      fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{}}}}})", tool,
                  arguments_json);
  return fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n"
      "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
      "Content-Length: {}\r\n\r\n{}",
      key_, body.size(), body);
}

RpcClient::Reply RpcClient::ask(std::string_view request) {
  for (std::string_view left = request; !left.empty();) {
    const auto sent = send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent <= 0) wrong("the gateway took no request");
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::size_t have = 0, whole = 0, head = 0;
  Reply reply;
  while (whole == 0 || have < whole) {
    if (have == buffer_.size()) buffer_.resize(2 * buffer_.size());
    const auto got = recv(fd_, buffer_.data() + have, buffer_.size() - have, 0);
    if (got <= 0) wrong("the gateway gave no answer");
    have += static_cast<std::size_t>(got);
    if (whole > 0) continue;
    const auto text = std::string_view(buffer_).substr(0, have);
    const auto end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) continue;
    head = end + 4;
    whole = head + number_of(header_in(text.substr(0, end), "content-length"));
  }
  reply.head = std::string_view(buffer_).substr(0, head - 4);
  reply.status = static_cast<int>(number_of(reply.head.substr(std::min<std::size_t>(9, reply.head.size()))));
  reply.body = std::string_view(buffer_).substr(head, whole - head);
  return reply;
}

std::size_t RpcClient::call_bytes(std::string_view request) {
  const auto body = call(request);
  return static_cast<std::size_t>(body.data() + body.size() - buffer_.data());
}

std::string_view RpcClient::call(std::string_view request) {
  const auto reply = ask(request);
  if (reply.status != 200) wrong("the gateway refused: " + std::string(reply.body));
  return reply.body;
}

}  // namespace krux::bench
