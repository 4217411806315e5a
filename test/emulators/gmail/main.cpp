// gmail-emulator: the Gmail API on 127.0.0.1, for tests and demonstrations. test/emulators/README.md.
#include "emulators/common/program.hpp"
#include "emulators/gmail/api.hpp"
#include "emulators/gmail/control.hpp"

namespace {

using namespace krux::test::gmail;

struct Emulator {
  Emulator(const Settings& settings, RunLater run_later)
      : state(settings), api(state, std::move(run_later)), control(state, api) {}

  State state;
  Api api;
  Control control;
};

// A mail of the largest size in base64 within JSON, and some room.
constexpr std::size_t kMaxBody = 64u << 20;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The Gmail API on the loopback interface, for tests", "gmail-emulator");
  ProgramOptions options;
  Settings settings;
  describe(app, options);
  app.add_option("--address", settings.address, "address of the first mailbox");
  app.add_option("--token", settings.tokens,
                 "TOKEN[@ADDRESS][:scope,scope][;expires_ms=N] (repeatable); without scopes: all of them");
  app.add_option("--oauth-client", settings.oauth_clients,
                 "id=ID,secret=S,kind=desktop|web,redirect=URL[,rotation] (repeatable)");
  return run_program(app, argc, argv, options, kMaxBody, [&](RunLater run_later, std::uint16_t) {
    if (settings.tokens.empty()) settings.tokens.push_back("ya29.test-token");
    settings.clock = options.clock();
    settings.latency_ms = options.latency_ms;
    auto emulator = std::make_shared<Emulator>(settings, std::move(run_later));
    return [emulator](const HttpRequest& request, std::shared_ptr<Responder> responder) {
      if (request.path.rfind("/_emulator/", 0) == 0) return responder->answer(emulator->control.handle(request));
      emulator->api.handle(request, std::move(responder));
    };
  });
}
