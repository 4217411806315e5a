// Connecting an account.
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

#include "core/net/url.hpp"
#include "core/oauth/scopes.hpp"
#include "core/replica/sync_store.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/disconnection.hpp"
#include "host/service_host.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestToken = 4096;  // the pattern's matching needs stack in proportion
constexpr const char* kBusy = "Another account is being connected or disconnected. Try again when that has ended.";

Error refused(const std::string& service, const CallFailure& failure) {
  if (failure.status == KRUX_AUTH) {
    return not_connected(fmt::format("{} does not accept this token: {}", service, printable(failure.message)));
  }
  return {"ServiceUnavailable",
          fmt::format("{} could not be asked whose token this is, and nothing was stored: {}", service,
                      printable(failure.message)),
          true, failure.retry_after_ms};
}

}  // namespace

Identity ServiceHost::verify(const std::string& service, const Secret& token) {
  const auto definition = definition_of(service);
  const auto origin = parse_base_url(base_url_of(*definition)).origin();
  // The adapter and its client live for this call alone; the token stays with the caller.
  auto held = std::make_shared<Secret>(token.reveal());
  AccountHooks hooks;
  hooks.token = [held, origin] { return std::optional(BoundToken{make_secret(held->reveal()), origin}); };
  const auto http = make_http(*definition, "", std::move(hooks));
  const auto adapter = make_adapter({service, "", 0, std::nullopt, config_of(service).adapter_config_json, http});
  if (!adapter->roles().account) {
    throw Error(
        "ServiceUnavailable",
        fmt::format("The adapter of {} cannot tell whose token it is, so that it cannot be connected.", service));
  }
  const auto call = std::make_shared<CallContext>(CallOwner{service, "", 0, "", 0}, parts_.clock,
                                                  parts_.clock.boot_ms() + definition->call_timeout_ms);
  const auto result = std::make_shared<CallResult<Identity>>(
      CallFailure{KRUX_TIMEOUT, true, "Timeout", "it did not answer in time", std::nullopt});
  const auto end = parts_.runner.run(call, nullptr, [adapter, call, result] { *result = adapter->verify(call); });
  if (end == CallRunner::End::kAbandoned)
    throw refused(service, {KRUX_TIMEOUT, true, "", "it did not answer in time", std::nullopt});
  if (const auto* failure = std::get_if<CallFailure>(result.get())) throw refused(service, *failure);
  return std::get<Identity>(*result);
}

Connected ServiceHost::connect(const std::string& service, const Secret& token, const std::string& account) {
  // The operator's few workers must not all wait for a service that hangs.
  const std::unique_lock lock(connecting_, std::try_to_lock);
  if (!lock) throw conflict(kBusy);
  if (parts_.vault.locked()) throw vault_is_locked();
  check_account_name(account);
  const auto definition = definition_of(service);
  const auto text = token.reveal();
  if (text.size() > kLongestToken) {
    throw invalid_input(fmt::format("This is no token: it has more than {} bytes.", kLongestToken));
  }
  if (definition->connect_token_pattern.empty()) {
    throw invalid_input(fmt::format("{} is not connected by a pasted token.", service));
  }
  if (!std::regex_match(text.begin(), text.end(), std::regex(definition->connect_token_pattern))) {
    throw invalid_input(
        fmt::format("This is not a token of {}. On a terminal, `kruxos connect {}` says how to get one.",
                    definition->display_name, service));
  }
  Connection connection;
  connection.service = service;
  connection.name = account;
  Credential credential;
  credential.access_token = copy_of(token);
  const auto whose = verify(service, credential.access_token);
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
  connection.token_origin = parse_base_url(base_url_of(definition)).origin();
  connection.connected_at_ms = parts_.clock.wall_ms();
  connection.refreshable = !credential.refresh_token.empty();
  connection.name = name_for(connection);
  refuse_unfinished(connection);
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

/// Writes that were accepted for one principal must neither go out as another nor be left behind.
void ServiceHost::refuse_other_principal(const Connection& connection) {
  for (const auto& known : parts_.vault.connections()) {
    if (known.service != connection.service || known.account_id != connection.account_id) continue;
    if (known.principal == connection.principal) return;
    if (parts_.writes.list(open_writes_of(known, 1)).empty()) return;
    throw conflict(
        fmt::format("{0} {1} is connected as {2}, and this token belongs to {3}. Writes that were accepted as {2} have "
                    "not ended: cancel or "
                    "resolve them (kruxos approve list --service {0}), then connect again. Nothing was changed.",
                    known.service, known.account_id, printable(known.principal), printable(connection.principal)));
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

/// What one principal could see must not stay readable under another's token, whatever happens next: the replica goes
/// before the vault knows of the new one.
void ServiceHost::make_room(const Connection& connection) {
  for (const auto& known : parts_.vault.connections()) {
    const bool same_account = known.service == connection.service && known.account_id == connection.account_id;
    if (!same_account) continue;
    if (known.principal == connection.principal) return;
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
    if (same && known.principal != connection.principal) activate(known);
  }
}

/// A write that was admitted under the old connection while this one was made will never run.
void ServiceHost::tell_of_stranded(const Connection& connection) {
  auto open = open_writes_of(connection, 500);
  for (auto page = parts_.writes.list(open); !page.empty(); page = parts_.writes.list(open)) {
    for (const auto& write : page) {
      if (write.account.generation != connection.generation && !write.told_person) tell_of_stranded(write);
    }
    open.before_write_id = page.back().write_id;
  }
}

void ServiceHost::tell_of_stranded(const BufferedWrite& write) {
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
