// A host for tests: what `kruxos test-host` becomes. docs/testing.md says what it is given and what it says.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "core/util/text.hpp"
#include "host/test_host/test_host.hpp"

namespace {

constexpr std::size_t kLongestLine = 4096;

/// Those of hosts that are used otherwise are none of this one.
void forget_settings() {
  std::vector<std::string> names;
  for (char** at = environ; *at; ++at) {
    const std::string_view one(*at);
    if (one.starts_with("KRUXOS_")) names.emplace_back(one.substr(0, one.find('=')));
  }
  for (const auto& name : names) ::unsetenv(name.c_str());
}

int open_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// /dev/null is what a shell gives to programs in the background: its end means nothing.
bool is_watched() {
  struct stat input {
  }, null{};
  return ::fstat(STDIN_FILENO, &input) == 0 &&
         !(::stat("/dev/null", &null) == 0 && S_ISCHR(input.st_mode) && input.st_rdev == null.st_rdev);
}

void say(const std::string& json) {
  fmt::print("{}\n", json);
  std::fflush(stdout);
}

class Standard {
 public:
  explicit Standard(krux::TestHost& host) : host_(host) {}

  /// Carries out what has come; false: standard input has ended.
  bool read() {
    char bytes[4096];
    const auto got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got == 0) return false;
    unread_.append(bytes, static_cast<std::size_t>(got));
    for (auto end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
      const auto line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      if (!line.empty()) say(host_.run(line));
    }
    return unread_.size() <= kLongestLine;
  }

 private:
  krux::TestHost& host_;
  std::string unread_;
};

/// Until it is told to end, in one of the ways.
int serve(krux::TestHost& host, int signals) {
  Standard standard(host);
  pollfd sources[] = {{signals, POLLIN, 0}, {is_watched() ? STDIN_FILENO : -1, POLLIN, 0}};
  for (;;) {
    if (::poll(sources, 2, -1) < 0 && errno != EINTR) return 1;
    if (sources[1].revents != 0 && !standard.read()) return 0;
    signalfd_siginfo info{};
    while (::read(signals, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD) return 0;
    }
    if (const auto end = host.unexpected_end(); !end.empty()) {
      fmt::print(stderr, "kruxos test-host: The host has ended by itself. {}\n", end);
      return 1;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  krux::cli::TestHostOptions options;
  CLI::App app{"A host for tests, on free ports and in a directory of its own."};
  app.name("kruxos test-host");
  krux::cli::add_test_host_options(app, options);
  CLI11_PARSE(app, argc, argv);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::umask(077);
  ::signal(SIGPIPE, SIG_IGN);
  forget_settings();
  const int signals = open_signals();
  try {
    if (sodium_init() < 0) throw std::runtime_error("libsodium could not be initialised.");
    krux::TestHost host(options);
    say(host.ready_json());
    return serve(host, signals);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kruxos test-host: {}\n", krux::printable(error.what()));
    return 1;
  }
}
