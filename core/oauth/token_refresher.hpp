// Access tokens are renewed before they end. docs/oauth.md says when and how.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/account/account_ref.hpp"
#include "core/adapter/call.hpp"
#include "core/net/http.hpp"
#include "core/oauth/token_client.hpp"
#include "core/vault/vault.hpp"

namespace krux {

/// Two threads of its own do the work, so that whoever waits holds up nobody and no caller's end cuts a refresh short.
/// Any thread may call. Of an account one refresh runs at a time.
class TokenRefresher {
 public:
  /// Called on the refresher's threads; may take their time, must not throw, and must not call back into stop().
  struct Hooks {
    std::function<void(const AccountRef&)> renewed;
    /// A minute later: writes that met the old token are held by now, also those whose 401 came before renewed().
    std::function<void(const AccountRef&)> resume;
    /// Refused for good.
    std::function<void(const AccountRef&, const std::string& why)> refused;
    /// The access token has ended and could not be renewed for now.
    std::function<void(const AccountRef&, const std::string& why)> ended;
    /// "renewed", "failed", "refused", "not_stored".
    std::function<void(const AccountRef&, const char* outcome)> count;
  };
  TokenRefresher(Vault& vault, TokenClient client, Clock& clock, Hooks hooks);
  ~TokenRefresher();  ///< stop(), and waits for what is under way
  TokenRefresher(const TokenRefresher&) = delete;
  TokenRefresher& operator=(const TokenRefresher&) = delete;

  void start();
  /// Begins no more. Waits so long for a refresh under way: it may have cost the old token already.
  void stop(std::int64_t wait_ms = 0);
  /// After stop(): until no hook is called any more.
  void join();
  /// Connections have changed, or the vault was unlocked.
  void wake();

  /// KRUX_OK: the token can be used, or nothing is known of its end. Waits for a refresh where it has ended.
  /// KRUX_AUTH: refused for good. KRUX_UNAVAILABLE: not to be had for now. KRUX_CANCELLED, KRUX_TIMEOUT: the call's
  /// end.
  HttpOutcome ensure(const AccountRef& account, const CallContextPtr& call);
  /// The service has answered 401 to `used`. KRUX_OK: there is another token now; otherwise as ensure(), and KRUX_AUTH
  /// also where the token is too young to be the reason, or cannot be refreshed.
  HttpOutcome renew(const AccountRef& account, std::string_view used, const CallContextPtr& call);
  /// An adapter says that the token is refused. True: it is being renewed, and there is nothing to tell yet.
  bool suspect(const AccountRef& account);

 private:
  struct Account {
    AccountRef ref;
    std::int64_t connected_at_ms = 0, expires_at_ms = 0;
    std::int64_t expires_boot_ms = 0;  ///< by the clock that nobody sets
    std::int64_t next_try_boot_ms = 0;
    std::int64_t renewed_boot_ms = 0;     ///< 0: not since the start
    std::int64_t young_ms = 0;            ///< since then
    std::int64_t tell_again_boot_ms = 0;  ///< 0: not
    int failures = 0;                     ///< in a row
    std::uint64_t renewals = 0;
    bool wanted = false, running = false, refused = false;
    std::string why;  ///< of the last failure
    struct Unsaved {
      Credential credential;
      std::int64_t expires_at_ms;
    };
    std::optional<Unsaved> unsaved;  ///< what could not be stored
  };
  using Key = std::pair<std::string, std::string>;

  void work();
  void note_connections();
  std::int64_t left_ms(const Account& account) const;
  bool is_young(const Account& account) const;
  bool is_due(const Account& account) const;
  Account* next_due();
  std::int64_t next_look() const;
  Account* find(const AccountRef& ref);
  /// As long as it has not been connected again meanwhile.
  Account* find(const AccountRef& ref, std::int64_t connected_at_ms);
  bool has_changed(const AccountRef& ref, std::string_view used) const;
  HttpOutcome await(std::unique_lock<std::mutex>& lock, const AccountRef& ref, const CallContextPtr& call);

  /// One refresh: what is needed of its account, which may go or be replaced meanwhile.
  struct Run {
    AccountRef ref;
    std::int64_t connected_at_ms;
    std::unique_lock<std::mutex>& lock;
  };
  void tell_again();
  void refresh(Account& account, std::unique_lock<std::mutex>& lock);
  /// What there is to store; otherwise `failure` says why not, unless there is nothing left to do.
  std::optional<Credential> ask(const Run& run, std::optional<TokenFailure>& failure, std::int64_t& expires_at_ms);
  void store(const Run& run, Account::Unsaved fresh);
  /// Why it is not stored, if it is not. `gone`: there is nothing to store it for any more.
  std::optional<std::string> save(const AccountRef& ref, const Account::Unsaved& fresh, bool& gone);
  void note_renewal(Account& account, std::int64_t expires_at_ms) const;
  void fail(const Run& run, const TokenFailure& failure);
  void count(const AccountRef& ref, const char* outcome) const;

  Vault& vault_;
  TokenClient client_;
  Clock& clock_;
  const Hooks hooks_;

  std::mutex noting_;  ///< one reading of the vault at a time; taken before mutex_
  std::mutex mutex_;   ///< over what follows; never held while the vault, the network or a hook works
  std::condition_variable changed_;
  std::map<Key, Account> accounts_;
  std::uint64_t wakes_ = 1;
  bool stopping_ = false, locked_ = false;
  std::array<std::thread, 2> threads_;
};

}  // namespace krux
