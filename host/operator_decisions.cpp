// What the operator decides about writes, one or many.
#include <fmt/format.h>

#include <future>
#include <variant>

#include "core/capability/capability_handler.hpp"
#include "core/capability/write_content.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "host/json_out.hpp"
#include "host/operator_service.hpp"

namespace krux {
namespace {

constexpr std::int64_t kUndoWaitMs = 10'000;

template <class T>
using Outcome = std::variant<T, Error>;

/// What a callback of the WriteBuffer will bring.
template <class T, class Start>
std::future<Outcome<T>> begin(Start start) {
  auto promise = std::make_shared<std::promise<Outcome<T>>>();
  auto future = promise->get_future();
  start([promise](Outcome<T> answer) { promise->set_value(std::move(answer)); });
  return future;
}

/// Throws the error that it got.
template <class T, class Start>
T wait_for(Start start) {
  auto answer = begin<T>(std::move(start)).get();
  if (auto* error = std::get_if<Error>(&answer)) throw std::move(*error);
  return std::get<T>(std::move(answer));
}

void log_decision(const std::string& who, const char* event, const BufferedWrite& write) {
  log_event(spdlog::level::info,
            {event, write.account.service, write.account.account_id, write.agent_id, write.write_id},
            fmt::format("{} decided about {}: it is now {}", who, write.write_id, to_string(write.state)));
}

std::optional<WriteBuffer::Decision> resolution_of(const std::string& name) {
  if (name == "resend") return WriteBuffer::Decision::kResend;
  if (name == "discard") return WriteBuffer::Decision::kDiscard;
  if (name == "happened") return WriteBuffer::Decision::kHappened;
  return std::nullopt;
}

/// All are begun before the first is waited for, so that they share commits.
std::future<Outcome<BufferedWrite>> start(WriteBuffer& writes, const AccountDirectory& accounts,
                                          const DecisionRequest& asked, const DecisionRequest::Write& write,
                                          const std::string& who) {
  return begin<BufferedWrite>([&](auto done) {
    try {
      const auto known = asked.decision == "rollback" ? writes.get(write.write_id) : std::nullopt;
      if (known) must_be_connected(accounts, *known);
    } catch (const Error& error) {
      return done(Error(error));
    }
    if (const auto resolution = resolution_of(asked.decision)) {
      writes.resolve(write.write_id, *resolution, write.expected_state, who, std::move(done));
    } else if (asked.decision == "accept") {
      writes.accept(write.write_id, write.content_hash, who, std::move(done));
    } else if (asked.decision == "reject") {
      writes.reject(write.write_id, asked.reason, who, std::move(done));
    } else if (asked.decision == "cancel") {
      writes.cancel(write.write_id, "", who, std::move(done));
    } else {
      writes.undo(write.write_id, "", asked.force, who, [done = std::move(done)](Outcome<Submitted> answer) {
        if (auto* error = std::get_if<Error>(&answer)) return done(std::move(*error));
        done(std::get<Submitted>(std::move(answer)).write);
      });
    }
  });
}

}  // namespace

std::string OperatorService::cancel_write(const std::string& write_id, const std::string& who) {
  existing(write_id);
  const auto cancelled =
      wait_for<BufferedWrite>([&](auto done) { parts_.writes.cancel(write_id, "", who, std::move(done)); });
  log_decision(who, "write_cancelled", cancelled);
  return one_write(cancelled);
}

std::string OperatorService::resolve_write(const std::string& write_id, WriteBuffer::Decision decision,
                                           std::optional<WriteState> expected, const std::string& who) {
  existing(write_id);
  const auto resolved = wait_for<BufferedWrite>(
      [&](auto done) { parts_.writes.resolve(write_id, decision, expected, who, std::move(done)); });
  log_decision(who, "write_resolved", resolved);
  return one_write(resolved);
}

std::string OperatorService::accept_write(const std::string& write_id, const std::string& shown_hash,
                                          const std::string& who) {
  existing(write_id);
  const auto accepted =
      wait_for<BufferedWrite>([&](auto done) { parts_.writes.accept(write_id, shown_hash, who, std::move(done)); });
  log_decision(who, "write_accepted", accepted);
  return one_write(accepted);
}

std::string OperatorService::reject_write(const std::string& write_id, const std::string& reason,
                                          const std::string& who) {
  existing(write_id);
  const auto rejected =
      wait_for<BufferedWrite>([&](auto done) { parts_.writes.reject(write_id, reason, who, std::move(done)); });
  log_decision(who, "write_rejected", rejected);
  return one_write(rejected);
}

std::string OperatorService::edit_write(const std::string& write_id, const std::string& shown_hash,
                                        const std::string& arguments_json, const std::string& who) {
  existing(write_id);
  const auto edited = wait_for<BufferedWrite>(
      [&](auto done) { parts_.handler.edit(write_id, shown_hash, arguments_json, who, std::move(done)); });
  log_decision(who, "write_edited", edited);
  return one_write(edited);
}

std::string OperatorService::rollback_write(const std::string& write_id, bool force, const std::string& who) {
  must_be_connected(parts_.accounts, existing(write_id));
  const auto undo =
      wait_for<Submitted>([&](auto done) { parts_.writes.undo(write_id, "", force, who, std::move(done)); }).write;
  log_decision(who, "write_rollback_asked", undo);
  std::promise<BufferedWrite> settled;
  auto future = settled.get_future();
  parts_.writes.when_settled(undo.write_id, kUndoWaitMs,
                             [&settled](BufferedWrite now) { settled.set_value(std::move(now)); });
  return one_write(future.get());
}

std::string OperatorService::decide(const DecisionRequest& asked, const std::string& who) {
  std::vector<std::future<Outcome<BufferedWrite>>> answers;
  for (const auto& one : asked.writes) answers.push_back(start(parts_.writes, parts_.accounts, asked, one, who));
  return json_object([&](JsonWriter& out) {
    std::size_t next = 0;
    put_objects(out, "results", asked.writes, [&](const DecisionRequest::Write& one) {
      const auto answer = answers[next++].get();
      put(out, "write_id", one.write_id);
      if (const auto* error = std::get_if<Error>(&answer)) {
        put_key(out, "error");
        out.StartObject();
        put(out, "type", error->type());
        put(out, "message", error->what());
        out.EndObject();
        return;
      }
      const auto& write = std::get<BufferedWrite>(answer);
      log_decision(who, "write_decided", write);
      put(out, "state", to_string(write.state));
      if (!write.undoes.empty()) put(out, "rollback_id", write.write_id);
    });
  });
}

std::string OperatorService::limits() {
  struct Row {
    std::string agent, service, value;
    BatchLimit limit;
    BatchUse use;
  };
  std::vector<Row> rows;
  for (const auto& agent : parts_.agents.list()) {
    for (const auto& service : parts_.accounts.services()) {
      for (const auto& limit : service.definition->limits) {
        const BatchRule rule{limit.operations, limit.limit, limit.window_ms, limit.key, {}, true};
        for (const auto& [value, use] : parts_.writes.limit_use(agent.agent_id, rule))
          rows.push_back({agent.name, service.definition->service, value, limit, use});
      }
    }
  }
  return json_object([&](JsonWriter& out) {
    put_objects(out, "limits", rows, [&](const Row& row) {
      put(out, "agent", row.agent);
      put(out, "service", row.service);
      put(out, "operations", row.limit.operations);
      put(out, "per", row.limit.key);
      put(out, "value", row.value);
      put(out, "counted", row.use.counted);
      put(out, "limit", row.limit.limit);
      put(out, "window_ms", row.limit.window_ms);
      put(out, "free_at_ms", row.use.free_at_ms);
    });
  });
}

}  // namespace krux
