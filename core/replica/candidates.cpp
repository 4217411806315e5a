#include "core/replica/candidates.hpp"

#include <algorithm>

#include "core/util/error.hpp"

namespace krux {

IndexKeys::IndexKeys(Statement& statement, KeyRange range, bool ascending, int patience)
    : statement_(statement), range_(range), ascending_(ascending), patience_(patience) {}

void IndexKeys::start(std::int64_t rank) {
  statement_.reset();
  const auto key = ascending_ ? rank : -rank;
  statement_.bind(2, ascending_ ? std::max(range_.low, key) : range_.low);
  statement_.bind(3, ascending_ ? range_.high : std::min(range_.high, key));
  started_ = true;
}

std::optional<std::int64_t> IndexKeys::at_least(std::int64_t rank) {
  if (ended_) return std::nullopt;
  if (started_ && current_ >= rank) return current_;
  if (!started_) start(rank);
  for (int steps = 0;; ++steps) {
    if (steps == patience_) start(rank);
    if (!statement_.step()) {
      ended_ = true;
      return std::nullopt;
    }
    current_ = ascending_ ? statement_.integer(0) : -statement_.integer(0);
    if (current_ >= rank) return current_;
  }
}

ListedKeys::ListedKeys(const std::vector<std::int64_t>& keys, KeyRange range, bool ascending)
    : begin_(std::lower_bound(keys.begin(), keys.end(), range.low)),
      end_(std::upper_bound(begin_, keys.end(), range.high)),
      ascending_(ascending) {}

std::optional<std::int64_t> ListedKeys::at_least(std::int64_t rank) {
  // Mostly the next one is near: the place is looked for in steps that double.
  const auto size = end_ - begin_;
  std::ptrdiff_t passed = 0;
  while (passed < size && (ascending_ ? begin_[passed] < rank : -end_[-1 - passed] < rank)) passed = 2 * passed + 1;
  const auto known = passed / 2, most = std::min(passed, size);
  if (ascending_) {
    begin_ = std::lower_bound(begin_ + known, begin_ + most, rank);
  } else {
    end_ = std::upper_bound(end_ - most, end_ - known, -rank);
  }
  if (begin_ == end_) return std::nullopt;
  return ascending_ ? *begin_ : -end_[-1];
}

void AllKeys::stop() {
  for (auto& stream : streams_) stream->stop();
}

std::optional<std::int64_t> AllKeys::at_least(std::int64_t rank) {
  for (std::size_t i = 0; i < streams_.size() && !ended_;) {
    const auto found = streams_[i]->at_least(rank);
    ended_ = !found;
    if (ended_) break;
    i = *found == rank || i == 0 ? i + 1 : 0;
    rank = *found;
  }
  return ended_ ? std::nullopt : std::optional(rank);
}

void AnyKeys::stop() {
  for (auto& stream : streams_) stream->stop();
}

std::optional<std::int64_t> AnyKeys::at_least(std::int64_t rank) {
  std::optional<std::int64_t> least;
  for (auto& stream : streams_) {
    const auto found = stream->at_least(rank);
    if (found && (!least || *found < *least)) least = found;
  }
  return least;
}

bool CommonKeys::next() {
  // The first rank of all: no key has a smaller one.
  const auto found = keys_.at_least(started_ ? rank_ + 1 : -(std::int64_t{1} << 62));
  started_ = true;
  rank_ = found.value_or(rank_);
  return found.has_value();
}

const Statement& CommonKeys::row() {
  lookup_.reset();
  lookup_.bind(1, key());
  if (!lookup_.step())
    throw database_error("The replica's search index does not agree with its rows. Sync the account anew.");
  return lookup_;
}

}  // namespace krux
