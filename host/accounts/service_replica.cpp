// An account's replica beside what its service has.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "core/replica/replica.hpp"
#include "core/util/error.hpp"
#include "host/accounts/service_host.hpp"

namespace krux {
namespace {

constexpr const char* kOtherConnection = "The account was connected anew meanwhile. Try again.";

/// The second replica, which is gone when this is. What a host that was killed has left of one goes as well.
class SecondReplica {
 public:
  SecondReplica(std::filesystem::path file, const std::vector<CollectionSpec>& collections, const Clock& clock)
      : file_(std::move(file)), collections_(collections), clock_(clock) {}
  ~SecondReplica() { remove(); }
  SecondReplica(const SecondReplica&) = delete;
  SecondReplica& operator=(const SecondReplica&) = delete;

  std::shared_ptr<Replica> make() {
    remove();
    open_ = std::make_shared<Replica>(file_, collections_, clock_);
    return open_;
  }

 private:
  void remove() {
    open_.reset();
    for (const auto* suffix : {"-wal", "-shm", ""}) {
      std::error_code error;
      std::filesystem::remove(file_.string() + suffix, error);
      if (error) spdlog::warn("{}{} could not be deleted: {}", file_.string(), suffix, error.message());
    }
  }

  const std::filesystem::path file_;
  const std::vector<CollectionSpec>& collections_;
  const Clock& clock_;
  std::shared_ptr<Replica> open_;
};

}  // namespace

Connection ServiceHost::served_connection(const AccountRef& account) const {
  for (auto& c : parts_.vault.connections()) {
    if (AccountRef{c.service, c.account_id, c.generation} == account) return c;
  }
  throw not_connected(kOtherConnection);
}

std::pair<ActiveAccountPtr, Verified> ServiceHost::verify_replica(const std::string& service, const std::string& name,
                                                                  const VerifyOrder& order) {
  const std::unique_lock lock(verifying_, std::try_to_lock);
  if (!lock) throw conflict("Another replica is being compared with its service. Try again when that has ended.");
  const auto account = parts_.accounts.choose(service, name);
  if (!account->adapter->roles().sync)
    throw invalid_input(fmt::format("{} syncs nothing: it has no replica that could be compared.", service));
  const auto connection = served_connection(account->ref);
  const auto http = [&] {
    const std::lock_guard clients(clients_mutex_);
    const auto at = clients_.find({account->ref.service, account->ref.account_id});
    return at == clients_.end() ? nullptr : at->second.lock();
  }();
  if (!http) throw not_connected(kOtherConnection);

  SecondReplica second(parts_.directory.path() / "verify.db", parts_.plugins.find(service)->collections, parts_.clock);
  Verification verification({parts_.clock, parts_.runner, parts_.scheduler, account,
                             make_adapter(setup_of(*account->definition, connection, http)),
                             [&] { return second.make(); },
                             [this] {
                               const std::lock_guard stopping(stopping_mutex_);
                               return stopping_;
                             }});
  auto verified = verification.run(order);
  spdlog::info("the replica of {} {} was compared with the service: {} records, {} differ", account->ref.service,
               account->ref.account_id, verified.compared, verified.differences.size());
  return {account, std::move(verified)};
}

ActiveAccountPtr ServiceHost::rebuild_replica(const std::string& service, const std::string& name) {
  const std::unique_lock lock(connecting_, std::try_to_lock), idle(verifying_, std::try_to_lock);
  if (!lock) throw conflict("An account is being connected or disconnected. Try again when that has ended.");
  if (!idle) throw conflict("A replica is being compared with its service. Try again when that has ended.");
  auto account = parts_.accounts.choose(service, name);
  if (!account->adapter->roles().sync)
    throw invalid_input(fmt::format("{} syncs nothing: there is nothing to rebuild.", service));
  const auto connection = served_connection(account->ref);
  // No step may go on filling what is put aside.
  parts_.scheduler.remove(service, account->ref.account_id);
  try {
    account->replica->build_anew();
    activate(connection);
  } catch (...) {
    parts_.scheduler.add(account, sync_interval_of(*account->definition));
    throw;
  }
  return account;
}

}  // namespace krux
