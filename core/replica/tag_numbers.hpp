// The numbers that stand for a collection's tags in its searched texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/replica/collection_table.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// Within a transaction of the caller's, and no longer than it: what one that is rolled back has given counts no more.
/// A number is given once and stays with its tag as long as the collection's set of tables. Throws krux::Error
/// DatabaseError.
class TagNumbers {
 public:
  TagNumbers(StatementCache& statements, const CollectionTable& table) : statements_(&statements), table_(&table) {}

  /// kNoTag where no record of the set has had it.
  std::int64_t find(std::string_view tag);
  /// The tag's number, a new one where it has none.
  std::int64_t give(const std::string& tag);

 private:
  StatementCache* statements_;
  const CollectionTable* table_;
  std::map<std::string, std::int64_t> given_;  ///< most tags stand in many records of a page
};

}  // namespace krux
