// Clients of one thread that each submit the next write when the last was acknowledged.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "bench/report.hpp"
#include "core/write/write_buffer.hpp"

namespace krux::bench {

inline constexpr double kRoundSeconds = 0.5;

/// A write of 600 bytes; each number is another one.
NewWrite note(std::int64_t number);
/// One alone commits on its thread, as the worker of a call does where nobody else is at work; of many the writer makes
/// groups.
Ledger::CommitThread thread_of(std::size_t at_once);

class AckClients {
 public:
  AckClients(Ledger& ledger, std::function<NewWrite(std::int64_t number)> write)
      : ledger_(ledger), write_(std::move(write)) {}

  /// Acknowledged writes a second, of half a second.
  double rate(int clients);
  std::int64_t acked() const { return acked_; }

 private:
  void submit(Ledger::CommitThread thread);
  int wait_for_acks();

  Ledger& ledger_;
  const std::function<NewWrite(std::int64_t)> write_;
  std::mutex mutex_;
  std::condition_variable cv_;
  int ready_ = 0;
  std::int64_t submitted_ = 0, acked_ = 0;
};

}  // namespace krux::bench
