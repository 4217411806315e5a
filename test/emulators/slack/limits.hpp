// Rate limits: so many calls of a method in any 60 seconds of the emulator's time, and the items a page may hold.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace krux::test::slack {

struct Limit {
  int per_minute = 0;  // 0: unlimited
  int max_items = 0;   // 0: the method's own maximum
};

class RateLimits {
 public:
  void set(const std::string& method, Limit limit) { limits_[method] = limit; }
  // "tiers": what Slack grants an internal or Marketplace app. "non_marketplace": the same, but conversations.history
  // and .replies once a minute with 15 items. "off". False: no preset has that name.
  bool preset(const std::string& name);

  // Nothing: the call is within the limit and counted. Otherwise the seconds of Retry-After.
  std::optional<std::int64_t> take(const std::string& method, std::int64_t now_ms);
  int max_items(const std::string& method) const;
  const std::map<std::string, Limit>& limits() const { return limits_; }

 private:
  std::map<std::string, Limit> limits_;
  std::map<std::string, std::deque<std::int64_t>> granted_;  // the times of the last minute's calls
};

}  // namespace krux::test::slack
