// Everything an emulator knows, in one place: the API works on it, the control plane looks at it and changes it.
#pragma once

#include <optional>

#include "emulators/common/emulator_clock.hpp"
#include "emulators/common/faults.hpp"
#include "emulators/common/journal.hpp"
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
  std::int64_t latency_ms = 0;  // of real time, before every answer of the API
};

struct State {
  explicit State(Settings the_settings) : settings(std::move(the_settings)), clock(settings.clock) { reset(); }

  // Back to the start: an empty workspace, no faults, limits or log, all tokens valid. The clock goes on.
  void reset() {
    workspace.emplace(settings.team, settings.bot);
    tokens = Tokens();
    for (const std::string& token : settings.tokens) tokens.add(token);
    behaviour = Behaviour();
    limits = RateLimits();
    faults.clear();
    journal = Journal();
  }

  const Settings settings;
  EmulatorClock clock;
  std::optional<Workspace> workspace;
  Tokens tokens;
  Behaviour behaviour;
  RateLimits limits;
  Faults faults;
  Journal journal;
};

}  // namespace krux::test::slack
