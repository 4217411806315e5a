// Everything one provider has, and its endpoints as functions over it.
#pragma once

#include <functional>

#include "emulators/common/emulator_clock.hpp"
#include "emulators/common/performer.hpp"
#include "emulators/oauth/grants.hpp"

namespace krux::test::oauth {

struct World {
  World(Flavour the_flavour, const emulator::EmulatorClock& the_clock)
      : flavour(the_flavour), clock(the_clock), grants(flavour, behaviour) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Flavour flavour;
  const emulator::EmulatorClock& clock;
  std::function<std::vector<Person>()> people;  // whom the page lets the browser's user be
  Scopes known_scopes;                          // others are refused; empty: any scope is known
  std::string bot_user, app_id;                 // Slack's
  std::vector<Client> clients;
  Behaviour behaviour;
  Counters counters;
  Grants grants;

  const Client* client(const std::string& id) const {
    for (const Client& known : clients) {
      if (known.id == id) return &known;
    }
    return nullptr;
  }
};

// The page of consent, and what follows from what was chosen there. `posted`: the page's form.
emulator::Performed authorize(World& world, const Fields& fields, bool posted, bool user_only, const std::string& path);

// Who calls a token endpoint: `client_id` and `client_secret` of the form or of HTTP Basic.
struct Caller {
  std::string id, secret;
  bool has_secret = false;
};
Caller read_caller(const Fields& form, const std::string& authorization);

emulator::Performed google_token(World& world, const Fields& form, const Caller& caller);
emulator::Performed google_revoke(World& world, const Fields& form);
// oauth.v2.access, and with `user_only` oauth.v2.user.access.
emulator::Performed slack_access(World& world, const Fields& form, const Caller& caller, bool user_only);
// auth.revoke. False: no such token works.
bool slack_revoke(World& world, const std::string& token);

// The word with which the next refresh is refused because a test wants it so; counts it.
std::optional<std::string> wanted_refusal(World& world);

}  // namespace krux::test::oauth
