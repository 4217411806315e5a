// A few threads for work that may block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace krux {

class WorkerPool {
 public:
  WorkerPool(int threads, std::size_t max_queued);
  /// Waits for what runs; what has not begun is dropped.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Any thread. False when the queue is full. `work` must not throw.
  bool run(std::function<void()> work);

 private:
  void loop();

  const std::size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
};

}  // namespace krux
