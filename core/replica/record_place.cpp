// Where a record's key lies: docs/storage-format.md has the rules.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/replica/record_key.hpp"
#include "core/replica/record_writer.hpp"

namespace krux {
namespace {

/// The first record of a millisecond with an order of its own lies in the middle, so that others fit before and behind.
constexpr std::int64_t kMiddle = std::int64_t{1} << (kSequenceBits - 1);
/// So far from the next one at an end: thousands fit there one behind another, and some between two.
constexpr std::int64_t kStep = 8;
/// Apart from each other where they are spread, unless they are many.
constexpr std::int64_t kSpread = 64;

KeyRange keys_of(std::int64_t order_ms) {
  return {first_key(order_ms), last_key(order_ms)};
}

}  // namespace

/// Behind all that are as new or newer: the last of them stands before the first that is older.
RecordWriter::Place RecordWriter::place_of(const Prepared& p, const Record& record) {
  const auto range = keys_of(record.order_ms);
  const auto last_before = [&](std::int64_t key, bool& is_older) {
    const ResetAtEnd reset(*p.last);
    p.last->bind(1, range.low);
    p.last->bind(2, key - 1);
    p.last->bind(3, record.id);
    const bool is_there = p.last->step();
    is_older = is_there && p.last->text(1) < record.order_key;
    return is_there ? p.last->integer(0) : range.low - 1;
  };
  bool last_is_older = false;
  const auto last = last_before(range.high + 1, last_is_older);
  if (!last_is_older) return {last, range.high + 1};
  std::int64_t older = last;
  {
    const ResetAtEnd reset(*p.older);
    p.older->bind(1, range.low);
    p.older->bind(2, range.high);
    p.older->bind(3, record.id);
    p.older->bind(4, record.order_key);
    if (p.older->step()) older = p.older->integer(0);
  }
  return {last_before(older, last_is_older), older};
}

/// Whether it keeps the key that it has.
bool RecordWriter::is_in_place(const Prepared& p, const Record& record, const Present& present) {
  if (!p.table->by_time()) return true;
  if (present.order_ms != record.order_ms) return false;
  if (present.same_order_key) return true;
  const auto place = place_of(p, record);
  return place.newer < present.key && present.key < place.older;
}

std::optional<std::int64_t> RecordWriter::next_key(const Prepared& p, const Record& record) {
  const auto range = p.table->by_time() ? keys_of(record.order_ms) : KeyRange{1, INT64_MAX};
  const ResetAtEnd reset(*p.newest_key);
  p.newest_key->bind(1, range.low);
  p.newest_key->bind(2, range.high);
  const auto key = p.newest_key->step() ? p.newest_key->integer(0) + 1 : range.low;
  return key <= range.high ? std::optional(key) : std::nullopt;
}

std::optional<std::int64_t> RecordWriter::free_key(const Prepared& p, const Record& record) {
  if (!p.table->by_time()) return next_key(p, record);
  if (record.order_key.empty()) {
    const auto key = next_key(p, record);
    // What has an order of its own may have taken the end of the range; without any, places are as they came.
    return key || !has_order_keys(*p.table, record.order_ms) ? key : make_room(*p.table, record);
  }
  const auto range = keys_of(record.order_ms);
  const auto place = place_of(p, record);
  const auto room = place.older - place.newer - 1;
  if (room <= 0) return make_room(*p.table, record);
  const bool first = place.newer<range.low, last = place.older> range.high;
  if (first && last) return range.low + kMiddle;
  if (first) return std::max(range.low, place.older - kStep);
  if (last) return std::min(range.high, place.newer + kStep);
  return place.newer + 1 + (room - 1) / 2;
}

/// Of a millisecond: those with an order_key stand first.
bool RecordWriter::has_order_keys(const CollectionTable& table, std::int64_t order_ms) {
  const auto range = keys_of(order_ms);
  auto& first = statements_.get(
      fmt::format("SELECT order_key FROM {} WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT 1", table.rows));
  const ResetAtEnd reset(first);
  first.bind_all(range.low, range.high);
  return first.step() && !first.text(0).empty();
}

/// Gives the records of a millisecond keys in their order with room between them, and at both ends where there is some;
/// returns the one that is left for `record`, or nothing where there are too many.
std::optional<std::int64_t> RecordWriter::make_room(const CollectionTable& table, const Record& record) {
  const auto range = keys_of(record.order_ms);
  auto& list = statements_.get(fmt::format(
      "SELECT key, order_key FROM {} WHERE key BETWEEN ?1 AND ?2 ORDER BY order_key DESC, key", table.rows));
  std::vector<std::int64_t> keys;
  std::int64_t newer = 0;  // of them
  {
    const ResetAtEnd reset(list);
    list.bind_all(range.low, range.high);
    while (list.step()) {
      keys.push_back(list.integer(0));
      newer += list.text(1) >= record.order_key ? 1 : 0;
    }
  }
  const auto room = range.high - range.low + 1, count = static_cast<std::int64_t>(keys.size());
  if (count >= room) return std::nullopt;
  const auto apart = std::clamp<std::int64_t>(room / 2 / (count + 1), 1, kSpread);
  const auto begin = range.low + (room - apart * (count + 1)) / 2;
  // Through keys of no millisecond that there is, so that no two ever meet.
  const auto aside = last_key(1 - kTimeBound) + 1;
  std::vector<SearchedText> texts;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto key = keys[static_cast<std::size_t>(i)];
    texts.push_back(texts_.of(table, key));
    texts_.unindex(table, key, texts.back());
    rekey(table, key, aside + i);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const auto key = begin + (i < newer ? i : i + 1) * apart;
    auto& text = texts[static_cast<std::size_t>(i)];
    rekey(table, aside + i, key);
    texts_.index(table, key, text);
    // What gets another key is not come upon any more by who brings texts up to date.
    auto now = text;
    now.leave_out_accents();
    texts_.update(table, key, text, now);
  }
  return begin + newer * apart;
}

void RecordWriter::rekey(const CollectionTable& table, std::int64_t from, std::int64_t to) {
  for (const auto* name : {&table.rows, &table.seen})
    statements_.get(fmt::format("UPDATE {} SET key = ?2 WHERE key = ?1", *name)).bind_all(from, to).run();
}

}  // namespace krux
