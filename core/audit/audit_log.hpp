// The audit log of a running host: chains what the ledger's outbox holds, and what is added here, into audit.db.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/audit/anchors.hpp"
#include "core/audit/audit_entry.hpp"
#include "core/audit/outbox.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"

namespace krux {

class GroupCommit;

struct AuditOptions {
  std::filesystem::path file;
  std::size_t most_waiting = 64 * 1024;  ///< entries in memory
  std::filesystem::path key_file;        ///< of the signatures; empty: nothing is signed, anchored or cut
  std::filesystem::path anchor_file;     ///< where signed heads go; empty: nowhere
  std::chrono::milliseconds anchor_every{300'000};
  std::int64_t keep_ms = 0;  ///< rows that are older go; 0: none
  /// Told when the log can no longer be written (why, a sentence), and when it can be again (empty). On the log's own
  /// thread; must not call the log.
  std::function<void(const std::string& why)> on_change;
  /// The same of its signed heads, which the log does without.
  std::function<void(const std::string& why)> on_anchor{};
  /// Told at the start, by the one who starts it, that the log is not the one that went on to where the ledger or the
  /// signed heads know it (a sentence): its end was cut off, or another file is in its place.
  std::function<void(const std::string& what)> on_broken{};
};

struct AuditStatus {
  std::string log_id;
  AuditHead head;
  std::int64_t waiting = 0;  ///< in memory
  std::int64_t lost = 0;     ///< that had no place in memory and are not told of in the log yet
  std::string problem;       ///< why it cannot be written; empty: it can
  std::string key;           ///< the public key of its signatures; empty: none
  Anchor anchored;           ///< the newest head that was signed outside in this run; seq 0: none was
};

/// Any thread. A thread of its own writes, in batches of a fifth of a second.
class AuditLog {
 public:
  /// `store` is the ledger's, and nothing was committed to its outbox in this run. Both must outlive this. Throws
  /// krux::Error DatabaseError where the log cannot be opened.
  AuditLog(GroupCommit& store, Clock& clock, AuditOptions options);
  ~AuditLog();  ///< what is there is chained, unless the log cannot be written
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  /// Queues it, of this moment where it has no time; a batch may be lost where the host is killed. Where there is no
  /// place it is counted as lost, of which the log tells as soon as it can: false.
  bool add(AuditEntry entry);
  /// There is something in the outbox. Cheap.
  void wake();
  /// Waits until all that was added and committed before is durable in the log: false where it cannot be written.
  bool flush();
  /// The same, and the head is signed outside at once: at the end of a host that may not get to the destructor.
  bool settle();

  /// Signs by another key from here on, for which the present one gives its word; returns the public one. Throws
  /// krux::Error.
  std::string rotate_key();
  /// What the present key says of `message`. Throws krux::Error ConflictError where there is none.
  struct Signature {
    std::string key, signature;
  };
  Signature sign(std::string_view message) const;

  AuditStatus status() const;
  /// Why nothing must be let happen now that the log has to know of, ServiceUnavailable: it cannot be written, or there
  /// is no place left for what waits. Nothing: all is well.
  std::optional<Error> why_not_writable() const;

  const std::filesystem::path& file() const;
  const std::filesystem::path& anchor_file() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krux
