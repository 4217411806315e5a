// What the operator's socket needs of the host. docs/operator-api.md has the shapes of the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/query.hpp"
#include "core/definition/account_check.hpp"
#include "core/util/error.hpp"
#include "core/vault/vault.hpp"
#include "core/write/write.hpp"
#include "core/write/write_buffer.hpp"

namespace krux {

/// One decision about several writes.
struct DecisionRequest {
  struct Write {
    std::string write_id, content_hash;        ///< the hash that was shown; for "accept" alone
    std::optional<WriteState> expected_state;  ///< that was shown; of "resend", "discard", "happened"
    std::string expected_finding;              ///< that was shown, where `held`; empty: none
  };
  std::string decision;  ///< accept, reject, cancel, resend, discard, happened, rollback, release
  bool held = false;     ///< of "discard" and "happened": only of writes that are held as a copy; "release" always
  std::string reason;    ///< of "reject"
  std::optional<StandingTerms> like;  ///< of "accept": the like of each is approved too
  bool force = false;                 ///< of "rollback"
  std::vector<Write> writes;
};

/// Each member returns one JSON object. They run on the control server's workers, several at once, and may block; they
/// throw krux::Error, with not_found() for what does not exist and ConflictError or CannotCancel for what does not go
/// now. `who`: "operator:<name>".
class OperatorApi {
 public:
  virtual ~OperatorApi() = default;

  virtual std::string status() = 0;
  virtual std::string config() = 0;

  virtual std::string agents() = 0;
  virtual std::string agent(const std::string& name_or_id) = 0;
  virtual std::string create_agent(const std::string& name, const std::string& who) = 0;
  /// `grace_ms`: for how long the old key is good too. Programs that have signed in as it must sign in again.
  virtual std::string rotate_agent(const std::string& name_or_id, std::int64_t grace_ms, const std::string& who) = 0;
  virtual std::string revoke_agent(const std::string& name_or_id, const std::string& who) = 0;
  /// `reason`: may be empty. An agent's own pause and that of all, also of agents that are made later, are apart.
  virtual std::string pause_agent(const std::string& name_or_id, const std::string& reason, const std::string& who) = 0;
  virtual std::string resume_agent(const std::string& name_or_id, const std::string& who) = 0;
  virtual std::string pause_all(const std::string& reason, const std::string& who) = 0;
  virtual std::string resume_all(const std::string& who) = 0;

  /// Who wants to sign in, of whose codes it has one half, and who has.
  virtual std::string sign_in() = 0;
  /// One request, for who has seen its page.
  virtual std::string sign_in_request(const std::string& code) = 0;
  /// `agent`: a name or id; one of that name is made where there is none.
  virtual std::string accept_sign_in(const std::string& code, const std::string& agent, const std::string& who) = 0;
  virtual std::string reject_sign_in(const std::string& code_or_id, const std::string& who) = 0;
  virtual std::string end_sign_in(const std::string& grant_id, const std::string& who) = 0;

  virtual std::string connections() = 0;
  /// Of one service, connected or not, with the help that its definition gives for connecting.
  virtual std::string connection(const std::string& service) = 0;
  /// Asks the service whose token it is, then stores it.
  /// `account`: the name that the account gets; empty: the one that it has, or a free one.
  virtual std::string connect(const std::string& service, const Secret& token, const std::string& account,
                              const AccountOwn& own, const std::string& who) = 0;

  /// What is empty is as the definition or the configuration says.
  struct OAuthBegin {
    std::string account, profile, flow, client_id;
    Secret client_secret;
    AccountOwn own;
  };
  /// Begins to connect an account in the browser. Each answers how the attempt stands.
  virtual std::string begin_oauth(const std::string& service, OAuthBegin asked, const std::string& who) = 0;
  virtual std::string oauth_attempt(const std::string& service, const std::string& attempt_id) = 0;
  /// The address that the browser ended at.
  virtual std::string answer_oauth(const std::string& service, const std::string& attempt_id,
                                   const Secret& address) = 0;
  virtual std::string cancel_oauth(const std::string& service, const std::string& attempt_id) = 0;

  struct Disconnect {
    std::string account;  ///< id, name or display name; empty: the only one
    bool force = false;
    std::optional<std::int64_t> wait_ms;  ///< for writes under way
  };
  /// Blocks until it is through; may be repeated after a crash.
  virtual std::string disconnect(const std::string& service, const Disconnect& order, const std::string& who) = 0;
  virtual std::string receipts(std::int64_t limit) = 0;
  virtual std::string receipt(const std::string& receipt_id) = 0;

  struct Backup {
    std::string directory;  ///< absolute, to be made
    std::string key_file;   ///< where the vault's key goes; empty: nowhere
    bool replicas = true;
  };
  /// Blocks for as long as the copies take.
  virtual std::string backup(const Backup& order, const std::string& who) = 0;

  struct ReplicaOrder {
    std::string account;       ///< empty: the only one
    std::int64_t records = 0;  ///< about how many; 0: all
    std::int64_t minutes = 0;
  };
  /// Blocks for as long as a second sync takes: twice `minutes` at most, and two passes of the account's own.
  virtual std::string verify_replica(const std::string& service, const ReplicaOrder& order, const std::string& who) = 0;
  virtual std::string rebuild_replica(const std::string& service, const std::string& account,
                                      const std::string& who) = 0;

  virtual std::string vault() = 0;
  // Each answers what vault() says then. A passphrase that is not needed may be empty.
  virtual std::string unlock_vault(const Secret& passphrase, const std::string& who) = 0;
  virtual std::string rotate_vault(const Secret& passphrase, const std::string& who) = 0;
  virtual std::string set_vault_passphrase(const Secret& passphrase, const Secret& wanted, const std::string& who) = 0;
  virtual std::string use_vault_key_file(const Secret& passphrase, const std::string& who) = 0;

  virtual std::string sync_status(const std::string& service) = 0;
  /// Makes the next step due now and returns at once what sync_status() says.
  virtual std::string sync_now(const std::string& service, const std::string& who) = 0;

  /// `filter.agent_id` holds what the operator named: an agent's id or name.
  virtual std::string writes(const WriteFilter& filter) = 0;
  virtual std::string write(const std::string& write_id) = 0;
  virtual std::string cancel_write(const std::string& write_id, const std::string& who) = 0;
  virtual std::string decide_outcome(const std::string& write_id, WriteEvent decision,
                                     std::optional<WriteState> expected, const std::string& who) = 0;

  /// `like`: for how long the like of it is approved too.
  virtual std::string accept_write(const std::string& write_id, const std::string& shown_hash,
                                   const std::optional<StandingTerms>& like, const DecidingOperator& by) = 0;
  virtual std::string standing_approvals() = 0;
  virtual std::string end_standing_approval(const std::string& standing_id, const std::string& who) = 0;
  virtual std::string reject_write(const std::string& write_id, const std::string& reason, const std::string& who) = 0;
  virtual std::string edit_write(const std::string& write_id, const std::string& shown_hash,
                                 const std::string& arguments_json, const DecidingOperator& by) = 0;
  /// The undo as it stands after ten seconds at most.
  virtual std::string rollback_write(const std::string& write_id, bool force, const std::string& who) = 0;
  /// Each write for itself: an error of one is part of the answer.
  virtual std::string decide(const DecisionRequest& asked, const DecidingOperator& by) = 0;
  virtual std::string limits() = 0;
  /// How fast approvals are given, and which way.
  virtual std::string approval_figures() = 0;

  virtual std::string plugins() = 0;
  /// Lets an adapter be called again that the host has quarantined.
  virtual std::string release_plugin(const std::string& service, const std::string& who) = 0;
  virtual std::string verify_plugin(const std::string& file) = 0;

  /// `filter.agent_id` holds what the operator named: an agent's id or name.
  virtual std::string audit(AuditFilter filter) = 0;
  virtual std::string audit_export(std::int64_t after, std::int64_t limit) = 0;
  /// Blocks for as long as reading the whole log takes.
  virtual std::string verify_audit() = 0;
  virtual std::string decision_receipt(const std::string& write_id) = 0;
  virtual std::string rotate_audit_key() = 0;

  virtual std::string webhook() = 0;
  /// Ten seconds at most.
  virtual std::string test_webhook() = 0;
  virtual std::string alerts(bool open_only, std::int64_t limit) = 0;
  virtual std::string acknowledge_alert(std::int64_t id, const std::string& who) = 0;
};

inline Error not_found(const std::string& message) {
  return {ErrorCode::kNotFound, message};
}

}  // namespace krux
