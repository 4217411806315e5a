// The messages that this instance's own writes have, or may have, changed: the next pass looks at each of them.
//
// Slack reports no deletion and no reaction afterwards, and a pass that only looks for what is new does not see them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slack {

struct Change {
  std::string channel, ts;
  std::string thread_ts;      ///< where the writer knows that it is a reply; otherwise empty
  std::int64_t noted_ms = 0;  ///< by the host's clock, when the request was over
  std::uint64_t number = 0;   ///< the latest note that a look which begins now covers
};

/// Any thread. In memory alone: an instance that is made anew knows nothing of the writes before.
class Changes {
 public:
  void note(std::string channel, std::string ts, std::string thread_ts, std::int64_t now_ms);

  /// The oldest one that was noted until then and not put off in this pass.
  std::optional<Change> next(std::int64_t until_ms, std::int64_t pass) const;
  /// What a look found is stored. What was noted of the message since the look began stays.
  void settled(const Change& change);
  /// The look failed: once more in another pass, three times in all.
  void put_off(const Change& change, std::int64_t pass);
  /// When the oldest one was noted; nothing when there is none.
  std::optional<std::int64_t> oldest_ms() const;

  static constexpr std::size_t kMost = 256;  ///< beyond that the oldest ones are left to the look back

 private:
  struct Noted {
    Change change;
    std::int64_t put_off_in = -1;  ///< the pass
    int failures = 0;
  };
  mutable std::mutex mutex_;
  std::vector<Noted> noted_;  ///< the oldest first
  std::uint64_t last_number_ = 0;
};

}  // namespace slack
