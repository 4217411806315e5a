// An OAuth 2.0 provider for emulators: the consent page, the token endpoint, what tests turn and look at. An emulator
// asks it first for every request, and asks it about tokens that it does not know itself. One thread.
#pragma once

#include <functional>
#include <memory>

#include "emulators/common/emulator_clock.hpp"
#include "emulators/common/json_out.hpp"
#include "emulators/common/performer.hpp"
#include "emulators/oauth/grants.hpp"

namespace krux::test::oauth {

struct World;

struct ProviderSettings {
  Flavour flavour = Flavour::google;
  // "id=ID,secret=S,kind=desktop|web|classic|pkce,redirect=URL,rotation": what --oauth-client takes. None: a client
  // that does (default_clients()).
  std::vector<std::string> clients;
  std::function<std::vector<Person>()> people;  // asked whenever a page is shown
  Scopes known_scopes;                          // empty: any
  std::string bot_user, app_id;                 // Slack's
};

// What a token opens.
struct TokenInfo {
  TokenState state = TokenState::unknown;
  bool is_refresh = false;
  Speaker speaker = Speaker::user;
  Person person;
  Scopes scopes;
  std::string client;
};

class Provider {
 public:
  // The clock must outlive it. Throws std::invalid_argument when a client is described wrongly.
  Provider(ProviderSettings settings, const emulator::EmulatorClock& clock);
  ~Provider();

  // What to note of the request and what to do for it; nothing when its path is none of the provider's. The work may
  // be run later, but not after the provider has gone.
  struct Route {
    emulator::CallRecord record;
    emulator::Work work;
  };
  std::optional<Route> route(const emulator::HttpRequest& request);
  // The names under which its endpoints are noted and under which faults find them.
  static const std::vector<std::string>& methods(Flavour flavour);

  TokenInfo find(const std::string& token) const;
  // As auth.revoke does, by a Slack token of either kind. False: it does not work anyway.
  bool revoke(const std::string& token);

  // POST /_emulator/oauth and GET /_emulator/oauth: see test/emulators/README.md. False: `problem` says what is wrong.
  bool act(const rapidjson::Value& document, emulator::JsonOut& out, std::string& problem);
  void write(emulator::JsonOut& out) const;
  // Back to the start: no grants, the first clients, nothing turned.
  void reset();

 private:
  ProviderSettings settings_;
  const emulator::EmulatorClock& clock_;
  std::unique_ptr<World> world_;
};

// Without any --oauth-client. Google: "krux-test.apps.googleusercontent.com" (desktop), secret "GOCSPX-krux-test".
// Slack: "1111.2222" (classic), secret "classic-secret", redirect https://localhost:8081/oauth/callback; "3333.4444"
// (pkce), redirect http://localhost:8081/oauth/callback.
std::vector<std::string> default_clients(Flavour flavour);
// Nothing: `problem` says what is wrong with it.
std::optional<Client> read_client(const std::string& description, std::string& problem);

}  // namespace krux::test::oauth
