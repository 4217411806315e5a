#include "host/runner/program/link.hpp"

#include <chrono>
#include <utility>

namespace krux::runner {
namespace {

constexpr std::int64_t kFreshNs = 1'000'000;

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

void Link::deliver(Frame frame) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(frame.request);
  if (found == waiting_.end()) return;
  found->second.frames.push_back(std::move(frame));
  found->second.arrived.notify_one();
}

Request::Request(Link& link, std::uint64_t call, FrameKind kind, std::string_view payload) : link_(link), call_(call) {
  {
    const std::lock_guard lock(link_.mutex_);
    id_ = link_.next_++;
    link_.waiting_[id_];
  }
  link_.send(kind, call_, id_, payload);
}

Request::~Request() {
  const std::lock_guard lock(link_.mutex_);
  link_.waiting_.erase(id_);
}

Frame Request::next() {
  std::unique_lock lock(link_.mutex_);
  auto& mine = link_.waiting_.at(id_);
  mine.arrived.wait(lock, [&] { return !mine.frames.empty(); });
  auto frame = std::move(mine.frames.front());
  mine.frames.pop_front();
  return frame;
}

void Request::taken() {
  if (++used_ < kPartsAhead / 2) return;
  WireWriter out;
  out.u32(std::exchange(used_, 0));
  link_.send(FrameKind::kTaken, call_, id_, out.bytes());
}

void Request::stop_parts() {
  link_.send(FrameKind::kStopParts, call_, id_, {});
}

void HostClock::heard(std::int64_t wall_ms) {
  const std::lock_guard lock(mutex_);
  wall_ms_ = wall_ms;
  heard_ns_ = now_ns();
}

std::int64_t HostClock::wall_ms() const {
  {
    const std::lock_guard lock(mutex_);
    if (heard_ns_ >= 0 && now_ns() - heard_ns_ < kFreshNs) return wall_ms_;
  }
  Request request(link_, 0, FrameKind::kAskTime, {});
  const auto frame = request.next();
  const auto wall_ms = WireReader(frame.payload).i64();
  const std::lock_guard lock(mutex_);
  wall_ms_ = wall_ms;
  heard_ns_ = now_ns();
  return wall_ms_;
}

}  // namespace krux::runner
