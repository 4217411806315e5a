// What is due, or will be, in the order of its time, without what a pause holds. Internal to the ledger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/account/account_ref.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// Whose writes are held. A revoked agent's are not: they are refused when they are due.
struct PausedAgents {
  bool all = false;
  std::set<std::string> agents;
};
PausedAgents paused_agents(StatementCache& sql);

struct DueWrite {
  std::int64_t seq = 0, due_at_ms = 0, due_boot_ms = 0, boot = 0;
};

/// Both clocks have come so far; unless told, all that will be due.
struct DueBy {
  std::int64_t wall_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t boot = 0, boot_ms = std::numeric_limits<std::int64_t>::max();
};

enum class DueFor { kAttempt, kLook };

/// The account's first by their time, `most` of them. It costs a step for each agent that has something waiting there,
/// however much that is. No pause holds looks, cleanups, and undos that a person ordered.
std::vector<DueWrite> earliest_due(StatementCache& sql, const AccountRef& account, DueFor what,
                                   const PausedAgents& paused, std::size_t most, const DueBy& by = {});

}  // namespace krux
