// Who has signed in and who wants to, in kruxos.db: registered clients, requests, grants and their tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sign_in/sign_in.hpp"
#include "core/util/clock.hpp"

namespace SQLite {
class Database;
}

namespace krux {

class GroupCommit;
class SignInMeters;

struct SignInTimes {
  std::int64_t access_ms = 3'600'000;         ///< how long an access token lives
  std::int64_t idle_ms = 30 * 86'400'000LL;   ///< and a grant that is not renewed
  std::int64_t request_ms = 600'000;          ///< how long a request waits
  std::int64_t shown_ms = 10'000;             ///< how long after a load its page is taken to be before somebody
  std::int64_t code_ms = 120'000;             ///< from its acceptance until its authorization code is spent
  std::int64_t grace_ms = 60'000;             ///< in which a refresh may be repeated
  std::int64_t unused_client_ms = 3'600'000;  ///< of one without a grant
  std::int64_t idle_client_ms = 90 * 86'400'000LL;
  std::int64_t ended_grant_ms = 30 * 86'400'000LL;  ///< how long one is shown
};

struct SignInBounds {
  std::size_t requests = 64, requests_of_peer = 8, clients = 256, grants = 128, ended_grants = 256;
  int page_loads = 1000;
};

struct CodeExchange {
  std::string code, client_id, verifier;
  std::optional<std::string> redirect_uri;
  std::string audience;  ///< the resource that the tokens are to be for: it must be the request's
};

struct TokenRefresh {
  std::string refresh_token, client_id, audience;
};

/// Any thread; all but client(), load_page(), requests(), grants() and authenticate() wait for the disk. They throw
/// krux::Error DatabaseError, and nothing has changed then. Only SHA-256 of what clients hold is stored. One
/// SignInStore a ledger.
class SignInStore {
 public:
  SignInStore(GroupCommit& store, Clock& clock, SignInTimes times = {}, SignInBounds bounds = {});
  ~SignInStore();

  /// Throws RateLimited where there are too many.
  SignInClient register_client(const ClientMetadata& metadata);
  /// One that has registered.
  std::optional<SignInClient> client(const std::string& client_id) const;

  struct Begun {
    std::string handle;  ///< for the browser and its page: 64 hexadecimal digits that nobody can guess
    SignInRequest request;
  };
  /// Throws RateLimited where too many wait, or where all of this address have their pages before somebody.
  Begun begin(const SignInAsk& ask);
  /// For the page: nothing where it is over. Throws RateLimited where it was loaded too often.
  std::optional<SignInRequest> load_page(std::string_view handle);
  /// What leads back to the client once it was accepted: the same at each load.
  static std::string authorization_code(std::string_view handle);

  // The operator's. `code` is the one for people, in any case, with or without its hyphen: who has it has seen the
  // page. They throw NotFound, and ConflictError where it is too late or there are too many grants.
  SignInRequest request(const std::string& code) const;
  /// `also` runs in the same transaction: it makes the agent where it is new.
  SignInRequest accept(const std::string& code, const std::string& agent_id, const std::string& who,
                       std::function<void(SQLite::Database&)> also = {});
  SignInRequest reject(const std::string& code_or_id, const std::string& who);
  SignInGrant end(const std::string& grant_id, const std::string& who);
  void end_of_agent(const std::string& agent_id, const std::string& why);
  std::vector<SignInRequest> requests() const;  ///< the oldest first
  std::vector<SignInGrant> grants() const;      ///< the newest first, those that have ended among them

  // The client's. They throw SignInRefused.
  SignInTokens exchange(const CodeExchange& order);
  SignInTokens refresh(const TokenRefresh& order);
  /// A refresh token ends its grant, an access token itself alone; of what nobody knows there is nothing to do.
  /// `client_id` may be empty.
  void revoke(const std::string& token, const std::string& client_id);

  /// Nothing where the token is unknown, has run out or has ended, or is for something else. Served from memory. Notes
  /// the use now and then, without waiting for it.
  std::optional<TokenOwner> authenticate(std::string_view access_token, std::string_view audience);
  /// Which must outlive this; before the first of the calls. nullptr: nothing is counted.
  void count_into(SignInMeters* meters);
  /// `told` runs when tokens may have ended before their time, on the thread of the call that ended them. To be set
  /// before the first of them.
  void when_tokens_end(std::function<void()> told);

  struct State;  ///< sign_in_state.hpp: of the implementation alone

 private:
  std::unique_ptr<State> state_;
};

}  // namespace krux
