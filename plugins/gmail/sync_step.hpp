// The state of one running step, shared by the parts of Sync.
#pragma once

#include <kruxos/kit/sync.hpp>

#include "sync.hpp"

namespace gmail {

struct Sync::Step {
  const kruxos::Call& call;
  kruxos::SyncStore& store;
  StepBudget budget;
  SyncState state{};
  Unreadable unreadable{};
  int uncommitted = 0;                ///< records put or erased since the last commit
  std::size_t uncommitted_bytes = 0;  ///< of bodies
  std::int64_t committed_ms = 0;      ///< when the last commit was

  std::int64_t now_ms() const { return call.now_ms(); }
};

/// Rows a commit: larger ones keep readers' pages in memory and the log long.
inline constexpr int kRowsACommit = 200;
/// Of what is left out since it could not be read, so that a sweep finds it; messages have no scope.
inline constexpr const char* kUnreadableScope = "unreadable";
/// Of bodies; the host takes 64 MiB.
inline constexpr std::size_t kBytesACommit = 16 << 20;

}  // namespace gmail
