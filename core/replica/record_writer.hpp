// Applies changes to a collection's tables, within a transaction of the caller's.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica/collection_table.hpp"
#include "core/replica/sync_session.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// What is searched of a record, folded: its own text, and what was kept besides.
struct SearchedText {
  std::string all;
  std::size_t own_bytes = 0;  ///< of `all`; a separator follows where there is a kept text

  static SearchedText of(const std::string& own, const std::string& kept);
  void set_own(const std::string& own);
  void set_kept(const std::string& kept);
  bool operator==(const SearchedText&) const = default;
};

struct Sweep {
  std::string collection, scope;
  std::int64_t generation, from_ms, to_ms;
};

/// Throws krux::Error InvalidInput, with a sentence for the adapter's author, when the record does not fit its
/// collection.
void check_record(const Record& record, const CollectionTable& table);
/// The same for a kept text.
void check_kept_text(std::string_view id, std::string_view text, const CollectionTable& table);

/// Throws krux::Error DatabaseError; the transaction must then be rolled back.
class RecordWriter {
 public:
  RecordWriter(StatementCache& statements, const CollectionTables& tables) : statements_(statements), tables_(tables) {}

  /// `kept`: the record's kept text from now on; nullptr: as it was.
  void put(const Record& record, const std::string* kept, std::int64_t now_ms);
  /// Nothing happens where there is no such record.
  void keep_text(const std::string& collection, std::string_view id, const std::string& kept);
  void erase(const std::string& collection, std::string_view id);
  void sweep(const Sweep& sweep);

  const RecordChanges& changes() const { return changes_; }
  /// How many rows each collection has gained or, negative, lost.
  const std::map<std::string, std::int64_t>& growth() const { return growth_; }

 private:
  /// The statements of a collection that each record needs, found once a page.
  struct Prepared {
    const CollectionTable* table;
    Statement *find, *newest_key, *insert, *insert_seen, *mark_seen;
  };
  struct Present {
    std::int64_t key, generation, synced_at_ms, order_ms;
    bool same;
  };
  const Prepared& prepared(const std::string& collection);
  static bool find(const Prepared& p, const Record& record, std::string_view digest, Present& present);
  void insert(const Prepared& p, const Record& record, const SearchedText& text, std::string_view digest,
              std::int64_t now_ms);
  void index(const CollectionTable& table, std::int64_t key, const SearchedText& text);
  void unindex(const CollectionTable& table, std::int64_t key, const SearchedText& text);
  SearchedText text_of(const CollectionTable& table, std::int64_t key);
  void update_text(const CollectionTable& table, std::int64_t key, const SearchedText& before,
                   const SearchedText& text);
  static std::int64_t free_key(const Prepared& p, const Record& record);
  static void mark_seen(const Prepared& p, const Record& record, std::int64_t key, std::string_view digest,
                        std::int64_t now_ms);
  void update(const CollectionTable& table, const Record& record, const std::string* kept, std::int64_t key);
  void remove(const CollectionTable& table, std::int64_t key, std::string_view id);
  void remove_rows(const CollectionTable& table, std::int64_t key);

  StatementCache& statements_;
  const CollectionTables& tables_;
  std::map<std::string, Prepared> prepared_;
  RecordChanges changes_;
  std::map<std::string, std::int64_t> growth_;
};

}  // namespace krux
