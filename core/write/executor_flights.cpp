// One write on its way: its calls into the adapter, and how they ended.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/capability/permission.hpp"
#include "core/metrics/metrics.hpp"
#include "core/util/error.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/write/executor_state.hpp"

namespace krux {
namespace {

void log_outcome(const BufferedWrite& write) {
  const bool done = write.state == WriteState::kCompleted;
  const auto event = std::string("write_") + to_string(write.state);
  const auto why = done || write.error_message.empty() ? "" : ": " + printable(write.error_message);
  log_event(done ? spdlog::level::info : spdlog::level::warn,
            {event, write.account.service, write.account.account_id, write.agent_id, write.write_id},
            fmt::format("{} {} is {} after attempt {}{}", write.operation, write.write_id, to_string(write.state),
                        write.attempts, why));
}

/// The account may have been connected anew since the write was accepted, with less than it needs. An undo needs what
/// the write that it undoes needed.
std::string why_closed(const ActiveAccount& account, const BufferedWrite& write,
                       const std::optional<BufferedWrite>& undone) {
  const auto& of = undone ? *undone : write;
  const auto* capability = account.definition->find(of.operation);
  if (!capability) return {};
  try {
    must_be_open_to(*capability, account);
    if (capability->counts_as.empty()) return {};
    const auto params = parse_json(of.params_json, "the write's parameters", {64 << 20, 64});
    must_be_open_to(counted_capability(*account.definition, *capability, params), account);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

void EnhancedWriteExecutor::State::begin(BufferedWrite write) {
  const auto flight = std::make_shared<Flight>();
  flight->look = write.state == WriteState::kUnknown;
  flight->account = accounts.find(write.account);
  flight->started_at_ms = clock.wall_ms();
  if (options.metrics) flight->started_us = options.metrics->now_us();
  flight->write = std::move(write);
  if (const auto& undoes = flight->write.undoes; !undoes.empty()) {
    flight->undone = ledger.get(undoes);
    if (!flight->undone) throw database_error("The ledger lost the write " + undoes + ".");
  }
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
  if (flight->look) return look(flight);
  if (const auto why = why_closed(*flight->account, flight->write, flight->undone); !why.empty())
    return finish(flight, judge_closed(flight->write, why, options.retry));
  if (flight->write.undo_ms > 0 && flight->write.point_json.empty()) {
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
  start_point(runner, {flight->write, flight->account, new_call(flight), {}}, keep,
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
  start_execute(runner, {flight->write, flight->account, new_call(flight), flight->undone},
                [self = shared_from_this(), flight](CallEnd end) {
                  self->finish(flight, judge_attempt(flight->write, std::move(end), self->options.retry));
                });
}

void EnhancedWriteExecutor::State::look(const FlightPtr& flight) {
  const bool may_repeat = flight->write.when_absent == "resend";
  start_look(runner, {flight->write, flight->account, new_call(flight), flight->undone},
             [self = shared_from_this(), flight, may_repeat](const CallEnd& end, const EffectFound& found) {
               if (self->stopped()) return self->land(flight);  // cut short perhaps: the next start looks again
               auto report =
                   judge_look(flight->write, end, found, may_repeat, self->clock.wall_ms(), self->options.retry);
               report.started_at_ms = flight->started_at_ms;
               self->finish(flight, report);
             });
}

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
    count(*flight, report.event);
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

void EnhancedWriteExecutor::State::count(const Flight& flight, WriteEvent outcome) const {
  if (!options.metrics) return;
  auto& meter = options.metrics->writes.of(flight.write.account.service, flight.write.operation);
  if (flight.look) return meter.looked(outcome);
  meter.attempted(outcome, options.metrics->now_us() - flight.started_us);
}

void EnhancedWriteExecutor::State::land(const FlightPtr& flight) {
  const std::lock_guard lock(mutex);
  flights.erase(flight->write.seq);
  woken = true;
  cv.notify_all();
  landed.notify_all();
}

}  // namespace krux
