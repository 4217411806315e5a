#include "host/process/service_manager.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>

#include "support/notify_socket.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("a service manager is told when the host serves, reads anew and stops") {
  const support::Scratch dir;
  const auto address = GENERATE_REF((dir.path() / "notify").string(), "@kruxos-test" + dir.path().filename().string());
  const support::NotifySocket ear(address);
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
  const support::NotifySocket ear(address);
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
  const support::NotifySocket ear(address);
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
  const support::NotifySocket ear(address);
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
