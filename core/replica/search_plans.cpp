// Which plan a search goes on with, and what that takes from the search index.
#include <fmt/format.h>

#include <algorithm>

#include "core/replica/search.hpp"

namespace krux {
namespace {

constexpr int kTextPatience = 256;

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

/// Changes the plan where it says so.
bool Search::should_exclude_more(std::int64_t looked_at) {
  if (page_is_full()) return false;  // counting has its own end
  const bool up = ascending_keys();
  auto& edge = statements_.get(fmt::format("SELECT {}(key) FROM {}", up ? "max" : "min", table_.rows));
  const ResetAtEnd reset(edge);
  if (!edge.step()) return false;
  const auto far = up ? std::min(range_.high, edge.integer(0)) : std::max(range_.low, edge.integer(0));
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

/// What the plan gathers; false where there was no time for it. Once it is known how few rows a list has, those are
/// left out that cost more than looking at these rows.
bool Search::gather(KeyRange range) {
  auto rows = static_cast<double>(rows_);
  std::vector<Gather> pays;
  for (auto& gather : plan_->gathers) {
    if (!gathered_.contains(gather.prefixes)) {  // else for a larger range
      if (rows * kVerifyNs < static_cast<double>(rows_) * gather.ns) {
        plan_->exact = false;
        continue;
      }
      auto keys = keys_with(statements_, table_.search, gather.prefixes, range, [this] { return is_late(); });
      if (!keys) return false;
      gathered_.emplace(gather.prefixes, *std::move(keys));
    }
    const auto size = static_cast<double>(gathered_.at(gather.prefixes).size());
    rows = std::min(size, rows * std::max(gather.share, size / static_cast<double>(rows_)));
    pays.push_back(std::move(gather));
  }
  plan_->gathers = std::move(pays);
  return true;
}

std::vector<std::unique_ptr<KeyStream>> Search::text_streams(KeyRange range) {
  std::vector<std::unique_ptr<KeyStream>> streams;
  for (const auto& gather : plan_->gathers) {
    streams.push_back(std::make_unique<ListedKeys>(gathered_.at(gather.prefixes), range, ascending_keys()));
  }
  if (plan_->expression.empty()) return streams;
  auto& statement = statements_.get(
      fmt::format("SELECT rowid FROM {0} WHERE {0} MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid{1}",
                  table_.search, ascending_keys() ? "" : " DESC"));
  statement.bind(1, std::string_view(plan_->expression));
  streams.push_back(std::make_unique<IndexKeys>(statement, range, ascending_keys(), kTextPatience));
  return streams;
}

}  // namespace krux
