#include "core/write/transaction_keeper.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace krux {
namespace {

/// The wall clock may be set while nobody is told.
constexpr std::int64_t kLongestKeeperSleepMs = 60'000;
constexpr std::int64_t kKeeperPauseMs = 1'000;

}  // namespace

TransactionKeeper::TransactionKeeper(Ledger& ledger, Clock& clock) : ledger_(ledger), clock_(clock) {}

TransactionKeeper::~TransactionKeeper() {
  stop();
}

void TransactionKeeper::Signal::wake() {
  const std::lock_guard lock(mutex);
  woken = at_work = true;
  cv.notify_all();
}

void TransactionKeeper::Signal::changed() {
  const std::lock_guard lock(mutex);
  if (!at_work) return;
  woken = true;
  cv.notify_all();
}

void TransactionKeeper::start() {
  for (const auto& [id, until] : ledger_.transactions_at_work().open) left_open_.push_back(id);
  changes_ = ledger_.observe([signal = signal_](const WriteRecord&) { signal->changed(); });
  thread_ = std::thread([this] { work(); });
}

void TransactionKeeper::stop() {
  changes_.reset();
  {
    const std::lock_guard lock(signal_->mutex);
    signal_->stopping = true;
    signal_->cv.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  answer_waiters();
}

void TransactionKeeper::begin(std::string agent_id, std::string session_id, std::int64_t for_ms, Done done) {
  ledger_.begin_transaction(std::move(agent_id), std::move(session_id), for_ms,
                            [signal = signal_, done = std::move(done)](std::variant<AgentTransaction, Error> answer) {
                              signal->wake();
                              done(std::move(answer));
                            });
}

void TransactionKeeper::undo(std::string transaction_id, std::string agent_id, std::string reason, Done done) {
  ledger_.undo_transaction(std::move(transaction_id), std::move(agent_id), std::move(reason),
                           [signal = signal_, done = std::move(done)](std::variant<AgentTransaction, Error> answer) {
                             signal->wake();
                             done(std::move(answer));
                           });
}

void TransactionKeeper::commit(std::string transaction_id, std::string agent_id, Done done) {
  ledger_.commit_transaction(std::move(transaction_id), std::move(agent_id),
                             [signal = signal_, done = std::move(done)](std::variant<AgentTransaction, Error> answer) {
                               signal->wake();
                               done(std::move(answer));
                             });
}

void TransactionKeeper::wait(std::string transaction_id, std::string agent_id, std::int64_t timeout_ms, Done done) {
  {
    const std::lock_guard lock(signal_->mutex);
    waiters_.push_back(
        {std::move(transaction_id), std::move(agent_id), clock_.boot_ms() + timeout_ms, std::move(done)});
  }
  signal_->wake();
}

void TransactionKeeper::work() {
  auto& s = *signal_;
  std::unique_lock lock(s.mutex);
  while (!s.stopping) {
    s.woken = false;
    s.at_work = true;  // what changes during the look is looked at once more
    lock.unlock();
    const auto pause = step();
    answer_waiters();
    lock.lock();
    auto until = clock_.boot_ms() + pause;
    for (const auto& waiter : waiters_) until = std::min(until, waiter.until_boot_ms);
    clock_.wait_until(lock, s.cv, until, [&] { return s.stopping || s.woken; });
  }
}

/// For how many milliseconds there is nothing to do.
std::int64_t TransactionKeeper::step() {
  try {
    for (const auto& id : std::exchange(left_open_, {}))
      undo_by_itself(id, "The host stopped before it was committed.");
    const auto found = ledger_.transactions_at_work();
    for (const auto& id : found.undoing) ledger_.continue_undoing(id);
    for (const auto& [id, why] : found.failed) undo_by_itself(id, why);
    auto next = kLongestKeeperSleepMs;
    const auto now = clock_.wall_ms();
    for (const auto& [id, until] : found.open) {
      if (until <= now) undo_by_itself(id, "Its time was over before it was committed.");
      next = std::clamp<std::int64_t>(until - now, 0, next);
    }
    const std::lock_guard lock(signal_->mutex);
    if (!signal_->woken) signal_->at_work = !found.open.empty() || !found.undoing.empty();
    return next;
  } catch (const Error& error) {
    spdlog::error("transactions cannot be looked after just now: {}", error.what());
    return kKeeperPauseMs;
  }
}

void TransactionKeeper::undo_by_itself(const std::string& transaction_id, std::string reason) {
  undo(transaction_id, {}, std::move(reason), [transaction_id](const std::variant<AgentTransaction, Error>& answer) {
    if (const auto* error = std::get_if<Error>(&answer))
      spdlog::info("the transaction {} is not undone: {}", transaction_id, error->what());
  });
}

void TransactionKeeper::answer_waiters() {
  std::vector<Waiter> all;
  bool stops = false;
  {
    const std::lock_guard lock(signal_->mutex);
    all.swap(waiters_);
    stops = signal_->stopping;
  }
  std::vector<Waiter> wait_on;
  for (auto& waiter : all) {
    auto now = present(waiter);
    const auto* found = std::get_if<AgentTransaction>(&now);
    const bool undoing = found && found->state == TransactionState::kUndoing;
    if (undoing && !stops && clock_.boot_ms() < waiter.until_boot_ms) {
      wait_on.push_back(std::move(waiter));
    } else {
      waiter.done(std::move(now));
    }
  }
  const std::lock_guard lock(signal_->mutex);
  std::move(wait_on.begin(), wait_on.end(), std::back_inserter(waiters_));
}

std::variant<AgentTransaction, Error> TransactionKeeper::present(const Waiter& waiter) {
  try {
    return ledger_.transaction(waiter.transaction_id, waiter.agent_id);
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace krux
