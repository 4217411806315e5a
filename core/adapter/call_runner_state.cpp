#include "core/adapter/call_runner_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace krux {
namespace {

constexpr std::int64_t kFullRetryMs = 1000;

CallFailure refusal(std::string message) {
  return {KRUX_UNAVAILABLE, true, {}, std::move(message), std::nullopt};
}

CallFailure queue_is_full(std::size_t waiting) {
  return {KRUX_RATE_LIMITED, true, ErrorCode::kRateLimited,
          fmt::format("{} calls of this agent wait for their turn already, and this one was not taken. Send it again "
                      "when some of them are answered.",
                      waiting),
          kFullRetryMs};
}

LaneLimits lane_limits(const CallRunner::Options& options, Lane lane) {
  auto limits = options.lanes[static_cast<std::size_t>(lane)];
  if (limits.threads == 0) limits.threads = options.threads;
  return limits;
}

}  // namespace

/// What this thread runs: a call that it starts may follow in the same turn.
struct CallRunner::State::Here {
  const State* runner = nullptr;
  Task* task = nullptr;
  static thread_local Here now;
};
thread_local CallRunner::State::Here CallRunner::State::Here::now;

CallRunner::State::State(Clock& c, const Options& o) : clock(c), options(o) {
  const auto there = std::make_shared<QueuesThere>();
  for (const auto lane : kLanes)
    lanes[static_cast<std::size_t>(lane)] = std::make_unique<LaneState>(lane_limits(options, lane), there);
}

/// A thread is there for what can begin now. Whoever takes a call wakes the next one.
void CallRunner::State::wake(LaneState& lane) {
  if (stopping || !lane.has_place() || !lane.queue.ready()) return;
  if (lane.idle > 0) return lane.work_cv.notify_one();
  start_worker(lane);
}

void CallRunner::State::start_worker(LaneState& lane) {
  if (static_cast<int>(lane.workers.size()) >= lane.limits.threads + lane.paused) return;
  const auto slot = lane.workers.emplace(lane.workers.end());
  try {
    // `self` keeps the state alive for a thread that is lost when the runner goes.
    *slot = std::thread([self = shared_from_this(), &lane, slot] { self->work(lane, slot); });
  } catch (const std::system_error&) {
    // The machine has no thread left to give: go on with those that exist, and try again with the next call.
    lane.workers.erase(slot);
  }
}

/// Whose calls are refused when too many like this one are lost: a service's, or, of the host's own work, its queue's.
CallRunner::State::Culprit CallRunner::State::culprit_of(const Task& task) {
  const auto& service = task.call->owner().service;
  return {service, service.empty() ? task.turn.queue : std::string()};
}

std::string CallRunner::State::refuses(const Task& task) const {
  if (stopping) return "The host is stopping; try again when it runs again.";
  const auto& service = task.call->owner().service;
  if (task.health && task.health->quarantined()) {
    return "The adapter of " + service +
           " is quarantined because two of its calls in a row did not return in time. The operator ends that with: "
           "kruxos plugin release " +
           service;
  }
  if (lost >= options.max_lost) return "Too many calls are stuck; restart the host or remove the adapter that hangs.";
  const auto stuck = lost_of.find(culprit_of(task));
  if (stuck == lost_of.end() || stuck->second < std::max(2, options.max_lost / 2)) return {};
  if (service.empty())
    return "Too many calls of this agent are stuck in the host itself, no adapter's among them; restart the host.";
  return "Too many calls of the adapter of " + service + " are stuck; restart the host or remove the adapter.";
}

void CallRunner::State::refuse_later(TaskPtr task, CallFailure why) {
  refused.emplace_back(std::move(task), std::move(why));
  watch_cv.notify_all();
}

/// Whether this thread runs it next, behind the call that it is running: of the same lane and queue, it belongs to the
/// turn that this queue has got.
bool CallRunner::State::follows(const TaskPtr& task) {
  auto* before = Here::now.runner == this ? Here::now.task : nullptr;
  if (!before || task->turn.queue.empty()) return false;
  const bool same = before->in_place && before->turn.lane == task->turn.lane && before->turn.queue == task->turn.queue;
  if (!same || before->next) return false;
  before->next = task;
  return true;
}

bool CallRunner::State::begins_at_once(const LaneState& lane, const CallTurn& turn) {
  return lane.has_place() && lane.queue.waiting() == 0 && lane.queue.may_begin(turn);
}

void CallRunner::State::serve_borrowed(LaneState& lane, TaskPtr task, std::unique_lock<std::mutex>& lock) {
  lane.queue.begin(task->turn);
  enter(lane, *task);
  ++borrowed;
  while (task) {
    if (!run(lane, std::nullopt, task, lock)) return;  // abandon_running() has counted it out
  }
  --borrowed;
  if (stopping) watch_cv.notify_all();
}

void CallRunner::State::start(TaskPtr task, RunsOn on) {
  if (task->turn.lane != Lane::kLocal && task->turn.lane != Lane::kIsolated) {
    task->call->on_away([state = weak_from_this(), of = std::weak_ptr<Task>(task)](std::optional<CallAway> away) {
      const auto self = state.lock();
      const auto known = of.lock();
      if (self && known) self->set_away(known, away);
    });
  }
  std::unique_lock lock(mutex);
  if (auto why = refuses(*task); !why.empty()) {
    task->stage = Stage::kEnded;
    if (!over) return refuse_later(std::move(task), refusal(std::move(why)));
    lock.unlock();  // the watchdog is gone
    return finish_unrun(task, refusal(std::move(why)));
  }
  auto& lane = lane_of(*task);
  task->arrived_ms = clock.boot_ms();
  const bool at_once = on == RunsOn::kCaller && begins_at_once(lane, task->turn);
  if (!at_once && !follows(task) && !lane.queue.push(task->turn, task)) {
    // On this thread: a flood of refusals must not keep the watchdog from its deadlines.
    const auto waiting = lane.queue.load_of(task->turn.queue).waiting;
    ++lane.figures.not_begun;
    task->stage = Stage::kEnded;
    lock.unlock();
    return finish_unrun(task, queue_is_full(waiting));
  }
  const auto until = task->arrived_ms + std::min(task->call->left_ms(), lane.limits.wait_ms);
  task->event = timeline.emplace(until, task);
  if (until < watching_ms) watch_cv.notify_all();
  at_once ? serve_borrowed(lane, std::move(task), lock) : wake(lane);
}

void CallRunner::State::end_task(Task& task) {
  if (task.stage == Stage::kRunning) --running;
  task.stage = Stage::kEnded;
  timeline.erase(task.event);
}

void CallRunner::State::enter(LaneState& lane, Task& task) {
  task.in_place = true;
  ++lane.active;
}

void CallRunner::State::leave(LaneState& lane, Task& task) {
  if (!task.in_place) return;
  task.in_place = false;
  --(task.away == CallAway::kAwaitsQuota ? lane.paused : lane.active);
  lane.queue.end(task.turn, task.away);
  if (const auto next = std::exchange(task.next, nullptr); next && next->stage == Stage::kQueued)
    lane.queue.push_front(next->turn, next);
  wake_after(lane);
}

void CallRunner::State::wake_after(LaneState& lane) {
  wake(lane);
  // Fewer queues there may be that divide what computes.
  for (const auto& other : lanes) {
    if (other.get() != &lane && other->limits.computing_of_queue != LaneLimits::kNone) wake(*other);
  }
}

void CallRunner::State::set_away(const TaskPtr& task, std::optional<CallAway> away) {
  const std::lock_guard lock(mutex);
  if (!task->in_place) return;
  auto& lane = lane_of(*task);
  const auto before = std::exchange(task->away, away);
  lane.queue.change(task->turn, before, away);
  const int waits = (away == CallAway::kAwaitsQuota ? 1 : 0) - (before == CallAway::kAwaitsQuota ? 1 : 0);
  lane.active -= waits;
  lane.paused += waits;
  if (away) wake_after(lane);
}

/// The next call of the turn that has just been served, or whose turn it is; waits for one. Null: the thread ends.
CallRunner::State::TaskPtr CallRunner::State::take_next(LaneState& lane, Threads::iterator self,
                                                        std::unique_lock<std::mutex>& lock) {
  while (!stopping) {
    if (static_cast<int>(lane.workers.size()) > lane.limits.threads + lane.paused) {
      self->detach();  // started for calls that waited for quota, and needed no more
      lane.workers.erase(self);
      return nullptr;
    }
    if (lane.has_place()) {
      if (auto task = lane.queue.pop()) {
        enter(lane, **task);
        wake(lane);
        return *std::move(task);
      }
    }
    ++lane.idle;
    lane.work_cv.wait(lock);
    --lane.idle;
  }
  return nullptr;
}

/// The call that follows in the same turn, unless its deadline has passed or its account has as much as it may.
CallRunner::State::TaskPtr CallRunner::State::take_over(LaneState& lane, TaskPtr next, bool borrowed_thread) {
  if (!next || next->stage != Stage::kQueued || stopping) return nullptr;
  if (!lane.has_place() || !lane.queue.may_begin(next->turn) || (borrowed_thread && !next->turn.on_borrowed)) {
    lane.queue.push_front(next->turn, next);
    if (borrowed_thread) wake(lane);
    return nullptr;
  }
  lane.queue.begin(next->turn);
  enter(lane, *next);
  return next;
}

bool CallRunner::State::run(LaneState& lane, std::optional<Threads::iterator> self, TaskPtr& task,
                            std::unique_lock<std::mutex>& lock) {
  if (task->stage != Stage::kQueued) {  // its time was over before it began
    leave(lane, *task);
    task.reset();
    return true;
  }
  if (auto why = refuses(*task); !why.empty()) {
    end_task(*task);
    leave(lane, *task);
    refuse_later(std::move(task), refusal(std::move(why)));
    return true;
  }
  task->stage = Stage::kRunning;
  task->thread = self;
  timeline.erase(task->event);
  task->event = timeline.emplace(task->call->deadline_boot_ms(), task);
  ++lane.figures.begun;
  lane.figures.waited_ms += static_cast<std::uint64_t>(std::max<std::int64_t>(clock.boot_ms() - task->arrived_ms, 0));
  ++running;
  lock.unlock();
  Here::now = {this, task.get()};
  task->body();
  lock.lock();
  if (task->stage == Stage::kEnded) {  // given up for lost meanwhile; this thread has been replaced
    --lost;
    const auto stuck = lost_of.find(culprit_of(*task));
    if (--stuck->second == 0) lost_of.erase(stuck);
    Here::now = {};
    return false;
  }
  end_task(*task);
  if (stopping) watch_cv.notify_all();
  lock.unlock();
  if (task->health && !task->call->cut_off()) task->health->returned();
  task->done(End::kReturned);
  Here::now = {};
  lock.lock();
  auto next = std::exchange(task->next, nullptr);
  leave(lane, *task);
  auto ended = std::exchange(task, take_over(lane, std::move(next), !self));
  lock.unlock();
  ended.reset();  // what the call owned goes before the next one begins
  lock.lock();
  return true;
}

void CallRunner::State::work(LaneState& lane, Threads::iterator self) {
  std::unique_lock lock(mutex);
  TaskPtr task;
  while (task || (task = take_next(lane, self, lock))) {
    if (!run(lane, self, task, lock)) {
      lock.unlock();
      return;
    }
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
  auto& lane = lane_of(task);
  ++lost;
  ++lost_of[culprit_of(task)];
  if (task.thread) {
    (*task.thread)->detach();
    lane.workers.erase(*task.thread);
  } else {
    --borrowed;
  }
  end_task(task);
  leave(lane, task);
}

std::size_t CallRunner::State::waiting() const {
  std::size_t sum = 0;
  for (const auto& lane : lanes) sum += lane->queue.waiting();
  return sum;
}

}  // namespace krux
