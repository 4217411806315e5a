// What code in a sandbox tries, and what comes of it: as the user that runs the tests, and as an ordinary one.
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include "core/util/json.hpp"
#include "host/plugins/abi_bridge/limits.hpp"
#include "host/plugins/testdata/sandbox_rig.hpp"
#include "host/sandbox/confine.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using test::failed;
using test::good;
using test::landlock_abi;
using test::SandboxRig;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kOrdinaryUser = 65534;

void check_refused(const JsonValue& tries) {
  CHECK(tries.MemberCount() > 0);
  for (const auto& member : tries.GetObject()) {
    INFO(view(member.name));
    const auto word = view(member.value);
    CHECK((word == "EPERM" || word == "EACCES" || word == "ENOSYS"));
  }
}

void check_tries(const std::string& json) {
  const auto answer = parse_json(json, "what was tried");
  const auto* tries = find_member(answer, "tries");
  REQUIRE(tries);
  CHECK(tries->MemberCount() > 140);
  check_refused(*tries);
  const auto threads = find_int(answer, "threads").value();
  CHECK(threads > 20);
  CHECK(threads < 256);
}

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file that its owner alone may read, and everything about it.
struct Secret {
  explicit Secret(fs::path at) : file(std::move(at)) {
    std::ofstream(file) << "secret";
    chmod(file.c_str(), 0600);
  }
  void check_untouched() const {
    struct stat info {};
    REQUIRE(stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
    CHECK(contents(file) == "secret");
    for (const char* other : {".new", ".moved", ".link", ".symlink", ".dir", ".fifo"})
      CHECK_FALSE(fs::exists(file.string() + other));
  }
  const fs::path file;
};

/// On a free port of the loopback.
class Listener {
 public:
  Listener() {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(any);
    REQUIRE(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)) == 0);
    REQUIRE(listen(socket_.get(), 4) == 0);
    REQUIRE(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&any), &size) == 0);
    port = ntohs(any.sin_port);
  }
  bool was_reached() const { return accept(socket_.get(), nullptr, nullptr) >= 0; }
  int port = 0;

 private:
  const Descriptor socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
};

/// Runs `body` in a child process, without the test's threads. What it returned, or -1 where a signal ended it.
template <class Body>
int in_child(Body&& body) {
  const auto child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a library's constructor is confined before anybody has agreed to it", "[sandbox]") {
  const test::PluginDir dir;
  const Secret key(dir.path().string() + ".key");
  const Listener listener;
  dir.write("port", std::to_string(listener.port));
  auto options = test::options().probe;
  options.confinement.landlock_abi = landlock_abi();
  const auto result = probe_plugin(dir.add("grasping_constructor"), options);
  REQUIRE(result.problem == "");
  check_tries(result.describe_json);
  check_refused(*find_member(parse_json(result.describe_json, "what was tried"), "network"));
  CHECK_FALSE(listener.was_reached());
  key.check_untouched();
  fs::remove(key.file);
}

TEST_CASE("a library path that is relative opens nothing", "[sandbox]") {
  const test::PluginDir dir;
  const Secret key(dir.path().string() + ".key");
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  const std::string kept = before ? before : "";
  setenv("LD_LIBRARY_PATH", (".:..:lib:" + kept).c_str(), 1);
  const auto result = probe_plugin(dir.add("grasping_constructor"), test::options().probe);
  before ? setenv("LD_LIBRARY_PATH", kept.c_str(), 1) : unsetenv("LD_LIBRARY_PATH");
  REQUIRE(result.problem == "");
  check_tries(result.describe_json);
  fs::remove(key.file);
}

TEST_CASE("an adapter reaches no file, no process, no network and no memory of others", "[sandbox]") {
  const support::Scratch scratch;
  const Secret secret(scratch.path() / "secret");
  SandboxRig rig(landlock_abi());
  check_tries(good(rig.read("tries", secret.file.string())));
  secret.check_untouched();
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");  // and it still works
  CHECK(rig.status().restarts == 0);
}

TEST_CASE("an adapter's process is the first to be killed and the last to be served", "[sandbox]") {
  SandboxRig rig(landlock_abi());
  rig.made();
  CHECK(contents(fmt::format("/proc/{}/oom_score_adj", rig.pid())) == "1000\n");
  CHECK(getpriority(PRIO_PROCESS, static_cast<id_t>(rig.pid())) > getpriority(PRIO_PROCESS, 0));
  const auto status = contents(fmt::format("/proc/{}/status", rig.pid()));
  CHECK_THAT(status, Catch::Contains("NoNewPrivs:\t1") && Catch::Contains("CapEff:\t0000000000000000") &&
                         Catch::Contains("CapPrm:\t0000000000000000"));
}

TEST_CASE("threads that use the processor while nobody has asked for anything end the process", "[sandbox]") {
  SandboxRig rig(landlock_abi(), [](auto& options) { options.idle_allowance = {300, 0}; });
  good(rig.read("spin"));
  for (int i = 0; i < 1200 && rig.pid() != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(rig.pid() == 0);
  CHECK_THAT(rig.status().last_end, Catch::Contains("using the processor while no call was under way"));
  rig.wait_out();
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");
}

TEST_CASE("a flood of log lines is held back, and counted", "[sandbox]") {
  SandboxRig rig(landlock_abi(), [](auto& options) { options.log_allowance = {10, 64 * 1024, 1'000}; });
  good(rig.read("flood"));
  std::size_t told = 0;
  for (int i = 0; i < 600 && told == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    told = rig.take_logged("lines of this adapter were left out") ? 1 : 0;
  }
  CHECK(told == 1);
  CHECK(rig.logged() < 1'000);  // a busy machine takes more than one of these seconds
  const std::lock_guard lock(rig.mutex);
  for (const auto& line : rig.log) CHECK(line.size() <= limits::kLongestLogLine);
}

TEST_CASE("exit in an adapter ends its process at once, whatever its threads do", "[sandbox]") {
  const std::string how = GENERATE("exit", "exit_past_static", "quick_exit");
  CAPTURE(how);
  SandboxRig rig(landlock_abi());
  rig.made();
  std::vector<std::future<CallResult<std::string>>> calls;
  for (int i = 0; i < 32; ++i) calls.push_back(std::async(std::launch::async, [&] { return rig.read("pause"); }));
  for (auto& call : calls) good(call.get());
  auto hanging = std::async(std::launch::async, [&] { return rig.read("hang"); });
  while (!rig.take_logged("hanging")) std::this_thread::yield();
  auto leaving = std::async(std::launch::async, [&] { return rig.read(how); });
  const bool left = leaving.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  CHECK(left);
  if (!left) kill(rig.pid(), SIGKILL);
  CHECK(failed(hanging.get()).status == KRUX_INTERNAL);
  CHECK(failed(leaving.get()).status == KRUX_INTERNAL);
  CHECK_THAT(rig.status().last_end, Catch::Contains("exit code 3"));
}

TEST_CASE("where the kernel does not confine, the code of a bundle is not run", "[sandbox]") {
  const test::PluginDir dir;
  auto inspect = test::options();
  inspect.probe.confinement.landlock_abi = 0;
  // Its constructor would end the process, with other words.
  const auto probed = probe_plugin(dir.add("exiting_constructor"), inspect.probe);
  CHECK_THAT(probed.problem, Catch::Contains("does not confine") && Catch::Contains("has no Landlock"));

  PluginRegistry registry;
  registry.add(inspect_plugin(dir.add("unruly_adapter"), test::options()), Isolation::kProcess,
               PluginInfo::Origin::kBundle);
  SystemClock clock;
  AdapterRunners::Options options{KRUXOS_PLUGIN_RUNNER, {}, default_adapter_log(), 30'000};
  options.landlock_abi = 0;
  AdapterRunners runners(registry, clock, options, {});
  const auto call = std::make_shared<CallContext>(CallOwner{"unruly", "", 0, "", 0}, clock, clock.boot_ms() + 30'000);
  const auto refused = runners.find("unruly")->acquire(call);
  REQUIRE(std::holds_alternative<CallFailure>(refused));
  CHECK_THAT(std::get<CallFailure>(refused).message, Catch::Contains("has no Landlock"));
}

TEST_CASE("where the kernel does not confine, an adapter of the plugins directory is run with a warning", "[sandbox]") {
  const test::PluginDir dir;
  auto options = test::options().probe;
  options.confinement.landlock_abi = 0;
  options.confinement.required = false;
  const auto probed = probe_plugin(dir.add("unruly_adapter"), options);
  CHECK(probed.problem == "");
  REQUIRE(probed.unconfined.size() == 1);
  CHECK_THAT(probed.unconfined[0], Catch::Contains("has no Landlock"));
  SandboxRig rig(0);
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");
}

TEST_CASE("a system call that is not listed does not reach the kernel, whatever its number", "[sandbox]") {
  const int passed = in_child([] {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!filter_system_calls(Filter::kLoading).empty()) return 1;
    for (long call = 0; call < 1024; ++call) {
      if (is_listed(call) || call == 335 || call == 336)
        continue;  // x86-64: probes, which the kernel takes past filters
      errno = 0;
      if (syscall(call, -1, -1, -1, -1, -1, -1) != -1 || (errno != EPERM && errno != ENOSYS)) return 2;
    }
    return 42;
  });
  CHECK(passed == 42);
}

TEST_CASE("Landlock's scopes hold signals back by themselves, where the kernel has them", "[sandbox]") {
  constexpr int kSignalsAbi = 6;
  const auto newest = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  const auto signals_parent = [](int abi) {
    return in_child([abi] {
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      if (!restrict_by_landlock("/usr", abi).empty()) return 1;
      return kill(getppid(), 0) == 0 ? 2 : 42;
    });
  };
  CHECK(signals_parent(2) == 2);  // there the filter of system calls is all there is
  if (newest >= kSignalsAbi) CHECK(signals_parent(kSignalsAbi) == 42);
}

TEST_CASE("all of this holds for an ordinary user without capabilities") {
  if (geteuid() != 0) return;  // it has been one all along
  const auto self = fs::read_symlink("/proc/self/exe").string();
  const support::Scratch scratch;
  const auto log = (scratch.path() / "log").string();
  const Descriptor out(open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const int ended = in_child([&] {
    if (setgroups(0, nullptr) != 0 || setresgid(kOrdinaryUser, kOrdinaryUser, kOrdinaryUser) != 0 ||
        setresuid(kOrdinaryUser, kOrdinaryUser, kOrdinaryUser) != 0)
      return 1;
    dup2(out.get(), STDOUT_FILENO);
    dup2(out.get(), STDERR_FILENO);
    const char* const arguments[] = {self.c_str(), "[sandbox]", nullptr};
    execv(self.c_str(), const_cast<char* const*>(arguments));
    return 2;
  });
  INFO(contents(log));
  CHECK(ended == 0);
}

}  // namespace KRUXOS_TEST_FILE
