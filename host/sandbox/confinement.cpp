#include "host/sandbox/confinement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>

#include "core/util/text.hpp"
#include "host/sandbox/wire.hpp"

namespace krux {
namespace {

constexpr std::uint32_t kMostMissing = 16;
constexpr std::size_t kLongestMissing = 1024, kLargestReport = kMostMissing * (kLongestMissing + 8);
constexpr char kNoListener = 'n', kListener = 't';
using SteadyClock = std::chrono::steady_clock;

bool send_whole(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// False: its end, or the time is over.
bool readable(int socket, SteadyClock::time_point until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now()).count();
    if (left <= 0) return false;
    pollfd wait{socket, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool receive_whole(int socket, char* bytes, std::size_t size, SteadyClock::time_point until) {
  while (size > 0) {
    if (!readable(socket, until)) return false;
    const auto got = ::recv(socket, bytes, size, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// The first byte, and the descriptor that comes with it.
bool receive_listener(int socket, SteadyClock::time_point until, std::unique_ptr<Descriptor>& listener) {
  if (!readable(socket, until)) return false;
  char word = 0;
  iovec part{&word, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return false;
  const auto* header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    listener = std::make_unique<Descriptor>(fd);
  }
  if (word != (listener ? kListener : kNoListener)) throw BadFrame("Its first word is not about its confinement.");
  return true;
}

}  // namespace

std::vector<std::string> arguments_of(const Confinement& confinement) {
  return {confinement.required ? "required" : "wanted", std::to_string(confinement.memory_mb),
          std::to_string(confinement.open_files), std::to_string(confinement.processor_seconds),
          std::to_string(confinement.landlock_abi)};
}

std::optional<Confinement> confinement_from(int count, char** arguments) {
  if (count != kConfinementArguments) return std::nullopt;
  const std::string_view wish = arguments[0];
  if (wish != "required" && wish != "wanted") return std::nullopt;
  Confinement out;
  out.required = wish == "required";
  const auto number = [&](int at, auto& value) {
    const std::string_view text = arguments[at];
    const auto end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    return parsed.ec == std::errc() && parsed.ptr == end && value >= 0;
  };
  const bool fit = number(1, out.memory_mb) && number(2, out.open_files) && number(3, out.processor_seconds) &&
                   number(4, out.landlock_abi);
  return fit ? std::optional(out) : std::nullopt;
}

bool send_thread_listener(int socket, int threads) {
  char word = threads < 0 ? kNoListener : kListener;
  iovec part{&word, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (threads >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    auto* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &threads, sizeof(int));
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

bool send_missing(int socket, const std::vector<std::string>& missing) {
  WireWriter list;
  list.u32(static_cast<std::uint32_t>(missing.size()));
  for (const auto& part : missing) list.text(part);
  WireWriter whole;
  whole.text(list.bytes());
  return send_whole(socket, whole.bytes());
}

std::optional<ConfinementReport> receive_report(int socket, std::int64_t timeout_ms) {
  const auto until = SteadyClock::now() + std::chrono::milliseconds(timeout_ms);
  ConfinementReport report;
  char length[4];
  if (!receive_listener(socket, until, report.threads)) return std::nullopt;
  if (!receive_whole(socket, length, sizeof(length), until)) return std::nullopt;
  const auto size = WireReader(std::string_view(length, sizeof(length))).u32();
  if (size > kLargestReport) throw BadFrame("Its report on its confinement is too long.");
  std::string bytes(size, '\0');
  if (!receive_whole(socket, bytes.data(), bytes.size(), until)) return std::nullopt;
  WireReader in(bytes);
  const auto count = in.count(kMostMissing);
  for (std::uint32_t i = 0; i < count; ++i) report.missing.push_back(printable(in.text(kLongestMissing)));
  in.end();
  return report;
}

std::string refusal_of(const std::vector<std::string>& missing) {
  return fmt::format(
      "This machine does not confine the process of an adapter, and without that the code of a bundle is not run: {} "
      "Run "
      "the host on Linux 5.13 or newer with Landlock and seccomp, on x86-64 or arm64, and outside of a container that "
      "forbids them.",
      fmt::join(missing, " "));
}

}  // namespace krux
