// What a CallRunner is made of; included by its own sources alone.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/adapter/call_runner.hpp"
#include "core/adapter/turn_queue.hpp"

namespace krux {

/// Everything that workers, lost threads and the watchdog share. A task's stage decides, under the mutex, who ends it:
/// the one who moves it out of kQueued or kRunning runs its `done`.
struct CallRunner::State : std::enable_shared_from_this<State> {
  enum class Stage { kQueued, kRunning, kEnded };
  struct Task;
  struct Here;
  using TaskPtr = std::shared_ptr<Task>;
  using Threads = std::list<std::thread>;
  using Timeline = std::multimap<std::int64_t, TaskPtr>;
  using Culprit = std::pair<std::string, std::string>;  ///< a service, or else a queue

  struct Task {
    CallTurn turn;
    CallContextPtr call;
    std::shared_ptr<AdapterHealth> health;
    std::function<void()> body;
    std::function<void(End)> done;
    std::int64_t arrived_ms = 0;
    Stage stage = Stage::kQueued;
    bool cancelled = false;    ///< the watchdog has turned cancelled() true; the next event is the end of the grace
    int ticks_left = 0;        ///< after that: what is left of the grace in the host's own time
    Timeline::iterator event;  ///< valid until kEnded
    std::optional<Threads::iterator> thread;  ///< while kRunning; nothing: a borrowed one
    bool in_place = false;         ///< it counts as running in its lane: from its begin until its `done` has returned
    std::optional<CallAway> away;  ///< as CallContext::on_away told
    TaskPtr next;                  ///< started by this one, runs behind it in the same turn
  };

  /// The threads of one lane and what waits for them.
  struct LaneState {
    LaneState(LaneLimits l, std::shared_ptr<QueuesThere> there) : limits(l), queue(l, std::move(there)) {}
    const LaneLimits limits;
    TurnQueue<TaskPtr> queue;
    Threads workers;  ///< lost threads are detached and taken out
    std::condition_variable work_cv;
    int idle = 0;    ///< workers that wait for something to do
    int active = 0;  ///< workers that run a call, without those that wait for quota
    int paused = 0;  ///< these
    LaneFigures figures;
    bool has_place() const { return active < limits.threads; }
  };

  State(Clock& c, const Options& o);

  void start(TaskPtr task, RunsOn on);
  void work(LaneState& lane, Threads::iterator self);
  void watch();
  void stop_and_join();
  void set_away(const TaskPtr& task, std::optional<CallAway> away);
  std::size_t waiting() const;
  LaneState& lane_of(const Task& task) { return *lanes[static_cast<std::size_t>(task.turn.lane)]; }

  // With the mutex held.
  void wake(LaneState& lane);
  /// What may begin now, since a place has become free in this lane.
  void wake_after(LaneState& lane);
  void start_worker(LaneState& lane);
  bool follows(const TaskPtr& task);
  static bool begins_at_once(const LaneState& lane, const CallTurn& turn);
  void serve_borrowed(LaneState& lane, TaskPtr task, std::unique_lock<std::mutex>& lock);
  static Culprit culprit_of(const Task& task);
  std::string refuses(const Task& task) const;
  CallFailure too_late(const Task& task);
  void enter(LaneState& lane, Task& task);
  void leave(LaneState& lane, Task& task);
  void end_task(Task& task);
  void abandon_running(Task& task);
  TaskPtr take_next(LaneState& lane, Threads::iterator self, std::unique_lock<std::mutex>& lock);
  TaskPtr take_over(LaneState& lane, TaskPtr next, bool borrowed);
  /// False: the thread was given up for lost meanwhile. Without `self` it is a borrowed one.
  bool run(LaneState& lane, std::optional<Threads::iterator> self, TaskPtr& task, std::unique_lock<std::mutex>& lock);
  void handle_event(std::unique_lock<std::mutex>& lock);
  std::chrono::milliseconds tick() const;
  void count_tick(std::unique_lock<std::mutex>& lock);
  void stop_all(std::unique_lock<std::mutex>& lock);
  void finish_refused(std::unique_lock<std::mutex>& lock);
  void refuse_later(TaskPtr task, CallFailure why);

  static void finish_unrun(const TaskPtr& task, CallFailure why);
  void finish_abandoned(const TaskPtr& task) const;

  Clock& clock;  ///< not touched by lost threads
  const Options options;
  mutable std::mutex mutex;
  std::condition_variable watch_cv;
  std::array<std::unique_ptr<LaneState>, kLaneCount> lanes;
  std::deque<std::pair<TaskPtr, CallFailure>> refused;  ///< their `done` is due on the watchdog's thread
  Timeline timeline;
  std::vector<TaskPtr> in_last_grace;
  std::chrono::steady_clock::time_point tick_end;  ///< while there are any
  std::thread watchdog;
  std::atomic<bool> stopped{false};  ///< stop_and_join() was called
  int running = 0, lost = 0;
  int borrowed = 0;  ///< threads, without those that are lost
  std::map<Culprit, int> lost_of;
  /// What the watchdog waits for. An earlier deadline wakes it; one that is gone does not: it finds that out itself.
  std::int64_t watching_ms = std::numeric_limits<std::int64_t>::max();
  bool stopping = false;
  bool over = false;    ///< nobody empties `refused` any more
  bool ending = false;  ///< stop_all() has begun; the watchdog's alone
};

}  // namespace krux
