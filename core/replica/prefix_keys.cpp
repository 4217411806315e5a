#include "core/replica/prefix_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "core/replica/gram_index.hpp"
#include "core/replica/index_segment.hpp"

namespace krux {
namespace {

using Keys = std::vector<std::int64_t>;
constexpr std::size_t kTermsAtOnce = 64;  ///< before the time is looked at

/// Sorted lists one behind the other, of keys that lie about evenly in their span: each is put near its place first,
/// which takes a quarter of the time of sorting them all.
void sort_each_once(Keys& keys) {
  if (keys.empty()) return;
  const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
  const auto lowest = static_cast<std::uint64_t>(*low), span = static_cast<std::uint64_t>(*high) - lowest;
  const auto bits = std::bit_width(span / keys.size());
  const auto place = [&](std::int64_t key) { return (static_cast<std::uint64_t>(key) - lowest) >> bits; };
  std::vector<std::uint32_t> ends((span >> bits) + 1);
  for (const auto key : keys) ++ends[place(key)];
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  Keys sorted(keys.size());
  auto begins = ends;
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) sorted[--begins[place(*key)]] = *key;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] - begins[i] > 1) std::sort(sorted.begin() + begins[i], sorted.begin() + ends[i]);
  }
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  keys = std::move(sorted);
}

/// The keys of one term that several segments may have, the newest first.
class TermKeys {
 public:
  TermKeys(KeyRange range, Keys& out) : range_(range), out_(out) {}

  void begin_term() { removed_.clear(); }
  void read(SegmentTerms& segment) {
    const auto before = removed_.size();
    segment.read(range_.high, [&](std::int64_t key, bool removes, bool has) {
      if (has && key >= range_.low && !is_removed(key, before)) out_.push_back(key);
      if (removes) removed_.push_back(key);
    });
    if (removed_.size() > before) std::sort(removed_.begin(), removed_.end());
  }

 private:
  /// By a newer segment: those come before, sorted.
  bool is_removed(std::int64_t key, std::size_t count) const {
    return count > 0 &&
           std::binary_search(removed_.begin(), removed_.begin() + static_cast<std::ptrdiff_t>(count), key);
  }

  KeyRange range_;
  Keys& out_;
  Keys removed_;
};

/// false: there was no time for all.
bool read_prefix(std::vector<SegmentTerms> newest_first, std::string_view prefix, TermKeys& keys,
                 const std::function<bool()>& is_late) {
  std::string term;
  for (std::size_t terms = 1;; ++terms) {
    const SegmentTerms* first = nullptr;
    for (const auto& segment : newest_first) {
      if (!segment.ended() && (!first || segment.term() < first->term())) first = &segment;
    }
    if (!first || !first->term().starts_with(prefix)) return true;
    term = first->term();
    keys.begin_term();
    for (auto& segment : newest_first) {
      if (!segment.ended() && segment.term() == term) keys.read(segment);
    }
    if (terms % kTermsAtOnce == 0 && is_late()) return false;
  }
}

/// By FTS5, which takes 20 times as long.
void ask_fts5(StatementCache& statements, const std::string& search_table, std::string_view prefix, KeyRange range,
              Keys& out) {
  auto& find =
      statements.get(fmt::format("SELECT rowid FROM {0} WHERE {0} MATCH ?1 AND rowid BETWEEN ?2 AND ?3", search_table));
  const ResetAtEnd reset(find);
  const auto expression = quoted_token(prefix) + " *";
  find.bind(1, expression);
  find.bind(2, range.low);
  find.bind(3, range.high);
  while (find.step()) out.push_back(find.integer(0));
}

}  // namespace

std::optional<std::vector<std::int64_t>> keys_with(StatementCache& statements, const std::string& search_table,
                                                   const Prefixes& prefixes, KeyRange range,
                                                   const std::function<bool()>& is_late) {
  Keys keys;
  const auto segments = index_segments(statements, search_table);
  TermKeys of_term(range, keys);
  for (const auto& prefix : prefixes) {
    if (!segments) {
      ask_fts5(statements, search_table, prefix, range, keys);
      continue;
    }
    const IndexStatements index(statements, search_table);
    std::vector<SegmentTerms> terms;
    for (const auto& segment : *segments) terms.emplace_back(index, segment, prefix);
    if (!read_prefix(std::move(terms), prefix, of_term, is_late)) return std::nullopt;
  }
  sort_each_once(keys);
  return keys;
}

}  // namespace krux
