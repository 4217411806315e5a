// Writes, as the operator sees and decides them.
#include <fmt/format.h>

#include <algorithm>

#include "core/capability/capability_handler.hpp"
#include "core/capability/write_json.hpp"
#include "core/facts/reach.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {
namespace {

constexpr std::int64_t kNewest = 50;

/// What is held as a copy, with what its look has shown.
void put_held(JsonWriter& out, const WriteRecord& write) {
  put(out, "held_as_copy", write.held_as_copy);
  for (const auto* name : {"reconcile_first", "looked_for_first"})
    put(out, name, write.reconcile_first && !write.held_as_copy);
  put(out, "release_wanted", write.release_wanted);
  put_key(out, "evidence");
  if (!write.held_as_copy) {
    out.Null();
    return;
  }
  out.StartObject();
  put(out, "finding", finding_of(write));
  put(out, "looked_at_ms", write.evidence_at_ms);
  put_raw(out, "result", write.evidence_json);
  out.EndObject();
}

}  // namespace

std::string OperatorService::agent_name(const std::string& agent_id) {
  const auto agent = parts_.agents.find(agent_id);
  return agent ? agent->name : agent_id;
}

/// Null where the write was asked for by an earlier version; without a name once the session is forgotten.
void OperatorService::put_session(JsonWriter& out, const std::string& session_id) {
  put_key(out, "session");
  if (session_id.empty()) {
    out.Null();
    return;
  }
  const auto session = parts_.sessions.find(session_id).value_or(AgentSession());
  out.StartObject();
  put(out, "session_id", session_id);
  put(out, "origin", session.session_id.empty() ? "" : to_string(session.origin));
  put(out, "name", session.name);
  put(out, "purpose", session.purpose);
  out.EndObject();
}

/// How many must accept it, and who has; names only where several people are to be told apart.
void OperatorService::put_approvals(JsonWriter& out, const WriteRecord& write) const {
  const bool several = write.approvals_needed > 1;
  put_key(out, "approvals");
  out.StartObject();
  put(out, "needed", std::max<std::int64_t>(1, write.approvals_needed));
  put_objects(out, "given", several ? parts_.writes.ledger.acceptances(write) : std::vector<Acceptance>(),
              [&](const Acceptance& one) {
                put(out, "who", one.who);
                put(out, "accepted_at_ms", one.accepted_at_ms);
              });
  out.EndObject();
}

void OperatorService::put_write(JsonWriter& out, const WriteRecord& write, bool whole) {
  put(out, "write_id", write.write_id);
  put(out, "agent", agent_name(write.agent_id));
  put(out, "agent_id", write.agent_id);
  put_session(out, write.session_id);
  put(out, "service", write.account.service);
  put(out, "account_id", write.account.account_id);
  put(out, "generation", std::int64_t{write.account.generation});
  put(out, "operation", write.operation);
  put(out, "summary", write.summary);
  const auto service = parts_.accounts.service(write.account.service);
  const auto recipients = recipients_of(service ? service->definition.get() : nullptr, write);
  put_raw(out, "recipients", recipients.empty() ? "{}" : recipients);
  put(out, "state", to_string(write.state));
  // Each twice: what is written for an earlier version knows the second name, until the next major one.
  for (const auto* name : {"needs_operator", "needs_person"}) put(out, name, write.needs_operator());
  for (const auto* name : {"irrevocable", "closed"}) put(out, name, write.irrevocable);
  put_held(out, write);
  put(out, "content_hash", write.content_hash);
  put(out, "created_at_ms", write.created_at_ms);
  put(out, "due_at_ms", write.due_at_ms);
  put(out, "send_at_ms", write.send_at_ms);
  put(out, "unknown_since_ms", write.unknown_since_ms);
  put(out, "ended_at_ms", write.ended_at_ms);
  put(out, "attempts", std::int64_t{write.attempts});
  put(out, "decided_by", write.decided_by);
  for (const auto* name : {"rolls_back", "undoes"}) put(out, name, write.rolls_back);
  put(out, "waits_in_line", write.waits_in_line);
  put(out, "out_of_order", write.out_of_order);
  put(out, "cleans", write.cleans);
  put(out, "cleanup", write.cleanup == Cleanup::kPossible ? "none" : to_string(write.cleanup));
  put(out, "first_attempt_at_ms", write.first_attempt_at_ms);
  const auto problem = rollback_problem(write);
  const auto until = undo_until_ms(write);
  for (const auto* name : {"rollback_until_ms", "undo_until_ms"}) put(out, name, until);
  for (const auto* name : {"rollback_problem", "undo_problem"}) put(out, name, problem);
  put(out, "approval_reason", write.approval_reason);
  put(out, "approval_until_ms", write.approval_until_ms);
  put(out, "standing_approval", write.standing_approval);
  put_approvals(out, write);
  put_key(out, "error");
  if (write.error_message.empty()) {
    out.Null();
  } else {
    out.StartObject();
    put(out, "type", write.error_type.name());
    put(out, "message", write.error_message);
    out.EndObject();
  }
  if (!whole) return;
  parts_.handler.put_rules(out, write);
  put_like(out, write);
  put_reach(out, write);
  put_raw(out, "params", write.params_json);
  put_raw(out, "params_shown", write.params_shown_json);
  put_raw(out, "result", write.result_json);
  put(out, "tier", write.tier);
  put(out, "delay_ms", write.delay_ms);
  put(out, "definition_version", write.definition_version);
}

/// Of what cannot have happened yet: afterwards the copy may show what the write itself has changed.
void OperatorService::put_reach(JsonWriter& out, const WriteRecord& write) const {
  std::vector<std::string> sentences;
  const auto account = parts_.accounts.find(write.account);
  const auto* capability = account ? account->definition->find(write.operation) : nullptr;
  const bool untouched = write.ended_at_ms == 0 && write.first_attempt_at_ms == 0 && !write.irrevocable &&
                         !write.held_as_copy && write.rolls_back.empty() && write.cleans.empty();
  if (capability && untouched)
    sentences = in_words(
        reach_of(*account, *capability, parse_json(write.params_json, "the parameters", {64 << 20, 64})), *account);
  put(out, "reach", sentences);
}

std::string OperatorService::writes(const WriteFilter& asked) {
  auto filter = asked;
  if (!filter.agent_id.empty()) {
    const auto agent = parts_.agents.find(filter.agent_id);
    if (!agent)
      throw not_found(fmt::format("There is no agent {}: kruxos agent list shows them.", printable(filter.agent_id)));
    filter.agent_id = agent->agent_id;
  }
  return json_object([&](JsonWriter& out) {
    put_objects(out, "writes", parts_.writes.ledger.list(filter),
                [&](const WriteRecord& write) { put_write(out, write, false); });
  });
}

std::string OperatorService::one_write(const WriteRecord& write) {
  return json_object([&](JsonWriter& out) {
    put_key(out, "write");
    out.StartObject();
    put_write(out, write, true);
    out.EndObject();
  });
}

void OperatorService::put_history(JsonWriter& out, const std::string& write_id) {
  const auto totals = parts_.writes.ledger.totals(write_id);
  put_objects(out, "history", parts_.writes.ledger.history(write_id, kNewest), [&](const AttemptRecord& record) {
    put(out, "kind", record.kind);
    put(out, "attempt", std::int64_t{record.number});
    put(out, "started_at_ms", record.started_at_ms);
    put(out, "ended_at_ms", record.ended_at_ms);
    put(out, "outcome", record.outcome);
    put(out, "wire", record.wire);
    put(out, "message", record.message);
    put(out, "who", record.who);
  });
  put(out, "history_total", totals.attempts);
  put_objects(out, "edits", parts_.writes.ledger.edits(write_id, kNewest), [&](const EditRecord& edit) {
    put(out, "edited_at_ms", edit.edited_at_ms);
    put(out, "who", edit.who);
    put(out, "from_hash", edit.from_hash);
    put(out, "to_hash", edit.to_hash);
    put_raw(out, "from", edit.from_json);
    put_raw(out, "to", edit.to_json);
  });
  put(out, "edits_total", totals.edits);
}

WriteRecord OperatorService::existing(const std::string& write_id) {
  auto write = parts_.writes.ledger.get(write_id);
  if (!write)
    throw not_found(fmt::format("There is no write {}: kruxos approve list shows them.", printable(write_id)));
  return std::move(*write);
}

std::string OperatorService::write(const std::string& write_id) {
  const auto write = existing(write_id);
  return json_object([&](JsonWriter& out) {
    put_key(out, "write");
    out.StartObject();
    put_write(out, write, true);
    put_history(out, write_id);
    if (const auto& about = write.rolls_back.empty() ? write.cleans : write.rolls_back; !about.empty()) {
      put_key(out, "about");
      out.StartObject();
      put_write(out, existing(about), true);
      out.EndObject();
    }
    const auto cleanup = parts_.writes.ledger.cleanup_of(write_id);
    put(out, "cleaned_by", cleanup ? cleanup->write_id : "");
    out.EndObject();
  });
}

}  // namespace krux
