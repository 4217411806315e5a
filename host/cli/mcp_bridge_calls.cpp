#include "host/cli/mcp_bridge_calls.hpp"

#include <algorithm>
#include <utility>

namespace krux::cli {

bool BridgeCalls::add(BridgeMessage message) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaiting || waiting_bytes_ + message.text.size() > kMostWaitingBytes) return false;
  waiting_bytes_ += message.text.size();
  note(waiting_.emplace_back(Call{std::move(message)}));
  go_on();
  return true;
}

void BridgeCalls::add_first(BridgeMessage message) {
  const std::lock_guard lock(mutex_);
  waiting_bytes_ += message.text.size();
  note(waiting_.emplace_front(Call{std::move(message)}));
  go_on();
}

/// What opens a session is not to be taken back.
void BridgeCalls::note(const Call& call) {
  if (!call.message.id_json.empty() && !call.message.opens)
    by_id_[call.message.id_json] = {call.call, call.message.listens};
}

/// Of a message that was added: a thread takes it, once there is one.
void BridgeCalls::go_on() {
  if (waiting_.size() > idle_ && threads_.size() < kAtOnce) threads_.emplace_back([this] { run(); });
  changed_.notify_one();
}

void BridgeCalls::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return may_take() || (finishing_ && waiting_.empty()); });
    --idle_;
    if (waiting_.empty()) return;
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= next.message.text.size();
    opening_ = next.message.opens;
    lock.unlock();
    pass_on_(next.message, next.call);
    lock.lock();
    if (!next.message.opens) continue;
    opening_ = false;
    changed_.notify_all();
  }
}

BridgeCalls::Was BridgeCalls::take_back(const std::string& id_json) {
  const std::lock_guard lock(mutex_);
  const auto noted = by_id_.extract(id_json);
  if (!noted) return Was::kUnknown;
  const auto& call = noted.mapped().call;
  const auto at = std::find_if(waiting_.begin(), waiting_.end(), [&](const Call& one) { return one.call == call; });
  const bool waited = at != waiting_.end();
  if (waited) {
    waiting_bytes_ -= at->message.text.size();
    waiting_.erase(at);
  }
  call->end();
  return waited ? Was::kWaiting : Was::kUnderWay;
}

void BridgeCalls::forget(const BridgeMessage& message, const std::shared_ptr<GatewayCall>& call) {
  const std::lock_guard lock(mutex_);
  const auto at = by_id_.find(message.id_json);
  if (at != by_id_.end() && at->second.call == call) by_id_.erase(at);
}

void BridgeCalls::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    for (const auto& [id, one] : by_id_) {
      if (one.listens) one.call->end();
    }
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace krux::cli
