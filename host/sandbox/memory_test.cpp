// What an adapter's process may hold, and how the host sees it where the kernel does not.
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>

#include "host/plugins/testdata/sandbox_rig.hpp"
#include "host/sandbox/process_watch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using test::good;
using test::landlock_abi;
using test::SandboxRig;

namespace {

/// Runs `body`, which does not return, in a child process that ends with this object.
struct ChildProcess {
  explicit ChildProcess(const std::function<void()>& body) : pid(fork()) {
    if (pid == 0) body();
  }
  ~ChildProcess() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  const pid_t pid;
};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("address space is bounded as well", "[sandbox]") {
  SandboxRig rig(landlock_abi());
  CHECK(good(rig.read("reserve")) == R"({"reserved":false})");
}

TEST_CASE("memory that was made read-only counts", "[sandbox]") {
  SandboxRig rig(landlock_abi(), [](auto& options) { options.limits["unruly"] = {160, 64}; });
  rig.crash("hide");
  CHECK_THAT(rig.status().last_end, Catch::Contains("runner.memory_mb") && Catch::Contains("160 are allowed"));
  rig.wait_out();
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");
}

TEST_CASE("a constructor that takes memory is ended before anybody has agreed to it", "[sandbox]") {
  const test::PluginDir dir;
  auto options = test::options().probe;
  options.confinement.memory_mb = 160;
  const auto result = probe_plugin(dir.add("hoarding_constructor"), options);
  CHECK_THAT(result.problem, Catch::Contains("runner.memory_mb") && Catch::Contains("160 are allowed"));
}
#endif

TEST_CASE("a process that goes on without its first thread is ended", "[sandbox]") {
  SandboxRig rig(landlock_abi());
  rig.crash("leave");
  CHECK_THAT(rig.status().last_end, Catch::Contains("without its first thread"));
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("what a process holds is counted, whatever may be done with it", "[sandbox]") {
  const Descriptor ready(eventfd(0, EFD_CLOEXEC));
  const ChildProcess child([&] {
    for (const int access : {PROT_READ, PROT_NONE, PROT_READ | PROT_WRITE}) {
      void* const at = mmap(nullptr, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(at, 1, 64 << 20);
      mprotect(at, 64 << 20, access);
    }
    eventfd_write(ready.get(), 1);
    for (;;) pause();
  });
  eventfd_t done = 0;
  REQUIRE(eventfd_read(ready.get(), &done) == 0);
  const auto held = use_of(child.pid).value().memory >> 20;
  CHECK(held >= 192);
  CHECK_THAT(ProcessWatch(child.pid, held - 1).excess(), Catch::Contains("runner.memory_mb"));
  CHECK(ProcessWatch(child.pid, held + 64).excess() == "");
}
#endif

}  // namespace KRUXOS_TEST_FILE
