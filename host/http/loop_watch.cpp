#include "host/http/loop_watch.hpp"

#include <sys/timerfd.h>

#include <cerrno>
#include <system_error>

#include "host/http/loop_lead.hpp"

namespace krux {
namespace {

/// What begins while a thread is lent waits for twice this at most.
constexpr std::int64_t kLookUs = 500;

}  // namespace

LoopWatch::LoopWatch() : timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
  if (timer_.get() < 0) throw std::system_error(errno, std::generic_category(), "cannot make a timer");
}

LoopWatch::~LoopWatch() {
  stop();
}

void LoopWatch::start(std::vector<LoopLead*> loops) {
  loops_ = std::move(loops);
  thread_ = std::thread([this] { run(); });
}

void LoopWatch::stop() {
  stopping_ = true;
  wake_after(0);
  if (thread_.joinable()) thread_.join();
}

void LoopWatch::lent() {
  if (!armed_.exchange(true)) wake_after(kLookUs);
}

void LoopWatch::hurry() {
  armed_ = true;
  wake_after(0);
}

void LoopWatch::wake_after(std::int64_t us) const {
  itimerspec when{};
  when.it_value.tv_nsec = us > 0 ? us * 1000 : 1;  // nothing at all would turn it off
  timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void LoopWatch::run() {
  for (;;) {
    std::uint64_t times = 0;
    if (::read(timer_.get(), &times, sizeof times) < 0 && errno != EINTR) return;
    if (stopping_) return;
    armed_ = false;  // whoever lends from here on wakes it again
    bool any_lent = false;
    for (auto* loop : loops_) any_lent = loop->look() || any_lent;
    if (any_lent) lent();
  }
}

}  // namespace krux
