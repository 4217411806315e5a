#include "core/replica/token_keys.hpp"

#include <algorithm>

namespace krux {
namespace {

constexpr std::int64_t kNoRank = INT64_MIN;

}  // namespace

TokenPages::TokenPages(SegmentTerms terms, bool ascending)
    : terms_(std::move(terms)),
      ascending_(ascending),
      first_page_(terms_.page()),
      last_page_(terms_.last_page_of_term()),
      page_(ascending ? first_page_ : last_page_),
      begins_(terms_.place()) {
  if (page_ != first_page_) terms_.go_to(page_, std::nullopt);
  read_page();
}

std::optional<std::int64_t> TokenPages::at_least(std::int64_t rank) {
  do {
    // Mostly it is near: the place is looked for in steps that double.
    auto step = std::size_t{1};
    auto low = next_;
    while (low + step < ranks_.size() && ranks_[low + step] < rank) {
      low += step;
      step *= 2;
    }
    const auto begin = ranks_.begin(), end = begin + static_cast<std::ptrdiff_t>(std::min(low + step, ranks_.size()));
    next_ = static_cast<std::size_t>(std::lower_bound(begin + static_cast<std::ptrdiff_t>(low), end, rank) - begin);
    if (next_ == ranks_.size()) continue;
    // Else the keys do not ascend, and a search would go round for ever.
    if (ranks_[next_] < rank) index_damaged();
    return ranks_[next_];
  } while (go_near(rank));
  return std::nullopt;
}

bool TokenPages::removes() const {
  return std::binary_search(removed_ranks_.begin(), removed_ranks_.end(), ranks_[next_]);
}

/// To the first page that may have what is looked for.
bool TokenPages::go_near(std::int64_t rank) {
  if (page_ == (ascending_ ? last_page_ : first_page_)) return false;
  const auto pages = pages_to(rank);
  page_ += ascending_ ? pages : -pages;
  terms_.go_to(page_, place_on(page_));
  read_page();
  return true;
}

/// Looks first where it would be if keys lay evenly: between far pages most need not be read at all.
std::int64_t TokenPages::pages_to(std::int64_t rank) {
  const auto most = ascending_ ? last_page_ - page_ : page_ - first_page_;
  if (most == 1 || ranks_.size() < 2) return 1;
  const auto span = static_cast<double>(ranks_.back()) - static_cast<double>(ranks_.front());
  const auto far = (static_cast<double>(rank) - static_cast<double>(ranks_.back())) / std::max(span, 1.0);
  if (far < 2) return 1;
  const auto guess = static_cast<std::int64_t>(std::min(far * 7 / 8, static_cast<double>(most)));
  std::int64_t low = 1, high = guess;
  if (can_be_passed(guess, rank)) {
    std::int64_t step = 1 + guess / 8;
    for (low = guess + 1; low + step <= most && can_be_passed(low + step - 1, rank); step *= 2) low += step;
    high = std::min(low + step - 1, most);
  }
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (can_be_passed(middle, rank)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Pages in the order of ranks: whether all of the one at `distance` are below `rank`.
bool TokenPages::can_be_passed(std::int64_t distance, std::int64_t rank) {
  const auto page = ascending_ ? page_ + distance + 1 : page_ - distance;
  if (page > last_page_ || page < first_page_) return false;
  terms_.go_to(page, place_on(page));
  const auto first = terms_.first_key();
  if (ascending_) return first && *first <= rank;
  return page > first_page_ && (!first || *first > -rank);
}

std::optional<std::size_t> TokenPages::place_on(std::int64_t page) const {
  return page == first_page_ ? std::optional(begins_) : std::nullopt;
}

void TokenPages::read_page() {
  ranks_.clear();
  removed_ranks_.clear();
  next_ = 0;
  terms_.read_page(INT64_MAX, [&](std::int64_t key, bool, bool has) {
    if (key == kNoRank) index_damaged();
    ranks_.push_back(key);
    if (!has) removed_ranks_.push_back(key);
  });
  if (ascending_) return;
  for (auto* ranks : {&ranks_, &removed_ranks_}) {
    std::reverse(ranks->begin(), ranks->end());
    for (auto& rank : *ranks) rank = -rank;
  }
}

TokenKeys::TokenKeys(StatementCache& statements, const std::string& search_table,
                     const std::vector<IndexSegment>& newest_first, std::string_view token, KeyRange range,
                     bool ascending)
    : statements_(statements),
      search_table_(search_table),
      newest_first_(newest_first),
      token_(token),
      ascending_(ascending),
      first_rank_(ascending ? range.low : -range.high),
      last_rank_(ascending ? range.high : -range.low) {}

void TokenKeys::open() {
  is_open_ = true;
  const IndexStatements index(statements_, search_table_);
  for (const auto& segment : newest_first_) {
    SegmentTerms terms(index, segment, token_);
    if (!terms.ended() && terms.term() == token_) parts_.push_back({TokenPages(std::move(terms), ascending_), kNoRank});
  }
}

std::optional<std::int64_t> TokenKeys::at_least(std::int64_t rank) {
  if (!is_open_) open();
  for (rank = std::max(rank, first_rank_); rank <= last_rank_; ++rank) {
    advance(rank);
    // Of one row the newest segment's entry counts: min_element gives the first of several.
    const auto found = std::min_element(parts_.begin(), parts_.end(), [](auto& a, auto& b) { return a.rank < b.rank; });
    if (found == parts_.end() || found->rank > last_rank_) break;
    if (!found->pages.removes()) return found->rank;
    rank = found->rank;
    if (rank == last_rank_) break;
  }
  return std::nullopt;
}

void TokenKeys::advance(std::int64_t rank) {
  bool ended = false;
  for (auto& part : parts_) {
    if (part.rank >= rank) continue;
    const auto next = part.pages.at_least(rank);
    part.rank = next.value_or(kNoRank);
    ended = ended || !next;
  }
  if (ended) std::erase_if(parts_, [](const Part& part) { return part.rank == kNoRank; });
}

}  // namespace krux
