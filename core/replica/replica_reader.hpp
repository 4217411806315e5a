// Reading one account's replica.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/replica/collection.hpp"

namespace krux {

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
};

}  // namespace krux
