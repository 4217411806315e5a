// The durable buffer of writes: what agents and the operator do to them. The ledger's rows, one transition function
// (transition.hpp), group commit. Execution is EnhancedWriteExecutor's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/write/batch_protection.hpp"
#include "core/write/open_writes.hpp"
#include "core/write/write.hpp"

namespace krux {

class GroupCommit;
class Ledger;
class WriteMeters;

/// Any thread. Everything that changes the ledger is durable before its callback or return.
class WriteBuffer {
 public:
  /// Begins a new run of the host in the ledger: there is one at a time. Throws krux::Error DatabaseError. `boot_id`
  /// tells boots of the machine apart.
  WriteBuffer(GroupCommit& store, Clock& clock, const std::string& boot_id = machine_boot_id());
  ~WriteBuffer();

  /// Idempotency, duplicate intent, and the insert are one step. The callback gets either the write or an error
  /// (ConflictError: the key was used for another content; DatabaseError).
  void submit(NewWrite write, std::function<void(std::variant<Submitted, Error>)> done);

  /// CannotCancel (with the state in words) unless the write is pending_approval, held, buffered or dead_letter. An
  /// agent cancels its own writes only: another's does not exist for it. `agent_id` empty: the operator. `who`:
  /// "agent:<id>", "operator:<user>".
  void cancel(std::string write_id, std::string agent_id, std::string who,
              std::function<void(std::variant<BufferedWrite, Error>)> done);

  /// The operator's decision. About an unknown write, once the host has looked and told a person: send again (back to
  /// buffered, due at once), discard, or "it happened" (completed). About a dead letter, at any time: send again (due
  /// at once, the schedule begins anew) or discard. ConflictError otherwise.
  /// `expected`: the state that the operator was shown; ConflictError when it is another one by now.
  enum class Decision { kResend, kDiscard, kHappened };
  void resolve(std::string write_id, Decision decision, std::optional<WriteState> expected, std::string who,
               std::function<void(std::variant<BufferedWrite, Error>)> done);

  /// A write that waits for a person's approval: accepted with the content_hash that was shown (ConflictError when it
  /// has another one by now), its window begins; rejected, with a reason for its agent or none.
  void accept(std::string write_id, std::string shown_hash, std::string who,
              std::function<void(std::variant<BufferedWrite, Error>)> done);
  void reject(std::string write_id, std::string reason, std::string who,
              std::function<void(std::variant<BufferedWrite, Error>)> done);

  /// Replaces the content of a write that is pending_approval, held or buffered and never attempted, if it still has
  /// `shown_hash`: ConflictError otherwise, BatchProtection where a limit refuses it; then nothing has changed. The
  /// window begins anew; what a person was asked about, he is asked about again when an agent changes it. `agent_id`
  /// and `who` as in cancel().
  void edit(std::string write_id, std::string agent_id, std::string shown_hash, NewContent content, std::string who,
            std::function<void(std::variant<BufferedWrite, Error>)> done);

  /// Asks for a completed write to be undone: a write of its own (`undoes`), due at once, which may become unknown or a
  /// dead letter like any other; when it is completed, the first is rolled_back. `force`: even though the service's
  /// state has changed since. A duplicate is the undo that is under way. RollbackConflict (not completed, or undone),
  /// RollbackExpired, InvalidInput (cannot be undone).
  void undo(std::string write_id, std::string agent_id, bool force, std::string who,
            std::function<void(std::variant<Submitted, Error>)> done);

  // These throw krux::Error DatabaseError.
  std::optional<BufferedWrite> get(const std::string& write_id);
  std::vector<BufferedWrite> list(const WriteFilter& filter);
  /// The newest, oldest of them first; of the edits no more than 16 MiB, but one in any case.
  std::vector<AttemptRecord> history(const std::string& write_id, std::int64_t newest = 1000);
  std::vector<EditRecord> edits(const std::string& write_id, std::int64_t newest = 1000);
  RecordTotals totals(const std::string& write_id);
  std::map<std::string, BatchUse> limit_use(const std::string& agent_id, const BatchRule& rule);
  WriteCounts counts() const;
  /// See OpenWrites::of() and any().
  OpenWritesFound open_writes(const std::string& agent_id, const AccountRef& account, const std::string& target,
                              std::int64_t through_ms);
  bool any_open_writes(const std::string& agent_id);

  /// Calls back when the write has ended or become unknown, or waits for a retry (dead_letter), at once if it has; or
  /// when `timeout_ms` passed, with its present state. `done` runs once, on any thread, and must not block; its
  /// write_id is empty when there is no such write.
  void when_settled(const std::string& write_id, std::int64_t timeout_ms, std::function<void(BufferedWrite)> done);

  /// Told of every change of a write's state, after it is durable and in that order. Must not block. Set before the
  /// first write.
  void on_change(std::function<void(const BufferedWrite&)> listener);

  /// Counts what is decided from here on. Set before the first write; must outlive this.
  void count_into(WriteMeters* meters);

  Ledger& ledger();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krux
