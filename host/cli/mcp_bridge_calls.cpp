#include "host/cli/mcp_bridge_calls.hpp"

#include <algorithm>
#include <utility>

namespace krux::cli {

bool BridgeCalls::add(BridgeMessage message) {
  const std::lock_guard lock(mutex_);
  auto& lane = message.id_json.empty() ? asides_ : requests_;
  if (lane.waiting.size() >= kMostWaiting || lane.bytes + message.text.size() > kMostWaitingBytes) return false;
  lane.bytes += message.text.size();
  const auto behind = openings_;
  openings_ += message.opens;
  note(lane.waiting.emplace_back(Call{std::move(message), behind}));
  if (lane.waiting.size() > lane.idle && lane.threads < lane.places) {
    ++lane.threads;
    threads_.emplace_back([this, &lane] { run(lane); });
  }
  lane.changed.notify_one();
  return true;
}

/// What opens a session is not to be taken back.
void BridgeCalls::note(const Call& call) {
  if (!call.message.id_json.empty() && !call.message.opens)
    by_id_[call.message.id_json] = {call.call, call.message.listens};
}

void BridgeCalls::run(Lane& lane) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++lane.idle;
    lane.changed.wait(lock, [&] { return may_take(lane) || (finishing_ && lane.waiting.empty()); });
    --lane.idle;
    if (lane.waiting.empty()) return;
    const auto next = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    lane.bytes -= next.message.text.size();
    lock.unlock();
    pass_on_(next.message, next.call);
    lock.lock();
    if (!next.message.opens) continue;
    ++opened_;
    for (auto* waits : {&requests_, &asides_}) waits->changed.notify_all();
  }
}

bool BridgeCalls::take_back(const std::string& id_json) {
  const std::lock_guard lock(mutex_);
  const auto noted = by_id_.extract(id_json);
  if (!noted) return false;
  const auto& call = noted.mapped().call;
  auto& waiting = requests_.waiting;
  const auto at = std::find_if(waiting.begin(), waiting.end(), [&](const Call& one) { return one.call == call; });
  const bool waited = at != waiting.end();
  if (waited) {
    requests_.bytes -= at->message.text.size();
    waiting.erase(at);
  }
  call->end();
  return waited;
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
  for (auto* lane : {&requests_, &asides_}) lane->changed.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace krux::cli
