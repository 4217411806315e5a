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
/// And so far apart from each other, while there is room.
constexpr std::int64_t kStep = 64;

KeyRange keys_of(std::int64_t order_ms) {
  return {first_key(order_ms), last_key(order_ms)};
}

std::optional<std::int64_t> neighbour(Statement& statement, const Record& record, std::int64_t none) {
  const auto range = keys_of(record.order_ms);
  const ResetAtEnd reset(statement);
  statement.bind(1, range.low);
  statement.bind(2, range.high);
  statement.bind(3, record.order_key);
  statement.bind(4, record.id);
  return statement.step() && !statement.is_null(0) ? statement.integer(0) : none;
}

}  // namespace

RecordWriter::Place RecordWriter::place_of(const Prepared& p, const Record& record) {
  const auto range = keys_of(record.order_ms);
  return {*neighbour(*p.newer, record, range.low - 1), *neighbour(*p.older, record, range.high + 1)};
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
  if (!p.table->by_time() || record.order_key.empty()) {
    const auto key = next_key(p, record);
    // What has an order of its own may have taken the end of the range.
    return key || !p.table->by_time() || !spread(*p.table, record.order_ms) ? key : next_key(p, record);
  }
  const auto range = keys_of(record.order_ms);
  for (const bool made_room : {false, true}) {
    const auto place = place_of(p, record);
    const auto room = place.older - place.newer - 1;
    const bool first = place.newer<range.low, last = place.older> range.high;
    if (room > 0 && first && last) return range.low + kMiddle;
    if (room > 0 && first) return std::max(place.newer + 1 + (room - 1) / 2, place.older - kStep);
    if (room > 0 && last) return std::min(place.newer + 1 + (room - 1) / 2, place.newer + kStep);
    if (room > 0) return place.newer + 1 + (room - 1) / 2;
    if (made_room || !spread(*p.table, record.order_ms)) return std::nullopt;
  }
  return std::nullopt;
}

/// Gives the records of a millisecond keys in their order with as much room between them as there is; false where
/// there is none.
bool RecordWriter::spread(const CollectionTable& table, std::int64_t order_ms) {
  const auto range = keys_of(order_ms);
  auto& list = statements_.get(
      fmt::format("SELECT key FROM {} WHERE key BETWEEN ?1 AND ?2 ORDER BY order_key DESC, key", table.rows));
  std::vector<std::int64_t> keys;
  {
    const ResetAtEnd reset(list);
    list.bind_all(range.low, range.high);
    while (list.step()) keys.push_back(list.integer(0));
  }
  const auto room = range.high - range.low + 1, count = static_cast<std::int64_t>(keys.size());
  if (count >= room) return false;
  // Through keys of no millisecond that there is, so that no two ever meet.
  const auto aside = last_key(1 - kTimeBound) + 1;
  for (std::int64_t i = 0; i < count; ++i) move(table, keys[static_cast<std::size_t>(i)], aside + i);
  for (std::int64_t i = 0; i < count; ++i) move(table, aside + i, range.low + (i + 1) * room / (count + 1));
  return true;
}

void RecordWriter::move(const CollectionTable& table, std::int64_t from, std::int64_t to) {
  const auto before = texts_.of(table, from);
  auto text = before;
  text.leave_out_accents();  // what is moved is not come upon any more
  texts_.unindex(table, from, before);
  auto& row =
      statements_.get(fmt::format("UPDATE {} SET key = ?2, text = ?3, own_bytes = ?4 WHERE key = ?1", table.rows));
  row.bind_all(from, to, std::string_view(text.all), static_cast<std::int64_t>(text.own_bytes)).run();
  statements_.get(fmt::format("UPDATE {} SET key = ?2 WHERE key = ?1", table.seen)).bind_all(from, to).run();
  texts_.index(table, to, text);
}

}  // namespace krux
