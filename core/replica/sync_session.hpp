// What one sync step may do to the replica.
#pragma once

#include <kruxos/abi/base.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/replica/collection.hpp"
#include "core/replica/replica_reader.hpp"

namespace krux {

/// What commits did. Unchanged: put again as they were.
struct RecordChanges {
  std::uint64_t added = 0, updated = 0, removed = 0, unchanged = 0;
  RecordChanges& operator+=(const RecordChanges& other) {
    added += other.added;
    updated += other.updated;
    removed += other.removed;
    unchanged += other.unchanged;
    return *this;
  }
};

/// Gathers changes; commit() makes them and the cursors visible together. What was not committed when the session is
/// closed or dropped never happened. One thread at a time, except close(). Throws krux::Error (InvalidInput for what
/// was not declared, DatabaseError).
class SyncSession {
 public:
  virtual ~SyncSession() = default;

  /// A record whose content the replica cannot take is left out: what was there of it goes, and it is counted and shown
  /// (Replica::left_out) until it is put again and fits, or is erased or swept. Returns why, to be put behind its
  /// name; empty: it is taken.
  virtual std::string put(Record record) = 0;
  /// See ReplicaReader::put_fetched; made visible by commit() as well. Throws Unsupported where the session is a sync's
  /// in another process.
  virtual std::string put_fetched(Record record, std::string_view too_large);
  /// Instead of put(), for what is known to be too large. Of `record` collection, id, scope, time and generation count.
  virtual void leave_out(Record record, std::string_view why) = 0;
  /// See krux_sync_store.keep_text.
  virtual void keep_text(std::string_view collection, std::string_view id, std::string_view text) = 0;
  virtual void erase(std::string_view collection, std::string_view id) = 0;
  /// See krux_sync_store.sweep.
  virtual void sweep(std::string_view collection, std::string_view scope, std::int64_t generation, std::int64_t from_ms,
                     std::int64_t to_ms) = 0;
  /// `source` as krux_source: fills, returns how many, 0 at the end, -1 on failure.
  virtual void put_blob(std::string_view collection, std::string_view id, std::string_view name, std::int64_t total,
                        const std::function<std::int64_t(char*, std::size_t)>& source) = 0;
  /// What put_blob() or ReplicaReader::keep() has kept under this name.
  virtual void erase_blob(std::string_view collection, std::string_view id, std::string_view name) = 0;
  virtual std::optional<std::string> cursor(std::string_view key) = 0;
  virtual void set_cursor(std::string_view key, std::string_view value) = 0;
  virtual void commit() = 0;
  virtual void report(std::string_view part, krux_status status, std::string_view message) = 0;
  /// Sees what was committed when it is asked for, this session's commits included.
  virtual const std::shared_ptr<ReplicaReader>& reader() = 0;
  /// Of this session's commits so far.
  virtual RecordChanges changes() const { return {}; }
  /// How many NULs, halves of surrogate pairs and invalid bytes of what was put have become U+FFFD so far.
  virtual std::uint64_t replaced() const { return 0; }

  /// From here on everything throws Cancelled and nothing more is committed: the call was abandoned. Any thread.
  virtual void close() = 0;
};

}  // namespace krux
