// Limits on how much an agent writes. They count durable rows, so that neither a restart nor a new session resets them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/write/write.hpp"

namespace krux {

/// When windows began. A window is over only when the wall clock and, within this run of the host, the boot clock say
/// so: setting the wall clock forward frees nothing. One thread at a time.
class WindowClock {
 public:
  explicit WindowClock(const Clock& clock) : clock_(clock) {}
  /// The wall time, as rows were stamped with it, from which on they are inside a window of this length.
  std::int64_t begin_of(std::int64_t window_ms);

 private:
  const Clock& clock_;
  std::vector<std::pair<std::int64_t, std::int64_t>> offsets_;  ///< from this boot_ms on, wall minus boot
};

struct LimitUse {
  std::int64_t counted = 0;     ///< never more than the limit
  std::int64_t free_at_ms = 0;  ///< when one more fits, once the limit is reached
};

/// The write that asks for room.
struct LimitAsked {
  std::int64_t goes_out_ms = 0;  ///< as far as is known; what is scheduled for about that time counts too
  std::int64_t seq = 0;          ///< of one that has its place: it does not count against itself
  /// Of one that is asked about once more, when it counts: what counts after it does not stand against it. 0: now.
  std::int64_t counted_at_ms = 0;
};

/// How many writes of the agent count for `rule`: those that count since `begin_ms`, and those scheduled for less than
/// a window before or after `asked` goes out. Cancelled and rejected ones do not.
LimitUse use_of(StatementCache& sql, const std::string& agent_id, const LimitRule& rule, std::int64_t begin_ms,
                const LimitAsked& asked);

/// What WriteRecord::counted_as holds: `named`, or the write's own operation; nothing where no limit `counts` it.
std::string counted_as(bool counts, const std::string& named, const std::string& operation);

/// The first rule that has no room for one more write, with a sentence for agents and people.
struct Exceeded {
  LimitRule rule;
  LimitUse use;
  std::string sentence;
};
std::optional<Exceeded> exceeded(StatementCache& sql, WindowClock& clock, const std::string& agent_id,
                                 const std::vector<LimitRule>& rules, const LimitAsked& asked);

/// Of the limit's rule, as WriteContent has it.
std::string asked_by_json(const Exceeded& exceeded);

/// {"limit", "window_ms", "counted", "decided_by"}: for the audit log. docs/audit.md
std::string limit_json(const Exceeded& exceeded);

/// BatchProtection, with the limit as context.
Error refusal_of(const Exceeded& exceeded);

/// An agent whose writes already wait for a person in this number is refused instead of asking for more.
inline constexpr std::int64_t kMostPendingApprovals = 100;
bool has_too_many_pending(StatementCache& sql, const std::string& agent_id);

}  // namespace krux
