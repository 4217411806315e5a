// Requests of one account side by side, though each of them blocks its thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace krux {

/// Keeps its threads for the next time: starting them costs more than reading an answer. None is started before there
/// is something to do for it. Any thread.
class SideBySide {
 public:
  /// The caller of run() is one of the `width`.
  explicit SideBySide(std::size_t width) : helpers_(width > 0 ? width - 1 : 0) {}
  /// No run() is under way.
  ~SideBySide();
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;

  /// Calls each(i) once for every i below `count`, in this order, on this thread and on helpers that have no other run
  /// to do; `each` throws nothing. Returns when all calls have returned.
  void run(std::size_t count, const std::function<void(std::size_t)>& each);

 private:
  struct Run {
    const std::function<void(std::size_t)>& each;
    const std::size_t count;
    std::size_t next = 0, running = 0;  ///< of helpers
  };

  void start_helpers(std::size_t wanted);
  void help();
  /// Does what is left of the run. `lock` is held before and after.
  void work(Run& run, std::unique_lock<std::mutex>& lock);

  const std::size_t helpers_;
  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<Run*> runs_;  ///< with something left to begin
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace krux
