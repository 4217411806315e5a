#include "core/net/side_by_side.hpp"

#include <algorithm>
#include <exception>

namespace krux {

SideBySide::~SideBySide() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void SideBySide::run(std::size_t count, const std::function<void(std::size_t)>& each) {
  if (count == 0) return;
  Run run{each, count};
  const auto wanted = std::min(helpers_, count - 1);
  std::unique_lock lock(mutex_);
  start_helpers(wanted);
  runs_.push_back(&run);
  for (std::size_t i = 0; i < wanted; ++i) work_.notify_one();
  work(run, lock);
  done_.wait(lock, [&] { return run.running == 0; });
}

void SideBySide::start_helpers(std::size_t wanted) {
  try {
    while (threads_.size() < wanted) threads_.emplace_back([this] { help(); });
  } catch (const std::exception&) {
    // No more threads or no memory for them to be had: those that are there do the work.
  }
}

void SideBySide::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || !runs_.empty(); });
    if (stopping_) return;
    auto& run = *runs_.front();
    ++run.running;
    work(run, lock);
    --run.running;
    if (run.running == 0) done_.notify_all();
  }
}

void SideBySide::work(Run& run, std::unique_lock<std::mutex>& lock) {
  while (run.next < run.count) {
    const auto i = run.next++;
    if (run.next == run.count) std::erase(runs_, &run);
    lock.unlock();
    run.each(i);
    lock.lock();
  }
}

}  // namespace krux
