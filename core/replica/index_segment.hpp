// The pages of FTS5, read without it: a segment's terms in order, and the keys that each has.
//
// FTS5 gathers every row of a prefix, in merges upon merges, before it gives the first; its pages have them ready. They
// are what docs/storage-format.md says of t_<set>_data. What a transaction has not yet flushed is not in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/statement.hpp"

namespace krux {

struct IndexSegment {
  std::int64_t id, first_page, last_page;
};

/// The newest first: what a newer one says of a term's row is what counts. Nothing where this program does not know the
/// format. Throws krux::Error DatabaseError, as all of this does.
std::optional<std::vector<IndexSegment>> index_segments(StatementCache& statements, const std::string& search_table);

[[noreturn]] void index_damaged();

/// Seven bits a byte, the highest first, as long as the eighth is set; the ninth byte has eight.
inline std::uint64_t read_number(const unsigned char*& at, const unsigned char* end) {
  constexpr int kLongest = 9;
  std::uint64_t value = 0;
  for (int i = 1; at < end; ++i) {
    const auto byte = *at++;
    if (i == kLongest) return value << 8 | byte;
    value = value << 7 | (byte & 0x7fu);
    if (byte < 0x80) return value;
  }
  index_damaged();
}

/// What reads one search index's pages. Valid as long as the cache.
struct IndexStatements {
  IndexStatements(StatementCache& statements, const std::string& search_table);

  Statement &page, &page_of_term, &page_behind_term;
};

/// The terms of one segment from a first one on. One at a time is read of a connection's read transaction.
class SegmentTerms {
 public:
  SegmentTerms(const IndexStatements& statements, const IndexSegment& segment, std::string_view from);

  bool ended() const { return ended_; }
  std::string_view term() const { return std::string_view(term_).substr(1); }  ///< unless ended()

  /// Gives the term's keys, ascending, up to `last`, and goes on to the next term. `on_key(key, removes, has)`: that
  /// older segments' entry no longer counts, that the row has the term.
  template <typename OnKey>
  void read(std::int64_t last, const OnKey& on_key) {
    while (read_page(last, on_key) && !next_term_) {
      if (!load(page_ + 1)) return;
    }
    next();
  }

  // A term's keys by pages, instead of read(): they end on last_page_of_term(), which may hold none.
  std::int64_t page() const { return page_; }
  std::int64_t last_page_of_term();
  std::size_t place() const { return at_; }  ///< on the page where the term begins: that of its keys
  /// To a page that the term goes on to, or to `place` on the one where it begins, if that is not its last.
  void go_to(std::int64_t page, std::optional<std::size_t> place);
  /// The keys of this page alone. false: there was one behind `last`.
  template <typename OnKey>
  bool read_page(std::int64_t last, const OnKey& on_key) {
    const auto* begin = reinterpret_cast<const unsigned char*>(bytes_.data());
    const auto *at = begin + at_, *end = begin + end_of_keys();
    const auto takes_zero = [&] { return at < end && *at == 0 && ++at; };
    bool passed = false;
    for (std::uint64_t key = 0; at < end && !passed;) {
      key += read_number(at, end);
      const bool removes = takes_zero();
      const bool has = !removes || takes_zero();
      passed = static_cast<std::int64_t>(key) > last;
      if (!passed) on_key(static_cast<std::int64_t>(key), removes, has);
    }
    at_ = static_cast<std::size_t>(at - begin);
    return !passed;
  }
  std::optional<std::int64_t> first_key() const;  ///< of this page

 private:
  std::optional<std::int64_t> find_page(Statement& find, std::string_view term);
  bool load(std::int64_t page);  ///< false: there are no more
  void next();
  void take_term_place();
  std::size_t end_of_keys() const { return next_term_.value_or(keys_end_); }
  std::uint64_t number();

  Statement *read_page_, *find_next_;
  IndexSegment segment_;
  std::string bytes_;  ///< of the page
  std::string term_;   ///< behind the prefix that FTS5 gives all terms
  std::int64_t page_ = 0;
  std::size_t at_ = 0, keys_end_ = 0, places_at_ = 0;
  std::optional<std::size_t> next_term_;  ///< its place on this page
  bool first_of_page_ = false, ended_ = false;
};

}  // namespace krux
