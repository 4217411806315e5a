#include "host/accounts/disconnection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/replica/replica.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/json.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/write/cancel_writes.hpp"
#include "core/write/ledger.hpp"

namespace krux {
namespace {

/// How often the host looks whether those who still hold the account have let go of it.
constexpr int kPausesForRelease = 40;
constexpr const char* kStopped = "stopped";

std::string counted(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

/// Whether time alone may still bring it to an end.
bool is_moving(const WriteRecord& write) {
  return write.state == WriteState::kExecuting || (write.due_at_ms != 0 && !write.escalated);
}

bool is_part_of(const std::string& name, const std::string& replica) {
  return name == replica || name == replica + "-wal" || name == replica + "-shm" ||
         name.starts_with(replica + ".damaged-");
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& replica) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(replica.parent_path(), error)) {
    if (is_part_of(entry.path().filename().string(), replica.filename().string())) found.push_back(entry.path());
  }
  return found;
}

}  // namespace

void delete_replica_files(const std::filesystem::path& file) {
  for (const auto& part : files_of(file)) {
    std::error_code error;
    std::filesystem::remove(part, error);
  }
  const auto left = files_of(file);
  if (left.empty()) return;
  throw database_error(
      fmt::format("{} could not be deleted. Check the directory's rights, then repeat this.", left.front().string()));
}

std::string Disconnection::name() const {
  return fmt::format("{} {}", receipt_.service, printable(receipt_.account_id));
}

ActiveAccountPtr Disconnection::account() const {
  return parts_.accounts.find({receipt_.service, receipt_.account_id, receipt_.generation});
}

bool Disconnection::is_done(const std::string& step) const {
  return std::any_of(receipt_.steps.begin(), receipt_.steps.end(),
                     [&](const auto& s) { return s.step == step && s.outcome != kStopped; });
}

void Disconnection::note(const std::string& step, const std::string& outcome, const std::string& message) {
  parts_.receipts.note(receipt_.receipt_id, step, outcome, message);
  log_event(spdlog::level::info, {"disconnect_" + step, receipt_.service, receipt_.account_id, "", ""},
            fmt::format("disconnecting {}: {}", name(), message));
}

Receipt Disconnection::run() {
  parts_.accounts.begin_leaving(receipt_.service, receipt_.account_id);
  KRUX_FAULT_POINT("disconnect.begin.after");
  stop_sync();
  cancel_waiting();
  KRUX_FAULT_POINT("disconnect.writes.cancelled");
  if (!is_done("unknown_writes")) settle_writes();
  KRUX_FAULT_POINT("disconnect.writes.settled");
  if (!is_done("revoke")) revoke_token();
  KRUX_FAULT_POINT("disconnect.revoke.noted");
  remove_token();
  KRUX_FAULT_POINT("disconnect.token.noted");
  remove_replica();
  KRUX_FAULT_POINT("disconnect.replica.noted");
  await_release();
  cancel_waiting();
  parts_.writes.ledger.hand_over(receipt_.service, receipt_.account_id, order_.who);
  parts_.receipts.end(receipt_.receipt_id, "disconnected", fmt::format("{} is disconnected.", name()));
  KRUX_FAULT_POINT("disconnect.end.after_commit");
  return parts_.receipts.get(receipt_.receipt_id).value_or(receipt_);
}

void Disconnection::stop_sync() {
  parts_.scheduler.remove(receipt_.service, receipt_.account_id);
  for (const auto& status : parts_.scheduler.status()) {
    const auto& of = status.account;
    if (of.service == receipt_.service && of.account_id == receipt_.account_id)
      throw Error(ErrorCode::kServiceUnavailable, "The sync could not be stopped. Repeat this.", true);
  }
  note("sync", "done", "Its sync is stopped.");
}

WriteFilter Disconnection::of_account() const {
  WriteFilter filter;
  filter.service = receipt_.service;
  filter.account_id = receipt_.account_id;
  filter.limit = 500;
  return filter;
}

std::vector<WriteRecord> Disconnection::open_writes() const {
  auto filter = of_account();
  for (int i = 0; i < kWriteStates; ++i) {
    if (!has_ended(static_cast<WriteState>(i))) filter.states.push_back(static_cast<WriteState>(i));
  }
  return parts_.writes.ledger.list(filter);
}

/// Into the receipt, with the state in which each was met first.
void Disconnection::remember(const std::vector<WriteRecord>& writes) {
  std::vector<WriteRecord> unknown;
  for (const auto& write : writes) {
    if (noted_.insert(write.seq).second) unknown.push_back(write);
  }
  parts_.receipts.note_writes(receipt_.receipt_id, unknown);
}

void Disconnection::cancel_round() {
  cancel_writes(parts_.writes.ledger, of_account(), order_.who,
                [this](const std::vector<WriteRecord>& page) { remember(page); });
}

void Disconnection::cancel_waiting() {
  cancel_round();
  const auto receipt = parts_.receipts.get(receipt_.receipt_id);
  const auto cancelled = !receipt ? 0
                                  : std::count_if(receipt->writes.begin(), receipt->writes.end(),
                                                  [](const ReceiptWrite& w) { return w.is == "cancelled"; });
  note("writes", "done",
       fmt::format("{} cancelled.",
                   counted(static_cast<std::size_t>(cancelled), "waiting write was", "waiting writes were")));
}

/// True when none is left open.
bool Disconnection::await_outcomes() {
  const auto until = parts_.clock.boot_ms() + order_.wait_ms;
  for (;;) {
    const auto open = open_writes();
    remember(open);
    if (open.empty()) return true;
    const bool moving = account() && std::any_of(open.begin(), open.end(), is_moving);
    if (!moving || parts_.clock.boot_ms() >= until) return false;
    if (!access_.pause())
      throw Error(ErrorCode::kServiceUnavailable,
                  "The host stops. Repeat this when it runs again; it goes on from here.", true);
    // A failed attempt brings its write back to those that wait.
    cancel_round();
  }
}

void Disconnection::settle_writes() {
  if (await_outcomes()) return note("unknown_writes", "done", "No write is under way or of unknown outcome.");
  const auto left = counted(open_writes().size(), "write", "writes");
  if (!order_.force) {
    stop("unknown_writes",
         fmt::format("{0} of {1} may have happened or cannot be cancelled any more, and without the token nobody can "
                     "look. Decide about them (kruxos approve list --service {2}, then kruxos approve resolve), or "
                     "leave them undecided with --force; then disconnect again.",
                     left, name(), receipt_.service));
  }
  parts_.executor.end_calls(receipt_.service, receipt_.account_id);
  parts_.writes.ledger.hand_over(receipt_.service, receipt_.account_id, order_.who);
  note(
      "unknown_writes", "left",
      fmt::format("{} had not ended. What may have happened is left for a person to decide, and the host can no longer "
                  "look; what was to be sent again is discarded.",
                  left));
}

void Disconnection::revoke_token() {
  const auto [failed, done] = access_.revoke(receipt_);
  KRUX_FAULT_POINT("disconnect.revoke.answered");
  if (!failed) return note("revoke", "done", done);
  if (!order_.force) {
    stop("revoke", fmt::format("The token of {} was not revoked: {} Try again later, or remove it here all the same "
                               "with --force; the service may then still know it.",
                               name(), *failed));
  }
  note("revoke", "failed", fmt::format("The service may still know the token, revoke it there: {}", *failed));
}

void Disconnection::remove_token() {
  const auto before = account();
  parts_.executor.end_calls(receipt_.service, receipt_.account_id);
  parts_.vault.disconnect(receipt_.service, receipt_.account_id);
  KRUX_FAULT_POINT("disconnect.token.removed");
  if (parts_.vault.holds_token(receipt_.service, receipt_.account_id))
    throw database_error(fmt::format("The token of {} is still stored. Repeat this.", name()));
  parts_.accounts.withdraw(receipt_.service, receipt_.account_id);
  note("token", "done", "The token is removed, and the ledger was read back: it holds none.");
  if (!before) return;
  adapter_ = before->adapter;
  before->replica->remove();
}

/// A call that has begun may still bring a write.
void Disconnection::await_release() {
  for (int i = 0; i < kPausesForRelease && !adapter_.expired(); ++i) {
    if (!access_.pause()) return;
  }
}

void Disconnection::remove_replica() {
  delete_replica_files(parts_.directory.replica(receipt_.service, receipt_.account_id));
  KRUX_FAULT_POINT("disconnect.replica.removed");
  note("replica", "done", "The local copy of its data is deleted, and none of its files is left.");
}

/// The account is as it was, but for the cancelled writes.
void Disconnection::stop(const std::string& step, const std::string& message) {
  note(step, kStopped, message);
  parts_.receipts.end(receipt_.receipt_id, kStopped, message);
  parts_.accounts.end_leaving(receipt_.service, receipt_.account_id);
  if (const auto served = account()) access_.sync_again(served);
  throw conflict("Stopped; the account stays connected. " + message)
      .with_context("{\"receipt_id\":" + json_string(receipt_.receipt_id) + "}");
}

}  // namespace krux
