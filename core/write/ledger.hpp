// The effect ledger: tables writes and attempts. Every change of a state goes through transition() and is durable when
// its callback or return says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/storage/group_commit.hpp"
#include "core/storage/reader_pool.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/write/alerts.hpp"
#include "core/write/ledger_order.hpp"
#include "core/write/ledger_rows.hpp"
#include "core/write/limits.hpp"
#include "core/write/standing_approvals.hpp"
#include "core/write/transactions.hpp"
#include "core/write/transition.hpp"
#include "core/write/write.hpp"

namespace krux {

class WriteMeters;

/// What the policy that is in force now says of a write that was admitted under an earlier one.
struct PresentTerms {
  std::string forbids;  ///< why it must not go out, a sentence; empty: nothing forbids it
  std::string asks;     ///< why a person is asked first, a sentence; empty: nobody is
  std::vector<LimitRule> limits;
  ErrorCode forbidden_as = ErrorCode::kOperationBlocked;
  std::string decision_json{};        ///< of what forbids or asks, for the audit log
  std::string counted_as{};           ///< for which operation's limits it counts by now; empty: for its own
  bool counts = false;                ///< a limit may count it that is none of `limits`
  std::string asked_by_json{};        ///< with `asks`, as WriteContent has it
  std::int64_t approval_ms = 0;       ///< likewise
  std::int64_t approvals_needed = 0;  ///< likewise
};

/// What an attempt or a look led to.
struct WriteReport {
  enum class Of { kAttempt, kLook } of = Of::kAttempt;
  std::string write_id;
  std::uint32_t attempt = 0;  ///< the one that was made, or that was looked for
  WriteEvent event = WriteEvent::kMayBeDone;
  std::optional<std::int64_t> due_in_ms;  ///< when the host acts next; nothing: not by itself
  bool uses_try = false;                  ///< takes a step of the retry schedule
  bool counts_look = true;
  bool keeps_due = false;  ///< the time stays as it is, instead of due_in_ms
  std::string evidence;    ///< with kCopyReconciled; what was found is result_json
  std::string result_json, error_message;
  ErrorType error_type;
  std::string wire;  ///< "nothing_sent", "answered", "open", or empty
  std::int64_t started_at_ms = 0;
  bool waits_for_connection = false;  ///< the account's token is refused: due at once when it works again
  std::optional<NewAlert> alert;
};

/// Any thread. Callbacks run on the thread that commits (the store's, or a caller's who waits), or on the
/// caller's when the store accepts nothing.
class Ledger {
 public:
  /// kCallers: for a thread that may wait for a disk.
  using CommitThread = GroupCommit::Thread;
  template <class T>
  using Done = std::function<void(std::variant<T, Error>)>;

  /// Begins a new run of the host in the ledger (an owner epoch): there is one at a time. `boot_id` tells boots of the
  /// machine apart. `store` and `clock` must outlive this. Throws krux::Error DatabaseError.
  Ledger(GroupCommit& store, Clock& clock, const std::string& boot_id = machine_boot_id());
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // What agents and operators do. `agent_id` empty: the operator; an agent's own writes alone exist for it. `who`:
  // "agent:<id>", "operator:<user>".

  /// Idempotency, duplicate intent, and the insert are one step. The callback gets either the write or an error
  /// (ConflictError: the key was used for another content; BatchProtection; DatabaseError).
  void submit(NewWrite write, Done<Submitted> done, CommitThread thread = CommitThread::kWriters);

  /// CannotCancel (with the state in words) unless the write is pending_approval, held, buffered or dead_letter.
  void cancel(std::string write_id, std::string agent_id, std::string who, Done<WriteRecord> done);

  /// kOperatorResend, kOperatorDiscard or kOperatorHappened. About an unknown write, once it is escalated: send again
  /// (back to buffered, due at once), discard, or "it happened" (completed). About a dead letter, at any time: send
  /// again (due at once, the schedule begins anew) or discard. ConflictError otherwise, and where the write is no
  /// longer in the state that the operator was shown (`expected`).
  void decide_outcome(std::string write_id, WriteEvent decision, std::optional<WriteState> expected, std::string who,
                      Done<WriteRecord> done);

  /// kOperatorRelease, kOperatorDiscard or kOperatorHappened, of a write that is held as a copy: let go out (or wait,
  /// be looked for or tried again, whatever its state is), given up, or taken for what its evidence has found. One that
  /// was not looked for yet is let go by the look that does not find it. `shown`: the finding that the person was
  /// shown, as finding_of() names it; empty: none. ConflictError when it is not held, or the finding is another one.
  void decide_copied(std::string write_id, WriteEvent decision, std::string shown, std::string who,
                     Done<WriteRecord> done);

  /// A write that waits for a person's approval: accepted with the content_hash that was shown (ConflictError when it
  /// has another one by now), its window begins, and the like of it may follow where `like` says so; rejected, with a
  /// reason for its agent or none. Where several operators must accept it, it waits on until the last of them has:
  /// ConflictError when it is the same one again, NotAuthenticated when he is known by the socket alone.
  struct Like {
    StandingScope scope;
    StandingTerms terms;
  };
  void accept(std::string write_id, std::string shown_hash, DecidingOperator by, Done<WriteRecord> done,
              std::optional<Like> like = {});
  void reject(std::string write_id, std::string reason, std::string who, Done<WriteRecord> done);

  /// Replaces the content of a write that is pending_approval, held or buffered and never attempted, if it still has
  /// `shown_hash`: ConflictError otherwise, BatchProtection where a limit refuses it; then nothing has changed. The
  /// window begins anew; what a person was asked about, he is asked about again when an agent changes it. What was
  /// accepted of the content before counts no more; where several must accept it, an operator's edit of what had been
  /// let go is his own acceptance of the new one.
  void edit(std::string write_id, std::string agent_id, std::string shown_hash, NewContent content, DecidingOperator by,
            Done<WriteRecord> done);

  /// Asks for a completed write to be undone: a write of its own (`rolls_back`), due at once, which may become unknown
  /// or a dead letter like any other; when it is completed, the first is rolled_back. `force`: even though the
  /// service's state has changed since. A duplicate is the rollback that is under way. RollbackConflict (not completed,
  /// or undone), RollbackExpired, InvalidInput (cannot be undone). `session_id`: in which it is asked for; empty: in
  /// that of the first write.
  void roll_back(std::string write_id, std::string agent_id, bool force, std::string who, Done<Submitted> done,
                 std::string session_id = {});

  // Transactions: docs/transactions.md. A write joins one by NewWrite::transaction_id.

  /// BatchProtection where the agent has too many. `for_ms`: it is undone by itself then.
  void begin_transaction(std::string agent_id, std::string session_id, std::int64_t for_ms,
                         Done<AgentTransaction> done);
  /// What is held goes into its windows. ConflictError: it has ended; or a write of it has not gone well, for which it
  /// is undone; or retryable, a write of it is still under way. What was committed already is answered as it is.
  void commit_transaction(std::string transaction_id, std::string agent_id, Done<AgentTransaction> done);
  /// What is held is dropped; continue_undoing() takes back what ran. Of one that is undone already nothing changes;
  /// ConflictError of one that was committed. `reason`: a sentence.
  void undo_transaction(std::string transaction_id, std::string agent_id, std::string reason,
                        Done<AgentTransaction> done);
  /// The same of whosever one, if it is still open. Waits for the commit.
  void undo_open_transaction(const std::string& transaction_id, std::string reason);
  /// The next step of one that is being undone, the last write first: nothing, while something of it is under way.
  /// Waits for the commit.
  void continue_undoing(const std::string& transaction_id);
  /// As it stands. Throws krux::Error InvalidInput, DatabaseError.
  AgentTransaction transaction(const std::string& transaction_id, const std::string& agent_id);
  TransactionsAtWork transactions_at_work();

  // What the executor does. These wait for the commit; not from a callback of the store. They throw krux::Error.

  /// Ends every attempt but those in flight (their seq): one whose call may have begun is `unknown`, and its settle
  /// time starts now; one whose call certainly never did is tried again, behind a first look. What says that a call
  /// began outlasts the host and not always a power cut: of an attempt of another boot nobody can be certain. With
  /// `host_started` the first looks at what the run before left unknown wait anew for requests of that run. Returns how
  /// many writes were executing.
  std::size_t recover(bool host_started, std::optional<std::int64_t> settle_ms, std::vector<std::int64_t> in_flight);

  /// How many writes may be taken, and how many of these to be looked for.
  struct Room {
    std::size_t all = 0, looks = 0;
  };
  /// Writes of `accounts` whose time has come and that no pause holds, `busy` (seq) left out. Those to try are claimed:
  /// `executing`, with their attempt; those of unknown outcome are to be looked for. One whose turn in its lane has not
  /// come is put off instead; `order_wait_ms`: how long a dead letter or an unknown outcome holds up those behind it.
  /// One that the policy of now does not let out, or whose agent's key has ended, is stopped: refused, or put before a
  /// person.
  struct Taken {
    std::vector<WriteRecord> writes, stopped;
    bool empty() const { return writes.empty() && stopped.empty(); }
  };
  /// Before it looks it records `outcomes`, as record() does, in the same commit: what they make due is taken too.
  struct Outcome {
    WriteReport report;
    Done<WriteRecord> done;
  };
  Taken take(std::vector<AccountRef> accounts, Room room, std::vector<std::int64_t> busy,
             std::int64_t order_wait_ms = kOrderWaitMs, std::vector<Outcome> outcomes = {});
  /// Asked of each write before it is claimed, on the thread that commits: must be quick. Set before the first claim;
  /// what it refers to must outlive this.
  void ask_terms(std::function<PresentTerms(const WriteRecord&)> terms) { present_terms_ = std::move(terms); }

  /// Notes that the running attempt's call begins now, and keeps its rollback point (empty: it has none) unless an
  /// earlier attempt left one. A point that says nothing is not waited for: see recover().
  void keep_rollback_point(const std::string& write_id, std::uint32_t attempt, const std::string& point_json);

  /// Keeps a note with a running attempt; false when it could not be kept: not a JSON object of at most 64 KiB, the
  /// attempt has ended, the store failed.
  bool keep_note(const std::string& write_id, std::uint32_t attempt, std::string_view note_json);

  /// ConflictError when the attempt is no longer what the ledger has.
  void record(WriteReport report, Done<WriteRecord> done, CommitThread thread = CommitThread::kWriters);

  /// Deletes rollback points whose time is over, some at once; one that an undo under way needs stays. Returns how
  /// many.
  std::size_t drop_expired_rollback_points();

  /// Rejects what has waited for a person longer than its rules let it, some at once. Returns how many.
  std::size_t expire_approvals();

  /// What waits for the account's token to work becomes due at once, and nothing else.
  void connection_restored(const AccountRef& account);

  /// Nobody can carry out or look for the account's writes any more, of whatever generation (ledger_disconnect.cpp).
  void hand_over(const std::string& service, const std::string& account_id, const std::string& who);

  // Reads. They throw krux::Error DatabaseError.
  std::optional<WriteRecord> get(const std::string& write_id);
  std::vector<WriteRecord> list(const WriteFilter& filter);
  /// The newest, oldest of them first; of the edits no more than 16 MiB, but one in any case.
  std::vector<AttemptRecord> history(const std::string& write_id, std::int64_t newest = 1000);
  /// Those that count for the write as it stands, the earliest first.
  std::vector<Acceptance> acceptances(const WriteRecord& write);
  std::vector<EditRecord> edits(const std::string& write_id, std::int64_t newest = 1000);
  RecordTotals totals(const std::string& write_id);
  /// Of a write whose `cleanup` is pending, done or left: the one that cleans up after it.
  std::optional<WriteRecord> cleanup_of(const std::string& write_id);
  /// How much of a limit the agent has used, by the values of its key (one entry, of an empty value, without a key);
  /// those that were not used are left out.
  std::map<std::string, LimitUse> limit_use(const std::string& agent_id, const Limit& limit);
  WriteCounts counts();
  /// The agent's writes of one session by their state, those of none left out; `after_seq`: the newest write before it.
  /// At most kMostCounted of each state.
  std::map<WriteState, std::int64_t> counts_of_session(const std::string& agent_id, const std::string& session_id,
                                                       std::int64_t after_seq);
  /// The agent's writes in `state` of which something ended or was decided since: those that ended, and those that a
  /// person has accepted. Among the newest kMostCounted of the state.
  struct Recent {
    std::int64_t ended = 0, accepted = 0;
    bool cut = false;                   ///< there are older ones, at which nobody has looked
    std::vector<WriteRecord> newest{};  ///< of those that ended, a few
  };
  Recent recent(const std::string& agent_id, WriteState state, std::int64_t since_ms);
  static constexpr std::int64_t kMostCounted = 1000;
  /// Milliseconds until the next write of `accounts` is due that there is room for and no pause holds, 0 when one is;
  /// nothing when none waits.
  std::optional<std::int64_t> next_due_in(std::span<const AccountRef> accounts, Room room,
                                          const std::vector<std::int64_t>& busy);

  /// For the end of the host: whoever waits for a commit, now or later, gets an Error instead of waiting for a store
  /// that may not work again. What was posted may still become durable.
  void stop_waiting() { waits_end_ = true; }

  /// Told of every change of a write's state once it is durable, in that order, on the thread that commits, until what
  /// is returned goes. Must not block.
  using Observation = std::shared_ptr<const void>;
  [[nodiscard]] Observation observe(std::function<void(const WriteRecord&)> observer);
  /// Told how soon a write has become due. On the thread that commits.
  void on_due(std::function<void(std::int64_t in_ms)> listener);

  /// Counts what is decided from here on. Set before the first write; must outlive this.
  void count_into(WriteMeters* meters) { meters_ = meters; }

 private:
  /// As list(), of those whose ids begin as the filter says, whatever else it says.
  std::vector<WriteRecord> list_by_id(const WriteFilter& filter);
  struct Candidate {
    std::int64_t seq, due_at_ms;
    bool look;
  };
  /// Shared with callbacks: a commit of unknown outcome may be answered when this ledger is gone.
  struct Listeners {
    std::mutex mutex;
    std::map<std::uint64_t, std::function<void(const WriteRecord&)>> observers;
    std::uint64_t next_observer = 0;
    std::function<void(std::int64_t)> on_due;
    void changed(const WriteRecord& write, const Clock& clock);
    void due_now();
  };
  /// Of the writer's connection, on its thread only. Shared with the callback that clears them before it is closed.
  struct WriterStatements {
    std::unique_ptr<StatementCache> cache;
  };

  /// The fault points of an operation, and what it must outlast.
  struct Points {
    const char *before, *after;
    GroupCommit::Outlasts outlasts = GroupCommit::Outlasts::kPowerCut;
  };
  template <class T>
  GroupCommit::Item item(Points points, std::function<T(StatementCache&)> operation, Done<T> done);
  template <class T>
  void commit(Points points, std::function<T(StatementCache&)> operation, Done<T> done,
              CommitThread thread = CommitThread::kWriters);
  template <class T>
  T commit_and_wait(Points points, std::function<T(StatementCache&)> operation,
                    std::function<void(const T&)> announce = {}, std::vector<GroupCommit::Item> before = {});
  GroupCommit::Item recording(Outcome outcome);

  StatementCache& statements(SQLite::Database& db);
  void forget_statements();
  void set_due(LedgerRow& row, std::optional<std::int64_t> in_ms) const;
  void apply(LedgerRow& row, WriteEvent event, ErrorCode refused_as) const;
  void add_decision(StatementCache& sql, const WriteRecord& write, WriteEvent event, const std::string& who) const;
  void add_look(StatementCache& sql, const WriteRecord& write, const WriteReport& report, WriteEvent event) const;
  std::optional<WriteRecord> find_same(StatementCache& sql, const NewWrite& asked, const WriteRecord& write) const;
  std::optional<Exceeded> excess(StatementCache& sql, const std::vector<LimitRule>& rules,
                                 const WriteRecord& write) const;
  void admit_within_limits(StatementCache& sql, const NewWrite& asked, LedgerRow& row) const;
  void tell_of_approvals(StatementCache& sql, const WriteRecord& write) const;
  void note_standing(StatementCache& sql, const WriteRecord& write) const;
  void begin_window(LedgerRow& row) const;
  /// What whoever decides was shown, as far as he names it.
  struct Shown {
    std::string hash;
    std::optional<WriteState> state;
    bool held = false;    ///< as a copy
    std::string finding;  ///< what a look at a held write had shown
  };
  void decide_about(Points points, std::string write_id, WriteEvent decision, Shown shown, std::string who,
                    Done<WriteRecord> done);
  bool accept_as_one_of_several(StatementCache& sql, const LedgerRow& row, const std::string& shown_hash,
                                const DecidingOperator& by, bool like) const;
  LedgerRow decide(StatementCache& sql, const std::string& write_id, const std::string& agent_id, WriteEvent event,
                   const std::string& who, ErrorCode refused_as, const Shown& shown) const;
  struct TransactionChange {
    AgentTransaction transaction;
    std::vector<WriteRecord> changed;
    bool refused = false;  ///< it was to be committed
  };
  Done<TransactionChange> announced_all(Done<AgentTransaction> done) const;
  void begin_undoing(StatementCache& sql, TransactionChange& change, std::string reason) const;
  bool take_out(StatementCache& sql, TransactionChange& change, TransactionWrite& one) const;
  bool take_back(StatementCache& sql, TransactionChange& change, TransactionWrite& one) const;
  WriteRecord begin_rollback(StatementCache& sql, const WriteRecord& write, bool force, const std::string& who,
                             const std::string& session_id) const;
  std::optional<WriteRecord> rolled_back_by(StatementCache& sql, const WriteRecord& undo) const;
  WriteRecord begin_cleanup(StatementCache& sql, const WriteRecord& write) const;
  WriteRecord end_cleanup(StatementCache& sql, const WriteRecord& cleanup) const;
  void follow_end(StatementCache& sql, WriteRecord& write, std::vector<WriteRecord>& others) const;
  std::vector<Candidate> candidates(StatementCache& sql, std::span<const AccountRef> accounts, Room room,
                                    std::size_t more) const;
  bool is_next(StatementCache& sql, LedgerRow& row, std::int64_t order_wait_ms) const;
  void claim(StatementCache& sql, LedgerRow& row) const;
  struct Verdict;
  Verdict verdict_on(StatementCache& sql, WriteRecord& write) const;
  bool is_stopped(StatementCache& sql, LedgerRow& row, std::vector<WriteRecord>& changed) const;
  struct Asking {
    std::string why, by_json;           ///< as WriteContent::approval_reason, asked_by_json
    std::int64_t for_ms = 0;            ///< as WriteContent::approval_ms
    std::int64_t approvals_needed = 0;  ///< as WriteContent has it
  };
  void put_before_person(StatementCache& sql, LedgerRow& row, const Asking& asking) const;
  WriteRecord expire_one(StatementCache& sql, std::int64_t seq, std::vector<WriteRecord>& others) const;
  void reconcile_first(StatementCache& sql) const;
  void go_on_released(LedgerRow& row) const;
  void settle_anew(StatementCache& sql, std::optional<std::int64_t> settle_ms) const;
  WriteRecord recover_one(StatementCache& sql, std::int64_t seq, bool host_started,
                          std::optional<std::int64_t> settle_ms) const;
  void hand_over_one(StatementCache& sql, LedgerRow& row, const std::string& who,
                     std::vector<WriteRecord>& others) const;
  /// The write, and those that changed or were made with it: what it undid or cleaned up after, its cleanup.
  struct Recorded {
    WriteRecord write;
    std::vector<WriteRecord> others;
  };
  Recorded record_evidence(StatementCache& sql, LedgerRow row, const WriteReport& report) const;
  Recorded record_one(StatementCache& sql, const WriteReport& report) const;
  Done<WriteRecord> announced(Done<WriteRecord> done) const;
  Done<Recorded> announced_with_others(Done<WriteRecord> done) const;
  std::int64_t due_in(std::int64_t due_at_ms, std::int64_t due_boot_ms, std::int64_t boot) const;

  GroupCommit& store_;
  Clock& clock_;
  ReaderPool readers_;
  std::shared_ptr<WriterStatements> statements_ = std::make_shared<WriterStatements>();
  std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  mutable WindowClock windows_{clock_};  ///< of whoever commits
  std::uint64_t before_close_ = 0;
  std::int64_t epoch_ = 0, boot_ = 0;
  WriteMeters* meters_ = nullptr;
  std::function<PresentTerms(const WriteRecord&)> present_terms_;
  std::atomic<bool> waits_end_{false};
};

}  // namespace krux
