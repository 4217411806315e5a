// What the emulators' programs have in common: their port, their clock, their end.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "emulators/common/emulator_clock.hpp"
#include "emulators/common/http_server.hpp"

namespace krux::test::emulator {

struct ProgramOptions {
  std::uint16_t port = 0;
  std::string port_file;
  std::string clock_kind = "real";
  std::int64_t start_ms = 1700000000000;
  std::int64_t latency_ms = 0;
  bool die_with_parent = false;

  EmulatorClock clock() const {
    return clock_kind == "driven" ? EmulatorClock::driven(start_ms) : EmulatorClock::real();
  }
};

// --port, --port-file, --clock, --start-ms, --latency-ms and --die-with-parent.
void describe(CLI::App& app, ProgramOptions& options);

// Parses, listens, prints "ready http://127.0.0.1:PORT" and serves with the handler that `make` gives until SIGTERM or
// SIGINT. Returns the program's status.
int run_program(CLI::App& app, int argc, char** argv, const ProgramOptions& options, std::size_t max_body,
                const std::function<HttpServer::Handler(RunLater, std::uint16_t port)>& make);

}  // namespace krux::test::emulator
