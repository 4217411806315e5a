#include "core/replica/index_segment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.hpp"

namespace krux {
namespace {

// What FTS5 writes: docs/storage-format.md.
constexpr std::int64_t kStructureRow = 10, kKnownVersion = 4;
constexpr int kPageBits = 37;  ///< of a page's row: its number, below the segment's
constexpr std::size_t kStructureBegins = 4, kPageBegins = 4;
constexpr char kOtherStructure = '\xff', kTermPrefix = '0';

/// Goes on behind the number that begins at `at`.
std::uint64_t number_at(std::string_view bytes, std::size_t& at) {
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* place = begin + at;
  const auto number = read_number(place, begin + bytes.size());
  at = static_cast<std::size_t>(place - begin);
  return number;
}

std::size_t two_bytes(std::string_view bytes, std::size_t at) {
  return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])) << 8 |
         static_cast<unsigned char>(bytes[at + 1]);
}

bool is_known_version(StatementCache& statements, const std::string& search_table) {
  auto& version = statements.get(fmt::format("SELECT v FROM {}_config WHERE k = 'version'", search_table));
  const ResetAtEnd reset(version);
  return version.step() && version.integer(0) == kKnownVersion;
}

}  // namespace

void index_damaged() {
  throw database_error("The replica's search index is damaged. Sync the account anew.");
}

std::optional<std::vector<IndexSegment>> index_segments(StatementCache& statements, const std::string& search_table) {
  if (!is_known_version(statements, search_table)) return std::nullopt;
  auto& find = statements.get(fmt::format("SELECT block FROM {}_data WHERE id = {}", search_table, kStructureRow));
  const ResetAtEnd reset(find);
  if (!find.step()) return std::nullopt;
  const auto bytes = find.blob(0);
  if (bytes.size() <= kStructureBegins || bytes[kStructureBegins] == kOtherStructure) return std::nullopt;
  std::size_t at = kStructureBegins;
  const auto number = [&] { return static_cast<std::int64_t>(number_at(bytes, at)); };
  const auto levels = number();
  number();  // of all segments
  number();  // a counter of what was written
  std::vector<IndexSegment> newest_first;
  for (std::int64_t level = 0; level < levels; ++level) {
    number();  // of those that are being merged
    std::vector<IndexSegment> oldest_first;
    for (auto left = number(); left > 0; --left) {
      const auto id = number(), first = number(), last = number();
      if (first > 0) oldest_first.push_back({id, first, last});  // else all of it has been merged already
    }
    newest_first.insert(newest_first.end(), oldest_first.rbegin(), oldest_first.rend());
  }
  return newest_first;
}

IndexStatements::IndexStatements(StatementCache& statements, const std::string& search_table)
    : page(statements.get(fmt::format("SELECT block FROM {}_data WHERE id = ?1", search_table))),
      page_of_term(statements.get(fmt::format(
          "SELECT pgno >> 1 FROM {}_idx WHERE segid = ?1 AND term <= ?2 ORDER BY term DESC LIMIT 1", search_table))),
      page_behind_term(statements.get(fmt::format(
          "SELECT pgno >> 1 FROM {}_idx WHERE segid = ?1 AND term > ?2 ORDER BY term LIMIT 1", search_table))) {}

SegmentTerms::SegmentTerms(const IndexStatements& statements, const IndexSegment& segment, std::string_view from)
    : read_page_(&statements.page), find_next_(&statements.page_behind_term), segment_(segment) {
  const auto page = find_page(statements.page_of_term, kTermPrefix + std::string(from));
  // Pages before the first one have been merged away.
  if (!load(std::max(segment.first_page, page.value_or(0)))) return;
  do next();
  while (!ended_ && term() < from);
}

std::optional<std::int64_t> SegmentTerms::find_page(Statement& find, std::string_view term) {
  const ResetAtEnd reset(find);
  find.bind(1, segment_.id);
  find.bind_blob(2, term);
  return find.step() ? std::optional(find.integer(0)) : std::nullopt;
}

bool SegmentTerms::load(std::int64_t page) {
  ended_ = page > segment_.last_page;
  if (ended_) return false;
  const ResetAtEnd reset(*read_page_);
  read_page_->bind(1, (segment_.id << kPageBits) + page);
  if (!read_page_->step()) index_damaged();
  bytes_ = read_page_->blob(0);
  if (bytes_.size() < kPageBegins) index_damaged();
  keys_end_ = places_at_ = two_bytes(bytes_, 2);
  if (keys_end_ < kPageBegins || keys_end_ > bytes_.size()) index_damaged();
  page_ = page;
  at_ = kPageBegins;
  next_term_.reset();
  first_of_page_ = true;
  take_term_place();
  return true;
}

/// Behind the keys a page has the places of its terms, each as the distance from the one before.
void SegmentTerms::take_term_place() {
  if (places_at_ == bytes_.size()) {
    next_term_.reset();
    return;
  }
  const auto place = next_term_.value_or(0) + number_at(bytes_, places_at_);
  if (place < at_ || place >= keys_end_) index_damaged();
  next_term_ = place;
}

/// Keys that were not read are passed over: there may be a thousand pages of them, and where terms begin is known.
void SegmentTerms::next() {
  if (!next_term_ && !load(page_ + 1)) return;
  while (!next_term_) {
    const auto page = find_page(*find_next_, term_);
    if (!load(page ? std::max(page_ + 1, *page) : segment_.last_page + 1)) return;
  }
  at_ = *next_term_;
  const auto kept = first_of_page_ ? 0 : number();
  const auto rest = number();
  if (rest > keys_end_ - at_ || kept > term_.size()) index_damaged();
  term_.resize(kept);
  term_ += std::string_view(bytes_).substr(at_, rest);
  if (term_.empty()) index_damaged();
  at_ += rest;
  first_of_page_ = false;
  take_term_place();
}

std::uint64_t SegmentTerms::number() {
  return number_at(std::string_view(bytes_).substr(0, keys_end_), at_);
}

std::int64_t SegmentTerms::last_page_of_term() {
  if (next_term_) return page_;
  return std::clamp(find_page(*find_next_, term_).value_or(segment_.last_page), page_, segment_.last_page);
}

void SegmentTerms::go_to(std::int64_t page, std::optional<std::size_t> place) {
  if (!load(page)) index_damaged();
  if (!place) return;
  at_ = *place;
  next_term_.reset();
  if (at_ > keys_end_) index_damaged();
}

std::optional<std::int64_t> SegmentTerms::first_key() const {
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes_.data());
  const auto *at = begin + at_, *end = begin + end_of_keys();
  if (at >= end) return std::nullopt;
  return static_cast<std::int64_t>(read_number(at, end));
}

}  // namespace krux
