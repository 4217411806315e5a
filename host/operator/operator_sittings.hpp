// What was begun by showing the operator's passphrase, and goes on while it is used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/util/clock.hpp"

namespace krux {

struct SittingLimits {
  std::int64_t idle_ms = 600'000;          ///< without being used
  std::int64_t whole_ms = 12 * 3'600'000;  ///< however it is used
  std::size_t most = 64;                   ///< one more ends the one that was idle longest
};

/// In memory alone: a host that starts anew asks anew. Not thread-safe. `passphrase` is OperatorSecret::check()'s: what
/// was begun with one that `is_present` no more, since it was changed or its operator removed, is over.
template <class Value>
class OperatorSittings {
 public:
  using IsPresent = std::function<bool(std::int64_t passphrase)>;
  OperatorSittings(const Clock& clock, SittingLimits limits, IsPresent is_present)
      : clock_(clock), limits_(limits), is_present_(std::move(is_present)) {}

  void begin(std::string key, Value value, std::int64_t passphrase) {
    std::erase_if(all_, [&](const auto& one) { return !goes_on(one.second); });
    if (all_.size() >= limits_.most)
      all_.erase(std::min_element(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
        return a.second.used_boot_ms < b.second.used_boot_ms;
      }));
    const auto now = clock_.boot_ms();
    all_.insert_or_assign(std::move(key), Sitting{std::move(value), passphrase, now, now});
  }
  /// Null where there is none that goes on.
  const Value* find(const std::string& key) const {
    const auto at = all_.find(key);
    return at != all_.end() && goes_on(at->second) ? &at->second.value : nullptr;
  }
  /// Its idle time begins anew.
  void used(const std::string& key) {
    if (const auto at = all_.find(key); at != all_.end()) at->second.used_boot_ms = clock_.boot_ms();
  }
  void end(const std::string& key) { all_.erase(key); }

 private:
  struct Sitting {
    Value value;
    std::int64_t passphrase = 0, begun_boot_ms = 0, used_boot_ms = 0;
  };
  bool goes_on(const Sitting& sitting) const {
    const auto now = clock_.boot_ms();
    return is_present_(sitting.passphrase) && now - sitting.used_boot_ms < limits_.idle_ms &&
           now - sitting.begun_boot_ms < limits_.whole_ms;
  }

  const Clock& clock_;
  const SittingLimits limits_;
  const IsPresent is_present_;
  std::map<std::string, Sitting> all_;
};

}  // namespace krux
