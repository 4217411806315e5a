// What the operator's socket answers. docs/operator-api.md has the shapes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/audit/audit_log.hpp"
#include "core/config/config.hpp"
#include "core/replica/sync_scheduler.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/state/agents.hpp"
#include "core/state/sessions.hpp"
#include "core/util/json.hpp"
#include "core/write/alerts.hpp"
#include "core/write/approval_figures.hpp"
#include "core/write/write_buffer.hpp"
#include "host/accounts/oauth_attempts.hpp"
#include "host/accounts/service_host.hpp"
#include "host/operator/operator_api.hpp"
#include "host/plugins/plugin_registry.hpp"
#include "host/runner/adapter_runners.hpp"

namespace krux {

class CapabilityHandler;
class Webhook;

/// Ports and readiness, known once the host listens.
struct ListenState {
  std::uint16_t gateway_port = 0, health_port = 0;
  std::uint16_t page_port = 0;  ///< of the operator's page; 0: there is none
  bool ready = false;
  std::string status;  ///< "ok", "degraded", "critical"
};

/// Any thread. What it is given must outlive it.
class OperatorService final : public OperatorApi {
 public:
  struct Parts {
    const Config& config;
    Clock& clock;
    AgentStore& agents;
    SignInStore& sign_in;
    SessionStore& sessions;
    Vault& vault;
    AlertStore& alerts;
    ReceiptStore& receipts;
    const PluginRegistry& plugins;
    const AdapterRunners& runners;
    AccountDirectory& accounts;
    WriteBuffer& writes;
    SyncScheduler& scheduler;
    ServiceHost& services;
    OAuthAttempts& attempts;
    CapabilityHandler& handler;
    const DefinitionIndex& definitions;
    std::function<ListenState()> listening;
    const std::atomic<bool>& stopping;
    ApprovalFiguresReader& approvals;
    AuditLog& audit;
    const GroupCommit& store;
    Webhook* webhook;  ///< may be null
  };
  explicit OperatorService(Parts parts) : parts_(std::move(parts)), started_boot_ms_(parts_.clock.boot_ms()) {}

  /// The host stops: whoever waits for an undo is answered now.
  void stop_waiting();

  std::string status() override;
  std::string config() override;
  std::string agents() override;
  std::string agent(const std::string& name_or_id) override;
  std::string create_agent(const std::string& name, const std::string& who) override;
  std::string rotate_agent(const std::string& name_or_id, std::int64_t grace_ms, const std::string& who) override;
  std::string revoke_agent(const std::string& name_or_id, const std::string& who) override;
  std::string pause_agent(const std::string& name_or_id, const std::string& reason, const std::string& who) override;
  std::string resume_agent(const std::string& name_or_id, const std::string& who) override;
  std::string pause_all(const std::string& reason, const std::string& who) override;
  std::string resume_all(const std::string& who) override;
  std::string sign_in() override;
  std::string sign_in_request(const std::string& code) override;
  std::string accept_sign_in(const std::string& code, const std::string& agent, const std::string& who) override;
  std::string reject_sign_in(const std::string& code_or_id, const std::string& who) override;
  std::string end_sign_in(const std::string& grant_id, const std::string& who) override;
  std::string connections() override;
  std::string connection(const std::string& service) override;
  std::string connect(const std::string& service, const Secret& token, const std::string& account,
                      const AccountOwn& own, const std::string& who) override;
  std::string begin_oauth(const std::string& service, OAuthBegin asked, const std::string& who) override;
  std::string oauth_attempt(const std::string& service, const std::string& attempt_id) override;
  std::string answer_oauth(const std::string& service, const std::string& attempt_id, const Secret& address) override;
  std::string cancel_oauth(const std::string& service, const std::string& attempt_id) override;
  std::string disconnect(const std::string& service, const Disconnect& order, const std::string& who) override;
  std::string receipts(std::int64_t limit) override;
  std::string receipt(const std::string& receipt_id) override;
  std::string backup(const Backup& order, const std::string& who) override;
  std::string verify_replica(const std::string& service, const ReplicaOrder& order, const std::string& who) override;
  std::string rebuild_replica(const std::string& service, const std::string& account, const std::string& who) override;
  std::string vault() override;
  std::string unlock_vault(const Secret& passphrase, const std::string& who) override;
  std::string rotate_vault(const Secret& passphrase, const std::string& who) override;
  std::string set_vault_passphrase(const Secret& passphrase, const Secret& wanted, const std::string& who) override;
  std::string use_vault_key_file(const Secret& passphrase, const std::string& who) override;
  std::string sync_status(const std::string& service) override;
  std::string sync_now(const std::string& service, const std::string& who) override;
  std::string writes(const WriteFilter& filter) override;
  std::string write(const std::string& write_id) override;
  std::string cancel_write(const std::string& write_id, const std::string& who) override;
  std::string decide_outcome(const std::string& write_id, WriteEvent decision, std::optional<WriteState> expected,
                             const std::string& who) override;
  std::string accept_write(const std::string& write_id, const std::string& shown_hash,
                           const std::optional<StandingTerms>& like, const DecidingOperator& by) override;
  std::string standing_approvals() override;
  std::string end_standing_approval(const std::string& standing_id, const std::string& who) override;
  std::string reject_write(const std::string& write_id, const std::string& reason, const std::string& who) override;
  std::string edit_write(const std::string& write_id, const std::string& shown_hash, const std::string& arguments_json,
                         const DecidingOperator& by) override;
  std::string rollback_write(const std::string& write_id, bool force, const std::string& who) override;
  std::string decide(const DecisionRequest& asked, const DecidingOperator& by) override;
  std::string limits() override;
  std::string approval_figures() override;
  std::string plugins() override;
  std::string release_plugin(const std::string& service, const std::string& who) override;
  std::string verify_plugin(const std::string& file) override;
  std::string audit(AuditFilter filter) override;
  std::string audit_export(std::int64_t after, std::int64_t limit) override;
  std::string verify_audit() override;
  std::string decision_receipt(const std::string& write_id) override;
  std::string rotate_audit_key() override;
  std::string webhook() override;
  std::string test_webhook() override;
  std::string alerts(bool open_only, std::int64_t limit) override;
  std::string acknowledge_alert(std::int64_t id, const std::string& who) override;

 private:
  void put_approvals(JsonWriter& out, const WriteRecord& write) const;
  void put_like(JsonWriter& out, const WriteRecord& write) const;
  void put_reach(JsonWriter& out, const WriteRecord& write) const;
  Ledger::Like like_of(const std::string& write_id, const StandingTerms& terms);
  std::string agent_json(const Agent& agent, const std::string& key) const;
  void put_agent(JsonWriter& out, const Agent& agent) const;
  void put_one_agent(JsonWriter& out, const Agent& agent) const;
  void put_pause_of_all(JsonWriter& out) const;
  std::int64_t paused_by_themselves() const;
  void put_services(JsonWriter& out);
  void put_service(JsonWriter& out, const ActiveService& service);
  std::string attempt_json(const OAuthAttemptView& attempt);
  void put_connections(JsonWriter& out, const std::string& service);
  std::string state_instead(const Connection& connection);
  void put_vault(JsonWriter& out);
  void put_sync(JsonWriter& out, const std::string& service);
  void put_session(JsonWriter& out, const std::string& session_id);
  void put_write(JsonWriter& out, const WriteRecord& write, bool whole);
  std::string agent_name(const std::string& agent_id);
  /// Whole to who has shown that he knows it.
  enum class Code { kHalf, kWhole };
  void put_request(JsonWriter& out, const SignInRequest& request, Code code);
  void put_grant(JsonWriter& out, const SignInGrant& grant);
  /// Without history and edits.
  std::string one_write(const WriteRecord& write);
  /// Throws krux::Error NotFound.
  WriteRecord existing(const std::string& write_id);
  void put_history(JsonWriter& out, const std::string& write_id);
  const char* state_of(const PluginInfo& plugin) const;
  std::int64_t connections_of(const std::string& service) const;
  std::int64_t unfinished_writes_of(const std::string& service) const;
  void put_process(JsonWriter& out, const PluginInfo& plugin) const;
  void must_be_loaded(const std::string& service);

  /// Shared with those who call back: an undo may settle when nobody waits any more.
  struct RollbackWaits {
    std::mutex mutex;
    std::condition_variable cv;
    bool over = false;
  };

  Parts parts_;
  const std::int64_t started_boot_ms_;
  const std::shared_ptr<RollbackWaits> rollback_waits_ = std::make_shared<RollbackWaits>();
};

}  // namespace krux
