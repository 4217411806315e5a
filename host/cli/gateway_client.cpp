#include "host/cli/gateway_client.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "core/util/descriptor.hpp"
#include "core/util/text.hpp"
#include "host/cli/control_client.hpp"
#include "host/http/chunked_body.hpp"

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

constexpr std::size_t kMostHead = 64u << 10;

/// Receives more behind `text`; false once the other side has closed, or its time is over.
bool receive(int fd, std::string& text) {
  std::array<char, 65536> chunk;
  const auto got = ::recv(fd, chunk.data(), chunk.size(), 0);
  if (got <= 0) return false;
  text.append(chunk.data(), static_cast<std::size_t>(got));
  return true;
}

/// The lines of one event: its data, where it has any.
void give_event(std::string_view lines, const OnEvent& on_event) {
  constexpr std::string_view data = "data: ", id = "id: ";
  std::string_view found_data, found_id;
  for (std::size_t at = 0; at < lines.size();) {
    const auto end = lines.find('\n', at);
    const auto line = lines.substr(at, end - at);
    if (line.starts_with(data)) found_data = line.substr(data.size());
    if (line.starts_with(id)) found_id = line.substr(id.size());
    at = end + 1;
  }
  on_event(found_data, found_id);
}

std::string_view header_of(std::string_view head, std::string_view name) {
  const auto at = head.find(fmt::format("\r\n{}: ", name));
  if (at == std::string_view::npos) return {};
  const auto from = at + name.size() + 4;
  return head.substr(from, head.find("\r\n", from) - from);
}

/// Gives the events of a body that comes in chunks, as they come.
void read_events(int fd, std::string received, const OnEvent& on_event) {
  ChunkedBody chunks(std::numeric_limits<std::uint64_t>::max(), kMostHead);
  std::string text;
  for (;;) {
    std::string_view left = received;
    const auto state = chunks.take(left, text);
    for (auto end = text.find("\n\n"); end != std::string::npos; end = text.find("\n\n")) {
      give_event(std::string_view(text).substr(0, end + 1), on_event);
      text.erase(0, end + 2);
    }
    received.clear();
    if (state != ChunkedBody::State::kMore || text.size() > kMostAnswer || !receive(fd, received)) return;
  }
}

GatewayAnswer broken_off() {
  GatewayAnswer answer;
  answer.problem = "The host's answer broke off. What was asked for may be done: look before you ask again.";
  return answer;
}

GatewayAnswer read_answer(int fd, const OnEvent& on_event) {
  std::string text;
  std::size_t end = std::string::npos;
  while ((end = text.find("\r\n\r\n")) == std::string::npos) {
    if (text.size() > kMostHead || !receive(fd, text)) return broken_off();
  }
  const auto head = text.substr(0, end);
  text.erase(0, end + 4);
  GatewayAnswer answer;
  if (head.starts_with("HTTP/1.1 "))
    std::from_chars(head.data() + 9, head.data() + std::min<std::size_t>(head.size(), 12), answer.status);
  if (answer.status == 0) return broken_off();
  answer.session = header_of(head, "Mcp-Session-Id");
  answer.is_stream = header_of(head, "Content-Type") == "text/event-stream";
  if (answer.is_stream) {
    const timeval forever{0, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
    read_events(fd, std::move(text), on_event);
    return answer;
  }
  std::size_t length = 0;
  const auto said = header_of(head, "Content-Length");
  std::from_chars(said.data(), said.data() + said.size(), length);
  while (text.size() < std::min(length, kMostAnswer)) {
    if (!receive(fd, text)) return broken_off();
  }
  if (length > kMostAnswer) return broken_off();
  answer.body = std::move(text);
  return answer;
}

}  // namespace

GatewayClient::GatewayClient(std::string_view url, std::string key, std::string path)
    : key_(std::move(key)), path_(std::move(path)) {
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

GatewayAnswer GatewayClient::send(std::string_view method, const GatewayHeaders& headers, std::string_view body,
                                  const OnEvent& on_event, GatewayCall& call) const {
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
  if (::connect(fd.get(), to, v6_ ? sizeof v6 : sizeof v4) != 0) {
    GatewayAnswer answer;
    answer.problem =
        fmt::format("The KruxOS host does not answer on port {}: the operator starts it with kruxosd.", port_);
    return answer;
  }
  if (!call.begin(fd.get())) return broken_off();
  send(method, headers, body, fd.get());
  auto answer = read_answer(fd.get(), on_event);
  call.close();
  return answer;
}

void GatewayClient::send(std::string_view method, const GatewayHeaders& headers, std::string_view body, int fd) const {
  std::string head = fmt::format(
      "{} {} HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n"
      "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
      method, path_, port_, key_, body.size());
  for (const auto& [name, value] : headers) head += fmt::format("{}: {}\r\n", name, value);
  head += "\r\n";
  // The host may refuse before it has read all: its answer says why.
  if (send_all(fd, head)) send_all(fd, body);
}

void GatewayCall::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

bool GatewayCall::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool GatewayCall::begin(int fd) {
  const std::lock_guard lock(mutex_);
  fd_ = ended_ ? -1 : fd;
  return !ended_;
}

void GatewayCall::close() {
  const std::lock_guard lock(mutex_);
  fd_ = -1;
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
