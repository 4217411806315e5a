#include "host/process/service_manager.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/util/descriptor.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr time_t kTellSeconds = 5;

}  // namespace

ServiceManager::ServiceManager(std::string address) : address_(std::move(address)) {}

ServiceManager ServiceManager::from_environment() {
  const char* given = std::getenv("NOTIFY_SOCKET");
  ServiceManager manager(given ? given : "");
  unsetenv("NOTIFY_SOCKET");
  return manager;
}

void ServiceManager::ready(std::string_view status) {
  tell(fmt::format("READY=1\nSTATUS={}", printable(status)));
}
void ServiceManager::reloading(std::int64_t monotonic_us) {
  tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_us));
}
void ServiceManager::stopping(std::string_view status) {
  tell(fmt::format("STOPPING=1\nSTATUS={}", printable(status)));
}

void ServiceManager::tell(const std::string& lines) {
  trouble_.clear();
  if (address_.empty()) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if ((address_[0] != '/' && address_[0] != '@') || address_.size() < 2 || address_.size() >= sizeof to.sun_path) {
    trouble_ = fmt::format(
        "NOTIFY_SOCKET is \"{}\", which is neither an absolute path nor @ and a name: the service manager is not told "
        "that the host serves.",
        printable(address_));
    return;
  }
  std::memcpy(to.sun_path, address_.data(), address_.size());
  if (address_[0] == '@') to.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // A busy manager is waited for: one that never hears of READY=1 takes the start for failed.
  const timeval limit{.tv_sec = kTellSeconds, .tv_usec = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const auto sent =
      sendto(socket.get(), lines.data(), lines.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), size);
  if (sent != static_cast<ssize_t>(lines.size())) {
    trouble_ =
        fmt::format("The service manager at {} could not be told: {}.", printable(address_), std::strerror(errno));
  }
}

}  // namespace krux
