// audit.db as it is written: rows are appended to the chain, and none is ever changed.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/audit_entry.hpp"
#include "core/audit/outbox.hpp"
#include "core/storage/statement.hpp"

namespace krux {

class SigningKey;

/// Which file lies in a place, whatever its name was before.
struct FilePlace {
  std::uint64_t device = 0, inode = 0;  ///< both 0: none lies there
  bool operator==(const FilePlace&) const = default;
};
FilePlace place_of(const std::filesystem::path& file);

/// One thread. Throws krux::Error DatabaseError; what became of a batch then is said by the head of the file as it is
/// opened anew.
class AuditFile {
 public:
  /// A new log is begun where there is no file.
  AuditFile(const std::filesystem::path& file, std::int64_t now_ms);

  const std::string& log_id() const { return log_id_; }
  const AuditHead& head() const { return head_; }
  /// The last row of the ledger's outbox that is chained.
  std::int64_t source() const { return source_; }

  /// The public key by which the log is signed, as it says itself; empty: by none.
  const std::string& key() const { return key_; }

  std::int64_t last_ms();  ///< the time of its last row
  /// Whether it is whole up to a head that was its own: that row stands there, or went for its age.
  bool knows(const AuditHead& known);
  /// Whether it has such a row already.
  bool has(std::string_view kind, std::string_view body);

  /// Behind the head, all or none, durable on return. `source`: what source() is then.
  void append(const std::vector<SourcedEntry>& entries, std::int64_t source);
  /// From here on it is signed by `next`. `before`, where there is one, gives its word for that.
  void change_key(const SigningKey& next, const SigningKey* before, std::int64_t now_ms);
  /// Takes out rows at the front that are older than that, `most` at once and never the last one; a row says so.
  /// One that was stamped later than now goes with older ones behind it. Returns how many.
  std::int64_t cut(std::int64_t before_ms, std::int64_t most, const SigningKey& key, std::int64_t now_ms);

 private:
  void begin_log(std::int64_t now_ms);
  void read_head();
  void note(const AuditHead& head, std::int64_t source);
  AuditHead insert(const std::vector<SourcedEntry>& entries, AuditHead head);

  std::unique_ptr<SQLite::Database> db_;
  std::optional<StatementCache> sql_;
  std::string log_id_, key_;
  AuditHead head_;
  std::int64_t source_ = 0;
};

}  // namespace krux
