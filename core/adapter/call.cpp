#include "core/adapter/call.hpp"

#include <algorithm>
#include <utility>

namespace krux {

CallContext::CallContext(CallOwner owner, const Clock& clock, std::int64_t deadline_boot_ms, Remember remember)
    : owner_(std::move(owner)), clock_(clock), deadline_boot_ms_(deadline_boot_ms), remember_(std::move(remember)) {}

std::int64_t CallContext::left_ms() const {
  return std::max<std::int64_t>(0, deadline_boot_ms_ - clock_.boot_ms());
}

bool CallContext::cancelled() const {
  return cancelled_ || left_ms() == 0;
}

void CallContext::cancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  run_callbacks();
}

WireState CallContext::end() {
  WireState wire{};
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = ended_ = true;
    wire = wire_locked();
  }
  run_callbacks();
  return wire;
}

bool CallContext::ended() const {
  return ended_;
}

WireState CallContext::wire() const {
  const std::lock_guard lock(mutex_);
  return wire_locked();
}

WireState CallContext::wire_locked() const {
  if (!any_sent_) return WireState::kNothingSent;
  return open_requests_ == 0 ? WireState::kAnswered : WireState::kOpen;
}

bool CallContext::begin_unsafe_request() {
  const std::lock_guard lock(mutex_);
  if (ended_ || cancelled()) return false;
  any_sent_ = true;
  ++open_requests_;
  return true;
}

void CallContext::request_answered() {
  const std::lock_guard lock(mutex_);
  // What end() has said stands: an answer that arrives later is nobody's any more.
  if (!ended_ && open_requests_ > 0) --open_requests_;
}

void CallContext::fail(CallFailure failure) {
  const std::lock_guard lock(mutex_);
  if (!ended_ && !failure_) failure_ = std::move(failure);
}

krux_status CallContext::ask(AskedInput input) {
  if (!dialogue_) return KRUX_UNSUPPORTED;
  if (dialogue_->hand_on) {
    if (const auto status = dialogue_->hand_on(input); status != KRUX_OK) return status;
  }
  const std::lock_guard lock(mutex_);
  if (ended_) return KRUX_CANCELLED;
  if (!asked_) asked_ = std::move(input);
  return KRUX_OK;
}

std::optional<AskedInput> CallContext::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::optional<CallFailure> CallContext::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool CallContext::remember(std::string_view note_json) {
  return !ended_ && remember_ && remember_(note_json);
}

void CallContext::begin_away(CallAway why) {
  const std::lock_guard lock(away_mutex_);
  ++away_[static_cast<std::size_t>(why)];
  tell_of_away();
}

void CallContext::end_away(CallAway why) {
  const std::lock_guard lock(away_mutex_);
  --away_[static_cast<std::size_t>(why)];
  tell_of_away();
}

void CallContext::tell_of_away() {
  std::optional<CallAway> now;
  for (const auto why : {CallAway::kAtService, CallAway::kAwaitsQuota}) {
    if (away_[static_cast<std::size_t>(why)] > 0) now = why;
  }
  if (std::exchange(told_away_, now) != now && on_away_) on_away_(now);
}

void CallContext::on_away(std::function<void(std::optional<CallAway>)> told) {
  const std::lock_guard lock(away_mutex_);
  on_away_ = std::move(told);
}

std::uint64_t CallContext::on_cancel(std::function<void()> callback) {
  std::uint64_t token = 0;
  bool run_now = false;
  {
    const std::lock_guard lock(mutex_);
    token = next_token_++;
    run_now = cancelled();
    callbacks_.push_back({token, std::move(callback)});
  }
  if (run_now) run_callbacks();
  return token;
}

void CallContext::drop_on_cancel(std::uint64_t token) {
  Callback dropped;  // destroyed after the locks are released
  const std::lock_guard running(callback_mutex_);
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(callbacks_.begin(), callbacks_.end(), [&](const auto& c) { return c.token == token; });
  if (found == callbacks_.end()) return;
  dropped = std::move(*found);
  callbacks_.erase(found);
}

void CallContext::run_callbacks() {
  // A callback is taken out while callback_mutex_ is held, so that drop_on_cancel(), which waits for that mutex, either
  // finds the callback or comes after it has run.
  const std::lock_guard running(callback_mutex_);
  for (;;) {
    Callback next;
    {
      const std::lock_guard lock(mutex_);
      if (callbacks_.empty()) return;
      next = std::move(callbacks_.front());
      callbacks_.erase(callbacks_.begin());
    }
    next.run();
  }
}

CallFailure judge(CallFailure said, WireState wire) {
  if (wire == WireState::kNothingSent) said.effect_none = true;
  if (wire == WireState::kOpen) said.effect_none = false;
  return said;
}

}  // namespace krux
