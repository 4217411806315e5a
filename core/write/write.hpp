// The types of the effect ledger. docs/write-path.md tells the story.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/account/account_ref.hpp"
#include "core/definition/definition.hpp"
#include "core/policy/rules/decider.hpp"
#include "core/util/error_type.hpp"

namespace krux {

enum class WriteState {
  kPendingApproval,
  kHeld,  ///< by a transaction
  kBuffered,
  kExecuting,
  kUnknown,     ///< may have happened: looked for, then a person decides
  kDeadLetter,  ///< certainly not done: tried again on the schedule, or by the operator once `escalated`
  kCompleted,
  kFailed,  ///< refused for good
  kCancelled,
  kRejected,
  kRolledBack,
  kDiscarded,
};
inline constexpr int kWriteStates = static_cast<int>(WriteState::kDiscarded) + 1;

const char* to_string(WriteState state);
std::optional<WriteState> parse_write_state(const std::string& text);
bool has_ended(WriteState state);  ///< completed and what comes after it in the list above

/// What attempts of a write that is not carried out may have made at the service, and what becomes of that.
enum class Cleanup {
  kNone,
  kPossible,  ///< an attempt may make something before its effect: the operation's definition says so
  kPending,   ///< the write has ended, and a cleanup takes away what was made
  kDone,
  kLeft,  ///< it could not be taken away, or somebody decided that it stays
};

const char* to_string(Cleanup cleanup);

/// A limit as it counts for one write.
struct LimitRule : Limit {
  std::string key_value;  ///< only writes whose parameter `key` has this value (text, or JSON)
  bool escalate = true;   ///< what exceeds it goes to a person; false: it is refused
  RuleName rule{};        ///< of the operator that it is of; without a name: it is of the definition, or its policy
  std::string definition_version{}, capability{};  ///< of the definition that it is of, and what the write counts as
};

/// What the audit log is told besides of an admission, an edit, or a claim that the policy of now forbids. Each is one
/// JSON object, or empty.
struct AuditedDecision {
  std::string decision_json;    ///< what policy said, by which rule, and what it looked at
  std::string parameters_json;  ///< what is kept of the parameters
  std::string limit_json;       ///< the limit that was exceeded
};

/// What an edit can replace of a write, and what follows from it.
struct WriteContent {
  std::string params_json;        ///< canonical (RFC 8785), defaults filled in, names resolved
  std::string params_shown_json;  ///< as the agent gave them, for people; may equal params_json
  std::string summary;            ///< one line for people ("#general: Deployment complete!"), printable
  std::string target;             ///< what it is about, in the service's ids ("C1/170.1"); empty: not known
  std::string tier, definition_version;
  std::string counted_as;       ///< for which operation's limits it counts; empty: of a wish its own, of a row none
  std::string approval_reason;  ///< why a person is asked first, a sentence; empty: nobody is
  std::string asked_by_json;    ///< of the rule for which he is, as one object of put_decider(); empty: of none
  std::int64_t approvals_needed = 0;  ///< so many different operators must accept it; 0 and 1: one
  std::int64_t approval_ms = 0;       ///< for how long he may be asked, then it is rejected; 0: for ever. No column.
  std::int64_t delay_ms = 30'000;
  std::int64_t send_at_ms = 0;  ///< not before that time either; 0: the window alone decides. A part of the content.
};

/// What a write is: frozen when it is accepted, but for its content, which an edit may replace.
struct Write : WriteContent {
  std::int64_t seq = 0;  ///< orders writes by their admission
  std::string write_id, agent_id;
  std::string session_id;  ///< in which it was asked for; empty: of an earlier version
  AccountRef account;
  std::string operation;
  std::string content_hash;
  std::string idempotency_key;  ///< empty: none
  std::string when_absent;      ///< "ask" or "resend"
  std::string ordering_key;     ///< writes of one key go out one after the other; empty: in no order
  std::string rolls_back;       ///< the write_id that this one undoes; its own id begins with "rb_" then
  std::string cleans;           ///< the write_id that this one cleans up after; its own id begins with "cu_" then
  bool immediate = false;
  std::int64_t settle_ms = 60'000;
  std::int64_t rollback_ms = 0;  ///< for how long after its end it can be undone; 0: not at all
  std::int64_t created_at_ms = 0;
  /// When it counts for limits: since its content, or what it counts as, has been what it is.
  std::int64_t counted_at_ms = 0;
};

/// What has become of a write.
struct WriteProgress {
  WriteState state = WriteState::kBuffered;
  bool escalated = false;        ///< waits for the operator's decision (unknown and absent, or no try is left)
  bool irrevocable = false;      ///< an earlier attempt may have happened: neither cancelled nor edited any more
  bool held_as_copy = false;     ///< held, because the data directory may be a copy of one that went on
  bool reconcile_first = false;  ///< looked for before anything else is done
  /// Of one that is held as a copy: a person released it before it was looked for. It goes on where the look does not
  /// find it.
  bool release_wanted = false;
  /// As column `needs_operator`, which lists, counts and figures read.
  bool needs_operator() const {
    return escalated || (held_as_copy && !release_wanted) || state == WriteState::kPendingApproval;
  }
  /// Of one that is held as a copy, what a look by its marker has shown: "found" (with a result), "absent",
  /// "cannot_tell"; empty: none has ended yet.
  std::string evidence, evidence_json;
  std::int64_t evidence_at_ms = 0;
  std::int64_t due_at_ms = 0;          ///< when the host acts next (window over, next try, next look); 0: it does not
  std::int64_t buffer_until_ms = 0;    ///< end of the window that the agent was told; 0 while pending_approval or held
  std::int64_t approval_until_ms = 0;  ///< while pending_approval: when it is rejected unless decided; 0: never
  std::int64_t first_attempt_at_ms = 0, unknown_since_ms = 0, ended_at_ms = 0;
  std::uint32_t attempts = 0;
  std::uint32_t tries = 0;          ///< steps of the retry schedule that are used
  std::uint32_t looks = 0;          ///< since the outcome became unknown
  std::uint32_t begun_attempt = 0;  ///< the last attempt whose call into the adapter may have begun
  std::string result_json, note_json, point_json;
  ErrorType error_type;  ///< of the last failure, none where it went well
  std::string error_message;
  std::string standing_approval;  ///< that let it through unasked; empty: none
  std::string decided_by;         ///< who cancelled, resolved, ...: "agent:<id>", "operator:<user>", "host"
  Cleanup cleanup = Cleanup::kNone;
  bool waits_in_line = false;  ///< its window is over and it is not its turn
  bool out_of_order = false;   ///< went before one of its ordering key that held it up too long
  /// It has just left pending_approval: of what is told of a change alone, no column.
  bool approval_resolved = false;
};

/// The name of an operator, as it stands wherever somebody has decided: "operator:ann".
std::string operator_who(std::string_view name);

/// Whoever decides at the operator's interfaces.
struct DecidingOperator {
  std::string who;          ///< "operator:<name>"
  std::string operator_id;  ///< whose passphrase was given; empty: known by the socket alone, as are others there
  DecidingOperator() = default;
  DecidingOperator(std::string name, std::string id = {}) : who(std::move(name)), operator_id(std::move(id)) {}
  DecidingOperator(const char* name) : who(name) {}
};

/// An operator's, of the content that a write has.
struct Acceptance {
  std::string operator_id, who;
  std::int64_t accepted_at_ms = 0;
};

/// A row of table `writes`.
struct WriteRecord : Write, WriteProgress {};

/// What an agent asks for, checked and resolved: the write, but for what the ledger adds (id, hash, ordering key,
/// time), and on which terms it is admitted.
struct NewWrite : Write {
  std::string order;  ///< goes out behind its agent's earlier writes of the same; empty: in no order
  std::vector<LimitRule> limits;
  bool counts = false;  ///< for a limit of others of its kind, though none is asked of it
  bool allow_duplicate = false;
  bool sets_state = false;        ///< a reaction, a label: after another write may have unset it, it is no duplicate
  bool leaves_something = false;  ///< an attempt that fails may: it is cleaned up
  std::string by_standing;        ///< the standing approval that may answer for `approval_reason`; empty: none
  /// The open transaction of its agent that it is a part of; empty: of none.
  std::string transaction_id;
  /// The state it begins in when nobody is asked: kBuffered or kHeld.
  WriteState admitted_as = WriteState::kBuffered;
  AuditedDecision audited;
};

/// What an edit puts in the place of a write's content. The rest of the write stays.
struct NewContent : WriteContent {
  std::string order;
  std::vector<LimitRule> limits;
  bool counts = false;  ///< as NewWrite::counts
  AuditedDecision audited;
};

/// A row of table `edits`.
struct EditRecord {
  std::int64_t edited_at_ms = 0;
  std::string who, from_hash, to_hash, from_json, to_json;  ///< contents as people are shown them
};

/// A row of table `attempts`: what was done about a write, in order.
struct AttemptRecord {
  std::string kind;          ///< "attempt", "look", "decision"
  std::uint32_t number = 0;  ///< of the attempt; for looks and decisions the attempt that they are about
  std::int64_t started_at_ms = 0, ended_at_ms = 0;
  std::string outcome;  ///< the event (transition.hpp) that it led to; empty while it runs
  std::string wire;     ///< "nothing_sent", "answered", "open", or empty
  std::string message, who;
};

/// How many rows of history and edits a write has.
struct RecordTotals {
  std::int64_t attempts = 0, edits = 0;
};

/// Why a completed write, of an operation that can be undone, cannot be undone all the same: a sentence. Empty where
/// nothing stands against it, and for other writes.
std::string rollback_problem(const WriteRecord& write);
/// Until when a completed write can be undone; 0: it cannot, or is not done.
std::int64_t undo_until_ms(const WriteRecord& write);

/// Of a write that is held as a copy, what was found by now: "not_looked_yet", or its evidence.
std::string_view finding_of(const WriteRecord& write);

struct Submitted {
  WriteRecord write;
  bool duplicate = false;  ///< an existing write answers this one (duplicate_of)
};

/// Newest first.
struct WriteFilter {
  std::string agent_id, service, account_id;  ///< empty: any
  std::vector<WriteState> states;             ///< empty: any
  bool needs_operator = false;                ///< only those that wait for the operator
  std::int64_t limit = 50;                    ///< at most 500
  std::string before_write_id;                ///< pages back from here
  bool held_as_copy = false;                  ///< only those that are held as a copy
  std::string session_id;                     ///< empty: any; with agent_id
  std::int64_t after_seq = 0;                 ///< only those behind it
  std::string id_begins;                      ///< only those whose id begins so; empty: any
};

struct WriteCounts {  ///< kept as counters; never count(*)
  std::int64_t buffered = 0, executing = 0, unknown = 0, dead_letter = 0, needs_operator = 0, completed = 0, failed = 0;
  std::int64_t pending_approval = 0, held = 0;
  std::int64_t held_as_copy = 0;
};

/// The operation of a write that undoes another. No definition has it: it is the host's.
inline constexpr const char* kRollbackOperation = "proxy.rollback";
/// Likewise of one that takes away what the attempts of another have left.
inline constexpr const char* kCleanupOperation = "proxy.cleanup";

/// A write's seq begins with the time at which it was asked for, so that they are ordered by it.
constexpr std::int64_t first_seq_of(std::int64_t created_at_ms) {
  return created_at_ms << 12;
}

/// What the ids of writes begin with, of undos, and of cleanups.
inline constexpr const char *kIdPrefix = "w_", *kRollbackPrefix = "rb_", *kCleanupPrefix = "cu_";
/// Whether it is one, of whatever kind of write.
bool is_write_id(std::string_view id);
/// The seq of the write with that id, should it exist; -1 of a text that is no id.
std::int64_t seq_of_id(const std::string& write_id);

/// The seqs that the writes have whose ids begin so; nothing where no id begins so.
struct SeqRange {
  std::int64_t first, last;
};
std::optional<SeqRange> seqs_of_beginning(std::string_view id_begins);

/// Of writes that undo: whether it goes on although the service's state has changed since.
bool is_forced(const WriteRecord& undo);

/// How long a write may hold up those behind it of its ordering key, from its first attempt on, unless configured.
inline constexpr std::int64_t kOrderWaitMs = 5 * 60'000;

/// Where an ordered write stands: one key for each agent, connection and `order`. Empty of an empty one.
std::string ordering_key_of(const std::string& agent_id, const AccountRef& account, const std::string& order);

/// SHA-256 over service, account, generation, operation, canonical parameters and, of what is scheduled, its time.
std::string content_hash(const AccountRef& account, const std::string& operation, const std::string& params_json,
                         std::int64_t send_at_ms = 0);

/// A time that has just passed is no mistake: the call took its time.
inline constexpr std::int64_t kLateByMs = 60'000;
/// Throws krux::Error InvalidInput where no write can be scheduled for that time: at most kLongestWindow ahead.
void must_be_in_reach(std::int64_t send_at_ms, std::int64_t now_ms);
/// The buffer window of a write that begins now: its delay, or until the time that it is scheduled for.
std::int64_t window_of(const WriteContent& content, std::int64_t now_ms);

/// /proc/sys/kernel/random/boot_id.
std::string machine_boot_id();

}  // namespace krux
