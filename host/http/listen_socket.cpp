#include "host/http/listen_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "core/util/descriptor.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr int kBacklog = 4096;  // as far as the system lets it be: those who come in a burst wait, and are not dropped

std::string reason(int error) {
  return std::generic_category().message(error);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    throw ConfigError(fmt::format("Cannot listen on \"{}\": {}. Set server.host to an address of this machine.", host,
                                  gai_strerror(error)));
  }
  return {found, &freeaddrinfo};
}

sockaddr_storage local_address(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address;
}

/// Whether something answers at this path; a socket file alone says nothing.
bool is_served(const sockaddr_un& address) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
}

void remove_stale(const std::filesystem::path& path, const sockaddr_un& address) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return;
  if (!S_ISSOCK(found.st_mode)) {
    throw ConfigError(fmt::format("\"{}\" is in the way: it is not a socket. Move it away or choose another data_dir.",
                                  path.string()));
  }
  if (is_served(address)) {
    throw ConfigError(
        fmt::format("Another host answers on \"{}\". Stop it or choose another data_dir.", path.string()));
  }
  ::unlink(path.c_str());
}

std::string address_text(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text.data(), text.size());
  } else if (address.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text.data(), text.size());
  }
  return text.data();
}

}  // namespace

int listen_on_tcp(const std::string& host, std::uint16_t port) {
  const auto addresses = resolve(host, port);
  Descriptor fd(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  const int one = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (::bind(fd.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    throw ConfigError(fmt::format("Cannot listen on {} port {}: {}. Choose another port, or end what uses this one.",
                                  host, port, reason(errno)));
  }
  return fd.release();
}

int listen_on_unix(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = path.string();
  if (name.size() >= sizeof address.sun_path) {
    throw ConfigError(fmt::format("\"{}\" is too long for a socket: {} bytes, at most {}. Choose a shorter data_dir.",
                                  name, name.size(), sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  remove_stale(path, address);
  Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Linux gives the file the mode of the socket itself, so that it is set before the file exists.
  if (::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    throw ConfigError(
        fmt::format("Cannot listen on \"{}\": {}. The data_dir must exist and be ours to write.", name, reason(errno)));
  }
  return fd.release();
}

std::uint16_t bound_port(int socket) {
  const auto address = local_address(socket);
  const auto port = address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                                  : reinterpret_cast<const sockaddr_in&>(address).sin_port;
  return ntohs(port);
}

bool is_bound_to_loopback(int socket) {
  const auto address = local_address(socket);
  if (address.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
}

Peer peer_of(int socket) {
  Peer peer;
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return peer;
  peer.local = address.ss_family == AF_UNIX;
  if (!peer.local) {
    peer.address = address_text(address);
    return peer;
  }
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
    peer.uid = credentials.uid;
    peer.pid = credentials.pid;
  }
  return peer;
}

}  // namespace krux
