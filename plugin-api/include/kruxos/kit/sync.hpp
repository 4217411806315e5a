// kruxos/kit/sync.hpp - how long a step works, and what it may rely on. Needs no RapidJSON.
#pragma once
#include <kruxos/adapter/call.hpp>
#include <kruxos/adapter/replica.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kruxos::kit {

/// A step gives the host its worker back after so many requests or so much time. The call must outlive it.
class StepBudget {
 public:
  StepBudget(const Call& call, int requests, std::int64_t ms)
      : call_(call), requests_(requests), end_ms_(call.now_ms() + ms) {}

  void spend(int requests = 1) { requests_ -= requests; }
  bool over() const { return requests_ <= 0 || call_.now_ms() >= end_ms_; }

 private:
  const Call& call_;
  int requests_;
  std::int64_t end_ms_;
};

/// Whether something is to be done again that was done at `last_ms`. A clock that was set back must not stop it for
/// long.
inline bool is_due(std::int64_t now_ms, std::int64_t last_ms, std::int64_t every_ms) {
  return now_ms < last_ms || now_ms - last_ms >= every_ms;
}

/// A reader whose time was used up has not shown every row: the step is tried again later.
inline void need_whole(const QueryResult& result) {
  if (!result.incomplete) return;
  throw ProxyError(ErrorKind::kStorage, "The replica was too busy to be read.");
}

/// Of a service that gives its lists page by page: throws kUnavailable with the sentence `otherwise` when the next page
/// is the one that was asked for, which would go on for ever. An Error of the adapter's own is made of (kind, message,
/// more...).
template <class Error = ProxyError, class... More>
void need_progress(std::string_view asked_with, std::string_view next, const std::string& otherwise, More&&... more) {
  if (!next.empty() && next == asked_with) throw Error(ErrorKind::kUnavailable, otherwise, std::forward<More>(more)...);
}

}  // namespace kruxos::kit
