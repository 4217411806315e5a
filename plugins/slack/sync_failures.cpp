// What a failure costs: a wait, one part for this pass, or the step.
#include <algorithm>

#include "sync.hpp"
#include "sync_step.hpp"

namespace slack {
namespace {

using kruxos::ErrorKind;

constexpr std::int64_t kDefaultRetryMs = 30'000;
constexpr int kFailuresInARow = 3;

/// The token as such is refused, which no other part will change.
bool token_is_refused(const kruxos::ProxyError& error) {
  if (error.kind() != ErrorKind::kAuth) return false;
  const auto* slack = dynamic_cast<const SlackError*>(&error);
  const std::string name = slack ? slack->name() : "";
  return name != "missing_scope" && name != "no_permission" && name != "not_allowed_token_type" &&
         name != "team_access_not_granted";
}

/// Slack's last word on this part, as long as nobody changes something at Slack.
bool is_refusal(ErrorKind kind) {
  return kind == ErrorKind::kAuth || kind == ErrorKind::kRefused || kind == ErrorKind::kNotFound;
}

}  // namespace

/// Called while `error` is being handled.
void Sync::failed(Step& step, Stream stream, const kruxos::ProxyError& error) {
  // A look that has not begun at Slack begins anew later, with that moment's bounds.
  if (stream == kHistory && !step.channel->look_has_pages()) step.channel->end_look();
  if (error.kind() == ErrorKind::kRateLimited) {
    const auto wait = error.retry_after_ms() >= 0 ? error.retry_after_ms() : kDefaultRetryMs;
    blocked_until_ms_[stream] = step.now_ms() + std::max<std::int64_t>(wait, 1);
    return;
  }
  if (step.call.cancelled() || error.kind() == ErrorKind::kCancelled || error.kind() == ErrorKind::kStorage ||
      token_is_refused(error))
    throw;
  if (is_no_answer(error.kind()) && ++failures_in_a_row_ >= kFailuresInARow) {
    failures_in_a_row_ = 0;
    throw;
  }
  give_up_part(step, stream, error);
}

/// For this pass; the next one tries again.
void Sync::give_up_part(Step& step, Stream stream, const kruxos::ProxyError& error) {
  if (stream == kHistory) {
    give_up_channel(step, error);
  } else if (stream == kThreads) {
    give_up_thread(step, error);
  } else if (stream == kChanges) {
    give_up_change(step, error);
  } else if (stream == kCarrying) {
    throw;  // Slack has no part in it
  } else {
    give_up_list(step, stream == kChannelList, error);
  }
  commit(step);
}

void Sync::give_up_list(Step& step, bool channels, const kruxos::ProxyError& error) {
  auto& list = channels ? step.pass.channels : step.pass.users;
  // Where Slack did not answer, the next pass goes on at the same page.
  if (!is_no_answer(error.kind())) list = {"", 0, list.completed_ms, list.pages, 0, false};
  list.wanted = false;
  step.store.report_failure(channels ? "the list of channels" : "the list of users", error.kind(), error.what());
}

void Sync::give_up_channel(Step& step, const kruxos::ProxyError& error) {
  auto& channel = *step.channel;
  channel.end_look();
  channel.pass = step.pass.number;
  channel.failed = true;
  channel.refused = is_refusal(error.kind());
  channel.save(step.store);
  step.store.report_failure(channel.id, error.kind(), error.what());
}

void Sync::give_up_thread(Step& step, const kruxos::ProxyError& error) {
  failed_threads_.insert(step.thread.id);
  step.store.report_failure("threads of " + step.thread.id.substr(0, step.thread.id.find('/')), error.kind(),
                            error.what());
  step.thread = {};
  step.thread.save(step.store);
}

}  // namespace slack
