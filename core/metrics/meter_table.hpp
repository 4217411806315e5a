// What is counted for each service and one of its words (a capability, an operation). Internal to core/metrics.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>

namespace krux {

/// Any thread. What is found stays where it is as long as the table; finding it allocates nothing.
template <class T>
class MeterTable {
 public:
  /// `make` is called for a pair that is not known yet.
  template <class Make>
  T& of(std::string_view service, std::string_view word, Make make) {
    const std::pair key(service, word);
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = table_.find(key); found != table_.end()) return *found->second;
    }
    const std::unique_lock lock(mutex_);
    auto& place = table_[{std::string(service), std::string(word)}];
    if (!place) place = make();
    return *place;
  }

 private:
  struct Less {
    using is_transparent = void;
    using Views = std::pair<std::string_view, std::string_view>;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return Views(a) < Views(b);
    }
  };
  std::shared_mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<T>, Less> table_;
};

}  // namespace krux
