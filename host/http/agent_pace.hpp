// How much of the event loops one agent may keep busy, and all clients without a key together: what comes faster is
// answered later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace krux {

/// Counted in small messages. Far more than an agent's searches can be, and a third of what two loops can take in.
struct PaceLimits {
  std::int64_t a_second = 8'000;
  std::int64_t at_once = 1'000;
  std::int64_t most_ms = 1'000;  ///< an answer waits no longer
};

/// Any thread.
class AgentPace {
 public:
  static constexpr std::size_t kOfRefusal = 16;  ///< one that is refused without a look at it will come again

  explicit AgentPace(PaceLimits limits = {}) : limits_(limits) {}

  /// As many small messages as one that has so many bytes together with its answer.
  static std::size_t of_bytes(std::size_t bytes) { return 1 + bytes / (16 << 10); }

  /// Counts them for `who`; for how long the answer is to be held.
  std::int64_t hold_ms(const std::string& who, std::size_t messages, std::int64_t now_ms);

 private:
  const PaceLimits limits_;
  std::mutex mutex_;
  std::map<std::string, std::int64_t> paid_until_us_;  ///< since boot, of who sent something lately
  std::int64_t next_tidy_us_ = 0;
};

}  // namespace krux
