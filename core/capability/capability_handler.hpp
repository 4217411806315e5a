// From an agent's call of a capability to its result.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/adapter/lane.hpp"
#include "core/adapter/read_dialogue.hpp"
#include "core/capability/catalogue.hpp"
#include "core/capability/completion.hpp"
#include "core/capability/questions.hpp"
#include "core/definition/definition.hpp"
#include "core/util/cancellation.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/write/standing_approvals.hpp"
#include "core/write/write.hpp"

namespace krux {

class AccountDirectory;
struct AgentState;
class AgentStore;
class AlertStore;
class AuditLog;
class SessionStore;
class CallRunner;
class Clock;
class CallMeters;
struct AgentHistory;
class RuleBook;
class WriteMeters;
class UploadStore;
struct WriteBuffer;
struct HandlerContext;
struct PresentTerms;

/// What the host keeps of agents besides their writes.
struct AgentRecords {
  AgentStore& agents;
  SessionStore& sessions;
  AlertStore& alerts;
};

struct Invocation {
  std::string agent_id, agent_name, session_id;
  std::string capability;
  std::string arguments_json;   ///< one JSON object; empty: no arguments
  std::string idempotency_key;  ///< also taken from the arguments' `idempotency_key`
  /// Each value once, and as much as a model's context takes; see answer_budget.hpp.
  bool for_model = false;
  /// The caller's word that he waits no more: what has not begun is dropped, a wait ends, and the call ends with
  /// Cancelled, of which nobody need be told. A write that was accepted goes on. May be null.
  std::shared_ptr<Cancellation> cancellation;
  /// Told how far a call has come that takes its time, a sentence each. On any thread; must not block. May be empty.
  std::function<void(std::string_view)> progress;
  /// Of a read: what its caller can be asked and is told, and what he has answered. Null: nothing and nobody.
  std::shared_ptr<const ReadDialogue> dialogue;
  /// Of a write to a service: the open transaction that it is a part of; empty: of none.
  std::string transaction_id{};

  bool is_given_up() const { return cancellation && cancellation->cancelled(); }
  void tell(std::string_view how_far) const {
    if (progress) progress(how_far);
  }
};

/// Either data (one JSON object) or an error ({type, message, retryable, recovery, context}, and retry_after in seconds
/// where it is known).
struct InvocationResult {
  bool success = false;
  std::string data_json, error_json;
  /// Of what was read from a service, which is the text of others.
  std::optional<Confidentiality> read_of{};
  /// The members of data_json that a model is handed as content.
  std::vector<ContentOutput> content{};
  /// What a read must know before it can answer: it may be called again with the answers. Who cannot ask has an error
  /// besides, InputRequired.
  std::optional<Questions> questions{};
};

/// Which of the host's own capabilities can be asked to wait for a write's end (wait_seconds).
inline constexpr const char* kWriteStatus = "proxy.write_status";

/// A write that waits for a person, as much of it as its agent did not write.
struct AskedApproval {
  std::string write_id, capability, content_hash;
};
/// Nothing: none does. An error: that cannot be seen now.
using AskedOutcome = std::variant<std::optional<AskedApproval>, Error>;
/// Where the two need not be told apart.
inline std::optional<AskedApproval> approval_in(const AskedOutcome& outcome) {
  const auto* found = std::get_if<std::optional<AskedApproval>>(&outcome);
  return found ? *found : std::nullopt;
}

/// What an agent does with a transaction of its own (core/write/transactions.hpp).
struct TransactionStep {
  enum class What { kBegin, kCommit, kRollBack, kStatus } what;
  std::string agent_id;
  std::string session_id{};      ///< of kBegin: in which it is begun, or none
  std::int64_t for_ms = 0;       ///< likewise: for how long it may stay open
  std::string transaction_id{};  ///< of the others
  std::string reason{};          ///< of kRollBack, a sentence
};

struct HandlerOptions {
  std::int64_t default_delay_ms = 30'000;         ///< of writes whose definition names none
  std::map<std::string, std::int64_t> delays_ms;  ///< by operation: instead of the definition's
  std::optional<std::int64_t> settle_ms;          ///< instead of every definition's
  std::optional<bool> escalate_on_exceed;         ///< instead of every definition's
  std::int64_t read_timeout_ms = 10'000;          ///< of reads and name resolution; `fetches`: the call_timeout
  std::int64_t immediate_wait_ms = 10'000;        ///< how long an immediate write is waited for
  UploadStore* uploads = nullptr;                 ///< outlives every call; nullptr: there are none
  CallMeters* call_meters = nullptr;              ///< outlives every call; nullptr: nothing is counted
  WriteMeters* write_meters = nullptr;            ///< the same
  /// Outlives every call; nullptr: nothing is audited. While it cannot be written, writes are refused.
  AuditLog* audit = nullptr;
  bool audit_stops_reads = false;   ///< and reads too
  AgentHistory* history = nullptr;  ///< what agents do is noted there; outlives every call; nullptr: it is not
  AgentState* state = nullptr;      ///< what agents note; outlives every call; nullptr: they cannot
  const RuleBook* rules = nullptr;  ///< the operator's; outlives every call; nullptr: there are none
};

/// Any thread. invoke() takes as long as it takes to check the arguments: an agent's call is best made in its turn.
/// `done` runs exactly once, on any thread, and must not block. What is referred to must outlive the last `done`.
class CapabilityHandler {
 public:
  CapabilityHandler(AccountDirectory& accounts, CallRunner& runner, WriteBuffer& writes, AgentRecords records,
                    Clock& clock, HandlerOptions options = {});

  /// Runs `work`, which may take its time over what the agent has sent, on a worker when it is this agent's turn; the
  /// first call that it invokes follows in the same turn. `refused` runs instead, on any thread, where the agent has
  /// too much waiting already or its turn did not come in time. One of the two, once; and `refused` besides where
  /// `work` has begun and is given up.
  /// RunsOn::kCaller: the caller's thread may be borrowed for `work`, and for the call behind it where that is one that
  /// the host answers by itself, or a read by an adapter in the host's process that asks no service; see
  /// CallRunner::start().
  void in_turn(const std::string& agent_id, std::function<void()> work, std::function<void(Error)> refused,
               RunsOn on = RunsOn::kWorker);

  void invoke(Invocation invocation, std::function<void(InvocationResult)> done);
  /// Why what that call has asked must not be asked (any more): it may not be made, not of that account, or the
  /// definition in force does not let it ask that. Nothing is called.
  std::optional<Error> why_not_ask(const Invocation& invocation, const Questions& questions) const;

  /// Why the agent is not told what changes in the state that agents share: the host has none, or rules do not let it
  /// read that. Looks at no database.
  std::optional<Error> why_not_hear_state(const std::string& agent_id) const;

  /// For the ledger: see PresentTerms. What is returned may be called after this is gone.
  std::function<PresentTerms(const WriteRecord&)> terms() const;
  /// How a person has decided about the agent's write: one JSON object, see approval_json(). With `wait_ms` as soon as
  /// one has, or with the present state after that time. InvalidInput: no such write, or nobody was asked about it.
  void approval(const std::string& agent_id, const std::string& write_id, std::int64_t wait_ms,
                std::function<void(std::variant<std::string, Error>)> done);
  /// How the transaction stands then: one JSON object, see transaction_json(). A rollback is waited for, though not for
  /// long. InvalidInput: the agent has none of that id; ConflictError: it has ended, or what was to be committed could
  /// not be and is undone; BatchProtection.
  void transaction(TransactionStep step, std::function<void(std::variant<std::string, Error>)> done);
  /// Whether a person has to decide about the agent's write now, and about what; or why that cannot be seen.
  void asked_approval(const std::string& agent_id, const std::string& write_id, std::function<void(AskedOutcome)> done);

  /// For the operator: as proxy.edit_write, of any agent's write. `shown_hash`: the content that was looked at.
  void edit(const std::string& write_id, const std::string& shown_hash, const std::string& arguments_json,
            const DecidingOperator& by, std::function<void(std::variant<WriteRecord, Error>)> done);

  /// Which later writes are like one that waits for a person; or why none are, a sentence.
  std::variant<StandingScope, std::string> standing_scope(const WriteRecord& write) const;

  /// What capabilities.list and describe answer: one JSON array of summaries, or one JSON object with inputs, outputs,
  /// limits, errors and recovery. Capabilities that are blocked, or that no connected account can do (its service is
  /// not connected, or its scopes were not granted), are left out. The host's own (proxy.cancel_write,
  /// proxy.write_status, proxy.list_writes) are among them. Empty filters: all.
  /// Of an agent, by its name: what rules block or ask of each of its calls counts too.
  std::string list_json(const std::string& agent, const CatalogueFilter& filter) const;
  std::optional<std::string> describe_json(const std::string& agent, const std::string& name) const;
  /// The same capabilities, as they are defined and configured.
  std::vector<Offered> offered(const std::string& agent) const;
  /// `rules`: those that match the write as it stands and by now, with file and line of each, for the operator.
  void put_rules(JsonWriter& out, const WriteRecord& write) const;
  /// As put_limits_in_use().
  void put_limits(JsonWriter& out) const;
  /// Whether there is such a capability, offered or not.
  bool knows(const std::string& capability) const;
  /// Whether it asks the service, or can be asked to wait.
  bool takes_time(const std::string& capability) const;
  /// Whether it is a read that may take longer than clients wait.
  TakesLong takes_long(const std::string& capability) const;
  /// Those of its inputs that clients repeat in headers over HTTP.
  std::vector<InputDefinition> header_inputs(const std::string& capability) const;
  /// What a client may offer its user while he writes a value that the replica has.
  void values(ValuesWanted wanted, std::function<void(std::variant<Completion, Error>)> done) const;
  /// That are loaded, connected or not; and "state" where agents can note something.
  std::vector<std::string> services() const;

 private:
  const std::shared_ptr<const HandlerContext> context_;  ///< shared with calls under way
};

/// `error` as agents get it, with the recovery actions of its type: the definition's, else the host's.
std::string error_json(const Error& error, const ServiceDefinition* definition);

}  // namespace krux
