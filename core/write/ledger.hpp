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
#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/write/alerts.hpp"
#include "core/write/batch_protection.hpp"
#include "core/write/ledger_rows.hpp"
#include "core/write/reader_pool.hpp"
#include "core/write/transition.hpp"
#include "core/write/write.hpp"

namespace krux {

/// What an attempt or a look led to.
struct WriteReport {
  enum class Of { kAttempt, kLook } of = Of::kAttempt;
  std::string write_id;
  std::uint32_t attempt = 0;  ///< the one that was made, or that was looked for
  WriteEvent event = WriteEvent::kMayBeDone;
  std::optional<std::int64_t> due_in_ms;  ///< when the host acts next; nothing: not by itself
  bool uses_try = false;                  ///< takes a step of the retry schedule
  bool counts_look = true;
  std::string result_json, error_type, error_message;
  std::string wire;  ///< "nothing_sent", "answered", "open", or empty
  std::int64_t started_at_ms = 0;
  std::optional<NewAlert> alert;
};

/// Any thread. Callbacks run on the writer's thread, or on the caller's when the store accepts nothing.
class Ledger {
 public:
  template <class T>
  using Done = std::function<void(std::variant<T, Error>)>;

  /// Takes a new owner epoch. `store` and `clock` must outlive this. Throws krux::Error DatabaseError.
  Ledger(GroupCommit& store, Clock& clock, const std::string& boot_id);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // What agents and operators do; see WriteBuffer.
  void submit(NewWrite write, Done<Submitted> done);
  void cancel(std::string write_id, std::string agent_id, std::string who, Done<BufferedWrite> done);
  void resolve(std::string write_id, WriteEvent decision, std::optional<WriteState> expected, std::string who,
               Done<BufferedWrite> done);
  void accept(std::string write_id, std::string shown_hash, std::string who, Done<BufferedWrite> done);
  void reject(std::string write_id, std::string reason, std::string who, Done<BufferedWrite> done);
  void edit(std::string write_id, std::string agent_id, std::string shown_hash, NewContent content, std::string who,
            Done<BufferedWrite> done);
  void undo(std::string write_id, std::string agent_id, bool force, std::string who, Done<Submitted> done);

  // What the executor does. These wait for the commit; not from the writer's thread. They throw krux::Error.

  /// Puts every `executing` write but those in flight (their seq) into `unknown`; its settle time starts now. With
  /// `host_started` the settle times of all unknown writes start again. Returns how many writes were executing.
  std::size_t recover(bool host_started, std::optional<std::int64_t> settle_ms, std::vector<std::int64_t> in_flight);

  /// How many writes may be taken, and how many of these to be looked for.
  struct Room {
    std::size_t all = 0, looks = 0;
  };
  /// Writes of `accounts` whose time has come, those of `busy` (seq) left out. Those to be attempted are claimed:
  /// `executing`, with their attempt; those of unknown outcome are to be looked for.
  std::vector<BufferedWrite> take(std::vector<AccountRef> accounts, Room room, std::vector<std::int64_t> busy);

  /// Keeps the rollback point of a running attempt, unless an earlier attempt left one.
  void keep_point(const std::string& write_id, std::uint32_t attempt, const std::string& point_json);

  /// Keeps a note with a running attempt; false when it could not be kept: not a JSON object of at most 64 KiB, the
  /// attempt has ended, the store failed.
  bool keep_note(const std::string& write_id, std::uint32_t attempt, std::string_view note_json);

  /// ConflictError when the attempt is no longer what the ledger has.
  void record(WriteReport report, Done<BufferedWrite> done);

  /// Deletes rollback points whose time is over, some at once; one that an undo under way needs stays. Returns how
  /// many.
  std::size_t drop_expired_points();

  /// Dead letters of the account that wait for a working connection become due at once.
  void connection_restored(const AccountRef& account);

  /// Nobody can carry out or look for the account's writes any more, of whatever generation (ledger_disconnect.cpp).
  void hand_over(const std::string& service, const std::string& account_id, const std::string& who);

  // Reads. They throw krux::Error DatabaseError.
  std::optional<BufferedWrite> get(const std::string& write_id);
  std::vector<BufferedWrite> list(const WriteFilter& filter);
  std::vector<AttemptRecord> history(const std::string& write_id, std::int64_t newest = 1000);
  std::vector<EditRecord> edits(const std::string& write_id, std::int64_t newest = 1000);
  RecordTotals totals(const std::string& write_id);
  /// How much of a limit the agent has used, by the values of the rule's key (one entry, of an empty value, without a
  /// key); those that were not used are left out. rule.key_value is not looked at.
  std::map<std::string, BatchUse> limit_use(const std::string& agent_id, const BatchRule& rule);
  WriteCounts counts();
  /// Milliseconds until the next write of `accounts` that there is room for is due, 0 when one is; nothing when none
  /// waits.
  std::optional<std::int64_t> next_due_in(std::span<const AccountRef> accounts, Room room,
                                          const std::vector<std::int64_t>& busy);

  /// For the end of the host: whoever waits for a commit, now or later, gets an Error instead of waiting for a store
  /// that may not work again. What was posted may still become durable.
  void stop_waiting() { waits_end_ = true; }

  /// Told of every change of state once it is durable, and how soon a write has become due. On the writer's thread.
  void on_change(std::function<void(const BufferedWrite&)> listener);
  void on_due(std::function<void(std::int64_t in_ms)> listener);

 private:
  struct Candidate {
    std::int64_t seq, due_at_ms;
    bool look;
  };
  /// Shared with callbacks: a commit of unknown outcome may be answered when this ledger is gone.
  struct Listeners {
    std::mutex mutex;
    std::function<void(const BufferedWrite&)> on_change;
    std::function<void(std::int64_t)> on_due;
    void changed(const BufferedWrite& write, const Clock& clock);
  };
  /// Of the writer's connection, on its thread only. Shared with the callback that clears them before it is closed.
  struct WriterStatements {
    std::unique_ptr<StatementCache> cache;
  };

  /// The fault points of an operation.
  struct Points {
    const char *before, *after;
  };
  template <class T>
  void commit(Points points, std::function<T(StatementCache&)> operation, Done<T> done);
  template <class T>
  T commit_and_wait(Points points, std::function<T(StatementCache&)> operation,
                    std::function<void(const T&)> announce = {});

  StatementCache& statements(SQLite::Database& db);
  void forget_statements();
  void set_due(LedgerRow& row, std::optional<std::int64_t> in_ms) const;
  void apply(LedgerRow& row, WriteEvent event, const char* refusal_type) const;
  void add_decision(StatementCache& sql, const BufferedWrite& write, WriteEvent event, const std::string& who) const;
  std::optional<BufferedWrite> find_same(StatementCache& sql, const NewWrite& asked, const BufferedWrite& write) const;
  std::string excess(StatementCache& sql, const std::vector<BatchRule>& rules, const BufferedWrite& write) const;
  void admit_within_limits(StatementCache& sql, const NewWrite& asked, LedgerRow& row) const;
  void tell_of_approvals(StatementCache& sql, const BufferedWrite& write) const;
  void begin_window(LedgerRow& row) const;
  /// What whoever decides was shown, as far as he names it.
  struct Shown {
    std::string hash;
    std::optional<WriteState> state;
  };
  LedgerRow decide(StatementCache& sql, const std::string& write_id, const std::string& agent_id, WriteEvent event,
                   const std::string& who, const char* refusal_type, const Shown& shown) const;
  std::optional<BufferedWrite> undone_by(StatementCache& sql, const BufferedWrite& undo) const;
  std::vector<Candidate> candidates(StatementCache& sql, std::span<const AccountRef> accounts, Room room,
                                    std::size_t more) const;
  void claim(StatementCache& sql, LedgerRow& row) const;
  BufferedWrite recover_one(StatementCache& sql, std::int64_t seq, std::optional<std::int64_t> settle_ms) const;
  void hand_over_one(StatementCache& sql, LedgerRow& row, const std::string& who) const;
  /// The write, and the one that it undid.
  using Recorded = std::pair<BufferedWrite, std::optional<BufferedWrite>>;
  Recorded record_one(StatementCache& sql, const WriteReport& report) const;
  Done<BufferedWrite> announced(Done<BufferedWrite> done) const;
  Done<Recorded> announced_with_undone(Done<BufferedWrite> done) const;
  std::int64_t due_in(std::int64_t due_at_ms, std::int64_t due_boot_ms, std::int64_t boot) const;

  GroupCommit& store_;
  Clock& clock_;
  ReaderPool readers_;
  std::shared_ptr<WriterStatements> statements_ = std::make_shared<WriterStatements>();
  std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  mutable WindowClock windows_{clock_};  ///< on the writer's thread only
  std::uint64_t before_close_ = 0;
  std::int64_t epoch_ = 0, boot_ = 0;
  std::atomic<bool> waits_end_{false};
};

}  // namespace krux
