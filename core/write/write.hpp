// The types of the effect ledger. docs/write-path.md tells the story.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace krux {

enum class WriteState {
  kPendingApproval,
  kHeld,  ///< by a transaction
  kBuffered,
  kExecuting,
  kUnknown,     ///< may have happened: looked for, then a person decides
  kDeadLetter,  ///< certainly not done: tried again on the schedule, or by a person once `told_person`
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

/// Whose account a write is for. Immutable; part of the content hash.
struct AccountRef {
  std::string service, account_id;
  std::uint32_t generation = 0;
  bool operator==(const AccountRef&) const = default;
};

/// A limit of the definition as it counts for one write.
struct BatchRule {
  std::vector<std::string> operations;
  std::int64_t limit = 0, window_ms = 0;
  std::string key, key_value;  ///< only writes whose parameter `key` has this value (text, or JSON); empty: all
  bool escalate = true;        ///< what exceeds it goes to a person; false: it is refused
};

/// What an agent asks for, checked and resolved.
struct NewWrite {
  std::string agent_id;
  AccountRef account;
  std::string operation;
  std::string params_json;        ///< canonical (RFC 8785), defaults filled in, names resolved
  std::string params_shown_json;  ///< as the agent gave them, for people; may equal params_json
  std::string summary;            ///< one line for people ("#general: Deployment complete!"), printable
  std::string idempotency_key;    ///< empty: none
  bool allow_duplicate = false;
  bool sets_state = false;  ///< a reaction, a label: after another write may have unset it, it is no duplicate
  bool immediate = false;
  std::int64_t delay_ms = 30'000;
  std::int64_t settle_ms = 60'000;
  std::string tier, definition_version;  ///< frozen into the write
  std::string when_absent;               ///< "ask" or "resend"; frozen too
  std::int64_t undo_ms = 0;              ///< for how long after its end it can be undone; 0: not at all. Frozen too
  std::string target;                    ///< what it is about, in the service's ids ("C1/170.1"); empty: not known
  std::vector<BatchRule> limits;
  std::string counted_as;       ///< for which operation's limits it counts; empty: its own
  std::string approval_reason;  ///< why a person is asked first, a sentence; empty: nobody is
  /// The state it begins in when nobody is asked: kBuffered or kHeld.
  WriteState admitted_as = WriteState::kBuffered;
};

/// What an edit puts in the place of a write's content. The rest of the write stays.
struct NewContent {
  std::string params_json, params_shown_json, summary, target, tier, definition_version, approval_reason, counted_as;
  std::int64_t delay_ms = 30'000;
  std::vector<BatchRule> limits;
};

/// A row of table `writes`.
struct BufferedWrite {
  std::int64_t seq = 0;  ///< orders writes by their admission
  std::string write_id, agent_id;
  AccountRef account;
  std::string operation, params_json, params_shown_json, summary, content_hash;
  std::string idempotency_key, tier, definition_version, when_absent;
  WriteState state = WriteState::kBuffered;
  bool immediate = false;
  bool told_person = false;  ///< waits for the operator's decision (unknown and absent, or the schedule is used up)
  bool closed = false;       ///< an earlier attempt may have happened: neither cancelled nor edited any more
  std::int64_t created_at_ms = 0;
  std::int64_t due_at_ms = 0;        ///< when the host acts next (window over, next try, next look); 0: it does not
  std::int64_t buffer_until_ms = 0;  ///< end of the window that the agent was told; 0 while pending_approval or held
  std::int64_t delay_ms = 0, settle_ms = 0;
  std::int64_t first_attempt_at_ms = 0, ended_at_ms = 0;
  std::uint32_t attempts = 0;
  std::uint32_t tries = 0;  ///< steps of the retry schedule that are used
  std::uint32_t looks = 0;  ///< since the outcome became unknown
  std::int64_t unknown_since_ms = 0;
  std::string result_json, note_json, point_json;
  std::string error_type, error_message;
  std::string decided_by;  ///< who cancelled, resolved, ...: "agent:<id>", "operator:<user>", "host"
  std::string undoes;      ///< the write_id that this one undoes; its own id begins with "rb_" then
  std::int64_t undo_ms = 0;
  std::string target;
  std::string counted_as;       ///< for which operation's limits it counts; empty: for none
  std::string approval_reason;  ///< why a person was asked
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
std::string undo_problem(const BufferedWrite& write);

struct Submitted {
  BufferedWrite write;
  bool duplicate = false;  ///< an existing write answers this one (duplicate_of)
};

/// Newest first.
struct WriteFilter {
  std::string agent_id, service, account_id;  ///< empty: any
  std::vector<WriteState> states;             ///< empty: any
  bool needs_person = false;                  ///< only those that wait for a decision
  std::int64_t limit = 50;                    ///< at most 500
  std::string before_write_id;                ///< pages back from here
};

struct WriteCounts {  ///< kept as counters; never count(*)
  std::int64_t buffered = 0, executing = 0, unknown = 0, dead_letter = 0, needs_person = 0, completed = 0, failed = 0;
  std::int64_t pending_approval = 0, held = 0;
};

/// SHA-256 over service, account, generation, operation and canonical parameters.
/// The operation of a write that undoes another. No definition has it: it is the host's.
inline constexpr const char* kUndoOperation = "proxy.rollback";

/// Of writes that undo: whether it goes on although the service's state has changed since.
bool is_forced(const BufferedWrite& undo);

std::string content_hash(const AccountRef& account, const std::string& operation, const std::string& params_json);

/// /proc/sys/kernel/random/boot_id.
std::string machine_boot_id();

}  // namespace krux
