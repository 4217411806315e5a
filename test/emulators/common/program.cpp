#include "emulators/common/program.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace krux::test::emulator {

void describe(CLI::App& app, ProgramOptions& options) {
  app.add_option("--port", options.port, "port on 127.0.0.1; 0 takes a free one");
  app.add_option("--port-file", options.port_file, "write the port to this file once it is listening");
  app.add_option("--clock", options.clock_kind, "real or driven")->check(CLI::IsMember({"real", "driven"}));
  app.add_option("--start-ms", options.start_ms, "where a driven clock starts, Unix milliseconds");
  app.add_option("--latency-ms", options.latency_ms, "real time before every answer of the API");
  app.add_flag("--die-with-parent", options.die_with_parent, "end when the process that started this one ends");
}

int run_program(CLI::App& app, int argc, char** argv, const ProgramOptions& options, std::size_t max_body,
                const std::function<HttpServer::Handler(RunLater, std::uint16_t port)>& make) {
  const pid_t parent = getppid();
  CLI11_PARSE(app, argc, argv);
  if (options.die_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) return 0;
  }
  signal(SIGPIPE, SIG_IGN);
  try {
    HttpServer server(options.port, max_body);
    HttpServer::Handler handler = make(server.run_later(), server.port());
    if (!options.port_file.empty()) std::ofstream(options.port_file) << server.port() << "\n";
    fmt::print("ready http://127.0.0.1:{}\n", server.port());
    std::fflush(stdout);
    server.run(std::move(handler));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    return 1;
  }
  return 0;
}

}  // namespace krux::test::emulator
