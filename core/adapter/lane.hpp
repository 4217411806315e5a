// Which threads a call runs on, and in whose turn. docs/threads.md tells why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace krux {

/// Each lane has threads of its own: no call waits for one of another lane.
enum class Lane : std::uint8_t {
  kOperator,  ///< operator's commands, and what the host asks for itself
  kLocal,     ///< messages are taken apart, the ledger is read, adapters in the host read their replica: no network
  kIsolated,  ///< the same, by adapters in processes of their own
  kFetch,     ///< reads that ask the service
  kSync,
  kWrite,  ///< due writes, and looks for what they did
};
inline constexpr std::size_t kLaneCount = 6;
inline constexpr std::array<Lane, kLaneCount> kLanes{Lane::kOperator, Lane::kLocal, Lane::kIsolated,
                                                     Lane::kFetch,    Lane::kSync,  Lane::kWrite};

/// "operator", "local", "isolated", "fetch", "sync", "write"
const char* to_string(Lane lane);

/// What decides when a call runs.
struct CallTurn {
  Lane lane = Lane::kOperator;
  std::string queue{};    ///< whose queue it waits in: an agent's, or a service's syncs; empty: it has no bounds
  std::string account{};  ///< whom it asks; empty: nobody
  /// It may run behind the call that starts it also where that has borrowed its caller's thread.
  bool on_borrowed = false;
};

/// Who runs a call whose turn can begin at once.
enum class RunsOn : std::uint8_t {
  kWorker,  ///< a thread of its lane
  /// The thread that starts it, if nobody waits for a turn in its lane and it may begin: a borrowed thread takes up a
  /// place of the lane as a worker does. Else a worker.
  kCaller,
};

/// Why a call that has a thread does not compute.
enum class CallAway : std::uint8_t {
  kAtService,    ///< its request is under way
  kAwaitsQuota,  ///< its account's is used up; the call gives its place up meanwhile
};

/// 0 threads: as many as CallRunner::Options say. The bounds hold for each queue and each account by themselves.
struct LaneLimits {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  int threads = 0;
  std::size_t running_of_queue = kNone;    ///< calls at a time
  std::size_t running_of_account = kNone;  ///< calls at a time, those that wait for quota among them
  std::size_t waiting_of_queue = kNone;    ///< beyond it a call is refused at once
  /// How long a call waits for its turn at most, where its deadline is later.
  std::int64_t wait_ms = std::numeric_limits<std::int64_t>::max();
  /// Queues that have calls at the same time divide running_of_queue among them, rounded up: for calls that keep a
  /// processor busy.
  bool divided = false;
  /// Of a queue's running calls, those that compute at a time. The queues that have calls in any lane with this or
  /// `divided` divide them, rounded up.
  std::size_t computing_of_queue = kNone;
};

/// Since the runner began, but for `waiting`.
struct LaneFigures {
  std::size_t waiting = 0;      ///< now
  std::uint64_t begun = 0;      ///< calls
  std::uint64_t waited_ms = 0;  ///< of these together, for their turns
  std::uint64_t not_begun = 0;  ///< calls whose queue was full or whose turn did not come in time
};

}  // namespace krux
