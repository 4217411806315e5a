#include "host/plugins/probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/json.hpp"

extern char** environ;

namespace krux {
namespace {

constexpr std::size_t kLargestAnswer = 2 << 20;

/// The loader's and the sanitizers' settings; nothing else of the host's environment is the plugin's business.
std::vector<char*> environment_for_probe() {
  std::vector<char*> out;
  for (char** at = environ; *at; ++at) {
    const std::string_view variable(*at);
    for (const auto name : {"LD_LIBRARY_PATH=", "PATH=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS="}) {
      if (variable.starts_with(name)) out.push_back(*at);
    }
  }
  out.push_back(nullptr);
  return out;
}

using Time = std::chrono::steady_clock::time_point;

class Child {
 public:
  Child(const std::filesystem::path& program, const std::filesystem::path& argument) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    out_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string name = program.string(), file = argument.string();
    char* arguments[] = {name.data(), file.data(), nullptr};
    const auto environment = environment_for_probe();
    const int error = posix_spawn(&pid_, name.c_str(), &actions, &attributes, arguments, environment.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    if (error == 0) return;
    close(out_);
    throw std::system_error(error, std::generic_category(), name);
  }
  ~Child() {
    close(out_);
    if (pid_ > 0) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Everything it writes until it closes its end; nothing when the time is over or it writes too much.
  std::optional<std::string> read_all(Time until) {
    std::string text;
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
      pollfd wait{out_, POLLIN, 0};
      if (left <= 0 || (poll(&wait, 1, static_cast<int>(left)) < 0 && errno != EINTR)) return std::nullopt;
      if (wait.revents == 0) continue;
      char part[16384];
      const auto got = read(out_, part, sizeof(part));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return text;
      text.append(part, static_cast<std::size_t>(got));
      if (text.size() > kLargestAnswer) return std::nullopt;
    }
  }

  /// Its wait status; nothing when it still runs at `until`.
  std::optional<int> wait(Time until) {
    while (std::chrono::steady_clock::now() < until) {
      if (const auto status = reap(WNOHANG)) return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return std::nullopt;
  }
  void end() {
    kill(pid_, SIGKILL);
    reap(0);
  }

 private:
  std::optional<int> reap(int flags) {
    int status = 0;
    pid_t got = 0;
    do {
      got = waitpid(pid_, &status, flags);
    } while (got < 0 && errno == EINTR);
    if (got == 0) return std::nullopt;
    pid_ = -1;
    return status;
  }

  pid_t pid_ = -1;
  int out_ = -1;
};

ProbeResult refused(std::string problem) {
  return {std::move(problem), {}, {}};
}

ProbeResult read_answer(std::string_view text) {
  const auto answer = parse_json(text, "the probe's answer", {kLargestAnswer, 4});
  if (const auto problem = find_string(answer, "problem")) return refused(std::string(*problem));
  const auto service = find_string(answer, "service"), prefix = find_string(answer, "prefix");
  const auto version = find_string(answer, "version"), description = find_string(answer, "describe");
  const auto minor = find_int(answer, "abi_minor");
  if (!service || !prefix || !version || !description || !minor) return refused("The probe's answer is incomplete.");
  return {{},
          {std::string(*service), std::string(*prefix), std::string(*version), static_cast<std::uint32_t>(*minor)},
          std::string(*description)};
}

}  // namespace

ProbeResult probe_plugin(const std::filesystem::path& file, const ProbeOptions& options) {
  const auto program = options.program.empty() ? find_helper("kruxos-plugin-probe") : options.program;
  if (program.empty()) return refused("kruxos-plugin-probe is missing beside the host; install it again.");
  try {
    Child child(program, file);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.timeout_ms);
    const auto text = child.read_all(until);
    const auto ended = text ? child.wait(until) : std::nullopt;
    if (!ended) {  // the destructor ends it
      return refused(fmt::format("It did not finish loading within {} seconds.", (options.timeout_ms + 999) / 1000));
    }
    const int status = *ended;
    if (WIFSIGNALED(status)) {
      return refused(fmt::format("It crashed while it was loaded ({}).", strsignal(WTERMSIG(status))));
    }
    if (text->empty())
      return refused(fmt::format("It ended the process that loaded it (exit code {}).", WEXITSTATUS(status)));
    return read_answer(*text);
  } catch (const std::system_error& e) {
    return refused(fmt::format("It could not be probed: {}.", e.what()));
  } catch (const Error& e) {
    return refused(fmt::format("The probe's answer makes no sense: {}", e.what()));
  }
}

std::filesystem::path find_helper(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  for (const auto& candidate : {self / name, self.parent_path() / "libexec/kruxos" / name}) {
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace krux
