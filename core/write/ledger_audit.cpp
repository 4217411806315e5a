#include "core/write/ledger_audit.hpp"

#include "core/audit/outbox.hpp"
#include "core/util/json_out.hpp"
#include "core/write/ledger_rows.hpp"

namespace krux {
namespace {

void put_nonempty(JsonWriter& out, std::string_view name, std::string_view value) {
  if (!value.empty()) put(out, name, value);
}

void put_json(JsonWriter& out, std::string_view name, const std::string& json) {
  if (!json.empty()) put_raw(out, name, json);
}

AuditEntry entry_about(const WriteRecord& w, std::string_view event, std::int64_t at_ms) {
  return {audit_kind(event), at_ms, w.agent_id, w.account.service, w.account.account_id, w.write_id, {}};
}

bool is_decision(WriteEvent event) {
  switch (event) {
    case WriteEvent::kAccept:
    case WriteEvent::kReject:
    case WriteEvent::kEdit:
    case WriteEvent::kRelease:
    case WriteEvent::kDrop:
    case WriteEvent::kCancel:
    case WriteEvent::kOperatorResend:
    case WriteEvent::kOperatorDiscard:
    case WriteEvent::kOperatorHappened:
    case WriteEvent::kOperatorRelease:
    case WriteEvent::kRolledBack:
      return true;
    default:
      return false;
  }
}

bool asks(WriteEvent event, WriteState now) {
  return event == WriteEvent::kAskAnew || (event == WriteEvent::kEdit && now == WriteState::kPendingApproval);
}

std::string body_of(const AuditedChange& change, const WriteRecord& w, const AuditedDecision& audited, WriteState to) {
  const bool edit = change.event == WriteEvent::kEdit;
  const bool by_policy = edit || change.event == WriteEvent::kAskAnew || change.event == WriteEvent::kForbid;
  return json_object([&](JsonWriter& out) {
    put(out, "from", to_string(change.from));
    put(out, "to", to_string(to));
    put(out, "who", is_decision(change.event) && !w.decided_by.empty() ? w.decided_by : "host");
    if (w.attempts > 0) put(out, "attempt", std::int64_t{w.attempts});
    put(out, "content_hash", w.content_hash);
    if (edit) put(out, "edited_from", change.from_hash);
    if (w.irrevocable) put(out, "irrevocable", true);
    if (w.escalated) put(out, "escalated", true);
    put_nonempty(out, "error", w.error_type.name());
    if (asks(change.event, w.state)) put_nonempty(out, "asks", w.approval_reason);
    if (change.event == WriteEvent::kForbid) put_nonempty(out, "reason", w.error_message);
    if (!by_policy) return;
    put_json(out, "limit", audited.limit_json);
    put_json(out, "decision", audited.decision_json);
    if (edit) put_json(out, "parameters", audited.parameters_json);
  });
}

}  // namespace

std::string audit_kind(std::string_view event) {
  return "write." + std::string(event);
}

void audit_admission(StatementCache& sql, const LedgerRow& row) {
  const auto& w = row.write;
  auto entry = entry_about(w, "submitted", w.created_at_ms);
  entry.body = json_object([&](JsonWriter& out) {
    put(out, "operation", w.operation);
    put(out, "state", to_string(w.state));
    put(out, "content_hash", w.content_hash);
    put_nonempty(out, "session_id", w.session_id);
    put(out, "tier", w.tier);
    put(out, "definition_version", w.definition_version);
    put(out, "delay_ms", w.delay_ms);
    if (w.send_at_ms > 0) put(out, "send_at_ms", w.send_at_ms);
    put_nonempty(out, "who", w.decided_by);
    put_nonempty(out, "standing_approval", w.standing_approval);
    put_nonempty(out, "rolls_back", w.rolls_back);
    put_nonempty(out, "cleans", w.cleans);
    put_nonempty(out, "asks", w.approval_reason);
    put_json(out, "limit", row.audited.limit_json);
    put_json(out, "decision", row.audited.decision_json);
    put_json(out, "parameters", row.audited.parameters_json);
  });
  put_in_outbox(sql, entry);
}

void audit_changes(StatementCache& sql, LedgerRow& row) {
  const auto& all = row.changes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto to = i + 1 < all.size() ? all[i + 1].from : row.write.state;
    auto entry = entry_about(row.write, to_string(all[i].event), all[i].at_ms);
    entry.body = body_of(all[i], row.write, row.audited, to);
    put_in_outbox(sql, entry);
  }
  row.changes.clear();
}

}  // namespace krux
