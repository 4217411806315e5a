#include "core/write/enhanced_write_executor.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger.hpp"
#include "core/write/write_buffer.hpp"
#include "core/write/write_calls.hpp"

namespace krux {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// The wall clock may be set while nobody is told: the ledger is asked at least so often.
constexpr std::int64_t kLongestSleepMs = 60'000;
constexpr std::int64_t kPauseAfterFailureMs = 1000;

void log_outcome(const BufferedWrite& write) {
  const bool done = write.state == WriteState::kCompleted;
  const auto event = std::string("write_") + to_string(write.state);
  const auto why = done || write.error_message.empty() ? "" : ": " + printable(write.error_message);
  log_event(done ? spdlog::level::info : spdlog::level::warn,
            {event, write.account.service, write.account.account_id, write.agent_id, write.write_id},
            fmt::format("{} {} is {} after attempt {}{}", write.operation, write.write_id, to_string(write.state),
                        write.attempts, why));
}

}  // namespace

/// Shared with the calls under way, so that one that comes back late finds a gate that is closed and not a hole.
struct EnhancedWriteExecutor::State : std::enable_shared_from_this<State> {
  /// One attempt or look, from its claim to its record.
  struct Flight {
    BufferedWrite write;
    ActiveAccountPtr account;
    CallContextPtr context;  ///< of the present call; under `mutex`
    bool look = false;
    std::int64_t started_at_ms = 0;
  };
  using FlightPtr = std::shared_ptr<Flight>;

  State(GroupCommit& s, WriteBuffer& b, AccountDirectory& a, CallRunner& r, Clock& c, ExecutorOptions o)
      : store(s), ledger(b.ledger()), accounts(a), runner(r), clock(c), options(std::move(o)) {}

  void work();
  std::int64_t step();
  bool settle_store();
  std::vector<AccountRef> active() const;
  Ledger::Room free_room(std::size_t in_flight) const;
  std::vector<std::int64_t> busy() const;

  void begin(BufferedWrite write);
  CallContextPtr new_call(const FlightPtr& flight);
  void point(const FlightPtr& flight);
  void execute(const FlightPtr& flight);
  void look(const FlightPtr& flight);
  void finish(const FlightPtr& flight, const WriteReport& report);
  void recorded(const FlightPtr& flight, const WriteReport& report, const std::variant<BufferedWrite, Error>& answer);
  void land(const FlightPtr& flight);
  bool stopped() const;
  void wake();
  void due(std::int64_t in_ms);
  void stop(std::int64_t wait_ms);

  GroupCommit& store;
  Ledger& ledger;
  AccountDirectory& accounts;
  CallRunner& runner;
  Clock& clock;
  const ExecutorOptions options;

  /// Held shared by whoever uses the references above from a call's thread; closed for good by stop().
  std::shared_mutex gate;
  bool closed = false;

  mutable std::mutex mutex;
  std::condition_variable cv, landed;
  std::map<std::int64_t, FlightPtr> flights;  ///< by seq
  std::vector<std::pair<FlightPtr, WriteReport>> unrecorded;
  bool stopping = false, woken = false, lost_track = false, asleep = false, working = false;
  bool ended = false;                 ///< stop() is through: nothing is kept any more
  std::int64_t asleep_until = 0;      ///< boot clock
  std::int64_t soonest_due = kNever;  ///< of what has become known since the ledger was asked
  int idle_rounds = 0;                ///< rounds that took nothing although something was due; on the executor's thread
  std::thread thread;
};

// --- when ---

void EnhancedWriteExecutor::State::work() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    soonest_due = kNever;
    lock.unlock();
    const auto pause = step();
    lock.lock();
    // With every place taken nothing that becomes due matters: whoever lands wakes.
    const bool full = pause == kNever;
    asleep_until = full ? kNever : clock.boot_ms() + pause;
    asleep = pause > 0;
    clock.wait_until(lock, cv, asleep_until,
                     [&] { return stopping || woken || (!full && soonest_due < asleep_until); });
    woken = asleep = false;
  }
  working = false;
  landed.notify_all();
}

/// Takes what is due and free; returns for how many milliseconds there is nothing to do.
std::int64_t EnhancedWriteExecutor::State::step() {
  if (!settle_store()) return kPauseAfterFailureMs;
  const auto in_flight = busy();
  const auto room = free_room(in_flight.size());
  if (room.all == 0) return kNever;
  const auto refs = active();
  try {
    if (const auto next = ledger.next_due_in(refs, room, in_flight); next != 0) {
      idle_rounds = 0;
      return std::min(next.value_or(kLongestSleepMs), kLongestSleepMs);
    }
    auto taken = ledger.take(refs, room, in_flight);
    idle_rounds = taken.empty() ? idle_rounds + 1 : 0;
    for (auto& write : taken) begin(std::move(write));
    return idle_rounds < 3 ? 0 : kPauseAfterFailureMs;
  } catch (const Error& e) {
    spdlog::error("writes cannot be claimed: {}", e.what());
    const std::lock_guard lock(mutex);
    lost_track = true;
    return kPauseAfterFailureMs;
  }
}

/// Brings the ledger up to date after the store failed; false while it still does.
bool EnhancedWriteExecutor::State::settle_store() {
  if (store.failing()) return false;
  std::vector<std::pair<FlightPtr, WriteReport>> again;
  bool recover = false;
  {
    const std::lock_guard lock(mutex);
    again.swap(unrecorded);
    recover = std::exchange(lost_track, false);
  }
  for (auto& [flight, report] : again) finish(flight, report);
  if (!recover) return true;
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

std::vector<AccountRef> EnhancedWriteExecutor::State::active() const {
  std::vector<AccountRef> refs;
  for (const auto& account : accounts.accounts()) {
    if (!account->health || !account->health->quarantined()) refs.push_back(account->ref);
  }
  return refs;
}

/// Looks may have to wait for the service's quota: they get half of the places, so that they hold up no write.
Ledger::Room EnhancedWriteExecutor::State::free_room(std::size_t in_flight) const {
  const auto places = static_cast<std::size_t>(std::max(1, options.concurrency));
  const auto for_looks = std::max<std::size_t>(1, places / 2);
  const std::lock_guard lock(mutex);
  const auto looking = static_cast<std::size_t>(
      std::count_if(flights.begin(), flights.end(), [](const auto& f) { return f.second->look; }));
  const auto all = places - std::min(places, in_flight);
  return {all, std::min(all, for_looks - std::min(for_looks, looking))};
}

std::vector<std::int64_t> EnhancedWriteExecutor::State::busy() const {
  const std::lock_guard lock(mutex);
  std::vector<std::int64_t> seqs;
  for (const auto& [seq, flight] : flights) seqs.push_back(seq);
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

// --- what ---

void EnhancedWriteExecutor::State::begin(BufferedWrite write) {
  const auto flight = std::make_shared<Flight>();
  flight->look = write.state == WriteState::kUnknown;
  flight->account = accounts.find(write.account);
  flight->started_at_ms = clock.wall_ms();
  flight->write = std::move(write);
  {
    const std::lock_guard lock(mutex);
    flights.emplace(flight->write.seq, flight);
  }
  if (!flight->account) {
    // Withdrawn since the claim: nothing was called. The write is due again when the account comes back.
    if (flight->look) return land(flight);
    CallEnd end;
    end.how = CallEnd::How::kNotRun;
    end.failure = CallFailure{KRUX_UNAVAILABLE, true, {}, "The account was disconnected just before the call.", {}};
    return finish(flight, judge_attempt(flight->write, std::move(end), options.retry));
  }
  const auto* capability = flight->account->definition->find(flight->write.operation);
  if (flight->look) {
    look(flight);
  } else if (capability && capability->undoable && flight->write.point_json.empty()) {
    point(flight);
  } else {
    execute(flight);
  }
}

CallContextPtr EnhancedWriteExecutor::State::new_call(const FlightPtr& flight) {
  const auto& w = flight->write;
  const auto timeout = options.call_timeout_ms.value_or(flight->account->definition->call_timeout_ms);
  CallContext::Remember remember;
  if (!flight->look) {
    remember = [self = shared_from_this(), id = w.write_id, attempt = w.attempts](std::string_view note) {
      const std::shared_lock open(self->gate);
      return !self->closed && self->ledger.keep_note(id, attempt, note);
    };
  }
  auto context = std::make_shared<CallContext>(
      CallOwner{w.account.service, w.account.account_id, w.account.generation, w.write_id, w.attempts}, clock,
      clock.boot_ms() + timeout, std::move(remember));
  const std::lock_guard lock(mutex);
  flight->context = context;
  return context;
}

void EnhancedWriteExecutor::State::point(const FlightPtr& flight) {
  const auto keep = [self = shared_from_this(), id = flight->write.write_id,
                     attempt = flight->write.attempts](const std::string& point_json) {
    const std::shared_lock open(self->gate);
    if (self->closed) throw database_error("The host is stopping.");
    self->ledger.keep_point(id, attempt, point_json);
  };
  start_point(runner, {flight->write, flight->account, new_call(flight)}, keep,
              [self = shared_from_this(), flight](CallEnd end, std::string point_json) {
                if (end.how == CallEnd::How::kAnswered && !end.failure) {
                  const std::shared_lock open(self->gate);
                  if (self->closed) return;
                  flight->write.point_json = std::move(point_json);
                  self->execute(flight);
                  return;
                }
                self->finish(flight, judge_point(flight->write, std::move(end), self->options.retry));
              });
}

void EnhancedWriteExecutor::State::execute(const FlightPtr& flight) {
  start_execute(runner, {flight->write, flight->account, new_call(flight)},
                [self = shared_from_this(), flight](CallEnd end) {
                  self->finish(flight, judge_attempt(flight->write, std::move(end), self->options.retry));
                });
}

void EnhancedWriteExecutor::State::look(const FlightPtr& flight) {
  const bool may_repeat = flight->write.when_absent == "resend";
  start_look(runner, {flight->write, flight->account, new_call(flight)},
             [self = shared_from_this(), flight, may_repeat](const CallEnd& end, const EffectFound& found) {
               if (self->stopped()) return self->land(flight);  // cut short perhaps: the next start looks again
               auto report =
                   judge_look(flight->write, end, found, may_repeat, self->clock.wall_ms(), self->options.retry);
               report.started_at_ms = flight->started_at_ms;
               self->finish(flight, report);
             });
}

// --- how it ended ---

void EnhancedWriteExecutor::State::finish(const FlightPtr& flight, const WriteReport& report) {
  const std::shared_lock open(gate);
  if (closed) return;
  ledger.record(report, [self = shared_from_this(), flight, report](const std::variant<BufferedWrite, Error>& answer) {
    self->recorded(flight, report, answer);
  });
}

void EnhancedWriteExecutor::State::recorded(const FlightPtr& flight, const WriteReport& report,
                                            const std::variant<BufferedWrite, Error>& answer) {
  const auto* error = std::get_if<Error>(&answer);
  if (!error) {
    log_outcome(std::get<BufferedWrite>(answer));
    return land(flight);
  }
  if (error->type() != "DatabaseError") {
    // A person has decided meanwhile.
    spdlog::info("the outcome of write {} is not recorded: {}", flight->write.write_id, error->what());
    return land(flight);
  }
  spdlog::error("the outcome of write {} cannot be recorded yet: {}", flight->write.write_id, error->what());
  const std::lock_guard lock(mutex);
  if (!ended) unrecorded.emplace_back(flight, report);
}

void EnhancedWriteExecutor::State::land(const FlightPtr& flight) {
  const std::lock_guard lock(mutex);
  flights.erase(flight->write.seq);
  woken = true;
  cv.notify_all();
  landed.notify_all();
}

void EnhancedWriteExecutor::State::stop(std::int64_t wait_ms) {
  {
    std::unique_lock lock(mutex);
    if (std::exchange(stopping, true)) return;
    cv.notify_all();
    landed.wait_for(lock, std::chrono::milliseconds(wait_ms), [this] { return flights.empty() && !working; });
  }
  ledger.stop_waiting();  // a store that fails would otherwise hold up the threads that are waited for here
  if (thread.joinable()) thread.join();
  ledger.on_due({});
  {
    const std::unique_lock shut(gate);
    closed = true;
  }
  // A flight's call refers to this state: what stays behind is let go of here.
  std::map<std::int64_t, FlightPtr> left;
  {
    const std::lock_guard lock(mutex);
    ended = true;
    left.swap(flights);
    unrecorded.clear();
  }
  for (const auto& [seq, flight] : left) {
    if (flight->context) flight->context->end();
  }
}

EnhancedWriteExecutor::EnhancedWriteExecutor(GroupCommit& store, WriteBuffer& buffer, AccountDirectory& accounts,
                                             CallRunner& runner, Clock& clock, ExecutorOptions options)
    : state_(std::make_shared<State>(store, buffer, accounts, runner, clock, std::move(options))) {
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
    for (const auto& [seq, flight] : state_->flights) {
      const auto& of = flight->write.account;
      if (of.service == service && of.account_id == account_id && flight->context) calls.push_back(flight->context);
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
  return static_cast<int>(state_->flights.size());
}

}  // namespace krux
