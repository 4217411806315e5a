// Answering a query: the plan is chosen by counts and by what the first rows show.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/replica/candidates.hpp"
#include "core/replica/collection_table.hpp"
#include "core/replica/condition.hpp"
#include "core/replica/index_segment.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/replica/text_plan.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// Time of the calling thread's CPU, so that a busy machine does not make results incomplete. Waiting for the disk has
/// a bound of its own: twenty times the page's.
struct SearchBudget {
  std::chrono::microseconds page{50'000};  ///< for the page asked for; then the result is incomplete
  std::chrono::microseconds count{3'000};  ///< from the start; once it is over, counting ends when the page is full
};

/// Gives a row of (id, json, order_ms, synced_at_ms) to `on_row`, which may use the reader again meanwhile.
bool emit_row(const Statement& row, const ReplicaReader::OnRow& on_row);

/// One query on one connection. Throws krux::Error (InvalidInput, DatabaseError).
class Search {
 public:
  Search(StatementCache& statements, const CollectionTable& table, const Query& query, const SearchBudget& budget);
  QueryResult run(const ReplicaReader::OnRow& on_row);

 private:
  enum class End { kExhausted, kEnough, kOutOfTime, kSwitch };
  /// What candidates come from, and whether something else may be better.
  enum class Stage { kRows, kRowsOrIndex, kIndex, kStricterIndex };
  struct Equality {
    const Predicate* predicate;
    std::int64_t count;  ///< up to a bound
  };

  bool impossible() const;
  void find_equalities();
  void find_texts();
  void plan_by_index();
  std::int64_t bounded_count(const Predicate& equality);
  End find();
  End find_one();
  End find_by_index();
  std::unique_ptr<Candidates> base();
  std::unique_ptr<Candidates> rows_in_order(const Predicate* equality);
  std::unique_ptr<Candidates> common_keys(bool with_text, KeyRange range);
  std::unique_ptr<KeyStream> equality_stream(const Predicate& equality, std::size_t number, KeyRange range);
  End find_in(KeyRange part, double share, Stage stage);
  KeyRange part_of(KeyRange left, double share);
  bool gather(KeyRange range, double share);
  KeyStreams text_streams(KeyRange range);
  KeyStreams token_streams(const std::vector<TokenNeed>& needs, KeyRange range);
  std::unique_ptr<KeyStream> token_stream(const std::string& token, KeyRange range);
  std::optional<std::int64_t> last_key();
  Statement& lookup();
  End consume(Candidates& candidates, bool verify, Stage stage);
  End check(std::int64_t looked_at, Stage stage);
  bool should_switch(std::int64_t looked_at);
  bool should_exclude_more(std::int64_t looked_at);
  KeyRange rest() const;
  End gather_and_sort();
  void hit(std::int64_t key);
  void emit(const ReplicaReader::OnRow& on_row);
  QueryResult result(End end) const;

  bool page_is_full() const { return total_ >= need_; }
  /// Still to be found: for the page, and once that is full for the count.
  std::int64_t missing() const { return (page_is_full() ? cap_ + 1 : need_) - total_; }
  bool ascending_keys() const { return query_.descending; }
  std::string row_columns() const { return "key, text, order_key" + table_.field_columns; }
  std::string in_range() const { return table_.by_time() ? "key BETWEEN ?2 AND ?3" : "?2 <= ?3"; }
  std::string key_order() const { return ascending_keys() ? "key" : "key DESC"; }
  std::chrono::microseconds spent() const;
  bool is_late() const;

  StatementCache& statements_;
  const CollectionTable& table_;
  const Query& query_;
  const SearchBudget budget_;
  const Predicate predicate_;
  KeyRange range_;
  std::vector<Equality> equalities_;                        ///< fewest rows first
  Predicate texts_;                                         ///< the conditions that the search index can answer
  TextSample sample_, given_;                               ///< newest rows; rows that the index gave
  std::optional<TextPlan> plan_;                            ///< once it was thought of
  std::map<Prefixes, std::vector<std::int64_t>> gathered_;  ///< of the part that is looked through
  std::vector<const std::vector<std::int64_t>*> lists_;     ///< those of them that are used
  std::optional<std::vector<IndexSegment>> segments_;       ///< if their format is known
  std::deque<std::string> asked_;                           ///< what FTS5 is asked for instead
  KeyRange by_index_{0, 0};                                 ///< what the index was asked for, from this part on
  double base_share_ = 1;      ///< of the collection's rows, those that all equalities hold for
  bool only_streams_ = false;  ///< there are no conditions but equalities and texts
  bool takes_all_ = false;     ///< every row of the collection fits
  bool sorts_ = false;         ///< rows were gathered and then sorted
  std::int64_t found_before_index_ = 0;
  std::int64_t need_, cap_, rows_ = 0, total_ = 0, last_key_ = 0;
  double row_cost_ns_ = 0;  ///< of one row of the base
  std::vector<std::int64_t> page_;
  std::chrono::nanoseconds started_cpu_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace krux
