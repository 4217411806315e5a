// Which plan a search goes on with, and what that takes from the search index.
#include <fmt/format.h>

#include <algorithm>

#include "core/replica/gram_index.hpp"
#include "core/replica/search.hpp"
#include "core/replica/token_keys.hpp"

namespace krux {
namespace {

constexpr int kTextPatience = 256;
// Parts of the collection that are gathered: the first one, where the page is likely to need less, and the next ones.
constexpr double kLeastPart = 0.125, kPartForPage = 2, kNextPart = 3;
constexpr double kWholeShare = 0.5;  ///< from so much on, parts are not worth their beginning

}  // namespace

/// Some rows, to see what is common.
void Search::plan_by_index() {
  auto& statement = statements_.get(fmt::format("SELECT {} FROM {} WHERE key BETWEEN ?1 AND ?2 ORDER BY {} LIMIT {}",
                                                row_columns(), table_.rows, key_order(), TextSample::kMost));
  const ResetAtEnd reset(statement);
  statement.bind_all(range_.low, range_.high);
  double rows = 0, of_base = 0;
  while (statement.step()) {
    const auto holds = [&](const Equality& equality) { return matches(*equality.predicate, statement); };
    if (std::all_of(equalities_.begin(), equalities_.end(), holds)) ++of_base;
    ++rows;
    sample_.add(std::string(statement.text(kTextColumn)));
  }
  base_share_ = (of_base + 0.3) / (rows + 0.3);
  plan_ = text_plan(texts_, sample_, {static_cast<double>(rows_), static_cast<double>(missing())});
}

bool Search::should_switch(std::int64_t looked_at) {
  if (!plan_) plan_by_index();
  LookedAt so_far{static_cast<double>(rows_),
                  base_share_,
                  static_cast<double>(looked_at),
                  static_cast<double>(total_),
                  static_cast<double>(missing()),
                  row_cost_ns_,
                  table_.by_time(),
                  std::nullopt};
  if (page_is_full()) {
    const std::chrono::duration<double, std::nano> left = budget_.count - spent();
    so_far.left_ns = left.count();
  }
  return index_is_sooner(so_far, *plan_);
}

/// The last key there is, in the order of the result.
std::optional<std::int64_t> Search::last_key() {
  const bool up = ascending_keys();
  auto& edge = statements_.get(fmt::format("SELECT {}(key) FROM {}", up ? "max" : "min", table_.rows));
  const ResetAtEnd reset(edge);
  if (!edge.step()) return std::nullopt;
  return up ? std::min(range_.high, edge.integer(0)) : std::max(range_.low, edge.integer(0));
}

/// Changes the plan where it says so.
bool Search::should_exclude_more(std::int64_t looked_at) {
  if (page_is_full()) return false;  // counting has its own end
  const auto last = last_key();
  if (!last) return false;
  const bool up = ascending_keys();
  const auto far = *last;
  const auto near = up ? by_index_.low : by_index_.high;
  const auto all = static_cast<double>(far) - static_cast<double>(near);
  const auto gone = static_cast<double>(last_key_) - static_cast<double>(near);
  if (all == 0 || gone / all <= 0) return false;
  const GivenSoFar so_far{static_cast<double>(rows_), std::min(1.0, gone / all), static_cast<double>(looked_at),
                          static_cast<double>(total_ - found_before_index_), static_cast<double>(need_ - total_)};
  auto stricter = stricter_plan(*plan_, texts_, sample_, given_, so_far);
  if (!stricter) return false;
  plan_ = std::move(stricter);
  return true;
}

Search::End Search::find_by_index() {
  if (!table_.by_time()) return gather_and_sort();
  auto stage = Stage::kIndex;
  by_index_ = rest();
  const auto likely = static_cast<double>(rows_) * plan_->share * base_share_;
  auto share = std::max(kLeastPart, kPartForPage * static_cast<double>(need_ - total_) / std::max(likely, 1.0));
  for (;; share *= kNextPart) {
    found_before_index_ = total_;
    const auto part = part_of(by_index_, share);
    gathered_.clear();
    auto end = find_in(part, share, stage);
    if (end == End::kSwitch) {
      stage = Stage::kStricterIndex;
      const auto left = rest();
      end = find_in({std::max(part.low, left.low), std::min(part.high, left.high)}, share, stage);
    }
    if (end != End::kExhausted || part.high == by_index_.high) return end;
    by_index_.low = part.high + 1;
  }
}

Search::End Search::find_in(KeyRange part, double share, Stage stage) {
  if (part.low > part.high) return End::kExhausted;
  if (!gather(part, std::min(share, 1.0))) return End::kOutOfTime;
  const bool exact = only_streams_ && plan_->exact && lists_.size() == plan_->gathers.size();
  return consume(*common_keys(true, part), !exact, exact ? Stage::kStricterIndex : stage);
}

/// A part of what is left, behind which there may be more: the page may be full before that is needed.
KeyRange Search::part_of(KeyRange left, double share) {
  if (!ascending_keys() || plan_->gathers.empty() || share > kWholeShare) return left;
  const auto last = last_key();
  if (!last || *last <= left.low) return left;
  const auto span = static_cast<double>(*last) - static_cast<double>(left.low);
  left.high = std::min(left.high, left.low + static_cast<std::int64_t>(span * share));
  return left;
}

/// What the plan gathers, of so many of the collection's rows; false where there was no time for it. Once it is known
/// how few rows a list has, those are left out that cost more than looking at these rows.
bool Search::gather(KeyRange range, double share) {
  const auto all = static_cast<double>(rows_) * share;
  auto rows = all;
  lists_.clear();
  for (const auto& gather : plan_->gathers) {
    if (!gathered_.contains(gather.prefixes)) {  // else for a larger range
      if (rows * kVerifyNs < all * gather.ns) continue;
      auto keys = keys_with(statements_, table_.search, gather.prefixes, range, [this] { return is_late(); });
      if (!keys) return false;
      gathered_.emplace(gather.prefixes, *std::move(keys));
    }
    lists_.push_back(&gathered_.at(gather.prefixes));
    const auto size = static_cast<double>(lists_.back()->size());
    rows = std::min(size, rows * std::max(gather.share, size / all));
  }
  return true;
}

KeyStreams Search::text_streams(KeyRange range) {
  segments_ = index_segments(statements_, table_.search);
  asked_.clear();
  auto streams = token_streams(plan_->needs, range);
  for (const auto* list : lists_) streams.push_back(std::make_unique<ListedKeys>(*list, range, ascending_keys()));
  return streams;
}

KeyStreams Search::token_streams(const std::vector<TokenNeed>& needs, KeyRange range) {  // NOLINT(misc-no-recursion)
  KeyStreams streams;
  for (const auto& need : needs) {
    KeyStreams any;
    for (const auto& all : need.any) any.push_back(std::make_unique<AllKeys>(token_streams(all, range)));
    streams.push_back(any.empty() ? token_stream(need.token, range) : std::make_unique<AnyKeys>(std::move(any)));
  }
  return streams;
}

/// By FTS5 where its pages cannot be read, which is slower.
std::unique_ptr<KeyStream> Search::token_stream(const std::string& token, KeyRange range) {
  if (segments_) {
    return std::make_unique<TokenKeys>(statements_, table_.search, *segments_, token, range, ascending_keys());
  }
  auto& statement = statements_.get(
      fmt::format("SELECT rowid FROM {0} WHERE {0} MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid{1} -- {2}",
                  table_.search, ascending_keys() ? "" : " DESC", asked_.size()));
  statement.bind(1, asked_.emplace_back(quoted_token(token)));
  return std::make_unique<IndexKeys>(statement, range, ascending_keys(), kTextPatience);
}

}  // namespace krux
