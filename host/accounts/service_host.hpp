// Services and their connected accounts: adapters made, replicas opened, syncs begun, accounts connected.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/audit/token_use.hpp"
#include "core/config/config.hpp"
#include "core/definition/account_check.hpp"
#include "core/net/account_http.hpp"
#include "core/oauth/token_client.hpp"
#include "core/oauth/token_refresher.hpp"
#include "core/policy/definition_set.hpp"
#include "core/replica/record_watches.hpp"
#include "core/replica/sync_scheduler.hpp"
#include "core/replica/verification.hpp"
#include "core/storage/data_directory.hpp"
#include "core/vault/vault.hpp"
#include "core/write/alerts.hpp"
#include "core/write/disconnect_receipts.hpp"
#include "core/write/enhanced_write_executor.hpp"
#include "core/write/write_buffer.hpp"
#include "host/plugins/plugin_registry.hpp"
#include "host/runner/plugin_factory.hpp"

namespace krux {

/// What a successful connect came to.
struct Connected {
  Connection connection;
  std::vector<std::string> missing_scopes;  ///< that the definition names and the token lacks
};

/// How an account is to be connected in the browser. What is empty is as the definition or the configuration says.
struct OAuthOrder {
  std::string account, profile, flow, client_id;
  Secret client_secret;
  AccountOwn own;
};

/// An OAuthOrder that fits, with everything that it takes.
struct OAuthPlan {
  std::shared_ptr<const ServiceDefinition> definition;
  OAuthFlow flow;  ///< with the configuration's addresses
  OAuthProfile profile;
  std::string account, client_id, revoke_url;
  Secret client_secret;
  std::string redirect_uri;         ///< of the configuration or the flow; empty: made of the port
  std::uint16_t callback_port = 0;  ///< 0: any free one
  AccountOwn own;
};

/// How an account is to be disconnected.
struct DisconnectOrder {
  bool force = false;             ///< also with writes of unknown outcome, and where the token cannot be revoked
  std::int64_t wait_ms = 75'000;  ///< for writes under way and for looks
  std::string who;                ///< "operator:<user>"
};

/// Of Connection::adapter: "an installed bundle".
std::string adapter_in_words(const std::string& adapter);

/// Throws krux::Error InvalidInput for what is no name of an account; empty is none that was given.
void check_account_name(const std::string& name);

class AdapterMeters;
class MetricRegistry;
class TokenMeters;

/// Any thread, after start(). What it is given must outlive it.
class ServiceHost {
 public:
  struct Parts {
    const Config& config;
    Clock& clock;
    const DataDirectory& directory;
    Vault& vault;
    AlertStore& alerts;
    ReceiptStore& receipts;
    DefinitionSet& definitions;
    const PluginRegistry& plugins;
    AccountDirectory& accounts;
    CallRunner& runner;
    const PluginFactory& factory;
    SyncScheduler& scheduler;
    WriteBuffer& writes;
    EnhancedWriteExecutor& executor;
    TokenRefresher& tokens;
    std::shared_ptr<HttpTransport> transport;
    UploadReader& uploads;
    std::shared_ptr<const RecordWatches> record_watches;  ///< told of what syncs change; may be null
    TokenUse& token_use;
    // They outlive every call. nullptr: nothing is counted.
    MetricRegistry* registry = nullptr;
    AdapterMeters* adapter_meters = nullptr;
    TokenMeters* token_meters = nullptr;
  };
  explicit ServiceHost(Parts parts) : parts_(std::move(parts)) {}

  /// Publishes the services whose adapter is loaded and whose configuration enables them, and every account that the
  /// vault knows of them. An account that cannot be opened is logged and raises an alert; the others are served. While
  /// the vault is locked none is, and an alert says so.
  void start();
  /// The vault has been unlocked: what start() left undone.
  void unlocked();
  /// A disconnection that waits goes on no further; it can be repeated after the next start.
  void stop();
  /// Publishes the definitions anew, after they were reloaded.
  void refresh_definitions();

  /// Asks the service whose token it is, and keeps it. Blocks for as long as the service takes. What `own` does not say
  /// of an account that is connected under this name stays as it is; a setting without a value is taken away. Throws
  /// krux::Error: InvalidInput for a token that cannot be one and for what accounts do not have, NotConnected when the
  /// service refuses it, ServiceUnavailable, DatabaseError.
  Connected connect(const std::string& service, const Secret& token, const std::string& account,
                    const AccountOwn& own = {});

  /// Throws krux::Error InvalidInput for what does not fit, ServiceUnavailable while the vault is locked.
  OAuthPlan plan_oauth(const std::string& service, OAuthOrder order) const;
  /// Has the code exchanged and connects whose tokens they are. As connect().
  Connected connect_by_code(const OAuthPlan& plan, const std::string& redirect_uri, const Secret& code,
                            const Secret& verifier);

  /// Ends the connection of the account (its id, name or display name; empty: the only one), or goes on with a
  /// disconnection that was cut short. Blocks, for `order.wait_ms` and a call to the service at most. Throws
  /// krux::Error: NotConnected, InvalidInput when none or several accounts are meant, ConflictError when it stopped
  /// (its context names the receipt), ServiceUnavailable, DatabaseError.
  Receipt disconnect(const std::string& service, const std::string& account, const DisconnectOrder& order);

  /// Compares the account's replica with the service, and says whose it was (docs/replica-verify.md). Blocks for as
  /// long as a second sync takes. Throws as Verification::run, as AccountDirectory::choose, and ConflictError where
  /// another one is compared.
  std::pair<ActiveAccountPtr, Verified> verify_replica(const std::string& service, const std::string& account,
                                                       const VerifyOrder& order);
  /// Has all of the account's replica built anew; agents read what is there until that is whole. Throws as
  /// AccountDirectory::choose, and ConflictError while an account is being connected.
  ActiveAccountPtr rebuild_replica(const std::string& service, const std::string& account);

  /// How an operator gets a token for the service; throws krux::Error InvalidInput when no such service is loaded.
  std::string connect_help(const std::string& service) const;

  /// Lets the adapter be called again after it was quarantined; false when it was not.
  bool release(const std::string& service);

  /// As Quota::left(), of a served account.
  std::map<std::string, double> quota_left(const AccountRef& account) const;

  /// The service refuses the account's token (a sentence), or takes it again (empty). False: the token is being renewed
  /// first, and nothing is noted.
  bool note_attention(const AccountRef& account, const std::string& why);
  /// The scheduler says which parts of the service are not what a person had agreed to; none: all are again.
  void note_changed(const AccountRef& account, const std::vector<std::string>& parts);

  // What the refresher tells.
  void token_renewed(const AccountRef& account);
  void resume_writes(const AccountRef& account);
  void token_refused(const AccountRef& account, const std::string& why);
  void token_ended(const AccountRef& account, const std::string& why);

 private:
  std::shared_ptr<const ServiceDefinition> definition_of(const std::string& service) const;
  const ServiceConfig& config_of(const std::string& service) const;
  std::vector<std::string> hosts_of(const ServiceDefinition& definition) const;
  std::string base_url_of(const ServiceDefinition& definition, const std::string& own) const;
  std::shared_ptr<AccountHttp> make_http(const ServiceDefinition& definition, const std::string& account_id,
                                         const AccountOwn& own, AccountHooks hooks) const;
  AccountHooks token_hooks(const ServiceDefinition& definition, const AccountRef& account,
                           const std::string& origin) const;
  AccountOwn own_of(const ServiceDefinition& definition, const std::string& name, AccountOwn given) const;
  void refuse_other_address(const Connection& connection) const;
  std::shared_ptr<ServiceAdapter> make_adapter(const AdapterSetup& setup) const;
  Connection served_connection(const AccountRef& account) const;
  AdapterSetup setup_of(const ServiceDefinition& definition, const Connection& connection,
                        std::shared_ptr<AccountHttp> http) const;
  Identity verify(const std::string& service, const Secret& token, const AccountOwn& own);
  Connected keep(const ServiceDefinition& definition, Connection connection, const Credential& credential,
                 const Identity& identity, const std::vector<std::string>& wanted_scopes);
  void give_back(const std::string& service, const std::optional<Identity>& whose, const Credential& credential);
  std::string name_for(const Connection& connection) const;
  void mark(const AccountRef& account, const std::string& why);
  bool is_current(const AccountRef& account) const;
  void refuse_other_principal(const Connection& connection);
  void refuse_other_adapter(const Connection& connection);
  const char* adapter_of(const std::string& service) const;
  std::string why_another_adapter(const Connection& connection) const;
  void tell_of_stranded(const Connection& connection);
  void tell_of_stranded(const WriteRecord& write);
  static WriteFilter open_writes_of(const Connection& connection, std::int64_t limit);
  void refuse_unfinished(const Connection& connection) const;
  void make_room(const Connection& connection);
  void serve_again(const Connection& connection);
  Receipt receipt_for(const std::string& service, const std::string& account, const DisconnectOrder& order);
  std::optional<std::string> revoke(const Receipt& receipt);
  bool has_unrevoked_refresh_token(const Receipt& receipt) const;
  void serve_connections();
  void connect_by_configuration();
  bool is_configured(const Connection& connection) const;
  void resume_disconnections();
  bool pause();
  std::int64_t sync_interval_of(const ServiceDefinition& definition) const;
  void activate(const Connection& connection);
  std::shared_ptr<Replica> open_replica_of(const Connection& connection);
  void publish_services();
  bool is_served(const std::string& service) const;

  Parts parts_;
  std::mutex connecting_;  ///< one connect or disconnect at a time
  std::mutex stopping_mutex_;
  std::condition_variable stopping_changed_;
  bool stopping_ = false;
  std::mutex verifying_;  ///< one replica at a time
  mutable std::mutex clients_mutex_;
  /// Of served accounts, by service and account: for their quotas alone.
  std::map<std::pair<std::string, std::string>, std::weak_ptr<AccountHttp>> clients_;
  std::mutex publishing_;  ///< so that a reload does not bring back an account that a connect has just replaced
};

}  // namespace krux
