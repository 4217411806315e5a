// The state of one running step, shared by the parts of Sync.
#pragma once

#include <kruxos/kit/sync.hpp>

#include "sync.hpp"

namespace slack {

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
