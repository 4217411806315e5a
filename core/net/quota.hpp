// How fast an account may speak to its service: the definition's rules, and what the service said in Retry-After.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/clock.hpp"

namespace krux {

/// '*' stands for any characters, '/' included, '?' for one.
bool glob_match(std::string_view pattern, std::string_view text);

/// One rule's allowance. Two limits hold at once: no 60 seconds ever hold more than `per_minute` units (whatever came
/// before), and units come evenly, up to `burst` of them together. A window is taken as 61 s, because requests that
/// leave evenly need not arrive so. Not synchronised.
class QuotaBucket {
 public:
  struct Limits {
    double per_minute, burst;
  };

  /// Milliseconds until `cost` units are free; 0: now.
  std::int64_t wait_ms(const Limits& limits, double cost, std::int64_t now);
  void take(const Limits& limits, double cost, std::int64_t now);
  /// The part of a window's units that is not taken, in [0, 1].
  double left(const Limits& limits, std::int64_t now);
  void block_until(std::int64_t boot_ms) { blocked_until_ = std::max(blocked_until_, boot_ms); }

 private:
  void forget_old(double window, std::int64_t now);

  struct Taken {
    std::int64_t at;
    double cost;
  };
  std::deque<Taken> window_;
  double in_window_ = 0;
  double even_at_ = 0;  ///< when all units taken so far would have come evenly
  std::int64_t blocked_until_ = 0;
};

/// The quota of one account. Of the rules, those whose `match` is the first that fits the path count, all of them: two
/// rules with the same `match` may limit a channel and the whole account. Rules with the same `bucket` share one. A
/// path that no rule fits is limited only by the Retry-After of its like. In memory alone: after a restart the window
/// is empty.
///
/// Any thread; never waits itself. The clock must outlive it.
class Quota {
 public:
  /// The value of a form or query parameter of the request, if it has one.
  using Parameters = std::function<std::optional<std::string>(const std::string& name)>;

  /// Throws ConfigError for a rule that allows nothing or has no `match`.
  Quota(std::vector<QuotaRule> rules, const Clock& clock);

  /// Takes a place for the request and answers 0, or takes none and answers how long to wait.
  std::int64_t try_acquire(std::string_view path, const Parameters& parameters);

  /// The service refused such a request for now: requests like it wait until then.
  void block(std::string_view path, const Parameters& parameters, std::int64_t for_ms);

  /// Of each rule that has been used ("chat.post", "chat.post per channel"): the part of its window's units that is not
  /// taken, in the fullest of its buckets; 0 also while the service refuses.
  std::map<std::string, double> left();

 private:
  static constexpr std::size_t kMaxBuckets = 10'000;
  struct Entry {
    QuotaBucket bucket;
    std::list<std::string>::iterator used;
  };
  struct Use {
    const QuotaRule* rule;
    QuotaBucket* bucket;
  };
  std::vector<Use> buckets_for(std::string_view path, const Parameters& parameters);
  QuotaBucket& keyed_bucket(std::size_t rule, const std::string& value);

  std::vector<QuotaRule> rules_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, QuotaBucket> shared_;  ///< by name, or by the rule's number
  std::unordered_map<std::string, Entry> keyed_;
  std::list<std::string> recently_used_;  ///< of keyed_, newest first
  std::int64_t others_blocked_until_ = 0;
};

}  // namespace krux
