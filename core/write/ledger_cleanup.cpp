// Taking away what the attempts of a write have made that was not carried out. A cleanup is a write of its own: it is
// claimed, attempted, retried and decided like any other, and is harmless to repeat.
#include <fmt/format.h>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_commit.hpp"

namespace krux {
namespace {

/// Whether an attempt gave anything to a socket, or may have: what was certainly never sent has made nothing.
bool may_have_made_something(StatementCache& sql, const WriteRecord& write) {
  auto& rows = sql.get(
      "SELECT 1 FROM attempts WHERE write_seq = ?1 AND kind = 'attempt' AND coalesce(wire, '') <> 'nothing_sent'");
  rows.bind_all(write.seq);
  const ResetAtEnd reset(rows);
  return rows.step();
}

bool is_not_carried_out(WriteState state) {
  return state == WriteState::kCancelled || state == WriteState::kRejected || state == WriteState::kFailed ||
         state == WriteState::kDiscarded;
}

NewWrite cleanup_after(const WriteRecord& write) {
  auto made = write_about(write, kCleanupOperation, fmt::format(R"({{"write_id":{}}})", json_string(write.write_id)),
                          fmt::format("take away what is left of {}: {}", write.operation, write.summary));
  made.cleans = write.write_id;
  made.when_absent = "resend";
  return made;
}

NewAlert left_alert(const WriteRecord& cleanup, const WriteRecord& write) {
  return {"warning",
          "left_behind",
          write.account.service,
          write.account.account_id,
          write.write_id,
          fmt::format("Write {} ({}) was not carried out, and what its attempts made is still at the service: {} Look "
                      "at the service and remove it yourself if it should not stay.",
                      write.write_id, printable(write.operation + " " + write.summary),
                      cleanup.error_message.empty() ? "Nobody said why." : cleanup.error_message),
          false};
}

}  // namespace

WriteRecord Ledger::begin_cleanup(StatementCache& sql, const WriteRecord& write) const {
  auto row = admit(cleanup_after(write), clock_.wall_ms());
  row.write.decided_by = write.decided_by.empty() ? "host" : write.decided_by;
  // Of what may have happened a request could still be under way.
  set_due(row, write.state == WriteState::kDiscarded ? write.settle_ms : 0);
  row.write.buffer_until_ms = row.write.due_at_ms;
  number_row(sql, row);
  insert_row(sql, row);
  return row.write;
}

/// The write that the cleanup, which has ended, was for.
WriteRecord Ledger::end_cleanup(StatementCache& sql, const WriteRecord& cleanup) const {
  auto row = must_have_row(sql, cleanup.cleans);
  row.write.cleanup = cleanup.state == WriteState::kCompleted ? Cleanup::kDone : Cleanup::kLeft;
  update_row(sql, row);
  if (cleanup.state == WriteState::kFailed) insert_alert(sql.db(), left_alert(cleanup, row.write), clock_.wall_ms());
  return row.write;
}

/// What follows from a write's end for what its attempts have made, in the same transaction. Before its row is stored.
void Ledger::follow_end(StatementCache& sql, WriteRecord& write, std::vector<WriteRecord>& others) const {
  if (!has_ended(write.state)) return;
  if (!write.cleans.empty()) others.push_back(end_cleanup(sql, write));
  if (write.cleanup != Cleanup::kPossible || !is_not_carried_out(write.state)) return;
  if (!may_have_made_something(sql, write)) return;
  if (is_disconnected(sql, write.account)) {
    write.cleanup = Cleanup::kLeft;  // nobody can clean up any more
    return;
  }
  write.cleanup = Cleanup::kPending;
  others.push_back(begin_cleanup(sql, write));
}

}  // namespace krux
