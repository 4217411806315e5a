// Writes, as the operator sees and decides them.
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "host/json_out.hpp"
#include "host/operator_service.hpp"

namespace krux {
namespace {

constexpr std::int64_t kNewest = 50;

}  // namespace

std::string OperatorService::agent_name(const std::string& agent_id) {
  const auto agent = parts_.agents.find(agent_id);
  return agent ? agent->name : agent_id;
}

void OperatorService::put_write(JsonWriter& out, const BufferedWrite& write, bool whole) {
  put(out, "write_id", write.write_id);
  put(out, "agent", agent_name(write.agent_id));
  put(out, "agent_id", write.agent_id);
  put(out, "service", write.account.service);
  put(out, "account_id", write.account.account_id);
  put(out, "generation", std::int64_t{write.account.generation});
  put(out, "operation", write.operation);
  put(out, "summary", write.summary);
  put(out, "state", to_string(write.state));
  put(out, "needs_person", write.told_person);
  put(out, "closed", write.closed);
  put(out, "content_hash", write.content_hash);
  put(out, "created_at_ms", write.created_at_ms);
  put(out, "due_at_ms", write.due_at_ms);
  put(out, "unknown_since_ms", write.unknown_since_ms);
  put(out, "ended_at_ms", write.ended_at_ms);
  put(out, "attempts", std::int64_t{write.attempts});
  put(out, "decided_by", write.decided_by);
  put(out, "undoes", write.undoes);
  const auto problem = undo_problem(write);
  const bool undoable = write.state == WriteState::kCompleted && !write.point_json.empty() && problem.empty();
  put(out, "undo_until_ms", undoable ? write.ended_at_ms + write.undo_ms : 0);
  put(out, "undo_problem", problem);
  put(out, "approval_reason", write.approval_reason);
  put_key(out, "error");
  if (write.error_message.empty()) {
    out.Null();
  } else {
    out.StartObject();
    put(out, "type", write.error_type);
    put(out, "message", write.error_message);
    out.EndObject();
  }
  if (!whole) return;
  put_raw(out, "params", write.params_json);
  put_raw(out, "params_shown", write.params_shown_json);
  put_raw(out, "result", write.result_json);
  put(out, "tier", write.tier);
  put(out, "definition_version", write.definition_version);
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
    put_objects(out, "writes", parts_.writes.list(filter),
                [&](const BufferedWrite& write) { put_write(out, write, false); });
  });
}

std::string OperatorService::one_write(const BufferedWrite& write) {
  return json_object([&](JsonWriter& out) {
    put_key(out, "write");
    out.StartObject();
    put_write(out, write, true);
    out.EndObject();
  });
}

void OperatorService::put_history(JsonWriter& out, const std::string& write_id) {
  const auto totals = parts_.writes.totals(write_id);
  put_objects(out, "history", parts_.writes.history(write_id, kNewest), [&](const AttemptRecord& record) {
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
  put_objects(out, "edits", parts_.writes.edits(write_id, kNewest), [&](const EditRecord& edit) {
    put(out, "edited_at_ms", edit.edited_at_ms);
    put(out, "who", edit.who);
    put(out, "from_hash", edit.from_hash);
    put(out, "to_hash", edit.to_hash);
    put_raw(out, "from", edit.from_json);
    put_raw(out, "to", edit.to_json);
  });
  put(out, "edits_total", totals.edits);
}

BufferedWrite OperatorService::existing(const std::string& write_id) {
  auto write = parts_.writes.get(write_id);
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
    out.EndObject();
  });
}

}  // namespace krux
