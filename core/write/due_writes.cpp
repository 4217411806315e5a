#include "core/write/due_writes.hpp"

#include <algorithm>
#include <tuple>

namespace krux {
namespace {

/// As index `writes_due` has it: under whom a write stands there, '' for what no pause holds.
const std::string kHeldWith =
    "(CASE WHEN state = 'unknown' OR reconcile_first = 1 OR cleans IS NOT NULL OR (rolls_back IS NOT NULL AND "
    "substr(decided_by, 1, 9) = 'operator:') THEN '' ELSE agent_id END)";
const std::string kInDueOrder =
    "FROM writes INDEXED BY writes_due WHERE service = ?1 AND account_id = ?2 AND generation = ?3 AND (state = "
    "'unknown' OR reconcile_first = 1) = ?4 AND " +
    kHeldWith;

/// What stands under one agent, and when its first is due.
struct DueLine {
  std::string agent_id;
  std::int64_t first_ms = 0;
};

/// Of all agents but those that are paused; steps from one to the next in the index.
std::vector<DueLine> lines_of_agents(StatementCache& sql, const AccountRef& account, const PausedAgents& paused) {
  static const auto behind = "SELECT agent_id, due_at_ms " + kInDueOrder + " > ?5 AND due_at_ms IS NOT NULL ORDER BY " +
                             kHeldWith + ", due_at_ms LIMIT 1";
  auto& next = sql.get(behind);
  const ResetAtEnd reset(next);
  std::vector<DueLine> lines;
  for (std::string last;;) {
    next.bind_all(account.service, account.account_id, std::int64_t{account.generation}, 0, last);
    if (!next.step()) return lines;
    last = next.text(0);
    if (!paused.agents.contains(last)) lines.push_back({last, next.integer(1)});
  }
}

bool is_before(const DueWrite& a, const DueWrite& b) {
  return std::tie(a.due_at_ms, a.seq) < std::tie(b.due_at_ms, b.seq);
}

}  // namespace

PausedAgents paused_agents(StatementCache& sql) {
  auto& rows = sql.get(
      "SELECT agent_id FROM agent_pauses WHERE NOT EXISTS (SELECT 1 FROM agents WHERE agents.agent_id = "
      "agent_pauses.agent_id AND revoked_at_ms > 0)");
  const ResetAtEnd reset(rows);
  PausedAgents paused;
  while (rows.step()) {
    if (rows.text(0).empty()) {
      paused.all = true;
    } else {
      paused.agents.emplace(rows.text(0));
    }
  }
  return paused;
}

std::vector<DueWrite> earliest_due(StatementCache& sql, const AccountRef& account, DueFor what,
                                   const PausedAgents& paused, std::size_t most, const DueBy& by) {
  std::vector<DueLine> lines;
  if (what == DueFor::kAttempt && !paused.all) lines = lines_of_agents(sql, account, paused);
  lines.push_back({});  // what no pause holds
  std::sort(lines.begin(), lines.end(), [](const DueLine& a, const DueLine& b) { return a.first_ms < b.first_ms; });
  static const auto of_line = "SELECT seq, due_at_ms, due_boot_ms, boot " + kInDueOrder +
                              " = ?5 AND due_at_ms <= ?6 AND (boot <> ?7 OR due_boot_ms <= ?8) ORDER BY due_at_ms "
                              "LIMIT ?9";
  auto& rows = sql.get(of_line);
  const ResetAtEnd reset(rows);
  std::vector<DueWrite> found;
  for (const auto& line : lines) {
    if (line.first_ms > by.wall_ms || (found.size() == most && line.first_ms > found.back().due_at_ms)) break;
    rows.bind_all(account.service, account.account_id, std::int64_t{account.generation}, what == DueFor::kLook ? 1 : 0,
                  line.agent_id, by.wall_ms, by.boot, by.boot_ms, static_cast<std::int64_t>(most));
    while (rows.step()) found.push_back({rows.integer(0), rows.integer(1), rows.integer(2), rows.integer(3)});
    std::sort(found.begin(), found.end(), is_before);
    if (found.size() > most) found.resize(most);
  }
  return found;
}

}  // namespace krux
