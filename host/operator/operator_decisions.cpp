// What the operator decides about writes, one or many.
#include <fmt/format.h>

#include <optional>
#include <variant>

#include "core/capability/capability_handler.hpp"
#include "core/capability/write_content.hpp"
#include "core/util/json_out.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "host/operator/decisions.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {
namespace {

constexpr std::int64_t kRollbackWaitMs = 10'000;

/// Throws the error that it got.
template <class T, class Start>
T wait_for(Start start) {
  auto answer = begin_decision<T>(std::move(start)).get();
  if (auto* error = std::get_if<Error>(&answer)) throw std::move(*error);
  return std::get<T>(std::move(answer));
}

void log_decision(const std::string& who, const char* event, const WriteRecord& write) {
  log_event(spdlog::level::info,
            {event, write.account.service, write.account.account_id, write.agent_id, write.write_id},
            fmt::format("{} decided about {}: it is now {}", who, write.write_id, to_string(write.state)));
}

}  // namespace

std::string OperatorService::cancel_write(const std::string& write_id, const std::string& who) {
  existing(write_id);
  const auto cancelled =
      wait_for<WriteRecord>([&](auto done) { parts_.writes.ledger.cancel(write_id, "", who, std::move(done)); });
  log_decision(who, "write_cancelled", cancelled);
  return one_write(cancelled);
}

std::string OperatorService::decide_outcome(const std::string& write_id, WriteEvent decision,
                                            std::optional<WriteState> expected, const std::string& who) {
  existing(write_id);
  const auto resolved = wait_for<WriteRecord>(
      [&](auto done) { parts_.writes.ledger.decide_outcome(write_id, decision, expected, who, std::move(done)); });
  log_decision(who, "write_resolved", resolved);
  return one_write(resolved);
}

std::string OperatorService::accept_write(const std::string& write_id, const std::string& shown_hash,
                                          const std::optional<StandingTerms>& like, const DecidingOperator& by) {
  existing(write_id);
  const auto with = like ? std::optional(like_of(write_id, *like)) : std::nullopt;
  const auto accepted = wait_for<WriteRecord>(
      [&](auto done) { parts_.writes.ledger.accept(write_id, shown_hash, by, std::move(done), with); });
  log_decision(by.who, "write_accepted", accepted);
  return one_write(accepted);
}

std::string OperatorService::reject_write(const std::string& write_id, const std::string& reason,
                                          const std::string& who) {
  existing(write_id);
  const auto rejected =
      wait_for<WriteRecord>([&](auto done) { parts_.writes.ledger.reject(write_id, reason, who, std::move(done)); });
  log_decision(who, "write_rejected", rejected);
  return one_write(rejected);
}

std::string OperatorService::edit_write(const std::string& write_id, const std::string& shown_hash,
                                        const std::string& arguments_json, const DecidingOperator& by) {
  existing(write_id);
  const auto edited = wait_for<WriteRecord>(
      [&](auto done) { parts_.handler.edit(write_id, shown_hash, arguments_json, by, std::move(done)); });
  log_decision(by.who, "write_edited", edited);
  return one_write(edited);
}

std::string OperatorService::rollback_write(const std::string& write_id, bool force, const std::string& who) {
  must_be_connected(parts_.accounts, existing(write_id));
  const auto undo = wait_for<Submitted>([&](auto done) {
                      parts_.writes.ledger.roll_back(write_id, "", force, who, std::move(done));
                    }).write;
  log_decision(who, "write_rollback_asked", undo);
  const auto settled = std::make_shared<std::optional<WriteRecord>>();
  parts_.writes.settled.wait(undo.write_id, kRollbackWaitMs, [waits = rollback_waits_, settled](WriteRecord now) {
    const std::lock_guard lock(waits->mutex);
    *settled = std::move(now);
    waits->cv.notify_all();
  });
  std::unique_lock lock(rollback_waits_->mutex);
  rollback_waits_->cv.wait(lock, [&] { return settled->has_value() || rollback_waits_->over; });
  if (*settled) return one_write(**settled);
  throw Error(
      ErrorCode::kServiceUnavailable,
      fmt::format("The host stops. The undo {} is accepted and goes on when the host runs again; kruxos approve "
                  "show {} tells what became of it.",
                  undo.write_id, undo.write_id),
      true)
      .with_context(fmt::format(R"({{"write_id":"{}"}})", undo.write_id));
}

void OperatorService::stop_waiting() {
  const std::lock_guard lock(rollback_waits_->mutex);
  rollback_waits_->over = true;
  rollback_waits_->cv.notify_all();
}

std::string OperatorService::decide(const DecisionRequest& asked, const DecidingOperator& by) {
  auto answers = begin_decisions(
      parts_.writes.ledger, parts_.accounts, asked, by,
      [&](const std::string& write_id, const StandingTerms& terms) { return like_of(write_id, terms); });
  return json_object([&](JsonWriter& out) {
    std::size_t next = 0;
    put_objects(out, "results", asked.writes, [&](const DecisionRequest::Write& one) {
      const auto answer = answers[next++].get();
      put(out, "write_id", one.write_id);
      if (const auto* error = std::get_if<Error>(&answer)) {
        put_key(out, "error");
        out.StartObject();
        put(out, "type", error->type().name());
        put(out, "message", error->what());
        out.EndObject();
        return;
      }
      const auto& write = std::get<WriteRecord>(answer);
      log_decision(by.who, "write_decided", write);
      put(out, "state", to_string(write.state));
      if (write.approvals_needed > 1) put_approvals(out, write);
      if (asked.held) put(out, "release_wanted", write.release_wanted);
      if (!write.rolls_back.empty()) put(out, "rollback_id", write.write_id);
    });
  });
}

std::string OperatorService::approval_figures() {
  const auto figures = parts_.approvals.read();
  return json_object([&](JsonWriter& out) {
    put_key(out, "approvals");
    out.StartObject();
    put(out, "window_ms", ApprovalFigures::kWindowMs);
    put(out, "accepted", figures.accepted);
    put(out, "rejected", figures.rejected);
    put(out, "last_hour", figures.last_hour);
    put(out, "at_once", figures.at_once);
    put(out, "median_ms", figures.median_ms);
    out.EndObject();
  });
}

std::string OperatorService::limits() {
  return json_object([&](JsonWriter& out) { parts_.handler.put_limits(out); });
}

}  // namespace krux
