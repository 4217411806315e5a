#include "emulators/gmail/state.hpp"

#include <stdexcept>

#include "emulators/common/text.hpp"

namespace krux::test::gmail {

namespace {

// Each mailbox is somebody whom the page of consent offers.
oauth::ProviderSettings provider_settings(const State& state) {
  oauth::ProviderSettings provider;
  provider.flavour = oauth::Flavour::google;
  provider.clients = state.settings.oauth_clients;
  provider.people = [&state] {
    std::vector<oauth::Person> people;
    for (const auto& [name, mailbox] : state.mailboxes()) people.push_back({mailbox->address(), "", "", ""});
    return people;
  };
  return provider;
}

}  // namespace

State::State(Settings the_settings)
    : settings(std::move(the_settings)), clock(settings.clock), oauth(provider_settings(*this), clock) {
  reset();
}

void State::reset() {
  oauth.reset();
  mailboxes_.clear();
  mailbox(settings.address);
  tokens = Tokens();
  for (const std::string& token : settings.tokens) {
    if (!tokens.add(token, settings.address)) throw std::invalid_argument("this is no token: " + token);
  }
  for (const std::string& address : tokens.addresses()) mailbox(address);
  behaviour = Behaviour();
  quota = Quota();
  faults.clear();
  journal = Journal();
}

Mailbox& State::mailbox(const std::string& address) {
  std::unique_ptr<Mailbox>& found = mailboxes_[lower(address)];
  if (!found) found = std::make_unique<Mailbox>(address, settings.first_history_id);
  return *found;
}

std::optional<Access> State::access(const std::string& token) const {
  if (auto own = tokens.access(token, clock.now_ms())) return own;
  for (const TokenSource* source : token_sources) {
    if (auto issued = source->access(token, clock.now_ms())) return issued;
  }
  return std::nullopt;
}

}  // namespace krux::test::gmail
