#include "core/state/agent_pauses.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/audit/outbox.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr const char* kPauseColumns = "SELECT agent_id, paused_at_ms, paused_by, reason FROM agent_pauses";

AgentPause read_pause(const Statement& row) {
  return {std::string(row.text(0)), row.integer(1), std::string(row.text(2)), std::string(row.text(3))};
}

void tell_audit(StatementCache& sql, const char* kind, const std::string& agent_id, std::int64_t at_ms,
                const std::string& who, const std::string& reason) {
  AuditEntry entry;
  entry.kind = kind;
  entry.at_ms = at_ms;
  entry.agent_id = agent_id;
  entry.body = json_object([&](JsonWriter& out) {
    put(out, "who", who);
    if (agent_id.empty()) put(out, "all", true);
    if (!reason.empty()) put(out, "reason", reason);
  });
  put_in_outbox(sql, entry);
}

}  // namespace

Error paused_error(const AgentPause& pause) {
  const auto since = format_time(pause.paused_at_ms);
  const auto why = pause.reason.empty() ? std::string() : fmt::format(", and says why: {}", printable(pause.reason));
  return Error(ErrorCode::kPolicyDenied,
               fmt::format("An operator has paused {} since {}{}{} Do not call again before he resumes you. What you "
                           "have asked for is held and goes out then: proxy.list_writes shows it, proxy.cancel_write "
                           "takes it back.",
                           pause.agent_id.empty() ? "all agents" : "you", since, why,
                           why.ends_with('.') || why.ends_with('!') || why.ends_with('?') ? "" : "."))
      .with_context(json_object([&](JsonWriter& out) {
        put(out, "paused", true);
        put(out, "since", since);
        put(out, "reason", pause.reason);
      }));
}

AgentPauses::AgentPauses(GroupCommit& store, Clock& clock) : store_(store), clock_(clock) {
  auto all = store.run([](SQLite::Database& db) {
    std::vector<AgentPause> found;
    Statement rows(db.getHandle(), kPauseColumns);
    while (rows.step()) found.push_back(read_pause(rows));
    return found;
  });
  for (auto& pause : all) {
    const auto id = pause.agent_id;
    pauses_.emplace(id, std::move(pause));
  }
  any_ = !pauses_.empty();
}

AgentPause AgentPauses::pause(const std::string& agent_id, const std::string& reason, const std::string& who) {
  if (reason.size() > kLongestReason)
    throw invalid_input(fmt::format("The reason has more than {} bytes.", kLongestReason));
  const std::lock_guard changing(changing_);
  const auto now = clock_.wall_ms();
  auto stands = store_.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    sql.get(
           "INSERT INTO agent_pauses (agent_id, paused_at_ms, paused_by, reason) VALUES (?1, ?2, ?3, ?4) ON CONFLICT "
           "(agent_id) DO NOTHING")
        .bind_all(agent_id, now, who, reason)
        .run();
    if (sqlite3_changes(sql.db()) > 0) tell_audit(sql, "agent.paused", agent_id, now, who, reason);
    auto& row = sql.get(std::string(kPauseColumns) + " WHERE agent_id = ?1").bind_all(agent_id);
    if (!row.step()) throw database_error("The ledger lost a pause between two statements.");
    return read_pause(row);
  });
  {
    const std::unique_lock lock(mutex_);
    pauses_.insert_or_assign(agent_id, stands);
    any_ = true;
  }
  if (changed_) changed_();
  return stands;
}

bool AgentPauses::resume(const std::string& agent_id, const std::string& who) {
  const std::lock_guard changing(changing_);
  const bool was_paused = store_.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    sql.get("DELETE FROM agent_pauses WHERE agent_id = ?1").bind_all(agent_id).run();
    if (sqlite3_changes(sql.db()) == 0) return false;
    tell_audit(sql, "agent.resumed", agent_id, clock_.wall_ms(), who, {});
    return true;
  });
  {
    const std::unique_lock lock(mutex_);
    pauses_.erase(agent_id);
    any_ = !pauses_.empty();
  }
  if (changed_) changed_();
  return was_paused;
}

std::optional<AgentPause> AgentPauses::of(const std::string& agent_id) const {
  const std::shared_lock lock(mutex_);
  const auto at = pauses_.find(agent_id);
  return at == pauses_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<AgentPause> AgentPauses::holding(const std::string& agent_id) const {
  if (!any_) return std::nullopt;  // as nearly always: no lock is needed to see that
  auto own = of(agent_id);
  return own ? own : of({});
}

}  // namespace krux
