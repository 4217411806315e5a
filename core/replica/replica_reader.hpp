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

  /// See krux_reader.keep; `source` as krux_source, empty: no blob. False: no such record. Unless it was lent for this,
  /// throws krux::Error Unsupported.
  virtual bool keep(std::string_view collection, std::string_view id, const KeptBlob& blob, std::string_view text);
};

}  // namespace krux
