// The state of one running step, shared by the parts of Sync.
#pragma once

#include "sync.hpp"

namespace gmail {

struct Sync::Step {
  const kruxos::Call& call;
  kruxos::SyncStore& store;
  SyncState state{};
  Unreadable unreadable{};
  std::int64_t end_ms = 0;            ///< the worker goes back to the host then
  int requests_left = 0;              ///< or when so many requests were made
  int uncommitted = 0;                ///< records put or erased since the last commit
  std::size_t uncommitted_bytes = 0;  ///< of bodies
  std::int64_t committed_ms = 0;      ///< when the last commit was

  std::int64_t now_ms() const { return call.now_ms(); }
  bool over() const { return requests_left <= 0 || now_ms() >= end_ms; }
};

/// A reader whose time was used up has not shown every row: the step is tried again later.
inline void need_whole(const kruxos::QueryResult& result) {
  if (!result.incomplete) return;
  throw kruxos::ProxyError(kruxos::ErrorKind::kStorage, "The replica was too busy to be read.");
}

/// Rows a commit: larger ones keep readers' pages in memory and the log long.
inline constexpr int kRowsACommit = 200;
/// Of bodies; the host takes 64 MiB.
inline constexpr std::size_t kBytesACommit = 16 << 20;

}  // namespace gmail
