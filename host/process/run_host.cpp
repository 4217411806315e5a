#include "host/process/run_host.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "core/storage/database.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/process/config_check.hpp"
#include "host/process/descriptor_limit.hpp"
#include "host/process/host_options.hpp"
#include "host/process/host_process.hpp"
#include "host/process/logging.hpp"

namespace krux {
namespace {

constexpr std::int64_t kStopMs = 5'000;

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** at = environ; *at; ++at) all.emplace_back(*at);
  return all;
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

/// Serves until told to stop.
void serve(HostProcess& host, const sigset_t& signals) {
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal != SIGHUP) return;
    host.reload();
  }
}

/// Without static destructors and atexit(): those of the adapters in this process are theirs, and may never come back.
[[noreturn]] void leave(int code) {
  spdlog::default_logger()->flush();
  std::fflush(stdout);  // these two alone: another stream may be locked by a thread that reads it
  std::fflush(stderr);
  _exit(code);
}

int run(const HostCommandLine& line, Clock& clock, const std::function<void()>& on_ready, const sigset_t& signals) {
  auto config = load_config(line.config_file, environment(), line.settings);
  config.held = line.held;
  check_paths(config);
  if (line.check_only) {
    check_configuration(config);
    fmt::print("The configuration is in order.\n");
    return 0;
  }
  configure_logging(config.log.level, config.log.json);
  configure_sqlite();
  HostProcess host(config, clock);
  fmt::print("{}\n", host.ready_line());
  std::fflush(stdout);
  spdlog::info("{}", host.ready_line());
  if (on_ready) on_ready();
  serve(host, signals);
  spdlog::info("stopping");
  if (!host.stop(kStopMs)) {
    // All that was acknowledged is committed; what is left is memory that a hanging adapter may still use.
    spdlog::warn("an adapter's call did not return; the process ends without it");
    leave(0);
  }
  return 0;
}

}  // namespace

int run_host(int argc, char** argv, Clock& clock, const std::function<void()>& on_ready) {
  HostCommandLine line;
  CLI::App app;
  add_host_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  // Memory holds tokens: no core dumps, no ptrace by others of the same user, no files for others.
  prctl(PR_SET_DUMPABLE, 0);
  umask(077);
  raise_descriptor_limit();
  // Both become errors of the write that caused them.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // Blocked before the first thread is made, so that all threads inherit it and sigwait() alone gets them.
  const auto signals = handled_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    if (sodium_init() < 0) throw ConfigError("libsodium could not be initialised: the system gives no random numbers.");
    leave(run(line, clock, on_ready, signals));
  } catch (const std::exception& error) {
    // Whatever was said before, also of a store that would go on by itself: nothing does any more.
    fmt::print(stderr, "kruxosd: {} The host has ended.\n", printable(error.what()));
    leave(1);
  }
}

}  // namespace krux
