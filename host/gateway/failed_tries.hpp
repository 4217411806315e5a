// Slows down whoever guesses keys: failed tries are counted for each address.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/util/clock.hpp"

namespace krux {

/// Any thread.
class FailedTries {
 public:
  struct Limits {
    std::size_t tries = 10;
    std::int64_t window_ms = 60'000;
    std::size_t addresses = 4096;  ///< remembered at once; the one that failed longest ago makes room
  };

  explicit FailedTries(Clock& clock) : FailedTries(clock, Limits()) {}
  FailedTries(Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}

  /// Milliseconds until this address may try again; nothing when it may now.
  std::optional<std::int64_t> locked_for(const std::string& address);
  void failed(const std::string& address);

 private:
  void make_room();

  Clock& clock_;
  const Limits limits_;
  std::mutex mutex_;
  std::map<std::string, std::deque<std::int64_t>> failures_;  ///< times since boot, at most `tries` an address
};

/// What is counted together: an IPv4 address, or the /64 that an IPv6 subscriber has to himself.
std::string tries_key(const std::string& address);

}  // namespace krux
