#include "core/write/transaction_keeper.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <map>
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

bool TransactionKeeper::Signal::add(Waiter& waiter) {
  const std::lock_guard lock(mutex);
  if (stopping) return false;
  waiters.push_back(std::move(waiter));
  woken = at_work = true;
  cv.notify_all();
  return true;
}

void TransactionKeeper::start() {
  for (const auto& [id, until] : ledger_.transactions_at_work().open) left_open_.insert(id);
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

void TransactionKeeper::commit(std::string transaction_id, std::string agent_id, Done done) {
  ledger_.commit_transaction(std::move(transaction_id), std::move(agent_id),
                             [signal = signal_, done = std::move(done)](std::variant<AgentTransaction, Error> answer) {
                               signal->wake();
                               done(std::move(answer));
                             });
}

void TransactionKeeper::undo(std::string transaction_id, std::string agent_id, std::string reason,
                             std::int64_t timeout_ms, Done done) {
  auto id = transaction_id, agent = agent_id;
  // The ledger may answer when this is gone: then with how it stands at once.
  ledger_.undo_transaction(std::move(transaction_id), std::move(agent_id), std::move(reason),
                           [signal = signal_, &clock = clock_, id = std::move(id), agent = std::move(agent), timeout_ms,
                            done = std::move(done)](std::variant<AgentTransaction, Error> answer) {
                             if (std::holds_alternative<Error>(answer)) return done(std::move(answer));
                             Waiter waiter{id, agent, clock.boot_ms() + timeout_ms, done};
                             if (!signal->add(waiter)) done(std::move(answer));
                           });
}

void TransactionKeeper::wait(std::string transaction_id, std::string agent_id, std::int64_t timeout_ms, Done done) {
  Waiter waiter{std::move(transaction_id), std::move(agent_id), clock_.boot_ms() + timeout_ms, std::move(done)};
  if (!signal_->add(waiter)) waiter.done(present(waiter));
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
    for (const auto& waiter : s.waiters) until = std::min(until, waiter.until_boot_ms);
    clock_.wait_until(lock, s.cv, until, [&] { return s.stopping || s.woken; });
  }
}

/// For how many milliseconds there is nothing to do.
std::int64_t TransactionKeeper::step() {
  try {
    bool well = true;
    const auto undo_open = [&](const std::string& id, const std::string& reason) {
      const bool done = in_its_turn(id, [&] { ledger_.undo_open_transaction(id, reason); });
      well = well && done;
      if (done) signal_->wake();  // to take back what ran
      return done;
    };
    for (auto id = left_open_.begin(); id != left_open_.end();)
      id = undo_open(*id, "The host stopped before it was committed.") ? left_open_.erase(id) : std::next(id);
    const auto found = ledger_.transactions_at_work();
    std::map<std::string, std::string> looked_at;
    for (const auto& undoing : found.undoing) {
      const auto& id = undoing.transaction_id;
      const auto& stand = undoing.stand;
      const auto before = looked_at_as_.find(id);
      // A step costs a commit, and an undo may wait for a person for days.
      const bool as_before = before != looked_at_as_.end() && before->second == stand;
      if (as_before || in_its_turn(id, [&] { ledger_.continue_undoing(id); })) {
        looked_at.emplace(id, stand);
      } else {
        well = false;
      }
    }
    looked_at_as_ = std::move(looked_at);
    for (const auto& [id, why] : found.failed) undo_open(id, why);
    auto next = kLongestKeeperSleepMs;
    const auto now = clock_.wall_ms();
    for (const auto& [id, until] : found.open) {
      if (until > now) {
        next = std::min(next, until - now);
      } else {
        undo_open(id, "Its time was over before it was committed.");
      }
    }
    const std::lock_guard lock(signal_->mutex);
    if (!signal_->woken) signal_->at_work = !found.open.empty() || !found.undoing.empty();
    return well ? next : std::min(next, kKeeperPauseMs);
  } catch (const Error& error) {
    spdlog::error("transactions cannot be looked after just now: {}", error.what());
    return kKeeperPauseMs;
  }
}

/// One that cannot be looked after does not keep the others from it. False: it is to be tried again.
bool TransactionKeeper::in_its_turn(const std::string& transaction_id, const std::function<void()>& what) {
  try {
    what();
    return true;
  } catch (const Error& error) {
    spdlog::error("the transaction {} cannot be looked after just now: {}", transaction_id, error.what());
    return false;
  }
}

void TransactionKeeper::answer_waiters() {
  std::vector<Waiter> all;
  bool stops = false;
  {
    const std::lock_guard lock(signal_->mutex);
    all.swap(signal_->waiters);
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
  std::move(wait_on.begin(), wait_on.end(), std::back_inserter(signal_->waiters));
}

std::variant<AgentTransaction, Error> TransactionKeeper::present(const Waiter& waiter) {
  try {
    return ledger_.transaction(waiter.transaction_id, waiter.agent_id);
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace krux
