// The rows that have a token, read from the search index's pages only as far as they are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica/candidates.hpp"
#include "core/replica/index_segment.hpp"
#include "core/replica/record_key.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// What one segment has of a token, a page at a time, in rank order.
class TokenPages {
 public:
  /// `terms` stands at the token.
  TokenPages(SegmentTerms terms, bool ascending);

  std::optional<std::int64_t> at_least(std::int64_t rank);  ///< the first not below `rank`, which must not go back
  bool removes() const;                                     ///< of the rank given last: its row no longer has the token

 private:
  bool go_near(std::int64_t rank);
  std::int64_t pages_to(std::int64_t rank);
  bool can_be_passed(std::int64_t distance, std::int64_t rank);
  std::optional<std::size_t> place_on(std::int64_t page) const;
  void read_page();

  SegmentTerms terms_;
  bool ascending_;
  std::int64_t first_page_, last_page_, page_;
  std::size_t begins_;                       ///< on the first page
  std::vector<std::int64_t> ranks_;          ///< of the page
  std::vector<std::int64_t> removed_ranks_;  ///< some of them
  std::size_t next_ = 0;                     ///< of ranks_
};

class TokenKeys final : public KeyStream {
 public:
  /// `newest_first`: what index_segments() gives, in the same read transaction. Nothing that is given may be outlived.
  /// The index is read when the first key is asked for: where another token has none, this one is not looked up.
  TokenKeys(StatementCache& statements, const std::string& search_table, const std::vector<IndexSegment>& newest_first,
            std::string_view token, KeyRange range, bool ascending);
  std::optional<std::int64_t> at_least(std::int64_t rank) override;

 private:
  struct Part {
    TokenPages pages;
    std::int64_t rank;
  };
  void open();
  void advance(std::int64_t rank);

  StatementCache& statements_;
  const std::string& search_table_;
  const std::vector<IndexSegment>& newest_first_;
  const std::string_view token_;
  const bool ascending_;
  bool is_open_ = false;
  std::int64_t first_rank_, last_rank_;
  std::vector<Part> parts_;  ///< of the newest segment first; those that have ranks left
};

}  // namespace krux
