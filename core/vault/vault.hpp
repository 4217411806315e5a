// The services' tokens, encrypted at rest: XChaCha20-Poly1305 under a key from a file outside the data directory, bound
// to their account, generation and origin, so that a row put in another's place does not open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/util/clock.hpp"
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
  bool needs_attention = false;  ///< the service refuses the token
  std::string attention;         ///< why, a sentence
};

/// Any thread. Throws krux::Error; no message contains a secret. One Vault a ledger.
class Vault {
 public:
  /// Reads or, if it is missing and no connection is stored, creates the key file (0600, 32 random bytes as hex) and
  /// its directory. Throws ConfigError, with what to do, for a key file inside `data_dir` (also by a symbolic link),
  /// one that belongs to or can be read by others, one that is missing or does not open what is stored. Nothing is
  /// changed then.
  Vault(GroupCommit& store, Clock& clock, const std::filesystem::path& key_file, const std::filesystem::path& data_dir);
  ~Vault();

  /// Stores token and connection together, durable on return. An account that is connected as the same principal keeps
  /// its generation, for it is the same connection with another token; otherwise the generation is one more than the
  /// last one of this account, disconnected ones included; generation, connected_at_ms and attention of `connection`
  /// are not read. Returns the generation.
  std::uint32_t connect(Connection connection, const Secret& token);
  std::vector<Connection> connections();
  /// Nothing when the account is not connected with that generation. From memory: fit for every request.
  std::optional<Secret> token(const std::string& service, const std::string& account_id, std::uint32_t generation);
  /// NotConnected when the account is not connected. Empty: fine again.
  void set_attention(const std::string& service, const std::string& account_id, const std::string& why);
  /// Removes the token, durable on return. Nothing happens when it is not connected.
  void disconnect(const std::string& service, const std::string& account_id);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krux
