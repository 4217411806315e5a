// The services' tokens, encrypted at rest: XChaCha20-Poly1305 under a key from a file outside the data directory or
// from a passphrase, bound to their account, generation and origin, so that a row put in another's place does not open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/vault/credential.hpp"
#include "core/vault/passphrase.hpp"
#include "core/vault/secret.hpp"

namespace krux {

class GroupCommit;

/// What is stored of a connection. The token is apart.
struct Connection {
  std::string service, account_id, display_name;
  std::string principal;  ///< who acts there with the token, by the service's id; may be empty
  std::uint32_t generation = 0;
  std::vector<std::string> scopes;
  bool scopes_known = false;
  std::string token_origin;  ///< "https://api.example.com": the only origin that the token is sent to
  std::int64_t connected_at_ms = 0;
  bool needs_attention = false;    ///< the service refuses the token
  std::string attention;           ///< why, a sentence
  std::string name;                ///< the operator's, unique among the connected accounts of the service
  std::string profile, flow;       ///< of the definition's `oauth:`; empty: the token was pasted
  std::int64_t expires_at_ms = 0;  ///< of the access token, wall clock; 0: it does not end, or nobody knows when
  bool refreshable = false;        ///< there is a refresh token
  std::string base_url;            ///< the account's own; empty: the service's
  std::map<std::string, std::string> settings;  ///< the account's own, by the definition's names
  std::string adapter;  ///< what it was connected through, a kAdapter...; empty: before this was noted
};

inline constexpr const char* kAdapterPlugin = "plugin";  ///< of the plugins directory
inline constexpr const char* kAdapterBundle = "bundle";
inline constexpr const char* kAdapterMock = "mock";  ///< wherever it lies

/// Whether what `known` was connected through is `adapter`, in whatever version. A mock is never what was connected
/// before this was noted.
bool is_same_adapter(const Connection& known, const std::string& adapter);

enum class VaultMode { kKeyFile, kPassphrase };
const char* to_string(VaultMode mode);  ///< "key_file", "passphrase"

struct VaultOptions {
  std::filesystem::path key_file, data_dir;
  VaultMode new_vault = VaultMode::kKeyFile;  ///< for one that holds nothing yet; any other is as it was left
  PassphraseCost cost;                        ///< of passphrases that are set from now on
};

struct VaultStatus {
  VaultMode mode = VaultMode::kKeyFile;
  bool locked = false;
  bool passphrase_set = false;      ///< false: the first unlock() sets it
  std::int64_t key_made_at_ms = 0;  ///< 0: before this was noted, or there is no key yet
  std::int64_t tokens = 0;
  PassphraseCost cost;           ///< of the present passphrase
  std::int64_t next_try_ms = 0;  ///< for so long no passphrase is tried, after wrong ones
};

/// Any thread. Throws krux::Error; no message contains a secret. One Vault a ledger. Key and tokens lie in locked
/// memory that is wiped.
class Vault {
 public:
  /// With a key file: reads or, if it is missing and no connection is stored, creates it (0600, 32 random bytes as hex)
  /// and its directory. Throws ConfigError, with what to do, for a key file inside `data_dir` (also by a symbolic
  /// link), one that belongs to or can be read by others, one that is missing or does not open what is stored. Nothing
  /// is changed then. With a passphrase: locked until unlock().
  Vault(GroupCommit& store, Clock& clock, VaultOptions options);
  ~Vault();

  // The key. What takes a passphrase answers NotAuthenticated for a wrong one and RateLimited while the next try has to
  // wait; ConflictError where it does not fit the mode. A change re-encrypts every token in one transaction: kill the
  // host at any moment, and the vault opens with the old key or the new one. DatabaseError: nothing was changed, or the
  // sentence says what was.
  VaultStatus status();
  bool locked();
  /// Sets the passphrase where there is none yet. Nothing happens when it is open.
  void unlock(const Secret& passphrase);
  /// A new key of the same kind. With a key file `passphrase` is not looked at.
  void rotate(const Secret& passphrase);
  /// Moves to `wanted`, or to another passphrase. `passphrase` is not looked at with a key file, nor while the vault is
  /// locked and holds no token: the passphrase of an empty vault may be forgotten.
  void set_passphrase(const Secret& passphrase, const Secret& wanted);
  /// Moves to the key file, which is made anew.
  void use_key_file(const Secret& passphrase);

  /// Stores token and connection together, durable on return. An account that is connected as the same principal
  /// through the same adapter keeps its generation, for it is the same connection with another token; otherwise the
  /// generation is one more than the last one of this account, disconnected ones included; generation, connected_at_ms
  /// and attention of `connection` are not read. Returns the generation. ServiceUnavailable while the vault is locked.
  /// `connection.refreshable` is not read either. ConflictError where another connected account of the service has the
  /// name.
  std::uint32_t connect(Connection connection, const Credential& credential);
  std::uint32_t connect(Connection connection, const Secret& token);
  /// Stores what a refresh has made of a credential(), durable on return. NotConnected when the account has been
  /// disconnected or connected again since; DatabaseError: it may be stored nevertheless, and can be stored again.
  void renew(const std::string& service, const std::string& account_id, std::uint32_t generation,
             const Credential& credential, std::int64_t expires_at_ms);
  /// Known also while the vault is locked.
  std::vector<Connection> connections();
  /// Nothing when the account is not connected with that generation, or the vault is locked. From memory: fit for every
  /// request.
  std::optional<Secret> token(const std::string& service, const std::string& account_id, std::uint32_t generation);
  /// All of it, under the same conditions as token().
  std::optional<Credential> credential(const std::string& service, const std::string& account_id,
                                       std::uint32_t generation);
  /// NotConnected when the account is not connected. Empty: fine again.
  void set_attention(const std::string& service, const std::string& account_id, const std::string& why);
  /// What the account was connected through, durable on return. NotConnected when it is not connected.
  void note_adapter(const std::string& service, const std::string& account_id, const std::string& adapter);
  /// Removes the token, durable on return. Nothing happens when it is not connected.
  void disconnect(const std::string& service, const std::string& account_id);
  /// Whether the ledger, not this object's memory, holds a token of the account.
  bool holds_token(const std::string& service, const std::string& account_id);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What everything answers that needs a token while there is none to be had.
Error vault_is_locked();

}  // namespace krux
