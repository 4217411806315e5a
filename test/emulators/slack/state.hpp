// Everything an emulator knows, in one place: the API works on it, the control plane looks at it and changes it.
#pragma once

#include <optional>

#include "emulators/common/emulator_clock.hpp"
#include "emulators/common/faults.hpp"
#include "emulators/common/journal.hpp"
#include "emulators/oauth/provider.hpp"
#include "emulators/slack/behaviour.hpp"
#include "emulators/slack/limits.hpp"
#include "emulators/slack/tokens.hpp"
#include "emulators/slack/workspace.hpp"

namespace krux::test::slack {

struct Settings {
  Team team;
  Bot bot;
  std::vector<std::string> tokens;  // as Tokens::add takes them
  EmulatorClock clock = EmulatorClock::real();
  std::int64_t latency_ms = 0;             // of real time, before every answer of the API
  std::vector<std::string> oauth_clients;  // as oauth::ProviderSettings takes them
  std::vector<std::string> oauth_people;   // "USER[@TEAM]": whom the page of consent offers; empty: one of the team
};

inline std::vector<oauth::Person> people_of(const Settings& settings) {
  if (settings.oauth_people.empty()) return {{"U0OPERATOR1", "Olga Operator", settings.team.id, settings.team.name}};
  std::vector<oauth::Person> people;
  for (const std::string& text : settings.oauth_people) {
    const std::size_t at = text.find('@');
    const bool ours = at == std::string::npos;
    const std::string team = ours ? settings.team.id : text.substr(at + 1);
    people.push_back({text.substr(0, at), "", team, ours ? settings.team.name : team});
  }
  return people;
}

inline oauth::ProviderSettings provider_settings(const Settings& settings) {
  oauth::ProviderSettings provider;
  provider.flavour = oauth::Flavour::slack;
  provider.clients = settings.oauth_clients;
  provider.people = [people = people_of(settings)] { return people; };
  provider.known_scopes = all_scopes();
  provider.bot_user = settings.bot.user_id;
  provider.app_id = settings.bot.app_id;
  return provider;
}

struct State {
  explicit State(Settings the_settings)
      : settings(std::move(the_settings)), clock(settings.clock), oauth(provider_settings(settings), clock) {
    reset();
  }

  // Back to the start: an empty workspace, no faults, limits or log, all tokens valid. The clock goes on.
  void reset() {
    workspace.emplace(settings.team, settings.bot);
    oauth.reset();
    tokens = Tokens(&oauth, settings.team.id);
    for (const std::string& token : settings.tokens) tokens.add(token);
    behaviour = Behaviour();
    limits = RateLimits();
    faults.clear();
    journal = Journal();
  }

  const Settings settings;
  EmulatorClock clock;
  oauth::Provider oauth;
  std::optional<Workspace> workspace;
  Tokens tokens;
  Behaviour behaviour;
  RateLimits limits;
  Faults faults;
  Journal journal;
};

}  // namespace krux::test::slack
