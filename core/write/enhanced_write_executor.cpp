#include "core/write/enhanced_write_executor.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "core/write/executor_state.hpp"

namespace krux {
namespace {

/// The wall clock may be set while nobody is told: the ledger is asked at least so often.
constexpr std::int64_t kLongestSleepMs = 60'000;
constexpr std::int64_t kPauseAfterFailureMs = 1000;
constexpr std::int64_t kPointsEveryMs = 10 * 60'000, kApprovalsEveryMs = 10'000;

}  // namespace

void EnhancedWriteExecutor::State::work() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    soonest_due = kNever;
    lock.unlock();
    // From before the look: time that passes during it, in a suspended machine too, is no reason to sleep longer.
    const auto looked_at = clock.boot_ms();
    const auto pause = step();
    lock.lock();
    // With every place taken nothing that becomes due matters: whoever comes back wakes.
    const bool full = pause == kNever;
    asleep_until = full ? kNever : looked_at + pause;
    asleep = pause > 0;
    clock.wait_until(lock, cv, asleep_until,
                     [&] { return stopping || woken || (!full && soonest_due < asleep_until); });
    woken = asleep = false;
  }
  lock.unlock();
  record_returned();
  lock.lock();
  working = false;
  retired.notify_all();
}

/// Takes what is due and free; returns for how many milliseconds there is nothing to do.
std::int64_t EnhancedWriteExecutor::State::step() {
  if (store.failing() || !regain_track()) return kPauseAfterFailureMs;
  auto room = free_room();
  wants_place = room.all == 0;
  if (wants_place) {
    record_returned();
    return kNever;
  }
  const auto all = active();
  const auto refs = with_room(all, room);
  wants_place = refs.size() < all.size();
  try {
    drop_expired_rollback_points();
    expire_approvals();
    const bool may_take = !options.may_take || options.may_take();
    if (!may_take) record_returned();
    if (const auto next = next_due_in(refs, room); next != 0) {
      idle_rounds = 0;
      return std::min(next.value_or(kLongestSleepMs), kLongestSleepMs);
    }
    if (!may_take) return kPauseAfterFailureMs;
    if (options.before_take) options.before_take();
    auto taken = take(refs, room);
    idle_rounds = taken.empty() ? idle_rounds + 1 : 0;
    for (auto& write : taken.writes) begin(std::move(write));
    return idle_rounds < 3 ? 0 : kPauseAfterFailureMs;
  } catch (const Error& e) {
    spdlog::error("writes cannot be claimed: {}", e.what());
    const std::lock_guard lock(mutex);
    lost_track = true;
    return kPauseAfterFailureMs;
  }
}

/// What has returned is recorded whether something is due or not: that costs the commit that a claim needs too.
std::optional<std::int64_t> EnhancedWriteExecutor::State::next_due_in(const std::vector<AccountRef>& refs,
                                                                      Ledger::Room room) const {
  std::vector<std::int64_t> seqs;
  {
    const std::lock_guard lock(mutex);
    if (!unrecorded.empty()) return 0;
    seqs = seqs_in_flight();
  }
  return ledger.next_due_in(refs, room, seqs);
}

Ledger::Taken EnhancedWriteExecutor::State::take(const std::vector<AccountRef>& refs, Ledger::Room room) {
  std::vector<std::int64_t> seqs;
  std::vector<Report> reports;
  {
    const std::lock_guard lock(mutex);
    seqs = seqs_in_flight();
    reports.swap(unrecorded);
  }
  return ledger.take(refs, room, std::move(seqs), options.retry.order_wait_ms, outcomes_of(std::move(reports)));
}

std::vector<Ledger::Outcome> EnhancedWriteExecutor::State::outcomes_of(std::vector<Report> reports) {
  std::vector<Ledger::Outcome> outcomes;
  for (auto& [under_way, report] : reports) {
    auto done = [self = shared_from_this(), under_way = under_way, report = report](
                    const std::variant<WriteRecord, Error>& answer) { self->recorded(under_way, report, answer); };
    outcomes.push_back({std::move(report), std::move(done)});
  }
  return outcomes;
}

void EnhancedWriteExecutor::State::record_returned() {
  std::vector<Report> reports;
  {
    const std::lock_guard lock(mutex);
    reports.swap(unrecorded);
  }
  for (auto& outcome : outcomes_of(std::move(reports)))
    ledger.record(std::move(outcome.report), std::move(outcome.done));
}

/// Brings the ledger up to date after the store failed; false while it still does.
bool EnhancedWriteExecutor::State::regain_track() {
  {
    const std::lock_guard lock(mutex);
    if (!std::exchange(lost_track, false)) return true;
  }
  try {
    // A claim whose COMMIT failed may have become durable after all: nobody has called the adapter for it.
    ledger.recover(false, options.retry.settle_ms, busy());
    return true;
  } catch (const Error&) {
    const std::lock_guard lock(mutex);
    lost_track = true;
    return false;
  }
}

void EnhancedWriteExecutor::State::drop_expired_rollback_points() {
  if (clock.boot_ms() < points_due) return;
  // Many at once would hold up the writes: the rest goes with the next step.
  if (ledger.drop_expired_rollback_points() == 0) points_due = clock.boot_ms() + kPointsEveryMs;
}

void EnhancedWriteExecutor::State::expire_approvals() {
  if (clock.boot_ms() < approvals_due) return;
  if (ledger.expire_approvals() == 0) approvals_due = clock.boot_ms() + kApprovalsEveryMs;
}

std::vector<AccountRef> EnhancedWriteExecutor::State::active() const {
  std::vector<AccountRef> refs;
  for (const auto& account : accounts.accounts()) {
    if (!account->health || !account->health->quarantined()) refs.push_back(account->ref);
  }
  return refs;
}

std::size_t EnhancedWriteExecutor::State::places() const {
  return static_cast<std::size_t>(std::max(1, options.concurrency));
}

/// Of several accounts none gets more than half of the places: a service that is slow, or whose quota is used up, does
/// not make the writes of others late. `room` becomes what each of those that are left may take.
std::vector<AccountRef> EnhancedWriteExecutor::State::with_room(std::vector<AccountRef> all, Ledger::Room& room) const {
  if (all.size() < 2) return all;
  const auto share = std::max<std::size_t>(1, places() / 2);
  const std::lock_guard lock(mutex);
  std::erase_if(all, [&](const AccountRef& account) {
    const auto under_way =
        static_cast<std::size_t>(std::count_if(in_flight.begin(), in_flight.end(), [&](const auto& f) {
          return !f.second->returned && f.second->write.account == account;
        }));
    if (under_way < share) room.all = std::min(room.all, share - under_way);
    return under_way >= share;
  });
  room.looks = std::min(room.looks, room.all);
  return all;
}

/// Looks may have to wait for the service's quota: they get half of the places, so that they hold up no write. What has
/// returned needs none any more.
Ledger::Room EnhancedWriteExecutor::State::free_room() const {
  const auto for_looks = std::max<std::size_t>(1, places() / 2);
  const std::lock_guard lock(mutex);
  std::size_t taken = 0, looking = 0;
  for (const auto& [seq, under_way] : in_flight) {
    if (under_way->returned) continue;
    ++taken;
    if (under_way->look) ++looking;
  }
  const auto all = places() - std::min(places(), taken);
  return {all, std::min(all, for_looks - std::min(for_looks, looking))};
}

std::vector<std::int64_t> EnhancedWriteExecutor::State::busy() const {
  const std::lock_guard lock(mutex);
  return seqs_in_flight();
}

std::vector<std::int64_t> EnhancedWriteExecutor::State::seqs_in_flight() const {
  std::vector<std::int64_t> seqs;
  for (const auto& [seq, under_way] : in_flight) seqs.push_back(seq);
  return seqs;
}

void EnhancedWriteExecutor::State::wake() {
  const std::lock_guard lock(mutex);
  woken = true;
  cv.notify_all();
}

void EnhancedWriteExecutor::State::due(std::int64_t in_ms) {
  const std::lock_guard lock(mutex);
  soonest_due = std::min(soonest_due, clock.boot_ms() + in_ms);
  if (soonest_due < asleep_until) cv.notify_all();
}

bool EnhancedWriteExecutor::State::stopped() const {
  const std::lock_guard lock(mutex);
  return stopping;
}

void EnhancedWriteExecutor::State::stop(std::int64_t wait_ms) {
  {
    std::unique_lock lock(mutex);
    if (std::exchange(stopping, true)) return;
    cv.notify_all();
    retired.wait_for(lock, std::chrono::milliseconds(wait_ms), [this] { return in_flight.empty() && !working; });
  }
  ledger.stop_waiting();  // a store that fails would otherwise hold up the threads that are waited for here
  if (thread.joinable()) thread.join();
  ledger.on_due({});
  {
    const std::unique_lock shut(gate);
    closed = true;
  }
  // A call under way refers to this state: what stays behind is let go of here.
  std::map<std::int64_t, InFlightPtr> left;
  {
    const std::lock_guard lock(mutex);
    ended = true;
    left.swap(in_flight);
    unrecorded.clear();
  }
  for (const auto& [seq, under_way] : left) {
    if (under_way->context) under_way->context->end();
  }
}

EnhancedWriteExecutor::EnhancedWriteExecutor(GroupCommit& store, Ledger& ledger, AccountDirectory& accounts,
                                             CallRunner& runner, Clock& clock, ExecutorOptions options)
    : state_(std::make_shared<State>(store, ledger, accounts, runner, clock, std::move(options))) {
  if (state_->options.retry.schedule_ms.empty()) throw ConfigError("The retry schedule needs at least one step.");
}

EnhancedWriteExecutor::~EnhancedWriteExecutor() {
  stop(0);
}

void EnhancedWriteExecutor::start() {
  state_->ledger.recover(true, state_->options.retry.settle_ms, {});
  state_->ledger.on_due([state = state_.get()](std::int64_t in_ms) { state->due(in_ms); });
  state_->working = true;
  state_->thread = std::thread([state = state_.get()] { state->work(); });
}

void EnhancedWriteExecutor::stop(std::int64_t wait_ms) {
  state_->stop(wait_ms);
}

void EnhancedWriteExecutor::wake() {
  state_->wake();
}

void EnhancedWriteExecutor::connection_restored(const AccountRef& account) {
  state_->ledger.connection_restored(account);
  wake();
}

void EnhancedWriteExecutor::end_calls(const std::string& service, const std::string& account_id) {
  std::vector<CallContextPtr> calls;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [seq, under_way] : state_->in_flight) {
      const auto& of = under_way->write.account;
      if (of.service == service && of.account_id == account_id && under_way->context)
        calls.push_back(under_way->context);
    }
  }
  for (const auto& call : calls) call->cancel();
}

bool EnhancedWriteExecutor::asleep() const {
  const std::lock_guard lock(state_->mutex);
  const auto& s = *state_;
  return s.asleep && !s.woken && s.clock.boot_ms() < s.asleep_until && s.soonest_due >= s.asleep_until;
}

int EnhancedWriteExecutor::in_flight() const {
  const std::lock_guard lock(state_->mutex);
  return static_cast<int>(state_->in_flight.size());
}

}  // namespace krux
