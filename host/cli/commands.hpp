// The `kruxos` command's operations. Each returns the exit code and throws CliError.
#pragma once

#include <string>
#include <vector>

#include "host/cli/policy_files.hpp"
#include "host/cli/scaffold.hpp"
#include "host/cli/session.hpp"
#include "host/cli/test_host_options.hpp"

namespace krux::cli {

int show_status(const Session& session);
int show_config(const Session& session);
int list_plugins(const Session& session);
int release_plugin(const Session& session, const std::string& service);
/// Works without a running host.
int verify_plugin(const Session& session, const std::string& file, const std::string& definitions);
struct BundleArguments {
  std::string bundle;                    ///< directory of the one to be installed, or service of the one to be removed
  std::string bundles_dir, definitions;  ///< empty: the running host's, the environment's, the default
  bool yes = false, force = false;
};
/// Both work without a running host.
int install_bundle(const Session& session, const BundleArguments& arguments);
int remove_bundle(const Session& session, const BundleArguments& arguments);
/// Works without a running host.
int new_adapter(const Session& session, const ScaffoldPlan& plan);

int certify_adapter(const Session& session, CertifyRequest request);
/// Becomes the program that is a host for tests. Throws CliError where that is not installed.
int begin_test_host(const TestHostOptions& options);
/// Hands over to the program that wraps MCP servers, with the running host's directories where `words` name none.
/// Does not return where that begins.
int wrap_server(const Session& session, std::vector<std::string> words);
/// These work without a running host.
int validate_policies(const Session& session, const PolicyArguments& arguments);
int show_policies(const Session& session, const PolicyArguments& arguments);
int check_policies(const Session& session, const PolicyArguments& arguments);
int analyze_policies(const Session& session, const PolicyArguments& arguments);
/// Against the running host's audit log; 1 where something would be decided otherwise.
int simulate_policies(const Session& session, const PolicyArguments& arguments);
int list_alerts(const Session& session, bool all);
int acknowledge_alert(const Session& session, std::int64_t id);

int create_agent(const Session& session, const std::string& name);
int list_agents(const Session& session);
int show_agent(const Session& session, const std::string& name);
/// `grace_minutes`: for how long the old key is good too.
int rotate_agent(const Session& session, const std::string& name, std::int64_t grace_minutes, bool yes);
int revoke_agent(const Session& session, const std::string& name, bool yes);
struct PauseArguments {
  std::string agent;  ///< a name or id
  bool all = false;   ///< instead of it
  std::string reason;
};
int pause_agents(const Session& session, const PauseArguments& arguments);
int resume_agents(const Session& session, const PauseArguments& arguments);

/// Of hosts that cannot send a key.
int list_sign_in(const Session& session);
int accept_sign_in(const Session& session, const std::string& code, const std::string& agent, bool yes);
int reject_sign_in(const Session& session, const std::string& code_or_id);
int end_sign_in(const Session& session, const std::string& grant_id, bool yes);

struct ConnectArguments {
  std::string service;  ///< "status" shows all connections instead
  std::string account, profile, flow, client_id;
  std::string base_url;               ///< the account's own
  std::vector<std::string> settings;  ///< "name=value"
  bool token = false;                 ///< pasted, also where the service can be connected in the browser
  bool setup = false;                 ///< shows how to make the app instead
  bool no_browser = false;
};
int connect_service(const Session& session, const ConnectArguments& arguments);
int list_connections(const Session& session);
struct DisconnectArguments {
  std::string service, account;  ///< account: may be empty
  bool force = false, yes = false;
  int wait_seconds = -1;  ///< negative: as long as the host finds right
};
int disconnect_service(const Session& session, const DisconnectArguments& arguments);
int show_receipt(const Session& session, const std::string& id);
int list_receipts(const Session& session);
int sync_service(const Session& session, const std::string& service, bool wait);

struct ReplicaArguments {
  std::string service, account;  ///< account: may be empty
  int records = 1'000, minutes = 30;
  bool all = false;
};
/// kFailed where something differs.
int verify_replica(const Session& session, const ReplicaArguments& arguments);
int rebuild_replica(const Session& session, const ReplicaArguments& arguments);

struct BackupArguments {
  std::string directory, key_file;
  bool without_replicas = false;
};
int make_backup_of_host(const Session& session, const BackupArguments& arguments);
/// Works without a running host, and only so.
int restore_data_directory(const Session& session, const std::string& backup);

int show_operator(const Session& session);
int list_operators(const Session& session);
int add_operator(const Session& session, const std::string& name);
int remove_operator(const Session& session, const std::string& name, bool yes);
/// `forgotten`: the present one, for which the host asks everybody but root.
int set_operator_passphrase(const Session& session, bool forgotten);

int show_vault(const Session& session);
int unlock_vault(const Session& session);
int rotate_vault(const Session& session);
int set_vault_passphrase(const Session& session);
int use_vault_key_file(const Session& session);

struct AuditArguments {
  std::string agent, service, write, kind, since, until;  ///< empty: any
  std::int64_t limit = 50, after = 0;
  std::string file;          ///< read by the command itself, without a running host
  std::string anchors, key;  ///< with it: the file with signed heads, the public key that must be in force
};
int query_audit(const Session& session, const AuditArguments& arguments);
int verify_audit_log(const Session& session, const AuditArguments& arguments);
struct ReceiptArguments {
  std::string write, file;
  std::string key;  ///< the public one that must have signed; empty: any
};
int get_receipt(const Session& session, const ReceiptArguments& arguments);
/// Works without a running host.
int verify_receipt(const Session& session, const ReceiptArguments& arguments);
int show_audit_key(const Session& session);
int rotate_audit_key(const Session& session, bool yes);
/// All rows, one a line.
int export_audit(const Session& session, const AuditArguments& arguments);

/// Live, with decisions by keys.
int watch_writes(const Session& session);
int show_approval_figures(const Session& session);
int list_writes(const Session& session, const std::string& service, int recent);
int show_write(const Session& session, const std::string& id);
int cancel_write(const Session& session, const std::string& id, bool yes);
/// `decision`: "resend", "discard" or "happened".
int decide_outcome(const Session& session, const std::string& id, const std::string& decision, bool yes);

struct DecisionOptions {
  std::string decision;  ///< accept, reject, resend, discard; of what is held as a copy: release, discard, happened
  bool held = false;     ///< of writes that are held as a copy
  std::vector<std::string> ids;
  bool all = false;  ///< instead of ids: all that wait for this decision, of `service` and `agent` where they are given
  std::string service, agent, reason;
  std::int64_t like_minutes = 0;  ///< of accept: the like is approved for so long; 0: it is not
  std::int64_t like_most = 20;
  bool yes = false;
};
int decide_writes(const Session& session, const DecisionOptions& options);
/// What was approved beforehand; `end`: ends that one instead.
int show_webhook(const Session& session);
int test_webhook(const Session& session);
int show_standing_approvals(const Session& session, const std::string& end);
/// `assignments`: NAME=TEXT, NAME:=JSON.
int edit_write(const Session& session, const std::string& id, const std::vector<std::string>& assignments, bool yes);
int rollback_write(const Session& session, const std::string& id, bool force, bool yes);
/// Those that are held because the data directory may be a copy.
int list_held(const Session& session, const std::string& service);
int list_dead_letters(const Session& session, const std::string& service);

/// `shell`: bash, zsh or fish.
int print_completion(const Session& session, const std::string& shell);
int print_version(const Session& session);

}  // namespace krux::cli
