#include "core/adapter/call_runner_state.hpp"

#include <chrono>
#include <limits>
#include <system_error>
#include <vector>

namespace krux {
namespace {

CallFailure refusal(std::string message) {
  return {KRUX_UNAVAILABLE, true, {}, std::move(message), std::nullopt};
}

}  // namespace

void CallRunner::State::ensure_workers() {
  while (!stopping && static_cast<int>(workers.size()) < options.threads) {
    const auto slot = workers.emplace(workers.end());
    try {
      // `self` keeps the state alive for a thread that is lost when the runner goes.
      *slot = std::thread([self = shared_from_this(), slot] { self->work(slot); });
    } catch (const std::system_error&) {
      // The machine has no thread left to give: go on with those that exist, and try again with the next call.
      workers.erase(slot);
      return;
    }
  }
}

std::string CallRunner::State::refuses(const Task& task) const {
  if (stopping) return "The host is stopping; try again when it runs again.";
  if (task.health && task.health->quarantined()) {
    return "The adapter of " + task.call->owner().service +
           " is quarantined because two of its calls in a row did not return in time. The operator ends that with: "
           "kruxos plugin release " +
           task.call->owner().service;
  }
  if (lost >= options.max_lost)
    return "Too many adapter calls are stuck; restart the host or remove the adapter that hangs.";
  return {};
}

void CallRunner::State::start(TaskPtr task) {
  std::unique_lock lock(mutex);
  if (auto why = refuses(*task); !why.empty()) {
    task->stage = Stage::kEnded;
    if (over) {  // the watchdog is gone
      lock.unlock();
      return finish_unrun(task, refusal(std::move(why)));
    }
    refused.emplace_back(std::move(task), refusal(std::move(why)));
    watch_cv.notify_all();
    return;
  }
  task->event = timeline.emplace(task->call->deadline_boot_ms(), task);
  if (task->call->deadline_boot_ms() < watching_ms) watch_cv.notify_all();
  queue.push_back(std::move(task));
  ensure_workers();
  work_cv.notify_one();
}

void CallRunner::State::end_task(Task& task) {
  if (task.stage == Stage::kRunning) --running;
  task.stage = Stage::kEnded;
  timeline.erase(task.event);
}

CallRunner::State::TaskPtr CallRunner::State::take_next(std::unique_lock<std::mutex>& lock) {
  work_cv.wait(lock, [&] { return stopping || !queue.empty(); });
  if (queue.empty()) return nullptr;
  auto task = std::move(queue.front());
  queue.pop_front();
  return task;
}

void CallRunner::State::work(Threads::iterator self) {
  std::unique_lock lock(mutex);
  while (auto task = take_next(lock)) {
    if (auto why = refuses(*task); !why.empty()) {
      end_task(*task);
      refused.emplace_back(std::move(task), refusal(std::move(why)));
      watch_cv.notify_all();
      continue;
    }
    task->stage = Stage::kRunning;
    task->thread = self;
    ++running;
    lock.unlock();
    task->body();
    lock.lock();
    if (task->stage == Stage::kEnded) {  // given up for lost meanwhile; this thread has been replaced
      --lost;
      lock.unlock();
      return;
    }
    end_task(*task);
    if (stopping) watch_cv.notify_all();
    lock.unlock();
    if (task->health && !task->call->cut_off()) task->health->returned();
    task->done(End::kReturned);
    task.reset();  // what the call owned goes before the next one is taken
    lock.lock();
  }
  watch_cv.notify_all();
}

void CallRunner::State::finish_unrun(const TaskPtr& task, CallFailure why) {
  task->call->fail(std::move(why));
  task->call->end();
  task->done(End::kAbandoned);
}

void CallRunner::State::finish_abandoned(const TaskPtr& task) const {
  task->call->end();
  if (task->health && !ending) task->health->abandoned();  // at the end, the short grace is the host's doing
  task->done(End::kAbandoned);
}

void CallRunner::State::abandon_running(Task& task) {
  ++lost;
  task.thread->detach();
  workers.erase(task.thread);
  end_task(task);
  ensure_workers();
}

/// The earliest event has come: a queued call has missed its deadline, or a running one is to be cancelled or given up.
void CallRunner::State::handle_event(std::unique_lock<std::mutex>& lock) {
  const auto task = timeline.begin()->second;
  if (task->stage == Stage::kQueued) {
    end_task(*task);
    std::erase(queue, task);
    lock.unlock();
    finish_unrun(task, {KRUX_TIMEOUT, true, {}, "The call waited for a free worker until its deadline.", std::nullopt});
  } else if (!task->cancelled) {
    task->cancelled = true;
    timeline.erase(task->event);
    task->event = timeline.emplace(task->call->deadline_boot_ms() + options.grace_ms, task);
    lock.unlock();
    task->call->cancel();
  } else {
    abandon_running(*task);
    lock.unlock();
    finish_abandoned(task);
  }
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
  for (auto& task : std::exchange(queue, {})) {
    end_task(*task);
    refused.emplace_back(std::move(task), refusal(refuses(*task)));
  }
  std::vector<TaskPtr> live;
  for (const auto& [when, task] : timeline) live.push_back(task);
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
    work_cv.notify_all();
    watch_cv.notify_all();
  }
  watchdog.join();
  for (auto& worker : workers) worker.join();  // none can be lost any more
  std::unique_lock lock(mutex);
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
