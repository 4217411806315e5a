// slack-emulator: Slack's Web API on 127.0.0.1, for tests and demonstrations. test/emulators/README.md.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "emulators/slack/api.hpp"
#include "emulators/slack/control.hpp"
#include "emulators/slack/http_server.hpp"

namespace {

using namespace krux::test::slack;

struct Options {
  Settings settings;
  std::uint16_t port = 0;
  std::string port_file;
  std::string clock = "real";
  std::int64_t start_ms = 1700000000000;
  bool die_with_parent = false;
};

void describe(CLI::App& app, Options& options) {
  Settings& settings = options.settings;
  app.add_option("--port", options.port, "port on 127.0.0.1; 0 takes a free one");
  app.add_option("--port-file", options.port_file, "write the port to this file once it is listening");
  app.add_option("--token", settings.tokens,
                 "TOKEN[@USER[@TEAM]][:scope,scope] (repeatable); without scopes: all of them");
  app.add_option("--team-id", settings.team.id);
  app.add_option("--team-name", settings.team.name);
  app.add_option("--team-domain", settings.team.domain);
  app.add_option("--bot-user", settings.bot.user_id, "user id that bot tokens act as");
  app.add_option("--bot-name", settings.bot.user_name);
  app.add_option("--bot-id", settings.bot.bot_id);
  app.add_option("--app-id", settings.bot.app_id);
  app.add_option("--clock", options.clock, "real or driven")->check(CLI::IsMember({"real", "driven"}));
  app.add_option("--start-ms", options.start_ms, "where a driven clock starts, Unix milliseconds");
  app.add_option("--latency-ms", settings.latency_ms, "real time before every answer of the API");
  app.add_flag("--die-with-parent", options.die_with_parent, "end when the process that started this one ends");
}

void serve(const Options& options) {
  HttpServer server(options.port);
  State state(options.settings);
  Api api(state, server.run_later());
  Control control(state, api);
  if (!options.port_file.empty()) std::ofstream(options.port_file) << server.port() << "\n";
  fmt::print("ready http://127.0.0.1:{}\n", server.port());
  std::fflush(stdout);
  server.run([&](const HttpRequest& request, std::shared_ptr<Responder> responder) {
    if (request.path.rfind("/_emulator/", 0) == 0) return responder->answer(control.handle(request));
    api.handle(request, std::move(responder));
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Slack's Web API on the loopback interface, for tests", "slack-emulator");
  Options options;
  const pid_t parent = getppid();
  describe(app, options);
  CLI11_PARSE(app, argc, argv);
  if (options.settings.tokens.empty()) options.settings.tokens.push_back("xoxb-test-token");
  if (options.clock == "driven") options.settings.clock = EmulatorClock::driven(options.start_ms);
  if (options.die_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) return 0;
  }
  signal(SIGPIPE, SIG_IGN);
  try {
    serve(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "slack-emulator: {}\n", error.what());
    return 1;
  }
  return 0;
}
