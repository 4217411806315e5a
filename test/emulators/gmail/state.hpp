// Everything the emulator knows, in one place: the API works on it, the control plane looks at it and changes it.
#pragma once

#include <memory>

#include "emulators/common/emulator_clock.hpp"
#include "emulators/common/faults.hpp"
#include "emulators/common/journal.hpp"
#include "emulators/gmail/behaviour.hpp"
#include "emulators/gmail/issued_tokens.hpp"
#include "emulators/gmail/mailbox.hpp"
#include "emulators/gmail/quota.hpp"
#include "emulators/gmail/tokens.hpp"

namespace krux::test::gmail {

using namespace emulator;

struct Settings {
  std::string address = "agent@example.com";  // of the first mailbox
  std::vector<std::string> tokens;            // as Tokens::add takes them; each one's mailbox exists from the start
  EmulatorClock clock = EmulatorClock::real();
  std::int64_t latency_ms = 0;             // of real time, before every answer of the API
  std::vector<std::string> oauth_clients;  // as oauth::ProviderSettings takes them
  // Beyond what a double holds exactly, so that a client that reads ids as numbers fails.
  std::uint64_t first_history_id = (1ULL << 54) + 1;
};

struct State {
  explicit State(Settings the_settings);

  // Back to the start: empty mailboxes, no faults, quota or log, all own tokens valid. The clock goes on.
  void reset();

  // Makes it when there is none.
  Mailbox& mailbox(const std::string& address);
  Mailbox& mailbox() { return mailbox(settings.address); }
  const std::map<std::string, std::unique_ptr<Mailbox>>& mailboxes() const { return mailboxes_; }

  std::optional<Access> access(const std::string& token) const;

  const Settings settings;
  EmulatorClock clock;
  Tokens tokens;
  oauth::Provider oauth;
  const IssuedTokens issued_tokens{oauth};
  std::vector<const TokenSource*> token_sources{&issued_tokens};  // asked after `tokens`; they outlive the state
  Behaviour behaviour;
  Quota quota;
  Faults faults;
  Journal journal;
  std::uint64_t attachment_handles = 0;  // given out so far: none is given twice

 private:
  std::map<std::string, std::unique_ptr<Mailbox>> mailboxes_;  // by address in lower case
};

}  // namespace krux::test::gmail
