// Disconnecting an account.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/accounts/disconnection.hpp"
#include "host/accounts/service_host.hpp"

namespace krux {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);
constexpr const char* kAccessTokenAlone =
    "The service has forgotten the access token. It has no address at which refresh tokens are revoked: this host's is "
    "removed with the next step, and nobody else has it. Remove the app at the service if you want to be sure.";

/// What an order may be about: connections, and disconnections that have not ended.
struct Candidate {
  std::string account_id, display_name, name;
  std::optional<Receipt> under_way;
  std::optional<Connection> connection;
};

std::vector<Candidate> candidates_of(const std::string& service, const std::vector<Connection>& connections,
                                     const std::vector<Receipt>& under_way) {
  std::vector<Candidate> all;
  for (const auto& receipt : under_way) {
    if (receipt.service == service) all.push_back({receipt.account_id, receipt.display_name, "", receipt, {}});
  }
  for (const auto& c : connections) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& a) { return a.account_id == c.account_id; });
    if (c.service == service && !known) all.push_back({c.account_id, c.display_name, c.name, {}, c});
  }
  return all;
}

std::string names_of(const std::vector<Candidate>& all) {
  std::string text;
  for (const auto& a : all)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", a.name.empty() ? printable(a.account_id) : a.name,
                        printable(a.display_name));
  return text;
}

Candidate choose(const std::vector<Candidate>& all, const std::string& service, const std::string& account) {
  if (all.empty()) throw not_connected(fmt::format("{} is not connected.", printable(service)));
  if (account.empty()) {
    if (all.size() == 1) return all.front();
    throw invalid_input(fmt::format("{} has several accounts; name one of them: {}.", service, names_of(all)));
  }
  std::vector<Candidate> named;
  for (const auto field : {&Candidate::account_id, &Candidate::name, &Candidate::display_name}) {
    if (!named.empty()) break;
    std::copy_if(all.begin(), all.end(), std::back_inserter(named),
                 [&](const Candidate& a) { return a.*field == account; });
  }
  if (named.size() == 1) return named.front();
  throw not_connected(
      fmt::format("{} has no account \"{}\"; connected are: {}.", service, printable(account), names_of(all)));
}

Connection connection_of(const std::vector<Connection>& connections, const Receipt& receipt) {
  for (const auto& c : connections) {
    if (c.service == receipt.service && c.account_id == receipt.account_id) return c;
  }
  return {};
}

}  // namespace

Receipt ServiceHost::receipt_for(const std::string& service, const std::string& account, const DisconnectOrder& order) {
  const auto chosen =
      choose(candidates_of(service, parts_.vault.connections(), parts_.receipts.under_way()), service, account);
  if (chosen.connection && parts_.vault.locked() && !order.force) throw vault_is_locked();
  if (chosen.under_way) {
    if (order.force) parts_.receipts.set_forced(chosen.under_way->receipt_id);
    return parts_.receipts.get(chosen.under_way->receipt_id).value_or(*chosen.under_way);
  }
  const auto& c = *chosen.connection;
  Receipt receipt;
  receipt.service = c.service;
  receipt.account_id = c.account_id;
  receipt.generation = c.generation;
  receipt.display_name = c.display_name;
  receipt.principal = c.principal;
  receipt.who = order.who;
  receipt.forced = order.force;
  return parts_.receipts.begin(std::move(receipt));
}

Receipt ServiceHost::disconnect(const std::string& service, const std::string& account, const DisconnectOrder& order) {
  const std::unique_lock lock(connecting_, std::try_to_lock);
  if (!lock) throw conflict("Another account is being connected or disconnected. Try again when that has ended.");
  auto receipt = receipt_for(service, account, order);
  const auto account_id = receipt.account_id;
  const bool refreshable = has_unrevoked_refresh_token(receipt);
  Disconnection::Access access{parts_,
                               [this, refreshable](const Receipt& of) {
                                 Disconnection::Revocation revocation{revoke(of)};
                                 if (refreshable) revocation.done = kAccessTokenAlone;
                                 return revocation;
                               },
                               [this](const ActiveAccountPtr& served) {
                                 if (served->adapter->roles().sync)
                                   parts_.scheduler.add(served, sync_interval_of(*served->definition));
                               },
                               [this] { return pause(); }};
  auto ended = Disconnection(std::move(access), std::move(receipt), order).run();
  for (const char* kind : {"not_authenticated", "account_not_served", "adapter_quarantined", "disconnect_unfinished",
                           "token_not_renewed", "service_changed"}) {
    parts_.alerts.settle(kind, service, account_id);
  }
  parts_.tokens.wake();
  const auto left = parts_.vault.connections();
  const bool any = std::any_of(left.begin(), left.end(), [&](const Connection& c) { return c.service == service; });
  if (!any) parts_.accounts.clear_unserved(service);
  return ended;
}

/// Whether there is one that only the adapter, with the access token, can do something about.
bool ServiceHost::has_unrevoked_refresh_token(const Receipt& receipt) const {
  try {
    const auto held = parts_.vault.credential(receipt.service, receipt.account_id, receipt.generation);
    return held && !held->refresh_token.empty() && held->revoke_url.empty();
  } catch (const Error&) {
    return false;  // it cannot be read, and the revocation says so
  }
}

/// The adapter and its client live for this call alone: the account's own may be quarantined, or not be served.
std::optional<std::string> ServiceHost::revoke(const Receipt& receipt) {
  try {
    if (parts_.vault.locked()) return "The vault is locked, and without its token it cannot be revoked.";
    if (auto credential = parts_.vault.credential(receipt.service, receipt.account_id, receipt.generation);
        credential && !credential->revoke_url.empty()) {
      return TokenClient(parts_.transport, parts_.clock)
          .revoke({receipt.service, receipt.account_id, receipt.generation}, *credential);
    }
    const auto definition = definition_of(receipt.service);
    if (definition->needs_no_token()) return std::nullopt;
    const auto connection = connection_of(parts_.vault.connections(), receipt);
    // The only one that the token may be sent to, wherever the service is configured to be now.
    const auto origin = connection.token_origin;
    auto token = parts_.vault.token(receipt.service, receipt.account_id, receipt.generation);
    if (!token) return std::nullopt;  // an earlier run has removed it, after it was revoked or by force
    if (const auto why = why_another_adapter(connection); !why.empty()) return why;
    const auto held = std::make_shared<Secret>(*std::move(token));
    AccountHooks hooks;
    hooks.token = [held, origin] { return std::optional(BoundToken{make_secret(held->reveal()), origin}); };
    const auto http =
        make_http(*definition, receipt.account_id, {connection.base_url, connection.settings}, std::move(hooks));
    const auto adapter = make_adapter({receipt.service, receipt.account_id, receipt.generation, std::nullopt,
                                       config_of(receipt.service).adapter_config_json, http, nullptr,
                                       base_url_of(*definition, connection.base_url), connection.settings});
    if (!adapter->roles().account) return "Its adapter cannot revoke tokens.";
    const auto call =
        std::make_shared<CallContext>(CallOwner{receipt.service, receipt.account_id, receipt.generation, "", 0},
                                      parts_.clock, parts_.clock.boot_ms() + definition->call_timeout_ms);
    const auto result = std::make_shared<CallResult<bool>>(
        CallFailure{KRUX_TIMEOUT, true, ErrorCode::kTimeout, "it did not answer in time.", std::nullopt});
    const auto end =
        parts_.runner.run(call, nullptr, [adapter, call, result] { *result = adapter->ask<"revoke">(call); });
    if (end == CallRunner::End::kAbandoned) return "The service did not answer in time.";
    if (const auto* failure = std::get_if<CallFailure>(result.get())) return printable(failure->message);
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

bool ServiceHost::pause() {
  std::unique_lock lock(stopping_mutex_);
  return !stopping_changed_.wait_for(lock, kPause, [this] { return stopping_; });
}

void ServiceHost::stop() {
  const std::lock_guard lock(stopping_mutex_);
  stopping_ = true;
  stopping_changed_.notify_all();
}

/// Before anything is served: what waited for an account that is to be disconnected is not sent.
void ServiceHost::resume_disconnections() {
  for (const auto& receipt : parts_.receipts.under_way()) {
    parts_.accounts.begin_leaving(receipt.service, receipt.account_id);
    const DisconnectOrder order{receipt.forced, 0, receipt.who};
    Disconnection({parts_, {}, {}, {}}, receipt, order).cancel_waiting();
    parts_.alerts.raise(
        {"critical", "disconnect_unfinished", receipt.service, receipt.account_id, "",
         fmt::format("The disconnection of {0} {1} was cut short. It takes no writes and is not synced. "
                     "Finish it with: kruxos disconnect {0} {1}",
                     receipt.service, receipt.account_id),
         true});
  }
}

}  // namespace krux
