#include "host/http/event_loop.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>

#include "host/http/http_connection.hpp"

namespace krux {
namespace {

constexpr std::int64_t kHeldLookMs = 20;
/// A request that is under way for longer waits for something else than a processor.
constexpr std::int64_t kLatelyMs = 50;

}  // namespace

void EventLoop::add(const std::shared_ptr<HttpConnection>& connection) {
  connections_.emplace(connection.get(), connection);
  look_later();
}

void EventLoop::handle(const UnderWay& which, std::function<void()> request) {
  const bool others = !under_way_.empty() && which.first - under_way_.rbegin()->first < kLatelyMs;
  under_way_.insert(which);
  lead.handle(std::move(request), others ? LoopLead::Thread::kKept : LoopLead::Thread::kLent);
}

std::shared_ptr<HttpConnection> EventLoop::find(HttpConnection* connection) const {
  const auto at = connections_.find(connection);
  return at == connections_.end() ? nullptr : at->second;
}

std::vector<std::shared_ptr<HttpConnection>> EventLoop::connections() const {
  std::vector<std::shared_ptr<HttpConnection>> all;
  all.reserve(connections_.size());
  for (const auto& [key, connection] : connections_) all.push_back(connection);
  return all;
}

void EventLoop::look_every(std::int64_t ms) {
  boost::asio::post(context, [this, ms] {
    if (ms >= look_every_ms_) return;
    look_every_ms_ = ms;
    look_.cancel();  // and waits anew
  });
}

/// One timer for all connections: thousands of them that only wait cost nothing but this look. A loop without any
/// sleeps.
void EventLoop::look_later() {
  if (looks_later_ || connections_.empty()) return;
  looks_later_ = true;
  look_.expires_after(std::chrono::milliseconds(look_every_ms_));
  look_.async_wait([this](const boost::system::error_code&) {
    looks_later_ = false;
    look_at_deadlines();
    look_later();
  });
}

void EventLoop::hold(std::weak_ptr<HttpConnection> connection, std::int64_t until_ms) {
  held_.emplace(until_ms, std::move(connection));
  if (held_.begin()->first == until_ms) wait_for_held();
}

/// The times are the clock's, which a test drives by itself: it is looked at again and again.
void EventLoop::wait_for_held() {
  if (held_.empty()) return;
  const auto left = held_.begin()->first - clock.boot_ms();
  held_look_.expires_after(std::chrono::milliseconds(std::clamp<std::int64_t>(left, 1, kHeldLookMs)));
  held_look_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    const auto now = clock.boot_ms();
    while (!held_.empty() && held_.begin()->first <= now) {
      const auto connection = held_.begin()->second.lock();
      held_.erase(held_.begin());
      if (connection) connection->held_long_enough();
    }
    wait_for_held();
  });
}

void EventLoop::look_at_deadlines() {
  const auto now = clock.boot_ms();
  std::vector<std::shared_ptr<HttpConnection>> late;
  for (const auto& [key, connection] : connections_) {
    if (connection->is_late(now)) late.push_back(connection);
  }
  for (const auto& connection : late) connection->out_of_time();
}

}  // namespace krux
