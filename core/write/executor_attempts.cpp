// One write on its way: its calls into the adapter, and how they ended.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/account/permission.hpp"
#include "core/util/error.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/write/copy_reconcile.hpp"
#include "core/write/executor_state.hpp"
#include "core/write/write_meters.hpp"

namespace krux {
namespace {

/// `late`: a look after a person was told, which has changed nothing.
void log_outcome(const WriteRecord& write, bool late) {
  const bool done = write.state == WriteState::kCompleted;
  const auto event = std::string("write_") + to_string(write.state);
  const auto why = done || write.error_message.empty() ? "" : ": " + printable(write.error_message);
  log_event(late   ? spdlog::level::debug
            : done ? spdlog::level::info
                   : spdlog::level::warn,
            {event, write.account.service, write.account.account_id, write.agent_id, write.write_id},
            fmt::format("{} {} is {} after attempt {}{}", write.operation, write.write_id, to_string(write.state),
                        write.attempts, why));
}

/// The account may have been connected anew since the write was accepted, with less than it needs. An undo and a
/// cleanup need what the write that they are about needed.
std::string why_closed(const ActiveAccount& account, const WriteRecord& write,
                       const std::optional<WriteRecord>& subject) {
  const auto& of = subject ? *subject : write;
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

Ledger::CommitThread thread_after(const CallEnd& end) {
  return end.how == CallEnd::How::kAnswered ? Ledger::CommitThread::kCallers : Ledger::CommitThread::kWriters;
}

}  // namespace

void EnhancedWriteExecutor::State::begin(WriteRecord write) {
  const auto under_way = std::make_shared<InFlight>();
  under_way->look = write.state == WriteState::kUnknown || write.reconcile_first;
  under_way->account = accounts.find(write.account);
  under_way->started_at_ms = clock.wall_ms();
  if (options.meters) under_way->started_us = options.meters->now_us();
  under_way->write = std::move(write);
  const auto& w = under_way->write;
  if (const auto& about = w.rolls_back.empty() ? w.cleans : w.rolls_back; !about.empty()) {
    under_way->subject = ledger.get(about);
    if (!under_way->subject) throw database_error("The ledger lost the write " + about + ".");
  }
  {
    const std::lock_guard lock(mutex);
    in_flight.emplace(under_way->write.seq, under_way);
  }
  if (!under_way->account) {
    // Withdrawn since the claim: nothing was called. The write is due again when the account comes back.
    if (under_way->look) return retire(under_way);
    CallEnd end;
    end.how = CallEnd::How::kNotRun;
    end.failure = CallFailure{KRUX_UNAVAILABLE, true, {}, "The account was disconnected just before the call.", {}};
    return finish(under_way, judge_attempt(under_way->write, std::move(end), options.retry));
  }
  if (under_way->look) return look(under_way);
  if (const auto why = why_closed(*under_way->account, under_way->write, under_way->subject); !why.empty())
    return finish(under_way, judge_closed(under_way->write, why, options.retry));
  if (under_way->write.rollback_ms > 0 && under_way->write.point_json.empty()) {
    point(under_way);
  } else {
    execute(under_way);
  }
}

CallContextPtr EnhancedWriteExecutor::State::new_call(const InFlightPtr& under_way) {
  const auto& w = under_way->write;
  const auto timeout = options.call_timeout_ms.value_or(under_way->account->definition->call_timeout_ms);
  CallContext::Remember remember;
  if (!under_way->look) {
    remember = [self = shared_from_this(), id = w.write_id, attempt = w.attempts](std::string_view note) {
      const std::shared_lock open(self->gate);
      return !self->closed && self->ledger.keep_note(id, attempt, note);
    };
  }
  CallOwner owner{w.account.service, w.account.account_id, w.account.generation, w.write_id, w.attempts};
  owner.agent =
      under_way->subject ? under_way->subject->agent_id : w.agent_id;  // an operator may have ordered the undo
  auto context = std::make_shared<CallContext>(std::move(owner), clock, clock.boot_ms() + timeout, std::move(remember));
  const std::lock_guard lock(mutex);
  under_way->context = context;
  return context;
}

void EnhancedWriteExecutor::State::point(const InFlightPtr& under_way) {
  const auto keep = [self = shared_from_this(), id = under_way->write.write_id,
                     attempt = under_way->write.attempts](const std::string& point_json) {
    const std::shared_lock open(self->gate);
    if (self->closed) throw database_error("The host is stopping.");
    self->ledger.keep_rollback_point(id, attempt, point_json);
  };
  start_rollback_point(runner, {under_way->write, under_way->account, new_call(under_way), {}}, keep,
                       [self = shared_from_this(), under_way](CallEnd end, std::string point_json) {
                         if (end.how == CallEnd::How::kAnswered && !end.failure) {
                           {
                             const std::shared_lock open(self->gate);
                             if (self->closed) return;
                           }
                           under_way->write.point_json = std::move(point_json);
                           return self->execute(under_way);  // may end at once, which goes through the gate again
                         }
                         self->finish(under_way,
                                      judge_rollback_point(under_way->write, std::move(end), self->options.retry));
                       });
}

void EnhancedWriteExecutor::State::execute(const InFlightPtr& under_way) {
  start_execute(runner, {under_way->write, under_way->account, new_call(under_way), under_way->subject},
                [self = shared_from_this(), under_way](CallEnd end) {
                  const auto by = thread_after(end);
                  self->finish(under_way, judge_attempt(under_way->write, std::move(end), self->options.retry), by);
                });
}

void EnhancedWriteExecutor::State::look(const InFlightPtr& under_way) {
  const bool may_repeat = under_way->write.when_absent == "resend";
  if (!under_way->write.cleans.empty()) {
    // Nothing to look for: taking away once more what is gone does nothing.
    CallEnd end;
    end.how = CallEnd::How::kAnswered;
    auto report = judge_reconcile(under_way->write, end, {EffectFound::Answer::kAbsent, {}}, may_repeat,
                                  clock.wall_ms(), options.retry);
    report.started_at_ms = under_way->started_at_ms;
    return finish(under_way, report);
  }
  start_reconcile(runner, {under_way->write, under_way->account, new_call(under_way), under_way->subject},
                  [self = shared_from_this(), under_way, may_repeat](const CallEnd& end, const EffectFound& found) {
                    if (self->stopped())
                      return self->retire(under_way);  // cut short perhaps: the next start looks again
                    const auto& write = under_way->write;
                    const auto& retry = self->options.retry;
                    auto report = write.held_as_copy ? judge_copy_reconcile(write, end, found, retry)
                                  : write.reconcile_first
                                      ? judge_first_reconcile(write, end, found, retry)
                                      : judge_reconcile(write, end, found, may_repeat, self->clock.wall_ms(), retry);
                    report.started_at_ms = under_way->started_at_ms;
                    self->finish(under_way, report, thread_after(end));
                  });
}

void EnhancedWriteExecutor::State::finish(const InFlightPtr& under_way, const WriteReport& report,
                                          Ledger::CommitThread by) {
  const std::shared_lock open(gate);
  if (closed || hand_over(under_way, report)) return;
  ledger.record(
      report,
      [self = shared_from_this(), under_way, report](const std::variant<WriteRecord, Error>& answer) {
        self->recorded(under_way, report, answer);
      },
      by);
}

/// Where others wait for a place, the commit that records this one claims the next: both are the executor's then.
bool EnhancedWriteExecutor::State::hand_over(const InFlightPtr& under_way, const WriteReport& report) {
  const std::lock_guard lock(mutex);
  if (!asleep || !wants_place || stopping) return false;
  under_way->returned = woken = true;
  unrecorded.emplace_back(under_way, report);
  cv.notify_all();
  return true;
}

void EnhancedWriteExecutor::State::recorded(const InFlightPtr& under_way, const WriteReport& report,
                                            const std::variant<WriteRecord, Error>& answer) {
  const auto* error = std::get_if<Error>(&answer);
  if (!error) {
    const auto& now = std::get<WriteRecord>(answer);
    log_outcome(now, under_way->look && under_way->write.escalated && now.escalated && !report.alert);
    count(*under_way, report.event);
    return retire(under_way);
  }
  if (error->type() != ErrorCode::kDatabaseError) {
    // A person has decided meanwhile.
    spdlog::info("the outcome of write {} is not recorded: {}", under_way->write.write_id, error->what());
    return retire(under_way);
  }
  spdlog::error("the outcome of write {} cannot be recorded yet: {}", under_way->write.write_id, error->what());
  const std::lock_guard lock(mutex);
  if (ended) return;
  under_way->returned = true;
  unrecorded.emplace_back(under_way, report);
}

void EnhancedWriteExecutor::State::count(const InFlight& under_way, WriteEvent outcome) const {
  if (!options.meters) return;
  auto& meter = options.meters->of(under_way.write.account.service, under_way.write.operation);
  if (under_way.look) return meter.looked(outcome);
  meter.attempted(outcome, options.meters->now_us() - under_way.started_us);
}

void EnhancedWriteExecutor::State::retire(const InFlightPtr& under_way) {
  const std::lock_guard lock(mutex);
  in_flight.erase(under_way->write.seq);
  woken = true;
  cv.notify_all();
  retired.notify_all();
}

}  // namespace krux
