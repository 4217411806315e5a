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
  const timeval patience{30, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) wrong("the gateway cannot be reached");
}

RpcClient::~RpcClient() {
  close(fd_);
}

std::string RpcClient::request(std::string_view capability, std::string_view arguments_json) const {
  const auto body =
      fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{{"capability":"{}",)"
                  R"("arguments":{}}}}})",
                  capability, arguments_json);
  return fmt::format(
      "POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      key_, body.size(), body);
}

std::string_view RpcClient::call(std::string_view request) {
  if (send(fd_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    wrong("the gateway took no request");
  std::size_t have = 0, whole = 0, head = 0;
  while (whole == 0 || have < whole) {
    const auto got = recv(fd_, buffer_.data() + have, buffer_.size() - have, 0);
    if (got <= 0) wrong("the gateway gave no answer");
    have += static_cast<std::size_t>(got);
    if (whole > 0) continue;
    const std::string_view text(buffer_.data(), have);
    const auto end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) continue;
    constexpr std::string_view name = "\r\nContent-Length: ";
    const auto length = text.find(name);
    if (!text.starts_with("HTTP/1.1 200 ") || length > end) wrong("the gateway refused: " + std::string(text));
    std::size_t body = 0;
    std::from_chars(text.data() + length + name.size(), text.data() + end, body);
    head = end + 4;
    whole = head + body;
    if (whole > buffer_.size()) wrong("the answer is too large");
  }
  return {buffer_.data() + head, whole - head};
}

}  // namespace krux::bench
