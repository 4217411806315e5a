// What the executor's parts share. Internal to it.
#pragma once

#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/write/enhanced_write_executor.hpp"
#include "core/write/ledger.hpp"
#include "core/write/write_calls.hpp"

namespace krux {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// Shared with the calls under way, so that one that comes back late finds a gate that is closed and not a hole.
struct EnhancedWriteExecutor::State : std::enable_shared_from_this<State> {
  /// One attempt or look, from its claim to its record.
  struct InFlight {
    WriteRecord write;
    ActiveAccountPtr account;
    std::optional<WriteRecord> subject;  ///< the write that this one undoes or cleans up after
    CallContextPtr context;              ///< of the present call; under `mutex`
    bool look = false;
    bool returned = false;  ///< its call has ended and its report waits; under the executor's `mutex`
    std::int64_t started_at_ms = 0, started_us = 0;  ///< by the wall clock, by that of the metrics
  };
  using InFlightPtr = std::shared_ptr<InFlight>;
  using Report = std::pair<InFlightPtr, WriteReport>;

  State(GroupCommit& s, Ledger& l, AccountDirectory& a, CallRunner& r, Clock& c, ExecutorOptions o)
      : store(s), ledger(l), accounts(a), runner(r), clock(c), options(std::move(o)) {}

  void work();
  std::int64_t step();
  bool regain_track();
  Ledger::Taken take(const std::vector<AccountRef>& refs, Ledger::Room room);
  void record_returned();
  std::vector<Ledger::Outcome> outcomes_of(std::vector<Report> reports);
  std::vector<AccountRef> active() const;
  std::size_t places() const;
  Ledger::Room free_room() const;
  std::vector<AccountRef> with_room(std::vector<AccountRef> all, Ledger::Room& room) const;
  std::vector<std::int64_t> busy() const;
  std::vector<std::int64_t> seqs_in_flight() const;  ///< with `mutex` held
  std::optional<std::int64_t> next_due_in(const std::vector<AccountRef>& refs, Ledger::Room room) const;
  void drop_expired_rollback_points();
  void expire_approvals();

  void begin(WriteRecord write);
  CallContextPtr new_call(const InFlightPtr& under_way);
  void point(const InFlightPtr& under_way);
  void execute(const InFlightPtr& under_way);
  void look(const InFlightPtr& under_way);
  /// kCallers: on a worker that the adapter has come back to. The watchdog, which ends calls too, waits for no disk.
  void finish(const InFlightPtr& under_way, const WriteReport& report,
              Ledger::CommitThread by = Ledger::CommitThread::kWriters);
  bool hand_over(const InFlightPtr& under_way, const WriteReport& report);
  void recorded(const InFlightPtr& under_way, const WriteReport& report,
                const std::variant<WriteRecord, Error>& answer);
  void count(const InFlight& under_way, WriteEvent outcome) const;
  void retire(const InFlightPtr& under_way);
  bool stopped() const;
  void wake();
  void due(std::int64_t in_ms);
  void stop(std::int64_t wait_ms);

  GroupCommit& store;
  Ledger& ledger;
  AccountDirectory& accounts;
  CallRunner& runner;
  Clock& clock;
  const ExecutorOptions options;

  /// Held shared by whoever uses the references above from a call's thread; closed for good by stop().
  std::shared_mutex gate;
  bool closed = false;

  mutable std::mutex mutex;
  std::condition_variable cv, retired;
  std::map<std::int64_t, InFlightPtr> in_flight;  ///< by seq
  std::vector<Report> unrecorded;                 ///< of calls that have ended
  bool stopping = false, woken = false, lost_track = false, asleep = false, working = false;
  bool wants_place = false;       ///< with one more something else might be claimed; written by the executor's thread
  bool ended = false;             ///< stop() is through: nothing is kept any more
  std::int64_t asleep_until = 0;  ///< boot clock
  std::int64_t soonest_due = kNever;  ///< of what has become known since the ledger was asked
  std::int64_t points_due = 0;        ///< boot clock; on the executor's thread
  std::int64_t approvals_due = 0;     ///< likewise
  int idle_rounds = 0;                ///< rounds that took nothing although something was due; on the executor's thread
  std::thread thread;
};

}  // namespace krux
