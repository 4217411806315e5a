// Deadlines, and the end of a runner.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "core/adapter/call_runner_state.hpp"

namespace krux {
namespace {

constexpr std::int64_t kLateRetryMs = 1000;
/// A tick counts once, for however long the host was stopped in it.
constexpr int kGraceTicks = 5;

}  // namespace

/// Said to agents, or of a sync to the operator.
CallFailure CallRunner::State::too_late(const Task& task) {
  auto& lane = lane_of(task);
  const auto& [which, queue, account, on_borrowed] = task.turn;
  const auto load = lane.queue.load_of(queue);
  const auto of_account = account.empty() ? 0 : lane.queue.running_of(account);
  const char* whose = which == Lane::kSync ? "service" : "agent";
  std::string why = "all threads for such calls were busy";
  if (of_account >= lane.limits.running_of_account) {
    why = fmt::format("{} calls of its account were under way, as many as there may be", of_account);
  } else if (!queue.empty()) {
    why = fmt::format("{} calls of the same {} were under way, and {} more waited", load.running, whose, load.waiting);
  }
  return {KRUX_TIMEOUT,
          true,
          {},
          fmt::format("The call waited {} s for its turn and did not begin: {}. Send it again, with "
                      "fewer at a time.",
                      (clock.boot_ms() - task.arrived_ms + 500) / 1000, why),
          kLateRetryMs};
}

/// The earliest event has come: a queued call has missed its deadline, or a running one is to be cancelled or given up.
void CallRunner::State::handle_event(std::unique_lock<std::mutex>& lock) {
  const auto task = timeline.begin()->second;
  if (task->stage == Stage::kQueued) {
    end_task(*task);
    auto& lane = lane_of(*task);
    lane.queue.erase(task->turn, task);
    wake_after(lane);
    ++lane.figures.not_begun;
    auto why = too_late(*task);
    lock.unlock();
    finish_unrun(task, std::move(why));
  } else if (!task->cancelled) {
    task->cancelled = true;
    timeline.erase(task->event);
    task->event = timeline.emplace(task->call->deadline_boot_ms() + options.grace_ms, task);
    lock.unlock();
    task->call->cancel();
  } else {
    timeline.erase(task->event);
    task->event = timeline.emplace(std::numeric_limits<std::int64_t>::max(), task);
    task->ticks_left = kGraceTicks;
    if (in_last_grace.empty()) tick_end = std::chrono::steady_clock::now() + tick();
    in_last_grace.push_back(task);
    return;
  }
  lock.lock();
}

std::chrono::milliseconds CallRunner::State::tick() const {
  return std::chrono::milliseconds(std::max<std::int64_t>(1, options.grace_ms / kGraceTicks));
}

/// Waits for a tick of the host's own time and gives up those calls that had all of theirs.
void CallRunner::State::count_tick(std::unique_lock<std::mutex>& lock) {
  watching_ms = std::numeric_limits<std::int64_t>::min();  // each tick looks at the timeline anyway
  if (watch_cv.wait_until(lock, tick_end, [&] { return stopping || !refused.empty(); })) return;
  tick_end = std::chrono::steady_clock::now() + tick();
  std::vector<TaskPtr> lost_ones;
  std::erase_if(in_last_grace, [&](const TaskPtr& task) {
    if (task->stage == Stage::kRunning && --task->ticks_left > 0) return false;
    if (task->stage == Stage::kRunning) lost_ones.push_back(task);
    return true;
  });
  for (const auto& task : lost_ones) abandon_running(*task);
  lock.unlock();
  for (const auto& task : lost_ones) finish_abandoned(task);
  lost_ones.clear();
  lock.lock();
}

void CallRunner::State::watch() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (!refused.empty()) {
      finish_refused(lock);
      continue;
    }
    const auto next = timeline.empty() ? std::numeric_limits<std::int64_t>::max() : timeline.begin()->first;
    if (next <= clock.boot_ms()) {
      handle_event(lock);
      continue;
    }
    if (!in_last_grace.empty()) {
      count_tick(lock);
      continue;
    }
    watching_ms = next;
    clock.wait_until(lock, watch_cv, next, [&] {
      return stopping || !refused.empty() || (!timeline.empty() && timeline.begin()->first < next);
    });
  }
  stop_all(lock);
}

/// Ends every call. The grace is real time here: the process ends, whatever a test's clock says.
void CallRunner::State::stop_all(std::unique_lock<std::mutex>& lock) {
  ending = true;
  for (const auto& lane : lanes) lane->queue.drain();
  std::vector<TaskPtr> queued, live;
  for (const auto& [when, task] : timeline) (task->stage == Stage::kQueued ? queued : live).push_back(task);
  for (auto& task : queued) {
    end_task(*task);
    auto why = CallFailure{KRUX_UNAVAILABLE, true, {}, refuses(*task), std::nullopt};
    refused.emplace_back(std::move(task), std::move(why));
  }
  lock.unlock();
  for (const auto& task : live) task->call->cancel();
  lock.lock();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.grace_ms);
  watch_cv.wait_until(lock, until, [&] { return running == 0; });
  for (const auto& task : live) {
    if (task->stage != Stage::kRunning) continue;
    abandon_running(*task);
    lock.unlock();
    finish_abandoned(task);
    lock.lock();
  }
}

void CallRunner::State::stop_and_join() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
    for (const auto& lane : lanes) lane->work_cv.notify_all();
    watch_cv.notify_all();
  }
  watchdog.join();
  for (const auto& lane : lanes) {
    for (auto& worker : lane->workers) worker.join();  // none can be lost any more
  }
  std::unique_lock lock(mutex);
  watch_cv.wait(lock, [this] { return borrowed == 0; });
  while (!refused.empty()) finish_refused(lock);
  over = true;
}

void CallRunner::State::finish_refused(std::unique_lock<std::mutex>& lock) {
  const auto [task, why] = std::move(refused.front());
  refused.pop_front();
  lock.unlock();
  finish_unrun(task, why);
  lock.lock();
}

}  // namespace krux
