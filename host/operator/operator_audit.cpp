// The audit log, as the operator sees it.
#include <algorithm>

#include "core/audit/audit_log.hpp"
#include "core/audit/chain.hpp"
#include "core/audit/decision_receipt.hpp"
#include "core/audit/query.hpp"
#include "core/audit/verify.hpp"
#include "core/storage/database.hpp"
#include "core/util/json_out.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {
namespace {

void put_state(JsonWriter& out, const AuditStatus& status) {
  put(out, "log_id", status.log_id);
  put(out, "head", status.head.seq);
  put(out, "head_hash", hash_hex(status.head.hash));
  if (!status.key.empty()) put(out, "key", status.key);
  if (!status.problem.empty()) put(out, "problem", status.problem);
}

}  // namespace

/// What is committed by now is among it, unless the log cannot be written.
std::string OperatorService::audit(AuditFilter filter) {
  if (!filter.agent_id.empty()) {
    if (const auto agent = parts_.agents.find(filter.agent_id)) filter.agent_id = agent->agent_id;
  }
  parts_.audit.flush();
  const auto rows = find_audit_rows(parts_.audit.file(), filter);
  return json_object([&](JsonWriter& out) {
    put_state(out, parts_.audit.status());
    put_objects(out, "rows", rows, [&](const AuditRow& row) {
      put_audit_row(out, row);
      if (!row.agent_id.empty()) put(out, "agent", agent_name(row.agent_id));
    });
  });
}

std::string OperatorService::audit_export(std::int64_t after, std::int64_t limit) {
  parts_.audit.flush();
  const auto rows = audit_rows_after(parts_.audit.file(), after, limit);
  return json_object([&](JsonWriter& out) {
    put_state(out, parts_.audit.status());
    put_objects(out, "rows", rows, [&](const AuditRow& row) { put_exported_row(out, row); });
  });
}

std::string OperatorService::verify_audit() {
  parts_.audit.flush();
  // What is known before the file is read: it may go on meanwhile.
  const auto status = parts_.audit.status();
  std::vector<KnownRow> known{{status.head.seq, status.head.hash, "the running host"}};
  const auto ledger = open_reader(parts_.store.file(), parts_.store.kind());
  StatementCache sql(ledger->getHandle());
  if (const auto noted = noted_head(sql); noted.seq > 0) known.push_back({noted.seq, noted.hash, "the ledger"});
  return audit_check_json(
      krux::verify_audit(parts_.audit.file(), {std::move(known), parts_.audit.anchor_file(), status.key}));
}

std::string OperatorService::decision_receipt(const std::string& write_id) {
  parts_.audit.flush();
  const auto found = audit_rows_of_write(parts_.audit.file(), write_id);
  if (found.rows.empty()) throw not_found("The audit log has no row about the write " + printable(write_id) + ".");
  return make_decision_receipt(parts_.audit.status(), write_id, found, parts_.clock.wall_ms(),
                               [this](std::string_view message) { return parts_.audit.sign(message); });
}

std::string OperatorService::rotate_audit_key() {
  const auto key = parts_.audit.rotate_key();
  return json_object([&](JsonWriter& out) { put(out, "key", key); });
}

}  // namespace krux
