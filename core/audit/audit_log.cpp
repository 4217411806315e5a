#include "core/audit/audit_log.hpp"

#include <fmt/format.h>

#include "core/audit/audit_log_state.hpp"
#include "core/storage/database.hpp"

namespace krux {

AuditLog::State::State(GroupCommit& s, Clock& c, AuditOptions o)
    : store(s), clock(c), options(std::move(o)), ledger(s.file(), s.kind()) {
  if (!options.anchor_file.empty())
    anchors.emplace([to = options.anchor_file](const Anchor& anchor) { append_anchor(to, anchor); });
  open();  // a host that cannot say what it does does not begin
  compare_with_heads();
  compare_with_outbox();
  thread = std::thread([this] { work(); });
}

AuditLog::State::~State() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

AuditLog::AuditLog(GroupCommit& store, Clock& clock, AuditOptions options)
    : state_(std::make_unique<State>(store, clock, std::move(options))) {}

AuditLog::~AuditLog() = default;

bool AuditLog::add(AuditEntry entry) {
  auto& state = *state_;
  if (entry.at_ms == 0) entry.at_ms = state.clock.wall_ms();
  bool first = false;
  {
    const std::lock_guard lock(state.mutex);
    if (state.in_memory() >= state.options.most_waiting) {
      if (state.lost++ == 0) state.lost_since_ms = entry.at_ms;
      return false;
    }
    first = state.queue.empty();
    state.queue.push_back(std::move(entry));
  }
  if (first) wake();
  return true;
}

void AuditLog::wake() {
  auto& state = *state_;
  if (state.news.exchange(true)) return;
  const std::lock_guard lock(state.mutex);
  state.changed.notify_all();
}

bool AuditLog::flush() {
  auto& state = *state_;
  std::unique_lock lock(state.mutex);
  const auto round = ++state.asked;
  state.changed.notify_all();
  state.finished.wait(lock, [&] { return state.done >= round; });
  return state.good >= round;
}

bool AuditLog::settle() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->anchor_wanted = true;
  }
  return flush();
}

AuditStatus AuditLog::status() const {
  const std::lock_guard lock(state_->mutex);
  return {state_->log_id,
          state_->head,
          static_cast<std::int64_t>(state_->in_memory()),
          state_->lost + state_->telling,
          state_->problem,
          state_->signer ? state_->signer->public_hex() : std::string(),
          state_->newest_anchor};
}

std::string AuditLog::rotate_key() {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->signer) throw conflict("This audit log is not signed.");
    state_->rotation_wanted = true;
    state_->rotation_problem.clear();
  }
  const bool written = flush();
  const std::lock_guard lock(state_->mutex);
  if (!written || !state_->rotation_problem.empty())
    throw database_error("The key of the audit log could not be replaced: " +
                         (state_->rotation_problem.empty() ? state_->problem : state_->rotation_problem));
  return state_->signer->public_hex();
}

AuditLog::Signature AuditLog::sign(std::string_view message) const {
  const auto signer = [this] {
    const std::lock_guard lock(state_->mutex);
    return state_->signer;
  }();
  if (!signer) throw conflict("This audit log is not signed.");
  return {signer->public_hex(), signer->sign(message)};
}

std::optional<Error> AuditLog::why_not_writable() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->problem.empty() && state_->in_memory() < state_->options.most_waiting) return std::nullopt;
  return Error(ErrorCode::kServiceUnavailable,
               "The host cannot write its audit log, and nothing is let happen that would not stand there. Nothing was "
               "done; the operator is told. Try again later.",
               true, 60'000);
}

const std::filesystem::path& AuditLog::anchor_file() const {
  return state_->options.anchor_file;
}

const std::filesystem::path& AuditLog::file() const {
  return state_->options.file;
}

}  // namespace krux
