#include "host/sandbox/confined_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

extern char** environ;

namespace krux {
namespace {

/// posix_spawn's two lists, with what every such program needs in them.
class SpawnPlan {
 public:
  SpawnPlan(int socket, int errors) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, kChildSocket);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    // A session of its own: what the operator's terminal sends to the host is the host's to pass on.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// The loader's, the sanitizers' and the time zone's settings; nothing else of the host's environment is its business.
std::vector<std::string> child_environment(const Confinement& confinement) {
  std::vector<std::string> out;
  for (char** at = environ; *at; ++at) {
    const std::string_view variable(*at);
    for (const auto name : {"LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS=", "TZ="}) {
      if (variable.starts_with(name)) out.emplace_back(variable);
    }
  }
#if defined(__SANITIZE_ADDRESS__)
  // Its shadow memory passes every limit that the kernel knows; it counts what is really used by itself.
  const auto at = std::find_if(out.begin(), out.end(), [](auto& text) { return text.starts_with("ASAN_OPTIONS="); });
  auto& options = at == out.end() ? out.emplace_back("ASAN_OPTIONS=") : *at;
  options += fmt::format(":hard_rss_limit_mb={}:detect_leaks=0", confinement.memory_mb);
#else
  static_cast<void>(confinement);
#endif
  return out;
}

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

ConfinedChild start_confined(const std::filesystem::path& program, const std::filesystem::path& plugin,
                             const Confinement& confinement) {
  ConfinedChild child;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("socketpair");
  child.socket = std::make_unique<Descriptor>(ends[0]);
  const Descriptor their_socket(ends[1]);
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw_errno("pipe");
  child.errors = std::make_unique<Descriptor>(ends[0]);
  const Descriptor their_errors(ends[1]);
  const SpawnPlan plan(their_socket.get(), their_errors.get());
  std::vector<std::string> arguments{program.string(), plugin.string()};
  for (auto& argument : arguments_of(confinement)) arguments.push_back(std::move(argument));
  auto environment = child_environment(confinement);
  const int error = posix_spawn(&child.pid, program.c_str(), &plan.actions, &plan.attributes,
                                pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) throw std::system_error(error, std::generic_category(), program.string());
  return child;
}

}  // namespace krux
