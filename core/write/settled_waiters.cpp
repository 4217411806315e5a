#include "core/write/settled_waiters.hpp"

#include <spdlog/spdlog.h>

#include <limits>

namespace krux {
namespace {

bool is_over(WaitFor what, const WriteRecord& write) {
  if (write.write_id.empty() || has_ended(write.state)) return true;
  if (what == WaitFor::kDecided) return write.state != WriteState::kPendingApproval;
  return what == WaitFor::kSettled && has_settled(write);
}

}  // namespace

bool has_settled(const WriteRecord& write) {
  if (write.held_as_copy) return true;
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

SettledWaiters::SettledWaiters(Ledger& ledger, Clock& clock)
    : ledger_(ledger), clock_(clock), thread_([this] { watch(); }), settled_(ledger.observe([this](const auto& write) {
        if (told_ > 0) tell(write);
        if (has_settled(write) || write.approval_resolved) answer(write.write_id, write);
      })) {}

SettledWaiters::~SettledWaiters() {
  settled_.reset();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  cv_.notify_all();
  thread_.join();
  for (auto& [write_id, done] : take_over(std::numeric_limits<std::int64_t>::max())) done(present_state(write_id));
}

std::uint64_t SettledWaiters::add(const std::string& write_id, std::int64_t timeout_ms, Waiter waiter) {
  const std::lock_guard lock(mutex_);
  const auto number = waiter.number = next_number_++;
  const auto until = waiter.until_boot_ms =
      clock_.boot_ms() + (ends_ && waiter.what != WaitFor::kSettled ? 0 : timeout_ms);
  earlier_ = earlier_ || until < next();
  if (waiter.changes) ++told_;
  waiters_.emplace(write_id, std::move(waiter));
  times_.emplace(until, write_id);
  if (earlier_) cv_.notify_all();
  return number;
}

std::uint64_t SettledWaiters::wait(const std::string& write_id, std::int64_t timeout_ms, Done done, WaitFor what,
                                   std::function<void(const WriteRecord&)> changes) {
  // Waiting begins before the look, so that a change in between is not missed.
  const auto number = add(write_id, timeout_ms, {0, what, std::move(done), 0, std::move(changes)});
  const auto now = present_state(write_id);
  if (told_ > 0) tell_first(number, now);
  if (is_over(what, now)) answer(write_id, now);
  return number;
}

/// Of `waiters_` and `times_`, under the lock.
SettledWaiters::Waiters::iterator SettledWaiters::take_out(Waiters::iterator waiter, std::vector<Done>& taken) {
  auto [time, last] = times_.equal_range(waiter->second.until_boot_ms);
  while (time != last && time->second != waiter->first) ++time;
  if (time != last) times_.erase(time);
  if (waiter->second.changes) --told_;
  taken.push_back(std::move(waiter->second.done));
  return waiters_.erase(waiter);
}

void SettledWaiters::give_up(const std::string& write_id, std::uint64_t waiter) {
  std::vector<Done> taken;
  {
    const std::lock_guard lock(mutex_);
    auto [at, end] = waiters_.equal_range(write_id);
    while (at != end && at->second.number != waiter) ++at;
    if (at != end) take_out(at, taken);
  }
  for (auto& done : taken) done(WriteRecord{});
}

void SettledWaiters::end_waiting() {
  std::vector<std::pair<std::string, Done>> all;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (auto at = waiters_.begin(); at != waiters_.end();) {
      if (at->second.what == WaitFor::kSettled) {
        ++at;
        continue;
      }
      std::vector<Done> taken;
      auto write_id = at->first;
      at = take_out(at, taken);
      all.emplace_back(std::move(write_id), std::move(taken[0]));
    }
  }
  for (auto& [write_id, done] : all) done(present_state(write_id));
}

/// Under the lock, so that what is told stands in order.
void SettledWaiters::tell(const WriteRecord& write) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = waiters_.equal_range(write.write_id);
  for (auto at = begin; at != end; ++at) {
    if (!at->second.changes) continue;
    at->second.told = true;
    at->second.changes(write);
  }
}

/// Who waits anew, of what was read. A change that was told meanwhile is newer.
void SettledWaiters::tell_first(std::uint64_t waiter, const WriteRecord& write) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = waiters_.equal_range(write.write_id);
  for (auto at = begin; at != end; ++at) {
    if (at->second.number == waiter && at->second.changes && !at->second.told) at->second.changes(write);
  }
}

/// The ledger's word, or as much as is known while it cannot be read.
WriteRecord SettledWaiters::present_state(const std::string& write_id) {
  try {
    return ledger_.get(write_id).value_or(WriteRecord{});
  } catch (const Error& e) {
    spdlog::error("the state of write {} could not be read: {}", write_id, e.what());
    WriteRecord write;
    write.write_id = write_id;
    write.state = WriteState::kUnknown;
    return write;
  }
}

/// Something has happened to `write`, or there is none: some may have to wait on.
void SettledWaiters::answer(const std::string& write_id, const WriteRecord& write) {
  std::vector<Done> ready;
  {
    const std::lock_guard lock(mutex_);
    auto [at, end] = waiters_.equal_range(write_id);
    while (at != end) {
      if (!is_over(at->second.what, write)) {
        ++at;
        continue;
      }
      at = take_out(at, ready);
    }
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
    if (at->second.changes) --told_;
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
    for (auto& [write_id, done] : take_over(clock_.boot_ms())) done(present_state(write_id));
    lock.lock();
  }
}

}  // namespace krux
