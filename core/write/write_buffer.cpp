#include "core/write/write_buffer.hpp"

#include <spdlog/spdlog.h>

#include "core/metrics/write_meters.hpp"
#include "core/write/ledger.hpp"
#include "core/write/settled_waiters.hpp"

namespace krux {
namespace {

WriteEvent event_of(WriteBuffer::Decision decision) {
  switch (decision) {
    case WriteBuffer::Decision::kResend:
      return WriteEvent::kPersonResend;
    case WriteBuffer::Decision::kDiscard:
      return WriteEvent::kPersonDiscard;
    case WriteBuffer::Decision::kHappened:
      return WriteEvent::kPersonHappened;
  }
  return WriteEvent::kPersonDiscard;
}

WriteDecision counted_as(WriteBuffer::Decision decision) {
  switch (decision) {
    case WriteBuffer::Decision::kResend:
      return WriteDecision::kResend;
    case WriteBuffer::Decision::kHappened:
      return WriteDecision::kHappened;
    case WriteBuffer::Decision::kDiscard:
      break;
  }
  return WriteDecision::kDiscard;
}

}  // namespace

struct WriteBuffer::State {
  State(GroupCommit& store, Clock& clock, const std::string& boot_id)
      : ledger(store, clock, boot_id), waiters(clock, [this](const std::string& id) { return present_state(id); }) {
    ledger.on_change([this](const BufferedWrite& write) {
      open.changed(write);
      if (listener) listener(write);
      if (has_settled(write)) waiters.settled(write);
    });
  }
  // Who still waits asks the ledger once more; the ledger then finishes what was posted.
  ~State() { ledger.on_change({}); }

  /// For those who wait: the ledger's word, or as much as is known while it cannot be read.
  BufferedWrite present_state(const std::string& write_id) {
    try {
      return ledger.get(write_id).value_or(BufferedWrite{});
    } catch (const Error& e) {
      spdlog::error("the state of write {} could not be read: {}", write_id, e.what());
      BufferedWrite write;
      write.write_id = write_id;
      write.state = WriteState::kUnknown;
      return write;
    }
  }

  std::function<void(const BufferedWrite&)> listener;
  WriteMeters* meters = nullptr;
  Ledger ledger;
  OpenWrites open{ledger};
  SettledWaiters waiters;
};

WriteBuffer::WriteBuffer(GroupCommit& store, Clock& clock, const std::string& boot_id)
    : state_(std::make_unique<State>(store, clock, boot_id)) {}

WriteBuffer::~WriteBuffer() = default;

void WriteBuffer::submit(NewWrite write, std::function<void(std::variant<Submitted, Error>)> done) {
  state_->ledger.submit(std::move(write), std::move(done));
}

void WriteBuffer::cancel(std::string write_id, std::string agent_id, std::string who,
                         std::function<void(std::variant<BufferedWrite, Error>)> done) {
  done = counted(state_->meters, WriteDecision::kCancel, who, std::move(done));
  state_->ledger.cancel(std::move(write_id), std::move(agent_id), std::move(who), std::move(done));
}

void WriteBuffer::resolve(std::string write_id, Decision decision, std::optional<WriteState> expected, std::string who,
                          std::function<void(std::variant<BufferedWrite, Error>)> done) {
  done = counted(state_->meters, counted_as(decision), who, std::move(done));
  state_->ledger.resolve(std::move(write_id), event_of(decision), expected, std::move(who), std::move(done));
}

void WriteBuffer::accept(std::string write_id, std::string shown_hash, std::string who,
                         std::function<void(std::variant<BufferedWrite, Error>)> done) {
  done = counted(state_->meters, WriteDecision::kAccept, who, std::move(done));
  state_->ledger.accept(std::move(write_id), std::move(shown_hash), std::move(who), std::move(done));
}

void WriteBuffer::reject(std::string write_id, std::string reason, std::string who,
                         std::function<void(std::variant<BufferedWrite, Error>)> done) {
  done = counted(state_->meters, WriteDecision::kReject, who, std::move(done));
  state_->ledger.reject(std::move(write_id), std::move(reason), std::move(who), std::move(done));
}

void WriteBuffer::edit(std::string write_id, std::string agent_id, std::string shown_hash, NewContent content,
                       std::string who, std::function<void(std::variant<BufferedWrite, Error>)> done) {
  done = counted(state_->meters, WriteDecision::kEdit, who, std::move(done));
  state_->ledger.edit(std::move(write_id), std::move(agent_id), std::move(shown_hash), std::move(content),
                      std::move(who), std::move(done));
}

void WriteBuffer::undo(std::string write_id, std::string agent_id, bool force, std::string who,
                       std::function<void(std::variant<Submitted, Error>)> done) {
  done = counted(state_->meters, WriteDecision::kRollback, who, std::move(done));
  state_->ledger.undo(std::move(write_id), std::move(agent_id), force, std::move(who), std::move(done));
}

std::optional<BufferedWrite> WriteBuffer::get(const std::string& write_id) {
  return state_->ledger.get(write_id);
}

std::vector<BufferedWrite> WriteBuffer::list(const WriteFilter& filter) {
  return state_->ledger.list(filter);
}

std::vector<AttemptRecord> WriteBuffer::history(const std::string& write_id, std::int64_t newest) {
  return state_->ledger.history(write_id, newest);
}

std::vector<EditRecord> WriteBuffer::edits(const std::string& write_id, std::int64_t newest) {
  return state_->ledger.edits(write_id, newest);
}

RecordTotals WriteBuffer::totals(const std::string& write_id) {
  return state_->ledger.totals(write_id);
}

std::map<std::string, BatchUse> WriteBuffer::limit_use(const std::string& agent_id, const BatchRule& rule) {
  return state_->ledger.limit_use(agent_id, rule);
}

WriteCounts WriteBuffer::counts() const {
  return state_->ledger.counts();
}

OpenWritesFound WriteBuffer::open_writes(const std::string& agent_id, const AccountRef& account,
                                         const std::string& target, std::int64_t through_ms) {
  return state_->open.of(agent_id, account, target, through_ms);
}

bool WriteBuffer::any_open_writes(const std::string& agent_id) {
  return state_->open.any(agent_id);
}

void WriteBuffer::when_settled(const std::string& write_id, std::int64_t timeout_ms,
                               std::function<void(BufferedWrite)> done) {
  // Waiting begins before the look, so that a change in between is not missed.
  state_->waiters.add(write_id, timeout_ms, std::move(done));
  const auto now = state_->present_state(write_id);
  if (now.write_id.empty()) {
    state_->waiters.missing(write_id);
  } else if (has_settled(now)) {
    state_->waiters.settled(now);
  }
}

void WriteBuffer::on_change(std::function<void(const BufferedWrite&)> listener) {
  state_->listener = std::move(listener);
}

void WriteBuffer::count_into(WriteMeters* meters) {
  state_->meters = meters;
}

Ledger& WriteBuffer::ledger() {
  return state_->ledger;
}

}  // namespace krux
