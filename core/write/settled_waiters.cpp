#include "core/write/settled_waiters.hpp"

#include <limits>

namespace krux {

bool has_settled(const BufferedWrite& write) {
  switch (write.state) {
    case WriteState::kPendingApproval:
    case WriteState::kHeld:
    case WriteState::kUnknown:
    case WriteState::kDeadLetter:
      return true;
    default:
      return has_ended(write.state);
  }
}

SettledWaiters::SettledWaiters(Clock& clock, std::function<BufferedWrite(const std::string&)> look_up)
    : clock_(clock), look_up_(std::move(look_up)), thread_([this] { watch(); }) {}

SettledWaiters::~SettledWaiters() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  cv_.notify_all();
  thread_.join();
  for (auto& [write_id, done] : take_over(std::numeric_limits<std::int64_t>::max())) done(look_up_(write_id));
}

void SettledWaiters::add(const std::string& write_id, std::int64_t timeout_ms, Done done) {
  const std::lock_guard lock(mutex_);
  const auto until = clock_.boot_ms() + timeout_ms;
  earlier_ = earlier_ || until < next();
  waiters_.emplace(write_id, Waiter{until, std::move(done)});
  times_.emplace(until, write_id);
  if (earlier_) cv_.notify_all();
}

void SettledWaiters::settled(const BufferedWrite& write) {
  answer(write.write_id, write);
}

void SettledWaiters::missing(const std::string& write_id) {
  answer(write_id, {});
}

void SettledWaiters::answer(const std::string& write_id, const BufferedWrite& write) {
  std::vector<Done> ready;
  {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = waiters_.equal_range(write_id);
    for (auto at = begin; at != end; ++at) ready.push_back(std::move(at->second.done));
    for (auto at = begin; at != end; ++at) {
      auto [time, last] = times_.equal_range(at->second.until_boot_ms);
      while (time != last && time->second != write_id) ++time;
      if (time != last) times_.erase(time);
    }
    waiters_.erase(begin, end);
  }
  for (auto& done : ready) done(write);
}

std::int64_t SettledWaiters::next() const {
  return times_.empty() ? std::numeric_limits<std::int64_t>::max() : times_.begin()->first;
}

/// The waiters whose time is over; mutex_ is taken here.
std::vector<std::pair<std::string, SettledWaiters::Done>> SettledWaiters::take_over(std::int64_t now_boot_ms) {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, Done>> over;
  while (!times_.empty() && times_.begin()->first <= now_boot_ms) {
    const auto [until, write_id] = *times_.begin();
    times_.erase(times_.begin());
    auto [at, end] = waiters_.equal_range(write_id);
    while (at != end && at->second.until_boot_ms != until) ++at;
    if (at == end) continue;
    over.emplace_back(write_id, std::move(at->second.done));
    waiters_.erase(at);
  }
  return over;
}

void SettledWaiters::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    earlier_ = false;
    clock_.wait_until(lock, cv_, next(), [this] { return stopping_ || earlier_; });
    if (stopping_) return;
    lock.unlock();
    for (auto& [write_id, done] : take_over(clock_.boot_ms())) done(look_up_(write_id));
    lock.lock();
  }
}

}  // namespace krux
