// A pass: which of its streams is served next, and when it is over.
#include "sync.hpp"

#include <algorithm>

#include "sync_step.hpp"

namespace slack {
namespace {

constexpr int kRequestsAStep = 25;
constexpr std::int64_t kStepMs = 10'000;
// How long a pass waits for what may as well go on in the next one.
constexpr std::int64_t kPassMs = 60'000;
constexpr std::int64_t kListPageMs = 30'000;
constexpr std::int64_t kRoundShare = 3;      // one part in so many of the time is for looking back
constexpr std::int64_t kRoundsAWindow = 12;  // but so many rounds at least, however long they seem to take

}  // namespace

kruxos::SyncStep Sync::step(const kruxos::Call& call, kruxos::SyncStore& store) {
  Step step{call, store};
  try {
    return advance(step);
  } catch (...) {
    revision_ = -1;  // what is in memory may be ahead of what was committed
    throw;
  }
}

kruxos::SyncStep Sync::advance(Step& step) {
  step.pass = PassState::load(step.store);
  step.thread = ThreadState::load(step.store);
  if (step.pass.revision != revision_) {
    channels_.clear();
    channels_loaded_ = false;
  }
  if (!step.pass.open) begin_pass(step);
  if (step.pass.number != pass_number_) {
    pass_number_ = step.pass.number;
    failed_threads_.clear();
  }
  for (StepBudget budget(step.call, kRequestsAStep, kStepMs); !budget.over(); budget.spend()) {
    step.call.throw_if_cancelled();
    if (!run_one(step)) break;
  }
  const auto wait = until_next(step);
  if (wait < 0) return end_pass(step);
  std::uint64_t done = !step.pass.channels.wanted + !step.pass.users.wanted;
  for (const auto& channel : channels_) done += channel.pass == step.pass.number;
  return (wait == 0 ? kruxos::SyncStep::more() : kruxos::SyncStep::wait(wait))
      .with_progress(done, channels_.size() + 2);
}

void Sync::begin_pass(Step& step) {
  const auto now = step.now_ms();
  auto& pass = step.pass;
  if (pass.number++ == 0) nothing_to_carry(step.store);
  pass.started_ms = now;
  pass.open = true;
  for (auto* list : {&pass.channels, &pass.users}) {
    // One page costs one request. Longer lists are looked at now and then, in at most a tenth of what Slack allows.
    const auto every = std::max(options_.list_refresh_ms, list->pages * kListPageMs);
    list->wanted = list->generation != 0 || list->pages <= 1 || is_due(now, list->completed_ms, every);
  }
  // Passes begin a little late: without the second a round would be missed every other time.
  const auto share = std::min(pass.round_cost_ms * kRoundShare, options_.look_back_ms / kRoundsAWindow);
  const auto every = std::max(options_.look_back_every_ms, share) - 1'000;
  pass.look_back = pass.round_began_ms == 0 && is_due(now, pass.last_round_ms, every);
  if (pass.look_back) pass.round_began_ms = pass.last_round_ms = now;
  commit(step);
}

/// False when nothing can be done now.
bool Sync::run_one(Step& step) {
  for (int s = 0; s < kStreams; ++s) {
    const auto stream = static_cast<Stream>(s);
    if (step.now_ms() < blocked_until_ms_[static_cast<std::size_t>(s)] || !has_work(step, stream)) continue;
    try {
      run(step, stream);
      failures_in_a_row_ = 0;
    } catch (const kruxos::ProxyError& error) {
      failed(step, stream, error);
    }
    return true;
  }
  return false;
}

bool Sync::has_work(Step& step, Stream stream) {
  switch (stream) {
    case kChannelList:
      return step.pass.channels.wanted;
    case kUserList:
      return step.pass.users.wanted;
    case kHistory:
      return next_channel(step) != nullptr;
    case kChanges:
      // Only what is older than the pass: the next one sees to the others, and this one comes to its end.
      step.change = changes_.next(step.pass.started_ms, step.pass.number);
      return step.change.has_value();
    case kCarrying:
      return is_to_carry(step);
    default:
      return next_thread(step);
  }
}

void Sync::run(Step& step, Stream stream) {
  switch (stream) {
    case kChannelList:
      return list_page(step, step.pass.channels, true);
    case kUserList:
      return list_page(step, step.pass.users, false);
    case kHistory:
      return history_page(step, *next_channel(step));
    case kChanges:
      return change_look(step);
    case kCarrying:
      return carry_page(step);
    default:
      return thread_page(step);
  }
}

/// Milliseconds until something can be done; -1 when the pass is over.
std::int64_t Sync::until_next(Step& step) {
  const auto now = step.now_ms();
  std::int64_t wait = -1;
  for (int s = 0; s < kStreams; ++s) {
    if (!has_work(step, static_cast<Stream>(s))) continue;
    const auto left = std::max<std::int64_t>(0, blocked_until_ms_[static_cast<std::size_t>(s)] - now);
    // Until the list of channels was seen whole once, nobody knows what there is. All else but the history of channels
    // and the account's own changes may go on in the next pass.
    const bool needed = s == kHistory || s == kChanges || (s == kChannelList && step.pass.channels.completed_ms == 0);
    if (left > 0 && !needed && now + left > step.pass.started_ms + kPassMs) continue;
    wait = wait < 0 ? left : std::min(wait, left);
  }
  return wait;
}

/// As of when the replica has every message of the channels that can be read. Never 0, which would mean "now".
std::int64_t Sync::channels_through(Step& step) {
  load_channels(step);
  if (step.pass.channels.completed_ms == 0) return 1;
  std::int64_t through = step.pass.started_ms;
  for (const auto& channel : channels_) {
    if (!channel.refused) through = std::min(through, channel.through_ms);
  }
  return std::max<std::int64_t>(1, through);
}

kruxos::SyncStep Sync::end_pass(Step& step) {
  auto& pass = step.pass;
  auto through = channels_through(step);
  if (has_work(step, kThreads)) {
    through = std::clamp<std::int64_t>(pass.replies_through_ms, 1, through);
  } else {
    pass.replies_through_ms = through;
    if (pass.round_began_ms != 0) pass.round_cost_ms = std::max<std::int64_t>(0, step.now_ms() - pass.round_began_ms);
    pass.round_began_ms = 0;
  }
  // A change that could not be looked at is not in the replica yet.
  if (const auto noted = changes_.oldest_ms()) through = std::clamp<std::int64_t>(*noted - 1, 1, through);
  pass.open = false;
  commit(step);
  const auto parts = channels_.size() + 2;
  return kruxos::SyncStep::done(through).with_progress(parts, parts);
}

void Sync::commit(Step& step) {
  revision_ = -1;
  step.pass.revision += 1;
  step.pass.save(step.store);
  step.store.commit();
  revision_ = step.pass.revision;
}

Answer Sync::ask(Step& step, std::string_view method, const Params& params) {
  auto answer = api_.call(step.call, method, params);
  if (answer.service_ms > 0) skew_ms_ = answer.service_ms - step.now_ms();
  return answer;
}

}  // namespace slack
