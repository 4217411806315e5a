// What an adapter's process may take of the machine that no limit of the kernel holds: threads, memory that it has made
// read-only, and processor time while nobody has asked it for anything.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/util/descriptor.hpp"

namespace krux {

/// How many threads a process may have. The kernel counts a user's, never a process's.
inline constexpr int kMostThreads = 256;

/// What /proc shows of a process that was not reaped yet.
struct ProcessUse {
  int threads = 0;
  bool led = true;          ///< its first thread runs
  std::int64_t memory = 0;  ///< bytes of its own, in memory or swapped out; of a process that is not led: 0
};
/// Nothing where /proc does not say.
std::optional<ProcessUse> use_of(pid_t pid);

/// Answers a process that asks for one more thread (a filter of system calls sends each clone() here). One thread.
class ThreadBudget {
 public:
  /// `listener` nullptr: nobody asks.
  ThreadBudget(std::unique_ptr<Descriptor> listener, pid_t pid, int most = kMostThreads)
      : listener_(std::move(listener)), pid_(pid), most_(most) {}

  int fd() const { return listener_ ? listener_->get() : -1; }  ///< to be waited for with POLLIN
  /// With what poll() said of it. A thread too many is refused with EAGAIN, as at every other limit.
  void serve(short events);

 private:
  std::unique_ptr<Descriptor> listener_;
  const pid_t pid_;
  const int most_;
};

/// What a process takes for good, looked at again and again. One thread.
class ProcessWatch {
 public:
  ProcessWatch(pid_t pid, std::int64_t memory_mb) : pid_(pid), memory_mb_(memory_mb) {}

  /// Why it must be ended, as the end of a sentence ("it had 600 threads"); empty: it keeps within its bounds.
  std::string excess();

 private:
  const pid_t pid_;
  const std::int64_t memory_mb_;
  bool led_ = true;
};

/// Processor time that a process may use while no call is under way.
struct IdleAllowance {
  std::int64_t at_once_ms = 10'000;
  int percent = 10;  ///< of the time that passes is given back
};

/// Looked at again and again, in real time. One thread.
class IdleProcessor {
 public:
  IdleProcessor(pid_t pid, IdleAllowance allowance);

  /// True: it has used more. `called`: a call was under way since the last look, whose deadline bounds what it uses.
  bool exceeded(bool called);

 private:
  std::int64_t used_ms() const;

  const pid_t pid_;
  const IdleAllowance allowance_;
  std::int64_t used_before_ms_ = 0, looked_ms_ = 0, left_ms_;
};

}  // namespace krux
