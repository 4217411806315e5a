#include "host/sandbox/process_watch.hpp"

#include <fmt/format.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace krux {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsBounded = false;  // its own memory passes every limit
#else
constexpr bool kMemoryIsBounded = true;
#endif

std::int64_t steady_now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

std::optional<ProcessUse> use_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  std::optional<ProcessUse> use;
  std::string name, word;
  for (std::string line; std::getline(file, line);) {  // a process's name, whatever it is, stays in its own line
    std::istringstream fields(line);
    if (!(fields >> name >> word)) continue;
    if (name == "State:") {
      use.emplace().led = word != "Z" && word != "X";
    } else if (use && name == "Threads:") {
      use->threads = std::atoi(word.c_str());
    } else if (use && (name == "RssAnon:" || name == "RssShmem:" || name == "VmSwap:")) {
      use->memory += std::atoll(word.c_str()) << 10;
    }
  }
  return use;
}

std::string ProcessWatch::excess() {
  const auto use = use_of(pid_);
  if (!use) return {};
  if (use->threads > 2 * kMostThreads) return fmt::format("it had {} threads", use->threads);
  // Nobody sees what a process holds whose first thread has ended. One that ends as a whole looks so for a moment.
  if (!use->led && !std::exchange(led_, false)) return "it went on without its first thread";
  led_ = use->led;
  if (kMemoryIsBounded && use->memory > memory_mb_ << 20) {
    return fmt::format("it had used up its memory (runner.memory_mb): it held {} MiB, {} are allowed",
                       use->memory >> 20, memory_mb_);
  }
  return {};
}

void ThreadBudget::serve(short events) {
  if ((events & POLLIN) == 0) {
    if (events != 0) listener_.reset();  // the process is gone
    return;
  }
  seccomp_notif asked{};
  if (ioctl(listener_->get(), SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) return;  // who asked is gone
  seccomp_notif_resp answer{};
  answer.id = asked.id;
  const auto use = use_of(pid_);
  if (use && use->threads >= most_) {
    answer.error = -EAGAIN;
  } else {
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  }
  ioctl(listener_->get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

IdleProcessor::IdleProcessor(pid_t pid, IdleAllowance allowance)
    : pid_(pid), allowance_(allowance), looked_ms_(steady_now_ms()), left_ms_(allowance.at_once_ms) {
  used_before_ms_ = used_ms();
}

std::int64_t IdleProcessor::used_ms() const {
  clockid_t clock{};
  timespec time{};
  // Of any process, and without /proc.
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return used_before_ms_;
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

bool IdleProcessor::exceeded(bool called) {
  const auto used = used_ms(), now = steady_now_ms();
  const auto spent = called ? 0 : used - used_before_ms_;
  left_ms_ = std::min(allowance_.at_once_ms, left_ms_ + (now - looked_ms_) * allowance_.percent / 100) - spent;
  used_before_ms_ = used;
  looked_ms_ = now;
  return left_ms_ < 0;
}

}  // namespace krux
