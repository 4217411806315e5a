// Writes, as the operator sees and decides them.
#include <fmt/format.h>

#include <future>
#include <variant>

#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "host/json_out.hpp"
#include "host/operator_service.hpp"

namespace krux {
namespace {

/// Waits for a callback of the WriteBuffer; throws the error it got.
template <class Start>
BufferedWrite wait_for(Start start) {
  std::promise<std::variant<BufferedWrite, Error>> promise;
  auto future = promise.get_future();
  start([&promise](std::variant<BufferedWrite, Error> answer) { promise.set_value(std::move(answer)); });
  auto answer = future.get();
  if (auto* error = std::get_if<Error>(&answer)) throw std::move(*error);
  return std::get<BufferedWrite>(std::move(answer));
}

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
    put_objects(out, "history", parts_.writes.history(write.write_id), [&](const AttemptRecord& record) {
      put(out, "kind", record.kind);
      put(out, "attempt", std::int64_t{record.number});
      put(out, "started_at_ms", record.started_at_ms);
      put(out, "ended_at_ms", record.ended_at_ms);
      put(out, "outcome", record.outcome);
      put(out, "wire", record.wire);
      put(out, "message", record.message);
      put(out, "who", record.who);
    });
    out.EndObject();
  });
}

std::string OperatorService::write(const std::string& write_id) {
  const auto write = parts_.writes.get(write_id);
  if (!write)
    throw not_found(fmt::format("There is no write {}: kruxos approve list shows them.", printable(write_id)));
  return one_write(*write);
}

std::string OperatorService::cancel_write(const std::string& write_id, const std::string& who) {
  write(write_id);
  const auto cancelled = wait_for([&](auto done) { parts_.writes.cancel(write_id, "", who, std::move(done)); });
  log_event(spdlog::level::info,
            {"write_cancelled", cancelled.account.service, cancelled.account.account_id, cancelled.agent_id, write_id},
            fmt::format("{} cancelled {}", who, write_id));
  return one_write(cancelled);
}

std::string OperatorService::resolve_write(const std::string& write_id, WriteBuffer::Decision decision,
                                           const std::string& who) {
  write(write_id);
  const auto resolved = wait_for([&](auto done) { parts_.writes.resolve(write_id, decision, who, std::move(done)); });
  log_event(spdlog::level::info,
            {"write_resolved", resolved.account.service, resolved.account.account_id, resolved.agent_id, write_id},
            fmt::format("{} decided about {}: it is now {}", who, write_id, to_string(resolved.state)));
  return one_write(resolved);
}

}  // namespace krux
