// Receipts of disconnections, kept for good: what was done to an account's connection, step by step. Also how a
// disconnection that a crash has cut short is found again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/util/clock.hpp"
#include "core/write/write.hpp"

namespace krux {

class GroupCommit;

struct ReceiptStep {
  std::string step;     ///< "sync", "writes", "unknown_writes", "revoke", "token", "replica"
  std::string outcome;  ///< "done", "left", "failed"
  std::string message;  ///< a sentence
  std::int64_t at_ms = 0;
};

/// A write that had not ended when the disconnection came to it.
struct ReceiptWrite {
  std::string write_id, operation, summary;
  std::string was, is;  ///< its state before, and its present one
};

struct Receipt {
  std::string receipt_id, service, account_id, display_name, principal, who;
  std::uint32_t generation = 0;
  bool forced = false;
  std::int64_t begun_at_ms = 0, ended_at_ms = 0;  ///< 0: under way
  std::string outcome;                            ///< "under_way", "disconnected", "stopped"
  std::string message;
  std::vector<ReceiptStep> steps;    ///< in order
  std::vector<ReceiptWrite> writes;  ///< oldest first
};

/// Any thread. Everything is durable on return. Throws krux::Error DatabaseError.
class ReceiptStore {
 public:
  ReceiptStore(GroupCommit& store, Clock& clock) : store_(store), clock_(clock) {}

  /// A new one, under way, with a new id, without steps and writes.
  Receipt begin(Receipt receipt);
  void set_forced(const std::string& receipt_id);
  /// Replaces what was noted of the same step.
  void note(const std::string& receipt_id, const std::string& step, const std::string& outcome,
            const std::string& message);
  /// A write that is noted already stays as it is.
  void note_writes(const std::string& receipt_id, const std::vector<WriteRecord>& writes);
  void end(const std::string& receipt_id, const std::string& outcome, const std::string& message);

  std::optional<Receipt> get(const std::string& receipt_id) const;
  /// Newest first, without steps and writes.
  std::vector<Receipt> list(std::int64_t limit) const;
  /// Those that have not ended, without steps and writes.
  std::vector<Receipt> under_way() const;

 private:
  GroupCommit& store_;
  Clock& clock_;
};

}  // namespace krux
