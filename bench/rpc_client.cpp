#include "bench/rpc_client.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

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

/// The number behind `name` in an answer's head.
std::size_t head_number(std::string_view head, std::string_view name) {
  const auto at = head.find(name);
  std::size_t number = 0;
  if (at != std::string_view::npos) std::from_chars(head.data() + at + name.size(), head.data() + head.size(), number);
  return number;
}

}  // namespace

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
    reply.status = static_cast<int>(head_number(text.substr(0, end), "HTTP/1.1 "));
    head = end + 4;
    whole = head + head_number(text.substr(0, end), "\r\nContent-Length: ");
  }
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
