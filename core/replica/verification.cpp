#include "core/replica/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <utility>

#include "core/replica/sync_session.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr std::int64_t kStepTimeoutMs = 300'000, kFirstBackoffMs = 5'000, kLookMs = 1'000;
constexpr int kMostFailures = 5;
constexpr auto kLook = std::chrono::milliseconds(100);

Error second_sync_failed(const std::string& why) {
  return {ErrorCode::kServiceUnavailable, "The second sync failed, and nothing was compared: " + why, true};
}

}  // namespace

Verified Verification::run(const VerifyOrder& order) {
  const auto known = parts_.account->replica->state();
  if (!known.full_done || !known.whole)
    throw conflict("The replica is not filled yet: its first sync is under way. Compare it when that has ended.");
  pass_of_account(order.limit_ms);
  begin_anew();
  auto records = order.records;
  Verified verified;
  verified.whole = fill(records, order.limit_ms) == Filled::kWhole;
  auto first = compare(verified.whole);
  verified.compared = first.compared;
  if (verified.compared == 0 && !verified.whole)
    throw second_sync_failed("it has got no record in the time that was given. Give it more: --minutes.");
  if (!first.differences.empty()) {
    // What has changed at the service since either has read it is otherwise by now, on one side or on both.
    pass_of_account(order.limit_ms);
    if (!verified.whole) {
      if (records == 0) records = first.compared;
      begin_anew();
    }
    const bool in_time = fill(verified.whole ? 0 : records, order.limit_ms) != Filled::kOutOfTime;
    auto second = compare(verified.whole);
    verified.more = first.more || second.more;
    // Of a whole that was not brought up to date nobody knows what is older than the account's own.
    if (verified.whole && !in_time) second.differences.clear();
    for (auto& difference : second.differences) {
      const auto before = std::find(first.differences.begin(), first.differences.end(), difference);
      if (before == first.differences.end()) continue;
      first.differences.erase(before);
      auto members = differing_members(*parts_.account->replica, *fresh_, difference);
      verified.differences.push_back({std::move(difference), std::move(members)});
    }
    verified.unsettled = static_cast<std::int64_t>(first.differences.size());
  }
  verified.left_out = fresh_->state().left_out;
  verified.problems = fresh_->problems();
  return verified;
}

Comparison Verification::compare(bool whole) {
  return compare_replicas(*parts_.account->replica, *fresh_, whole, parts_.stop);
}

void Verification::must_go_on() const {
  if (parts_.stop()) throw Error(ErrorCode::kCancelled, "The host is stopping: nothing was compared.");
}

void Verification::begin_anew() {
  fresh_.reset();
  fresh_ = parts_.make_replica();
}

void Verification::pass_of_account(std::int64_t limit_ms) {
  const auto why = parts_.scheduler.pass(parts_.account->ref, parts_.clock.boot_ms() + limit_ms);
  must_go_on();
  if (!why.empty())
    throw Error(ErrorCode::kServiceUnavailable,
                "The replica could not be brought up to date, and nothing was compared. " + why, true);
}

/// One pass of the second sync: a full one into an empty replica, else an incremental one.
Verification::Filled Verification::fill(std::int64_t records, std::int64_t limit_ms) {
  const auto until = parts_.clock.boot_ms() + limit_ms;
  const auto began_ms = parts_.clock.wall_ms();
  std::int64_t put = 0;
  for (int failures = 0;;) {
    must_go_on();
    if (parts_.clock.boot_ms() >= until) return Filled::kOutOfTime;
    const bool full = !fresh_->state().full_done;
    const auto result = step(full, put);
    if (const auto* failure = std::get_if<CallFailure>(&result)) {
      must_go_on();
      if (failure->status == KRUX_AUTH || ++failures == kMostFailures) throw second_sync_failed(failure->message);
      if (failure->status == KRUX_CURSOR_EXPIRED) {
        fresh_->require_full_sync();
        continue;
      }
      wait(std::max(kFirstBackoffMs << (failures - 1), failure->retry_after_ms.value_or(0)), until);
      continue;
    }
    failures = 0;
    const auto& taken = std::get<SyncStep>(result);
    if (taken.next == SyncStep::Next::kDone) {
      fresh_->finish_pass(full, taken.complete_through_ms > 0 ? taken.complete_through_ms : began_ms);
      return Filled::kWhole;
    }
    if (records > 0 && put >= records) return Filled::kEnough;
    if (taken.next == SyncStep::Next::kWait) wait(taken.wait_ms, until);
  }
}

Verification::Stepped Verification::step(bool full, std::int64_t& put) {
  const auto& ref = parts_.account->ref;
  const auto call = std::make_shared<CallContext>(CallOwner{ref.service, ref.account_id, ref.generation, "", 0},
                                                  parts_.clock, parts_.clock.boot_ms() + kStepTimeoutMs);
  const std::shared_ptr<SyncSession> session = fresh_->begin_session();
  const auto result = std::make_shared<Stepped>(
      CallFailure{KRUX_TIMEOUT, false, ErrorCode::kTimeout, "A step did not end in time.", std::nullopt});
  std::promise<CallRunner::End> ended;
  auto end = ended.get_future();
  parts_.runner.start(
      call, nullptr,
      [adapter = parts_.adapter, call, session, result, full, last_ms = fresh_->state().last_sync_ms] {
        *result =
            full ? adapter->ask<"full_sync">(call, session) : adapter->ask<"incremental_sync">(call, session, last_ms);
      },
      [&ended](CallRunner::End how) { ended.set_value(how); }, sync_turn(ref));
  while (end.wait_for(kLook) != std::future_status::ready) {
    if (parts_.stop()) call->cancel();
  }
  session->close();
  if (end.get() == CallRunner::End::kAbandoned) {
    // Its worker may still write to *result.
    if (auto failure = call->failure()) return *std::move(failure);
    return CallFailure{KRUX_TIMEOUT, false, ErrorCode::kTimeout, "A step did not end in time.", std::nullopt};
  }
  const auto changes = session->changes();
  put += static_cast<std::int64_t>(changes.added + changes.updated + changes.unchanged);
  return std::move(*result);
}

void Verification::wait(std::int64_t ms, std::int64_t until_boot_ms) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto until = std::min(parts_.clock.boot_ms() + ms, until_boot_ms);
  while (parts_.clock.boot_ms() < until) {
    must_go_on();
    parts_.clock.wait_until(lock, never, std::min(until, parts_.clock.boot_ms() + kLookMs), [] { return false; });
  }
}

}  // namespace krux
