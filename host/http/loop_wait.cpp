#include "host/http/loop_wait.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace krux {
namespace {

/// What comes within it is waited for awake, and no longer is a processor used for nothing.
constexpr std::int64_t kSoonNs = 150'000;

}  // namespace

std::int64_t LoopWait::steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

std::atomic<int>& LoopWait::places_of_process() {
  static std::atomic<int> places{static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) - 1};
  return places;
}

void LoopWait::run_one(boost::asio::io_context& context) {
  if (context.poll_one() > 0) return;
  const auto since = now_();
  if (comes_soon_ && step_awake(context, since)) return;
  // The wait alone counts: the step that ends it is brief, since requests are handled between two steps.
  context.run_one();
  comes_soon_ = now_() - since < kSoonNs;
}

bool LoopWait::step_awake(boost::asio::io_context& context, std::int64_t since) {
  const bool has_place = places_.fetch_sub(1) > 0;
  bool stepped = false;
  while (has_place && !stepped && !context.stopped() && now_() - since < kSoonNs) {
    std::this_thread::yield();
    stepped = context.poll_one() > 0;
  }
  places_.fetch_add(1);
  return stepped;
}

}  // namespace krux
