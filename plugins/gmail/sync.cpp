// A pass: which of its phases is served, and when it is over.
#include "sync.hpp"

#include <algorithm>

#include "sync_step.hpp"

namespace gmail {
namespace {

using kruxos::ErrorKind;

constexpr int kRequestsAStep = 200;
constexpr std::int64_t kStepMs = 10'000;
constexpr std::int64_t kFirstQuotaWaitMs = 5'000, kLongestQuotaWaitMs = 300'000;

bool has_messages(const kruxos::SyncStore& store) {
  kruxos::Query query;
  query.collection = kMessages;
  query.limit = query.count_limit = 1;
  bool found = false;
  store.reader().query(query, [&](const kruxos::Row&) { return !(found = true); });
  return found;
}

}  // namespace

kruxos::SyncStep Sync::step(const kruxos::Call& call, kruxos::SyncStore& store) {
  Step step{call, store, {call, kRequestsAStep, kStepMs}};
  step.state = SyncState::load(store);
  step.unreadable = Unreadable::load(store);
  step.committed_ms = step.now_ms();
  try {
    auto done = advance(step);
    quota_refusals_ = 0;
    return done;
  } catch (const kruxos::ProxyError& error) {
    labels_.clear();  // what is in memory may be ahead of what was committed
    if (error.kind() != ErrorKind::kRateLimited) {
      memberships_.clear();
      listed_.reset();
      throw;
    }
    return wait_for_quota(step, error);
  }
}

/// What was done before the refusal is committed; the rest is done again.
kruxos::SyncStep Sync::wait_for_quota(const Step& step, const kruxos::ProxyError& error) {
  auto wait = error.retry_after_ms();
  if (wait < 0) wait = std::min(kFirstQuotaWaitMs << std::min(quota_refusals_++, 10), kLongestQuotaWaitMs);
  const auto& state = step.state;
  return kruxos::SyncStep::wait(std::max<std::int64_t>(wait, 100))
      .with_progress(static_cast<std::uint64_t>(state.listed), static_cast<std::uint64_t>(state.total));
}

kruxos::SyncStep Sync::advance(Step& step) {
  if (!step.state.open) begin_pass(step);
  if (step.state.phase == Phase::kNew) begin_full(step);
  do {
    step.call.throw_if_cancelled();
    if (work(step)) return end_pass(step);
  } while (!step.budget.over());
  const auto& state = step.state;
  const auto total = std::max(state.total, state.listed);
  return kruxos::SyncStep::more().with_progress(static_cast<std::uint64_t>(state.listed),
                                                static_cast<std::uint64_t>(total));
}

/// True when the pass is over.
bool Sync::work(Step& step) {
  auto& state = step.state;
  const bool full = state.phase != Phase::kSteady;
  const bool behind = step.now_ms() - state.caught_up_ms >= options_.catch_up_every_ms;
  if (full && state.phase != Phase::kClosing && (state.run_began_ms != 0 || behind)) {
    history_page(step);
    return false;
  }
  switch (state.phase) {
    case Phase::kComparing:
      compare_page(step);
      return false;
    case Phase::kListing:
      list_page(step);
      return false;
    default:
      if (!history_page(step) || !retry_unreadable(step)) return false;
      if (full && (list_again(step) || !erase_unseen(step))) return false;
      if (full) end_full(step);
      return true;
  }
}

void Sync::begin_pass(Step& step) {
  auto& state = step.state;
  state.open = true;
  state.losses = state.restarts = 0;
  retried_ = false;
  const auto now = step.now_ms();
  const bool compares = options_.compare_every_ms > 0 && state.phase == Phase::kSteady &&
                        is_due(now, state.whole_ms, options_.compare_every_ms);
  if (compares) state.phase = Phase::kNew;
  refresh_labels(step);
}

/// From here on the history tells what changes; what there is, the lists do.
void Sync::begin_full(Step& step) {
  auto& state = step.state;
  step.budget.spend();
  const auto profile = api_.get(step.call, "getProfile", "gmail/v1/users/me/profile?fields=historyId,messagesTotal");
  const auto id = text_of(profile, "historyId");
  if (id.empty() || id.size() > 32) throw malformed("getProfile");
  state.history_id = id;
  state.history_page.clear();
  state.run_began_ms = 0;
  state.caught_up_ms = step.now_ms();
  state.disturbed = false;
  state.relists = 0;
  state.list_page.clear();
  state.listed = 0;
  state.total = std::max<std::int64_t>(0, integer_of(profile, "messagesTotal"));
  state.compares = has_messages(step.store);
  state.since_ms = options_.keep_ms > 0 ? std::max<std::int64_t>(1, step.now_ms() - options_.keep_ms) : 0;
  state.phase = state.compares ? Phase::kComparing : Phase::kListing;
  ++state.full_passes;
  listed_.reset();
  state.senseless = 0;
  for (auto& entry : step.unreadable.entries) entry.tries = 0;
  retried_ = false;
  memberships_.clear();
  commit(step);
}

/// Everything that the service has was seen; what earlier passes left out and this one did not come upon is gone.
void Sync::end_full(Step& step) {
  auto& state = step.state;
  if (!state.disturbed) step.store.sweep(kMessages, kUnreadableScope, state.full_passes);
  state.phase = Phase::kSteady;
  state.whole_ms = step.now_ms();
  memberships_.clear();
}

kruxos::SyncStep Sync::end_pass(Step& step) {
  auto& state = step.state;
  state.open = false;
  report_unreadable(step);
  commit(step);
  // Never 0, which would mean "now".
  return kruxos::SyncStep::done(std::max<std::int64_t>(1, state.caught_up_ms))
      .with_progress(static_cast<std::uint64_t>(state.listed), static_cast<std::uint64_t>(state.listed));
}

void Sync::commit(Step& step) {
  step.state.save(step.store);
  step.unreadable.save(step.store);
  step.store.commit();
  step.uncommitted = 0;
  step.uncommitted_bytes = 0;
  step.committed_ms = step.now_ms();
}

}  // namespace gmail
