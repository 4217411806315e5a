// What has waited for a person's approval for longer than a rule lets it.
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"

namespace krux {
namespace {

/// Many at once would hold up the writes: the rest goes with the next step.
constexpr std::int64_t kExpiredAtOnce = 100;

std::vector<std::int64_t> overdue(StatementCache& sql, std::int64_t now_ms, std::int64_t most) {
  // Copies wait for another word first. Of what is irrevocable nobody can promise that it will not happen.
  auto& rows = sql.get(
      "SELECT seq FROM writes WHERE approval_until_ms IS NOT NULL AND approval_until_ms <= ?1 AND held_as_copy = 0 AND "
      "irrevocable = 0 ORDER BY approval_until_ms LIMIT ?2");
  rows.bind_all(now_ms, most);
  const ResetAtEnd reset(rows);
  std::vector<std::int64_t> found;
  while (rows.step()) found.push_back(rows.integer(0));
  return found;
}

}  // namespace

WriteRecord Ledger::expire_one(StatementCache& sql, std::int64_t seq, std::vector<WriteRecord>& others) const {
  auto row = row_of_seq(sql, seq);
  auto& w = row.write;
  const auto until = format_time(w.approval_until_ms);
  apply(row, WriteEvent::kExpire, ErrorCode::kConflictError);
  w.decided_by = "host";
  w.error_type = ErrorCode::kApprovalRejected;
  w.error_message = "Nobody decided about it until " + until + ", when its approval expired.";
  add_decision(sql, w, WriteEvent::kExpire, w.decided_by);
  follow_end(sql, w, others);
  update_row(sql, row);
  tell_of_approvals(sql, w);
  return std::move(w);
}

std::size_t Ledger::expire_approvals() {
  {
    auto reader = readers_.lease();
    if (overdue(reader.sql(), clock_.wall_ms(), 1).empty()) return 0;
  }
  using Expired = std::vector<WriteRecord>;
  const auto changed = commit_and_wait<Expired>(
      {"write.approval_expire.before_commit", "write.approval_expire.after_commit"},
      [this](StatementCache& sql) {
        Expired expired;
        for (const auto seq : overdue(sql, clock_.wall_ms(), kExpiredAtOnce)) {
          auto write = expire_one(sql, seq, expired);
          expired.push_back(std::move(write));
        }
        return expired;
      },
      [listeners = listeners_, &clock = clock_](const Expired& expired) {
        for (const auto& write : expired) {
          log_event(
              spdlog::level::warn,
              {"approval_expired", write.account.service, write.account.account_id, write.agent_id, write.write_id},
              write.operation + " " + write.write_id + " ended: " + printable(write.error_message));
          listeners->changed(write, clock);
        }
      });
  return changed.size();
}

}  // namespace krux
