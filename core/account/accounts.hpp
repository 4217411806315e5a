// The connected accounts that this process serves right now.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/account/account_ref.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/adapter/service_adapter.hpp"
#include "core/definition/definition.hpp"
#include "core/net/http.hpp"

namespace krux {

class Replica;

/// The account that is meant where none is named.
inline constexpr const char* kDefaultAccount = "default";

/// Immutable once published; whoever holds it keeps all of it alive.
struct ActiveAccount {
  AccountRef ref;
  std::string display_name;
  std::string name;     ///< the operator's; may be empty
  std::string profile;  ///< of the definition's oauth section; empty: the token was pasted
  std::vector<std::string> scopes;
  bool scopes_known = false;
  bool acts_by_http = true;  ///< false: what was on the wire proves nothing about writes
  bool isolated = false;     ///< its adapter runs in a process of its own
  std::shared_ptr<const ServiceDefinition> definition;
  std::shared_ptr<ServiceAdapter> adapter;
  std::shared_ptr<AdapterHealth> health;
  std::shared_ptr<Replica> replica;
};
using ActiveAccountPtr = std::shared_ptr<const ActiveAccount>;

/// A service whose adapter is loaded, connected or not.
struct ActiveService {
  std::shared_ptr<const ServiceDefinition> definition;
  std::string adapter_version;
};

/// Any thread.
class AccountDirectory {
 public:
  void set_services(std::vector<ActiveService> services);
  std::vector<ActiveService> services() const;
  std::optional<ActiveService> service(const std::string& name) const;

  /// `changed` runs after each change of services and accounts, on the thread that made it; it must be quick. Once.
  void on_change(std::function<void()> changed);

  void publish(ActiveAccountPtr account);  ///< replaces the one of the same service and account id
  void withdraw(const std::string& service, const std::string& account_id);

  /// Connected, but the host cannot serve any account of it; until the next publish() of one. `why`: a sentence for
  /// agents that says so; empty: one that points to the alerts.
  void set_unserved(const std::string& service, const std::string& why = {});
  void clear_unserved(const std::string& service);

  /// The account is being disconnected: choose() gives it to nobody any more, find() and accounts() still do, so that
  /// what has begun can end. Until withdraw(), or end_leaving().
  void begin_leaving(const std::string& service, const std::string& account_id);
  void end_leaving(const std::string& service, const std::string& account_id);
  bool is_leaving(const std::string& service, const std::string& account_id) const;

  std::vector<ActiveAccountPtr> accounts() const;
  /// The account that a write or a read is for: exactly this generation, or nullptr.
  ActiveAccountPtr find(const AccountRef& ref) const;
  /// Throws krux::Error ServiceUnavailable where accounts of the service are connected and the host cannot serve them.
  void must_be_served(const std::string& service) const;
  /// By the optional `account` input (id, name or display name); empty: the one named "default", else the only one.
  /// Throws krux::Error: NotConnected, ServiceUnavailable when what is connected cannot be served, or InvalidInput when
  /// there are several and none was named.
  ActiveAccountPtr choose(const std::string& service, const std::string& account) const;

 private:
  void tell() const;

  mutable std::mutex mutex_;
  std::vector<ActiveService> services_;
  std::vector<ActiveAccountPtr> accounts_;
  std::map<std::string, std::string> unserved_;  ///< by service: why
  std::set<std::pair<std::string, std::string>> leaving_;
  std::function<void()> changed_;
};

}  // namespace krux
