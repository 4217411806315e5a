// slack-emulator: Slack's Web API on 127.0.0.1, for tests and demonstrations. test/emulators/README.md.
#include "emulators/common/program.hpp"
#include "emulators/slack/api.hpp"
#include "emulators/slack/control.hpp"

namespace {

using namespace krux::test::slack;

void describe_workspace(CLI::App& app, Settings& settings) {
  app.add_option("--token", settings.tokens,
                 "TOKEN[@USER[@TEAM]][:scope,scope] (repeatable); without scopes: all of them");
  app.add_option("--team-id", settings.team.id);
  app.add_option("--team-name", settings.team.name);
  app.add_option("--team-domain", settings.team.domain);
  app.add_option("--bot-user", settings.bot.user_id, "user id that bot tokens act as");
  app.add_option("--bot-name", settings.bot.user_name);
  app.add_option("--bot-id", settings.bot.bot_id);
  app.add_option("--app-id", settings.bot.app_id);
  app.add_option("--oauth-client", settings.oauth_clients,
                 "id=ID,secret=S,kind=classic|pkce,redirect=URL[,rotation] (repeatable)");
  app.add_option("--oauth-person", settings.oauth_people, "USER[@TEAM] that the page of consent offers (repeatable)");
}

struct Emulator {
  Emulator(const Settings& settings, RunLater run_later)
      : state(settings), api(state, std::move(run_later)), control(state, api) {}

  State state;
  Api api;
  Control control;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Slack's Web API on the loopback interface, for tests", "slack-emulator");
  ProgramOptions options;
  Settings settings;
  describe(app, options);
  describe_workspace(app, settings);
  return run_program(app, argc, argv, options, 4u << 20, [&](RunLater run_later, std::uint16_t) {
    if (settings.tokens.empty()) settings.tokens.push_back("xoxb-test-token");
    settings.clock = options.clock();
    settings.latency_ms = options.latency_ms;
    auto emulator = std::make_shared<Emulator>(settings, std::move(run_later));
    return [emulator](const HttpRequest& request, std::shared_ptr<Responder> responder) {
      if (request.path.rfind("/_emulator/", 0) == 0) return responder->answer(emulator->control.handle(request));
      emulator->api.handle(request, std::move(responder));
    };
  });
}
