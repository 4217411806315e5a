// What the members of SignInStore share. Internal to core/sign_in.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/sign_in/sign_in_meters.hpp"
#include "core/sign_in/sign_in_rows.hpp"
#include "core/sign_in/sign_in_store.hpp"

namespace krux {

struct SignInStore::State {
  /// What becomes of rows, in one transaction and then in memory.
  struct Change {
    sign_in::SignInRows put;
    std::vector<std::string> gone_clients, gone_requests, gone_tokens, gone_grants;
    std::vector<std::string> ended_grants;        ///< whose tokens go
    std::function<void(SQLite::Database&)> also;  ///< of another store, in the same transaction
    /// Of a test: where the process may die.
    std::string_view before_commit, after_commit;

    bool empty() const;
    /// The tokens of a grant end with it.
    void end(sign_in::GrantRow row, std::int64_t now_ms, const std::string& reason);
  };

  State(GroupCommit& s, Clock& c, SignInTimes t, SignInBounds b) : store(s), clock(c), times(t), bounds(b) {}

  void load();
  void commit(const Change& change);
  /// Adds what has run out. Who changes something begins with it, and reads after it what it has left.
  void tidy();
  void tidy_requests_and_clients(Change& change) const;
  void tidy_grants(Change& change) const;

  /// Under `changing`, or `mutex`.
  const sign_in::RequestRow* find_request(const std::string& code) const;
  const sign_in::RequestRow& require_request(const std::string& code) const;
  const sign_in::RequestRow& require_named(const std::string& code_or_id) const;
  std::vector<sign_in::TokenRow> tokens_of(const std::string& grant_id) const;
  std::size_t live_grants() const;
  bool is_shown(const std::string& handle_hash) const;
  void make_room_for_request(const std::string& peer, Change& change) const;
  std::string free_code() const;

  void end_of_code(const std::string& code_hash);
  /// Throws SignInRefused.
  const sign_in::GrantRow& require_grant(const TokenRefresh& order, const std::string& family) const;
  bool may_repeat(const sign_in::TokenRow& shown, const std::vector<sign_in::TokenRow>& all) const;
  /// What a refresh with `shown` leaves of the others.
  void drop_old(const sign_in::TokenRow& shown, const std::vector<sign_in::TokenRow>& all, Change& change) const;
  /// Two tokens of the next generation for a grant that is renewed by it.
  SignInTokens issue(sign_in::GrantRow grant, const std::string& family, std::int64_t generation, Change& change) const;
  /// Whether that is to be written down: the first one within a minute.
  bool note_use(const std::string& grant_id, std::int64_t now_ms);

  template <class What>
  void count(What what) {
    if (meters) meters->count(what);
  }

  GroupCommit& store;
  Clock& clock;
  const SignInTimes times;
  const SignInBounds bounds;
  std::function<void()> tokens_ended;
  SignInMeters* meters = nullptr;
  std::mutex changing;  ///< held by whoever changes rows: one at a time, database and memory together
  mutable std::shared_mutex mutex;
  std::map<std::string, sign_in::ClientRow> clients;    ///< by client_id
  std::map<std::string, sign_in::RequestRow> requests;  ///< by the handle's hash
  struct PageLoads {
    int count = 0;
    std::int64_t last_ms = 0;  ///< since boot
  };
  std::map<std::string, PageLoads> page_loads;      ///< by the handle's hash
  std::map<std::string, sign_in::GrantRow> grants;  ///< by grant_id
  std::map<std::string, sign_in::TokenRow> tokens;  ///< by the token's hash
  mutable std::mutex use_mutex;                     ///< taken last
  std::map<std::string, std::int64_t> last_uses;    ///< of grants, by grant_id; the rows here lack them
};

}  // namespace krux
