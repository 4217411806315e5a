// Reading one account's replica.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/replica/collection.hpp"

namespace krux {

/// Bytes that are kept with a record.
struct KeptBlob {
  std::string name;
  std::int64_t total = -1;                                   ///< -1: not known
  std::function<std::int64_t(char*, std::size_t)> source{};  ///< fills, returns how many, 0 at the end, -1 on failure
};

/// As of when rows are what the service had. 0: nobody can say, since a collection was never filled to its end.
struct ReplicaFreshness {
  std::int64_t synced_ms = 0;            ///< end of the last complete pass
  std::int64_t complete_through_ms = 0;  ///< everything that the service had at this time is there
  std::int64_t left_out = 0;             ///< but for so many records, which the replica could not take
};

/// One consistent, read-only view. One thread at a time. Throws krux::Error (DatabaseError; InvalidInput for unknown
/// collections and fields).
class ReplicaReader {
 public:
  virtual ~ReplicaReader() = default;
  using OnRow = std::function<bool(const RowView&)>;  ///< false: stop

  virtual bool get(std::string_view collection, std::string_view id,
                   const OnRow& on_row) = 0;  ///< false: no such record
  virtual QueryResult query(const Query& query, const OnRow& on_row) = 0;
  virtual bool blob(std::string_view collection, std::string_view id, std::string_view name,
                    const std::function<bool(std::string_view)>& on_bytes) = 0;

  /// Of the collections that were read so far, and of the same moment; of all where none was.
  virtual ReplicaFreshness freshness() { return {}; }
  /// Whether rows were asked for that an adapter of another version has put: those of the present one are being built.
  virtual bool saw_other_version() const { return false; }

  /// See krux_reader.keep; `source` as krux_source, empty: no blob. False: no such record. Unless it was lent for this,
  /// throws krux::Error Unsupported.
  virtual bool keep(std::string_view collection, std::string_view id, const KeptBlob& blob, std::string_view text);
  /// See krux_reader.put: why the record is not taken; empty: it is, or was there. `too_large`: why, where that is
  /// known already; of the record id, scope and time count then. Throws as keep(), and InvalidInput for what was not
  /// declared.
  virtual std::string put_fetched(Record record, std::string_view too_large);
};

/// What a record is in JSON; empty: there is none of that id.
std::string json_of_record(ReplicaReader& rows, std::string_view collection, std::string_view id);

}  // namespace krux
