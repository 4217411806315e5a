// What a CallRunner is made of; included by its own sources alone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "core/adapter/call_runner.hpp"

namespace krux {

/// Everything that workers, lost threads and the watchdog share. A task's stage decides, under the mutex, who ends it:
/// the one who moves it out of kQueued or kRunning runs its `done`.
struct CallRunner::State : std::enable_shared_from_this<State> {
  enum class Stage { kQueued, kRunning, kEnded };
  struct Task;
  using TaskPtr = std::shared_ptr<Task>;
  using Threads = std::list<std::thread>;
  using Timeline = std::multimap<std::int64_t, TaskPtr>;

  struct Task {
    CallContextPtr call;
    std::shared_ptr<AdapterHealth> health;
    std::function<void()> body;
    std::function<void(End)> done;
    Stage stage = Stage::kQueued;
    bool cancelled = false;    ///< the watchdog has turned cancelled() true; the next event is the end of the grace
    Timeline::iterator event;  ///< valid until kEnded
    Threads::iterator thread;  ///< valid while kRunning
  };

  State(Clock& c, Options o) : clock(c), options(o) {}

  void start(TaskPtr task);
  void work(Threads::iterator self);
  void watch();
  void stop_and_join();

  // With the mutex held.
  void ensure_workers();
  std::string refuses(const Task& task) const;
  void end_task(Task& task);
  void abandon_running(Task& task);
  TaskPtr take_next(std::unique_lock<std::mutex>& lock);
  void handle_event(std::unique_lock<std::mutex>& lock);
  void stop_all(std::unique_lock<std::mutex>& lock);
  void finish_refused(std::unique_lock<std::mutex>& lock);

  static void finish_unrun(const TaskPtr& task, CallFailure why);
  void finish_abandoned(const TaskPtr& task) const;

  Clock& clock;  ///< not touched by lost threads
  const Options options;
  std::mutex mutex;
  std::condition_variable work_cv, watch_cv;
  std::deque<TaskPtr> queue;
  std::deque<std::pair<TaskPtr, CallFailure>> refused;  ///< their `done` is due on the watchdog's thread
  Timeline timeline;
  Threads workers;  ///< lost threads are detached and taken out
  std::thread watchdog;
  std::atomic<bool> stopped{false};  ///< stop_and_join() was called
  int running = 0, lost = 0;
  /// What the watchdog waits for. An earlier deadline wakes it; one that is gone does not: it finds that out itself.
  std::int64_t watching_ms = std::numeric_limits<std::int64_t>::max();
  bool stopping = false;
  bool over = false;    ///< nobody empties `refused` any more
  bool ending = false;  ///< stop_all() has begun; the watchdog's alone
};

}  // namespace krux
