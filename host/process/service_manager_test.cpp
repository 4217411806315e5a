#include "host/process/service_manager.hpp"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>

#include "core/util/descriptor.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// What a manager hears at its socket.
class Ear {
 public:
  explicit Ear(const std::string& address) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, address.data(), address.size());
    if (address[0] == '@') at.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    REQUIRE(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&at), size) == 0);
  }
  /// The next message; "nothing" when there is none.
  std::string next() const {
    std::array<char, 4096> bytes{};
    const auto length = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return length < 0 ? "nothing" : std::string(bytes.data(), static_cast<std::size_t>(length));
  }

 private:
  Descriptor socket_;
};

}  // namespace

TEST_CASE("a service manager is told when the host serves, reads anew and stops") {
  const support::Scratch dir;
  const auto address = GENERATE_REF((dir.path() / "notify").string(), "@kruxos-test" + dir.path().filename().string());
  const Ear ear(address);
  ServiceManager manager(address);
  manager.ready("ready http://127.0.0.1:7700");
  CHECK(ear.next() == "READY=1\nSTATUS=ready http://127.0.0.1:7700");
  manager.reloading(1'234'567);
  CHECK(ear.next() == "RELOADING=1\nMONOTONIC_USEC=1234567");
  manager.stopping("stopping");
  CHECK(ear.next() == "STOPPING=1\nSTATUS=stopping");
  CHECK(ear.next() == "nothing");
  CHECK(manager.trouble().empty());
}

TEST_CASE("a status is one line, whatever stands in it") {
  const support::Scratch dir;
  const auto address = (dir.path() / "notify").string();
  const Ear ear(address);
  ServiceManager(address).ready("a\nMAINPID=1");
  CHECK(ear.next() == "READY=1\nSTATUS=a\\nMAINPID=1");
}

TEST_CASE("where no manager asks to be told, nothing happens") {
  unsetenv("NOTIFY_SOCKET");
  auto manager = ServiceManager::from_environment();
  manager.ready("ready");
  CHECK(manager.trouble().empty());
}

TEST_CASE("the manager's socket is the host's alone: what it starts does not inherit it") {
  const support::Scratch dir;
  const auto address = (dir.path() / "notify").string();
  const Ear ear(address);
  setenv("NOTIFY_SOCKET", address.c_str(), 1);
  auto manager = ServiceManager::from_environment();
  CHECK(getenv("NOTIFY_SOCKET") == nullptr);
  manager.ready("x");
  CHECK(ear.next() == "READY=1\nSTATUS=x");
}

TEST_CASE("a manager that cannot be told is named, and told the next time if it can be") {
  const support::Scratch dir;
  const auto address = (dir.path() / "notify").string();
  ServiceManager manager(address);
  manager.ready("x");
  CHECK(manager.trouble() == "The service manager at " + address + " could not be told: No such file or directory.");
  const Ear ear(address);
  manager.stopping("x");
  CHECK(manager.trouble().empty());
}

TEST_CASE("an address of another kind is refused with a sentence") {
  const auto address = GENERATE(as<std::string>{}, "notify", "vsock:2:1234", "@", "/", "/" + std::string(107, 'x'));
  ServiceManager manager(address);
  manager.ready("x");
  CHECK(manager.trouble() == "NOTIFY_SOCKET is \"" + address +
                                 "\", which is neither an absolute path nor @ and a name: the service manager is not "
                                 "told that the host serves.");
}

}  // namespace KRUXOS_TEST_FILE
