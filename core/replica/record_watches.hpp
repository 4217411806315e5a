// Who waits for records of replicas to change.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/definition/definition.hpp"

namespace krux {

/// Of all accounts of all services. Any thread.
class RecordWatches {
 public:
  /// What commits have changed of what is watched: collection and id, or no id of a collection that is watched whole.
  using Changed = std::set<std::pair<std::string, std::string>>;

  /// Until what is returned goes. `changed` runs after a commit that has added, changed or removed the record, once for
  /// each; on the thread that committed, which it must not hold up. It may run once more while what is returned goes.
  std::shared_ptr<void> watch(const std::string& service, const RecordAddress& record, std::function<void()> changed);

  /// Whether any record of any service is watched. Without waiting.
  bool any() const { return state_->count > 0; }
  /// Adds to `changed` what of the record's is watched.
  void note(const std::string& service, std::string_view collection, std::string_view id, Changed& changed) const;
  void tell(const std::string& service, const Changed& changed) const;

 private:
  using Waiting = std::list<std::shared_ptr<const std::function<void()>>>;
  struct State {
    std::mutex mutex;
    /// By service, then collection and id.
    std::map<std::string, std::map<std::pair<std::string, std::string>, Waiting>> waiting;
    std::atomic<std::size_t> count{0};
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();  ///< shared with what was returned
};

}  // namespace krux
