// A service manager's socket, for tests: what a process tells it.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "core/util/descriptor.hpp"

namespace support {

class NotifySocket {
 public:
  /// An absolute path, or "@name" in the abstract namespace.
  explicit NotifySocket(const std::string& address) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, address.data(), address.size());
    if (address[0] == '@') at.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0)
      throw std::runtime_error("bind() to " + address + ": " + std::strerror(errno));
  }

  /// The next message, or "nothing" when none comes in time.
  std::string next(int timeout_ms = 0) const {
    pollfd ready{socket_.get(), POLLIN, 0};
    if (poll(&ready, 1, timeout_ms) != 1) return "nothing";
    std::array<char, 4096> bytes{};
    const auto length = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(length < 0 ? 0 : length)};
  }

 private:
  krux::Descriptor socket_;
};

}  // namespace support
