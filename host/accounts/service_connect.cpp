// Connecting an account.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "core/definition/scopes.hpp"
#include "core/definition/token_pattern.hpp"
#include "core/net/url.hpp"
#include "core/replica/replica.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/accounts/disconnection.hpp"
#include "host/accounts/service_host.hpp"

namespace krux {
namespace {

/// The one account of a service that needs no token.
constexpr const char* kLocalAccount = "local";
constexpr const char* kBusy = "Another account is being connected or disconnected. Try again when that has ended.";

Error refused(const std::string& service, const CallFailure& failure) {
  if (failure.status == KRUX_AUTH) {
    return not_connected(fmt::format("{} does not accept this token: {}", service, printable(failure.message)));
  }
  return {ErrorCode::kServiceUnavailable,
          fmt::format("{} could not be asked whose token this is, and nothing was stored: {}", service,
                      printable(failure.message)),
          true, failure.retry_after_ms};
}

bool is_same_connection(const Connection& known, const Connection& now) {
  return known.principal == now.principal && is_same_adapter(known, now.adapter);
}

}  // namespace

/// What the operator does not say of an account that there is stays as it is. Throws InvalidInput where nobody can tell
/// which account is meant: a token must not go to another one's address.
AccountOwn ServiceHost::own_of(const ServiceDefinition& definition, const std::string& name, AccountOwn given) const {
  given.base_url = kept_base_url(std::move(given.base_url));
  for (const auto& known : parts_.vault.connections()) {
    if (known.service != definition.service) continue;
    if (!name.empty() && known.name == name) {
      if (given.base_url.empty()) given.base_url = known.base_url;
      // insert() keeps what is there. A setting that the definition has no more is left behind.
      for (const auto& [setting, value] : known.settings) {
        if (definition.accounts.find(setting)) given.settings.insert({setting, value});
      }
    }
    // Settings alone do not say whose address is meant.
    const bool no_address = given.base_url.empty() && !known.base_url.empty();
    if (name.empty() && (no_address || (given.empty() && !known.settings.empty())))
      throw invalid_input(
          fmt::format("The account {0} of {1} has an address or settings of its own. Connect it again with --account "
                      "{0}, or say with --base-url and --set what another account has.",
                      known.name, definition.service));
  }
  std::erase_if(given.settings, [](const auto& setting) { return setting.second.empty(); });
  if (auto why = why_not_own(definition, given); !why.empty()) throw invalid_input(std::move(why));
  return given;
}

Identity ServiceHost::verify(const std::string& service, const Secret& token, const AccountOwn& own) {
  const auto definition = definition_of(service);
  const auto base_url = base_url_of(*definition, own.base_url);
  const auto origin = parse_base_url(base_url).origin();
  // The adapter and its client live for this call alone; the token stays with the caller.
  auto held = std::make_shared<Secret>(token.reveal());
  AccountHooks hooks;
  hooks.token = [held, origin] { return std::optional(BoundToken{make_secret(held->reveal()), origin}); };
  const auto http = make_http(*definition, "", own, std::move(hooks));
  const auto adapter = make_adapter(
      {service, "", 0, std::nullopt, config_of(service).adapter_config_json, http, nullptr, base_url, own.settings});
  if (!adapter->roles().account) {
    throw Error(
        ErrorCode::kServiceUnavailable,
        fmt::format("The adapter of {} cannot tell whose token it is, so that it cannot be connected.", service));
  }
  const auto call = std::make_shared<CallContext>(CallOwner{service, "", 0, "", 0}, parts_.clock,
                                                  parts_.clock.boot_ms() + definition->call_timeout_ms);
  const auto result = std::make_shared<CallResult<Identity>>(
      CallFailure{KRUX_TIMEOUT, true, ErrorCode::kTimeout, "it did not answer in time", std::nullopt});
  const auto end =
      parts_.runner.run(call, nullptr, [adapter, call, result] { *result = adapter->ask<"verify">(call); });
  if (end == CallRunner::End::kAbandoned)
    throw refused(service, {KRUX_TIMEOUT, true, {}, "it did not answer in time", std::nullopt});
  if (const auto* failure = std::get_if<CallFailure>(result.get())) throw refused(service, *failure);
  return std::get<Identity>(*result);
}

/// The vault keeps every connection with its generation, which writes are accepted for. In the place of a token these
/// have a word that goes nowhere.
void ServiceHost::connect_by_configuration() {
  const auto known = parts_.vault.connections();
  for (const auto& active : parts_.accounts.services()) {
    const auto& definition = *active.definition;
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const Connection& c) { return c.service == definition.service; });
    if (!definition.needs_no_token() || is_known || !parts_.config.services.contains(definition.service)) continue;
    Connection connection;
    connection.service = definition.service;
    connection.account_id = kLocalAccount;
    connection.display_name = definition.display_name;
    connection.name = kDefaultAccount;
    connection.adapter = adapter_of(definition.service);
    connection.token_origin = parse_base_url(base_url_of(definition, {})).origin();
    connection.connected_at_ms = parts_.clock.wall_ms();
    parts_.vault.connect(connection, Secret("none"));
    spdlog::info("{} is connected by the configuration", definition.service);
  }
}

Connected ServiceHost::connect(const std::string& service, const Secret& token, const std::string& account,
                               const AccountOwn& own) {
  // The operator's few workers must not all wait for a service that hangs.
  const std::unique_lock lock(connecting_, std::try_to_lock);
  if (!lock) throw conflict(kBusy);
  if (parts_.vault.locked()) throw vault_is_locked();
  check_account_name(account);
  const auto definition = definition_of(service);
  const auto text = token.reveal();
  if (text.size() > TokenPattern::kLongestToken) {
    throw invalid_input(fmt::format("This is no token: it has more than {} bytes.", TokenPattern::kLongestToken));
  }
  if (definition->needs_no_token()) {
    throw invalid_input(
        fmt::format("{0} needs no token: it is connected where the configuration has services.{0}.", service));
  }
  const auto* plugin = parts_.plugins.find(service);
  const bool any = plugin && plugin->mock;  // which sends it nowhere
  if (!any && definition->connect_token_pattern.empty()) {
    throw invalid_input(fmt::format("{} is not connected by a pasted token.", service));
  }
  if (!any && !TokenPattern(definition->connect_token_pattern).matches(text)) {
    throw invalid_input(
        fmt::format("This is not a token of {}. On a terminal, `kruxos connect {}` says how to get one.",
                    definition->display_name, service));
  }
  const auto whole = own_of(*definition, account, own);
  Connection connection;
  connection.service = service;
  connection.name = account;
  connection.base_url = whole.base_url;
  connection.settings = whole.settings;
  Credential credential;
  credential.access_token = copy_of(token);
  const auto whose = verify(service, credential.access_token, whole);
  return keep(*definition, std::move(connection), credential, whose, definition->connect_scopes);
}

/// Whose token it is decides about everything else. `connection` has what the operator and the tokens' answer have
/// said.
Connected ServiceHost::keep(const ServiceDefinition& definition, Connection connection, const Credential& credential,
                            const Identity& identity, const std::vector<std::string>& wanted_scopes) {
  connection.account_id = identity.account_id;
  connection.display_name = identity.display_name;
  connection.principal = identity.principal;
  if (identity.scopes_known) {
    connection.scopes = identity.scopes;
    connection.scopes_known = true;
  }
  connection.token_origin = parse_base_url(base_url_of(definition, connection.base_url)).origin();
  connection.connected_at_ms = parts_.clock.wall_ms();
  connection.refreshable = !credential.refresh_token.empty();
  connection.adapter = adapter_of(connection.service);
  connection.name = name_for(connection);
  refuse_unfinished(connection);
  refuse_other_address(connection);
  refuse_other_adapter(connection);
  refuse_other_principal(connection);
  make_room(connection);
  try {
    connection.generation = parts_.vault.connect(connection, credential);
  } catch (...) {
    serve_again(connection);
    throw;
  }
  parts_.tokens.wake();
  activate(connection);
  tell_of_stranded(connection);
  for (const char* kind : {"not_authenticated", "token_not_renewed"})
    parts_.alerts.settle(kind, connection.service, connection.account_id);
  parts_.executor.connection_restored({connection.service, connection.account_id, connection.generation});
  Connected connected{connection, {}};
  if (connection.scopes_known)
    connected.missing_scopes = missing_from(definition.oauth.implied_scopes, connection.scopes, wanted_scopes);
  return connected;
}

/// The one that the operator gives, or that it has, or a free one. Throws ConflictError for one that another account
/// has, before anything is changed.
std::string ServiceHost::name_for(const Connection& connection) const {
  std::set<std::string> taken;
  for (const auto& known : parts_.vault.connections()) {
    if (known.service != connection.service) continue;
    if (known.account_id == connection.account_id) {
      if (connection.name.empty() && !known.name.empty()) return known.name;
      continue;
    }
    taken.insert(known.name);
    if (!connection.name.empty() && known.name == connection.name)
      throw conflict(fmt::format(
          "The name {} belongs to another account of {}: {} ({}), and this is {} ({}). Choose another name, "
          "or disconnect that one first. Nothing was changed.",
          known.name, known.service, printable(known.account_id), printable(known.display_name),
          printable(connection.account_id), printable(connection.display_name)));
  }
  if (!connection.name.empty()) return connection.name;
  if (!taken.contains(kDefaultAccount)) return kDefaultAccount;
  for (int n = 2;; ++n) {
    auto name = fmt::format("account-{}", n);
    if (!taken.contains(name)) return name;
  }
}

/// Ids of two addresses say nothing about each other: what looks like one account may be two people's.
void ServiceHost::refuse_other_address(const Connection& connection) const {
  for (const auto& known : parts_.vault.connections()) {
    if (known.service != connection.service || known.account_id != connection.account_id) continue;
    if (known.base_url == connection.base_url) return;
    const auto at = [](const std::string& url) { return url.empty() ? std::string("the service's address") : url; };
    throw conflict(fmt::format(
        "{0} {1} is connected at {2}, and this is an account of that id at {3}. If it has moved, disconnect "
        "it first: kruxos disconnect {0} {4}. Nothing was changed.",
        known.service, printable(known.account_id), at(known.base_url), at(connection.base_url), known.name));
  }
}

/// Writes that were accepted for one principal must neither go out as another nor be left behind.
void ServiceHost::refuse_other_principal(const Connection& connection) {
  for (const auto& known : parts_.vault.connections()) {
    if (known.service != connection.service || known.account_id != connection.account_id) continue;
    if (known.principal == connection.principal) return;
    if (parts_.writes.ledger.list(open_writes_of(known, 1)).empty()) return;
    throw conflict(
        fmt::format("{0} {1} is connected as {2}, and this token belongs to {3}. Writes that were accepted as {2} have "
                    "not ended: cancel or "
                    "resolve them (kruxos approve list --service {0}), then connect again. Nothing was changed.",
                    known.service, known.account_id, printable(known.principal), printable(connection.principal)));
  }
}

/// The same for the adapter. A mock takes over no connection that is not a mock's, with whatever it holds.
void ServiceHost::refuse_other_adapter(const Connection& connection) {
  for (const auto& known : parts_.vault.connections()) {
    if (known.service != connection.service || known.account_id != connection.account_id) continue;
    if (is_same_adapter(known, connection.adapter)) return;
    const auto was = adapter_in_words(known.adapter), is = adapter_in_words(connection.adapter);
    if (connection.adapter == kAdapterMock)
      throw conflict(
          fmt::format("{0} {1} was connected through {2}, and this host runs {3} in its place, which may not take "
                      "that connection over. Put {2} back, or give the mock's account another account_id. Nothing was "
                      "changed.",
                      known.service, printable(known.account_id), was, is));
    if (parts_.writes.ledger.list(open_writes_of(known, 1)).empty()) return;
    throw conflict(
        fmt::format("{0} {1} was connected through {2}, and this host runs {3} in its place. Writes that were accepted "
                    "for {2} have not ended: put it back, or cancel or resolve them (kruxos approve list --service "
                    "{0}) and connect again. Nothing was changed.",
                    known.service, printable(known.account_id), was, is));
  }
}

void ServiceHost::refuse_unfinished(const Connection& connection) const {
  for (const auto& receipt : parts_.receipts.under_way()) {
    if (receipt.service != connection.service || receipt.account_id != connection.account_id) continue;
    throw conflict(
        fmt::format("The disconnection of {0} {1} has not ended. Finish it with: kruxos disconnect {0} {1}. "
                    "Then connect it again; nothing was changed.",
                    receipt.service, printable(receipt.account_id)));
  }
}

/// What one principal could see must not stay readable under another's token, and what one adapter has put is nothing
/// to another one. Whatever happens next: the replica goes
/// before the vault knows of the new one.
void ServiceHost::make_room(const Connection& connection) {
  for (const auto& known : parts_.vault.connections()) {
    const bool same_account = known.service == connection.service && known.account_id == connection.account_id;
    if (!same_account) continue;
    if (is_same_connection(known, connection)) return;
    parts_.scheduler.remove(known.service, known.account_id);
    const auto served = parts_.accounts.find({known.service, known.account_id, known.generation});
    parts_.accounts.withdraw(known.service, known.account_id);
    if (served) served->replica->remove();
  }
  delete_replica_files(parts_.directory.replica(connection.service, connection.account_id));
}

/// As it was connected before.
void ServiceHost::serve_again(const Connection& connection) {
  for (const auto& known : parts_.vault.connections()) {
    const bool same = known.service == connection.service && known.account_id == connection.account_id;
    if (same && !is_same_connection(known, connection) && why_another_adapter(known).empty()) activate(known);
  }
}

/// A write that was admitted under the old connection while this one was made will never run.
void ServiceHost::tell_of_stranded(const Connection& connection) {
  auto open = open_writes_of(connection, 500);
  for (auto page = parts_.writes.ledger.list(open); !page.empty(); page = parts_.writes.ledger.list(open)) {
    for (const auto& write : page) {
      if (write.account.generation != connection.generation && !write.escalated) tell_of_stranded(write);
    }
    open.before_write_id = page.back().write_id;
  }
}

void ServiceHost::tell_of_stranded(const WriteRecord& write) {
  const auto& account = write.account;
  parts_.alerts.raise({"critical", "write_stranded", account.service, account.account_id, write.write_id,
                       fmt::format("Write {} was accepted for an earlier connection of {} {} and will not be carried "
                                   "out. Cancel it: kruxos approve cancel {}",
                                   write.write_id, account.service, printable(account.account_id), write.write_id),
                       true});
}

WriteFilter ServiceHost::open_writes_of(const Connection& connection, std::int64_t limit) {
  WriteFilter open;
  open.service = connection.service;
  open.account_id = connection.account_id;
  for (int s = 0; s < kWriteStates; ++s) {
    if (!has_ended(static_cast<WriteState>(s))) open.states.push_back(static_cast<WriteState>(s));
  }
  open.limit = limit;
  return open;
}

}  // namespace krux
