// The state of one running step, shared by the parts of Sync.
#pragma once

#include "sync.hpp"

namespace slack {

/// A reader whose time was used up has not shown every row: the step is tried again later.
inline void need_whole(const kruxos::QueryResult& result) {
  if (!result.incomplete) return;
  throw kruxos::ProxyError(kruxos::ErrorKind::kStorage, "The replica was too busy to be read.");
}

/// So many parts in a row without an answer: it is the service, not the part.
inline bool no_answer(kruxos::ErrorKind kind) {
  using enum kruxos::ErrorKind;
  return kind == kNetwork || kind == kTimeout || kind == kUnavailable;
}

struct Sync::Step {
  const kruxos::Call& call;
  kruxos::SyncStore& store;
  PassState pass{};
  ThreadState thread{};
  std::optional<Change> change{};   ///< the one that is looked at
  ChannelState* channel = nullptr;  ///< whose history is looked at; see next_channel()

  std::int64_t now_ms() const { return call.now_ms(); }
};

}  // namespace slack
