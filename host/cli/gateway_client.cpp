#include "host/cli/gateway_client.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/util/descriptor.hpp"
#include "core/util/text.hpp"
#include "host/cli/control_client.hpp"

namespace krux::cli {
namespace {

constexpr std::size_t kMostAnswer = 64u << 20;
constexpr int kPatienceSeconds = 900;  ///< a read that fetches and waits for quota takes less

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Until the other side closes.
std::string receive_all(int fd) {
  std::string all;
  std::array<char, 65536> chunk;
  while (all.size() < kMostAnswer) {
    const auto got = ::recv(fd, chunk.data(), chunk.size(), 0);
    if (got <= 0) break;
    all.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return all;
}

std::string_view header_of(std::string_view head, std::string_view name) {
  const auto at = head.find(fmt::format("\r\n{}: ", name));
  if (at == std::string_view::npos) return {};
  const auto from = at + name.size() + 4;
  return head.substr(from, head.find("\r\n", from) - from);
}

GatewayAnswer answer_of(std::string text) {
  GatewayAnswer answer;
  const auto end = text.find("\r\n\r\n");
  if (text.starts_with("HTTP/1.1 ") && end != std::string::npos)
    std::from_chars(text.data() + 9, text.data() + std::min<std::size_t>(text.size(), 12), answer.status);
  const std::string_view head = std::string_view(text).substr(0, end);
  std::size_t length = 0;
  const auto said = header_of(head, "Content-Length");
  std::from_chars(said.data(), said.data() + said.size(), length);
  if (answer.status == 0 || text.size() - end - 4 < length) {
    answer.problem = "The host's answer broke off. What was asked for may be done: look before you ask again.";
    return answer;
  }
  answer.session = header_of(head, "Mcp-Session-Id");
  answer.body = text.substr(end + 4);
  return answer;
}

}  // namespace

GatewayClient::GatewayClient(std::string_view url, std::string key) : key_(std::move(key)) {
  constexpr std::string_view scheme = "http://";
  const auto given = url;
  const bool known_scheme = url.starts_with(scheme);
  if (known_scheme) url.remove_prefix(scheme.size());
  while (url.ends_with('/')) url.remove_suffix(1);
  const auto colon = url.rfind(':');
  const auto host = url.substr(0, colon);
  address_ = host == "localhost" ? "127.0.0.1" : host == "[::1]" ? "::1" : std::string(host);
  v6_ = address_ == "::1";
  const auto digits = colon == std::string_view::npos ? std::string_view() : url.substr(colon + 1);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port_);
  const bool is_port =
      !digits.empty() && read.ec == std::errc() && read.ptr == digits.data() + digits.size() && port_ > 0;
  if (!known_scheme || !is_port || (address_ != "127.0.0.1" && !v6_))
    throw CliError(
        kUsage, fmt::format("\"{}\" is no address of a gateway on this machine: it has the form http://127.0.0.1:7700.",
                            printable(given)));
}

GatewayAnswer GatewayClient::send(std::string_view method, const GatewayHeaders& headers, std::string_view body) const {
  const Descriptor fd(::socket(v6_ ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{kPatienceSeconds, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port_);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port_);
  v6.sin6_addr = in6addr_loopback;
  const auto* to = v6_ ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  if (::connect(fd.get(), to, v6_ ? sizeof v6 : sizeof v4) != 0)
    return {0,
            {},
            {},
            fmt::format("The KruxOS host does not answer on port {}: the operator starts it with kruxosd.", port_)};
  std::string head = fmt::format(
      "{} /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n"
      "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
      method, port_, key_, body.size());
  for (const auto& [name, value] : headers) head += fmt::format("{}: {}\r\n", name, value);
  head += "\r\n";
  // The host may refuse before it has read all: its answer says why.
  if (send_all(fd.get(), head)) send_all(fd.get(), body);
  return answer_of(receive_all(fd.get()));
}

std::string header_value(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (plain && !text.starts_with("=?base64?")) return std::string(text);
  std::string encoded(sodium_base64_encoded_len(text.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(encoded.data(), encoded.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  encoded.resize(encoded.size() - 1);  // without the NUL at its end
  return "=?base64?" + encoded + "?=";
}

}  // namespace krux::cli
