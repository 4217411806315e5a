// The texts of rows, and the search index that is made of them.
#pragma once

#include "core/replica/collection_table.hpp"
#include "core/replica/searched_text.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// Within a transaction of the caller's. Throws krux::Error DatabaseError.
class RowTexts {
 public:
  explicit RowTexts(StatementCache& statements) : statements_(statements) {}

  SearchedText of(const CollectionTable& table, std::int64_t key);
  /// Row and index, only where it differs: writing the text makes the search index forget and learn it again.
  void update(const CollectionTable& table, std::int64_t key, const SearchedText& before, const SearchedText& text);
  /// By statements of their own and not by triggers: for each row that comes from a trigger, FTS5 first writes what it
  /// has gathered so far to the disk, and a page would take nearly twice the time. Nothing where nothing is searched.
  void index(const CollectionTable& table, std::int64_t key, const SearchedText& text);
  /// The index cannot ask what a row's text was: it is told.
  void unindex(const CollectionTable& table, std::int64_t key, const SearchedText& text);

 private:
  StatementCache& statements_;
};

}  // namespace krux
