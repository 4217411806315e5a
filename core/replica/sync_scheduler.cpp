#include "core/replica/sync_scheduler.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <optional>
#include <utility>

#include "core/replica/replica.hpp"
#include "core/replica/replica_limits.hpp"
#include "core/replica/sync_session.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kNotPlanned = std::numeric_limits<std::int64_t>::max();

/// 5 s, 10 s, 20 s, ... with up to a tenth taken off, so that accounts which failed together do not come back together.
std::int64_t backoff_ms(const SyncScheduler::Options& options, std::uint64_t failures) {
  const auto doublings = std::min<std::uint64_t>(failures - 1, 20);
  const auto full = std::min(options.last_backoff_ms, options.first_backoff_ms << doublings);
  return full - static_cast<std::int64_t>(randombytes_uniform(static_cast<std::uint32_t>(full / 10 + 1)));
}

}  // namespace

CallTurn sync_turn(const AccountRef& account) {
  return {Lane::kSync, account.service, account.service + ' ' + account.account_id};
}

const char* to_string(SyncStatus::Phase phase) {
  switch (phase) {
    case SyncStatus::Phase::kIdle:
      return "idle";
    case SyncStatus::Phase::kSyncing:
      return "syncing";
    case SyncStatus::Phase::kWaiting:
      return "waiting";
    case SyncStatus::Phase::kBackingOff:
      return "backing_off";
    case SyncStatus::Phase::kRefused:
      break;
  }
  return "refused";
}

/// One account. Guarded by State::mutex, except what the running step alone touches.
struct SyncScheduler::Task {
  ActiveAccountPtr account;
  std::int64_t interval_ms = 60'000;
  std::int64_t due_boot_ms = 0;
  bool running = false, removed = false, in_pass = false;
  std::int64_t pass_started_boot_ms = 0;
  /// Whether the service refuses the token, as it was told last; nothing until it has been told at all: an earlier
  /// run of the host may have left word.
  std::optional<bool> refused;
  std::vector<std::string> changed;  ///< parts with sentences, as they were told last; a step's alone, as `refused`
  bool changed_known = false;
  bool cursor_expired = false;  ///< the pass under way has become a full one because of that, once
  SyncStatus status;
  CallContextPtr call;
  std::shared_ptr<SyncSession> session;
  // Written by the step's worker, read when it has ended.
  std::shared_ptr<CallResult<SyncStep>> result;
};

struct SyncScheduler::State {
  State(Clock& c, CallRunner& r, Options o) : clock(c), runner(r), options(std::move(o)) {}
  Clock& clock;
  CallRunner& runner;
  const Options options;
  mutable std::mutex mutex;
  mutable std::mutex telling;  ///< held while options.attention runs; taken before mutex
  std::condition_variable changed;
  bool stopping = false;
  std::vector<std::shared_ptr<Task>> tasks;

  std::shared_ptr<Task> next_due() const {
    std::shared_ptr<Task> next;
    for (const auto& task : tasks) {
      if (!task->running && (!next || task->due_boot_ms < next->due_boot_ms)) next = task;
    }
    return next;
  }
};

SyncScheduler::SyncScheduler(Clock& clock, CallRunner& runner, Options options)
    : state_(std::make_shared<State>(clock, runner, std::move(options))), thread_([state = state_] { loop(state); }) {}

SyncScheduler::~SyncScheduler() {
  stop();
}

void SyncScheduler::stop() {
  std::vector<std::shared_ptr<Task>> tasks;
  {
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->stopping, true)) return;
    tasks = state_->tasks;
  }
  state_->changed.notify_all();
  for (const auto& task : tasks) remove(task->account->ref.service, task->account->ref.account_id);
  thread_.join();
  // Whoever is telling now is waited for; nobody begins to any more.
  const std::lock_guard telling(state_->telling);
}

void SyncScheduler::add(ActiveAccountPtr account, std::int64_t interval_ms) {
  remove(account->ref.service, account->ref.account_id);
  auto task = std::make_shared<Task>();
  task->status.account = account->ref;
  task->status.full = !account->replica->state().full_done;
  task->account = std::move(account);
  task->interval_ms = std::max<std::int64_t>(interval_ms, 1);
  const std::lock_guard lock(state_->mutex);
  task->due_boot_ms = state_->clock.boot_ms();
  state_->tasks.push_back(std::move(task));
  state_->changed.notify_all();
}

void SyncScheduler::remove(const std::string& service, const std::string& account_id) {
  std::unique_lock lock(state_->mutex);
  const auto at = std::find_if(state_->tasks.begin(), state_->tasks.end(), [&](const auto& t) {
    return t->account->ref.service == service && t->account->ref.account_id == account_id;
  });
  if (at == state_->tasks.end()) return;
  const auto task = *at;
  state_->tasks.erase(at);
  const auto call = task->call;
  const auto session = task->session;
  task->removed = true;
  lock.unlock();
  // Outside the lock: closing waits for a commit under way, and callbacks of the call may want the lock. A step that
  // goes on all the same can change nothing any more.
  if (call) call->cancel();
  if (session) session->close();
}

bool SyncScheduler::sync_now(const std::string& service) {
  const std::lock_guard lock(state_->mutex);
  bool any = false;
  for (const auto& task : state_->tasks) {
    if (task->account->ref.service != service) continue;
    any = true;
    task->due_boot_ms = std::min(task->due_boot_ms, state_->clock.boot_ms());
    // Somebody has done something about it: if it is refused all the same, that is news.
    if (!task->running && task->refused == true) task->refused.reset();
  }
  state_->changed.notify_all();
  return any;
}

std::string SyncScheduler::pass(const AccountRef& account, std::int64_t until_boot_ms) {
  std::unique_lock lock(state_->mutex);
  const auto found = std::find_if(state_->tasks.begin(), state_->tasks.end(),
                                  [&](const auto& task) { return task->account->ref == account; });
  if (found == state_->tasks.end()) return "The account is not synced by this host.";
  const auto task = *found;
  const auto& status = task->status;
  const auto failures = status.failures;
  // The pass under way has read some of the service already: the next one counts.
  const auto wanted = status.passes + (task->in_pass ? 2 : 1);
  const auto ended = [&] {
    return status.passes >= wanted || status.failures > failures || task->removed || state_->stopping;
  };
  while (!ended() && state_->clock.boot_ms() < until_boot_ms) {
    // Back-offs are cut short as by sync_now(); what the service has asked to wait for is waited for.
    if (!task->running && status.phase != SyncStatus::Phase::kWaiting) {
      task->due_boot_ms = state_->clock.boot_ms();
      state_->changed.notify_all();
    }
    const auto passes = status.passes;
    state_->clock.wait_until(lock, state_->changed, until_boot_ms, [&] { return ended() || status.passes > passes; });
  }
  if (task->removed || state_->stopping) return "The account is synced no more.";
  if (status.passes >= wanted) return {};
  if (status.failures > failures) return "The account's own sync failed: " + status.last_error;
  return "The account's own sync takes longer than the time that was given.";
}

std::vector<SyncStatus> SyncScheduler::status() const {
  const std::lock_guard lock(state_->mutex);
  const auto offset = state_->clock.wall_ms() - state_->clock.boot_ms();
  std::vector<SyncStatus> all;
  for (const auto& task : state_->tasks) {
    all.push_back(task->status);
    all.back().next_ms = task->running ? 0 : task->due_boot_ms + offset;
  }
  return all;
}

void SyncScheduler::loop(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->stopping) {
    const auto next = state->next_due();
    if (next && next->due_boot_ms <= state->clock.boot_ms()) {
      next->running = true;
      next->status.phase = SyncStatus::Phase::kSyncing;
      lock.unlock();
      start_step(state, next);
      lock.lock();
      continue;
    }
    bool woken = false;  // by any change: a task was added or removed, or has ended its step
    const auto until = next ? next->due_boot_ms : kNotPlanned;
    state->clock.wait_until(lock, state->changed, until, [&] { return std::exchange(woken, true) || state->stopping; });
  }
}

void SyncScheduler::start_step(const std::shared_ptr<State>& state, const std::shared_ptr<Task>& task) {
  const auto& account = task->account;
  const auto now = state->clock.boot_ms();
  auto call = std::make_shared<CallContext>(
      CallOwner{account->ref.service, account->ref.account_id, account->ref.generation, "", 0}, state->clock,
      now + state->options.step_timeout_ms);
  auto result = std::make_shared<CallResult<SyncStep>>(CallFailure{});
  std::shared_ptr<SyncSession> session;
  bool full = false;
  std::int64_t last_sync_ms = 0;
  try {
    const auto known = account->replica->state();
    full = !known.full_done;
    last_sync_ms = known.last_sync_ms;
    session = account->replica->begin_session();
  } catch (const std::exception& error) {
    *result = CallFailure{KRUX_STORAGE, true, ErrorCode::kDatabaseError, error.what(), std::nullopt};
  }
  {
    const std::lock_guard lock(state->mutex);
    task->call = call;
    task->session = session;
    task->result = result;
    task->status.full = full;
    // After a failure the interval counts anew: a pass that was held up is not followed by another at once.
    if (!task->in_pass || task->status.failures_in_a_row > 0) task->pass_started_boot_ms = now;
    if (!task->in_pass) task->status.pass_started_ms = state->clock.wall_ms();
    task->in_pass = true;
    if (task->removed) {
      call->cancel();
      if (session) session->close();
    }
  }
  if (!session) return finish_step(state, task, false);
  auto body = [account, call, session, result, full, last_sync_ms] {
    *result = full ? account->adapter->ask<"full_sync">(call, session)
                   : account->adapter->ask<"incremental_sync">(call, session, last_sync_ms);
  };
  // One service that does not answer holds up its own syncs alone.
  const auto ended = [state, task](CallRunner::End end) {
    finish_step(state, task, end == CallRunner::End::kAbandoned);
  };
  state->runner.start(call, account->health, std::move(body), ended, sync_turn(account->ref));
}

void SyncScheduler::finish_step(const std::shared_ptr<State>& state, const std::shared_ptr<Task>& task,
                                bool abandoned) {
  CallResult<SyncStep> result = abandoned ? CallFailure{KRUX_TIMEOUT, false, ErrorCode::kTimeout,
                                                        "The sync step passed its deadline.", std::nullopt}
                                          : *task->result;
  if (task->session) task->session->close();
  const auto* failed = std::get_if<CallFailure>(&result);
  const bool removed = [&] {
    const std::lock_guard lock(state->mutex);
    return task->removed;
  }();
  // A replaced connection's replica is another one's by now.
  if (!removed && (!failed || failed->status == KRUX_CURSOR_EXPIRED)) {
    try {
      if (failed && !task->cursor_expired) task->account->replica->require_full_sync();
      if (!failed) note_progress(*task, std::get<SyncStep>(result));
    } catch (const std::exception& error) {
      result = CallFailure{KRUX_STORAGE, true, ErrorCode::kDatabaseError, error.what(), std::nullopt};
    }
  }
  tell_attention(*state, *task, std::get_if<CallFailure>(&result));
  if (const auto* step = std::get_if<SyncStep>(&result); step && step->next == SyncStep::Next::kDone)
    tell_changed(*state, *task);
  const std::lock_guard lock(state->mutex);
  task->call.reset();
  task->session.reset();
  if (const auto* step = std::get_if<SyncStep>(&result)) {
    const bool full = task->status.full;
    plan_next(*state, *task, *step);
    if (!task->in_pass) tell_ended(*state, *task, full, {});
  } else {
    const auto& failure = std::get<CallFailure>(result);
    plan_retry(*state, *task, failure);
    tell_ended(*state, *task, task->status.full,
               failure.type ? failure.type : ErrorType(meaning_of(failure.status).shown));
  }
  task->running = false;
  state->changed.notify_all();
}

/// Under the mutex.
void SyncScheduler::tell_ended(const State& state, const Task& task, bool full, const ErrorType& failure) {
  if (!state.options.ended || task.removed) return;
  auto status = task.status;
  status.full = full;
  state.options.ended(status, failure);
}

/// While a step runs, it alone touches `refused`.
void SyncScheduler::tell_attention(const State& state, Task& task, const CallFailure* failure) {
  if (failure && failure->status != KRUX_AUTH) return;
  const bool refused = failure != nullptr;
  if (task.refused == refused || !state.options.attention) return;
  const std::lock_guard telling(state.telling);
  {
    const std::lock_guard lock(state.mutex);
    if (task.removed) return;
  }
  try {
    const bool settled = state.options.attention(task.account->ref, failure ? failure->message : "");
    if (settled) task.refused = refused;  // what could not be noted is told again after the next step
  } catch (const std::exception& error) {
    spdlog::error("what {} says of its token could not be noted: {}", task.account->ref.service,
                  printable(error.what()));
  }
}

/// While a step runs, it alone touches `changed`.
void SyncScheduler::tell_changed(const State& state, Task& task) {
  if (!state.options.changed) return;
  std::vector<std::string> changed;
  for (const auto& problem : task.account->replica->problems()) {
    if (problem.status == KRUX_CONFLICT) changed.push_back(fmt::format("{}: {}", problem.part, problem.message));
  }
  if (task.changed_known && changed == task.changed) return;
  const std::lock_guard telling(state.telling);
  {
    const std::lock_guard lock(state.mutex);
    if (task.removed) return;
  }
  try {
    state.options.changed(task.account->ref, changed);
    task.changed = std::move(changed);  // what could not be noted is told again after the next pass
    task.changed_known = true;
  } catch (const std::exception& error) {
    spdlog::error("what {} has changed could not be noted: {}", task.account->ref.service, printable(error.what()));
  }
}

/// Outside the lock: this writes to the replica.
void SyncScheduler::note_progress(Task& task, const SyncStep& step) {
  auto& replica = *task.account->replica;
  replica.set_progress(step.parts_done, step.parts_total);
  if (step.next != SyncStep::Next::kDone) return;
  const auto through = step.complete_through_ms > 0 ? step.complete_through_ms : task.status.pass_started_ms;
  replica.finish_pass(task.status.full, through);
  replica.idle();
}

void SyncScheduler::plan_next(State& state, Task& task, const SyncStep& step) {
  auto& status = task.status;
  status.parts_done = step.parts_done;
  status.parts_total = step.parts_total;
  status.failures_in_a_row = 0;
  status.last_error.clear();
  const auto now = state.clock.boot_ms();
  if (step.next == SyncStep::Next::kMore) {
    status.phase = SyncStatus::Phase::kSyncing;
    task.due_boot_ms = now;
  } else if (step.next == SyncStep::Next::kWait) {
    status.phase = SyncStatus::Phase::kWaiting;
    task.due_boot_ms = now + std::clamp<std::int64_t>(step.wait_ms, 1, replica_limits::kLongestWaitMs);
  } else {
    status.phase = SyncStatus::Phase::kIdle;
    status.full = false;
    ++status.passes;
    task.in_pass = false;
    task.cursor_expired = false;
    // Counted from the pass's start, so that the interval is what the replica lags behind.
    task.due_boot_ms = std::max(now, task.pass_started_boot_ms + task.interval_ms);
  }
}

void SyncScheduler::plan_retry(State& state, Task& task, const CallFailure& failure) {
  auto& status = task.status;
  const auto now = state.clock.boot_ms();
  if (failure.status == KRUX_CURSOR_EXPIRED && !task.cursor_expired) {
    // Once a pass: an adapter whose full sync says the same must not loop.
    task.cursor_expired = true;
    task.due_boot_ms = now;
    return;
  }
  ++status.failures;
  ++status.failures_in_a_row;
  status.last_error = failure.message;
  status.phase = failure.status == KRUX_AUTH ? SyncStatus::Phase::kRefused : SyncStatus::Phase::kBackingOff;
  const auto backoff =
      failure.status == KRUX_AUTH ? state.options.last_backoff_ms : backoff_ms(state.options, status.failures_in_a_row);
  task.due_boot_ms = now + std::max(backoff, failure.retry_after_ms.value_or(0));
  if (!task.removed) {
    const auto& ref = task.account->ref;
    log_event(spdlog::level::warn, {"sync_failed", ref.service, ref.account_id, "", ""},
              fmt::format("sync of {} {} failed, next try in {} s: {}", ref.service, ref.account_id,
                          (task.due_boot_ms - now) / 1000, failure.message));
  }
}

}  // namespace krux
