// Applies changes to a collection's tables, within a transaction of the caller's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica/collection_table.hpp"
#include "core/replica/left_out.hpp"
#include "core/replica/record_watches.hpp"
#include "core/replica/row_texts.hpp"
#include "core/replica/searched_text.hpp"
#include "core/replica/sync_session.hpp"
#include "core/replica/tag_numbers.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// Makes the record fit its collection where its service's characters do not: NULs, halves of surrogate pairs and what
/// is no UTF-8 become U+FFFD, and are counted in `replaced`. Returns why the replica cannot take it all the same, to be
/// put behind its name; empty: it can. Throws krux::Error InvalidInput, with a sentence for the adapter's author, where
/// what is wrong is not the service's: an undeclared field and the like.
std::string fit_record(Record& record, const CollectionTable& table, std::uint64_t& replaced);
/// The same for a kept text.
std::string fit_kept_text(std::string& text, const CollectionTable& table, std::uint64_t& replaced);

/// Throws krux::Error DatabaseError; the transaction must then be rolled back.
class RecordWriter {
 public:
  RecordWriter(StatementCache& statements, const CollectionTables& tables, bool any_left_out)
      : statements_(statements),
        tables_(tables),
        texts_(statements),
        left_out_(statements),
        any_left_out_(any_left_out) {}

  /// What is changed from now on is noted where somebody of the service's waits for it.
  void note_for(const RecordWatches& watches, const std::string& service) {
    watches_ = &watches;
    service_ = service;
  }
  const RecordWatches::Changed& noted() const { return noted_; }

  /// `kept`: the record's kept text from now on; nullptr: as it was.
  void put(const Record& record, const std::string* kept, std::int64_t now_ms);
  bool has(const std::string& collection, std::string_view id) {
    return key_of(tables_.get(collection), id).has_value();
  }
  /// Of the collection's rows; 0 where there are none. Looks at all of them.
  std::int64_t newest_generation(const std::string& collection);
  /// Nothing happens where there is no such record.
  void keep_text(const std::string& collection, std::string_view id, const std::string& kept);
  /// Instead of put(): what was there of the record is no longer true, and goes.
  void leave_out(const Record& record, std::string_view why, std::int64_t now_ms);
  /// Instead of keep_text(); nothing happens where there is no such record.
  void leave_out_kept_text(const Record& record, std::string_view why, std::int64_t now_ms);
  void erase(const std::string& collection, std::string_view id);
  void sweep(const Sweep& sweep);

  const RecordChanges& changes() const { return changes_; }
  /// How many rows each collection has gained or, negative, lost.
  const std::map<std::string, std::int64_t>& growth() const { return growth_; }
  /// How many are left out, if that may have changed.
  std::optional<LeftOutCounts> left_out();

 private:
  /// The statements of a collection that each record needs, found once a page.
  struct Prepared {
    const CollectionTable* table;
    Statement *find, *newest_key, *insert, *insert_seen, *mark_seen;
    Statement *last, *older;  ///< keys within a millisecond; nullptr where records are ordered by key
  };
  struct Present {
    std::int64_t key, generation, synced_at_ms, order_ms;
    bool same;
    bool same_order_key;
  };
  /// Where a record belongs among the keys of its millisecond: behind `newer` and before `older`.
  struct Place {
    std::int64_t newer, older;
  };
  const Prepared& prepared(const std::string& collection);
  static bool find(const Prepared& p, const Record& record, std::string_view digest, Present& present);
  void insert(const Prepared& p, std::int64_t key, const Record& record, const SearchedText& text,
              std::string_view digest, std::int64_t now_ms);
  std::string own_text(const CollectionTable& table, const Record& record);
  /// Nothing: there are too many of that time.
  std::optional<std::int64_t> free_key(const Prepared& p, const Record& record);
  std::optional<std::int64_t> next_key(const Prepared& p, const Record& record);
  bool is_in_place(const Prepared& p, const Record& record, const Present& present);
  static Place place_of(const Prepared& p, const Record& record);
  bool has_order_keys(const CollectionTable& table, std::int64_t order_ms);
  std::optional<std::int64_t> make_room(const CollectionTable& table, const Record& record);
  void rekey(const CollectionTable& table, std::int64_t from, std::int64_t to);
  std::optional<std::int64_t> key_of(const CollectionTable& table, std::string_view id);
  static void mark_seen(const Prepared& p, const Record& record, std::int64_t key, std::string_view digest,
                        std::int64_t now_ms);
  void update(const CollectionTable& table, const Record& record, const std::string* kept, std::int64_t key);
  void remove(const CollectionTable& table, std::int64_t key, std::string_view id);
  void remove_rows(const CollectionTable& table, std::int64_t key);
  void note(std::string_view collection, std::string_view id) {
    if (watches_ && watches_->any()) watches_->note(service_, collection, id, noted_);
  }

  StatementCache& statements_;
  const CollectionTables& tables_;
  RowTexts texts_;
  LeftOutTable left_out_;
  bool any_left_out_;  ///< else there is nothing to forget, and no statement is run for it
  std::map<std::string, Prepared> prepared_;
  std::map<std::string, TagNumbers> tags_;  ///< by set
  RecordChanges changes_;
  std::map<std::string, std::int64_t> growth_;
  const RecordWatches* watches_ = nullptr;
  std::string service_;
  RecordWatches::Changed noted_;
};

}  // namespace krux
