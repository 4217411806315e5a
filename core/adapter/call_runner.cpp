#include "core/adapter/call_runner.hpp"

#include <system_error>
#include <utility>

#include "core/adapter/call_runner_state.hpp"

namespace krux {
namespace {

constexpr int kQuarantineAfter = 2;

}  // namespace

void AdapterHealth::returned() {
  // A quarantine is ended by the operator alone, not by a straggler's success.
  int seen = in_a_row_;
  while (seen < kQuarantineAfter && !in_a_row_.compare_exchange_weak(seen, 0)) {
  }
}

void AdapterHealth::abandoned() {
  ++total_;
  if (++in_a_row_ == kQuarantineAfter && on_quarantine_) on_quarantine_();
}

bool AdapterHealth::quarantined() const {
  return in_a_row_ >= kQuarantineAfter;
}
void AdapterHealth::release() {
  in_a_row_ = 0;
}
std::uint64_t AdapterHealth::abandoned_total() const {
  return total_;
}

const char* to_string(Lane lane) {
  static constexpr std::array<const char*, kLaneCount> names{"operator", "local", "isolated", "fetch", "sync", "write"};
  return names[static_cast<std::size_t>(lane)];
}

CallRunner::CallRunner(Clock& clock, Options options) : state_(std::make_shared<State>(clock, options)) {
  state_->watchdog = std::thread([state = state_.get()] { state->watch(); });
  bool none = false;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& lane : state_->lanes) {
      state_->start_worker(*lane);
      none = none || lane->workers.empty();
    }
  }
  if (!none) return;
  state_->stop_and_join();
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "cannot start a worker thread");
}

CallRunner::~CallRunner() {
  stop();
}

bool CallRunner::stop() {
  if (!state_->stopped.exchange(true)) state_->stop_and_join();
  return lost() == 0;
}

void CallRunner::start(CallContextPtr call, std::shared_ptr<AdapterHealth> health, std::function<void()> body,
                       std::function<void(End)> done, CallTurn turn, RunsOn on) {
  auto task = std::make_shared<State::Task>();
  task->turn = std::move(turn);
  task->call = std::move(call);
  task->health = std::move(health);
  task->body = std::move(body);
  task->done = std::move(done);
  const auto state = state_;  // a borrowed thread that is lost may come back when the runner has gone
  state->start(std::move(task), on);
}

CallRunner::End CallRunner::run(const CallContextPtr& call, std::shared_ptr<AdapterHealth> health,
                                std::function<void()> body) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable cv;
    std::optional<End> end;
  };
  const auto waiting = std::make_shared<Waiting>();
  start(call, std::move(health), std::move(body), [waiting](End end) {
    const std::lock_guard lock(waiting->mutex);
    waiting->end = end;
    waiting->cv.notify_all();
  });
  std::unique_lock lock(waiting->mutex);
  waiting->cv.wait(lock, [&] { return waiting->end.has_value(); });
  return *waiting->end;
}

int CallRunner::lost() const {
  const std::lock_guard lock(state_->mutex);
  return state_->lost;
}

std::size_t CallRunner::queued() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waiting();
}

LaneFigures CallRunner::figures(Lane lane) const {
  const std::lock_guard lock(state_->mutex);
  const auto& known = *state_->lanes[static_cast<std::size_t>(lane)];
  auto figures = known.figures;
  figures.waiting = known.queue.waiting();
  return figures;
}

}  // namespace krux
