#include "core/replica/left_out.hpp"

#include <fmt/format.h>

#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestWholeId = 1024, kLongestShownId = 200;

const char* part_name(LeftOutPart part) {
  return part == LeftOutPart::kRecord ? "record" : "kept_text";
}

/// An id that no record can have is one of the reasons for being here: it is shown, and told from others by its hash.
std::string left_out_key(std::string_view id) {
  const bool is_id = !id.empty() && id.size() <= kLongestWholeId && is_valid_utf8(id) && id.find('\0') == id.npos;
  if (is_id) return std::string(id);
  return fmt::format("{} (sha256 {})", printable(id.substr(0, kLongestShownId)), sha256_hex(id).substr(0, 16));
}

/// A scope likewise; a sweep of the whole collection finds it all the same.
std::string left_out_scope(std::string_view scope) {
  return scope.empty() ? std::string() : left_out_key(scope);
}

}  // namespace

LeftOutCounts LeftOutTable::counts() {
  auto& all = statements_.get(
      "SELECT COUNT(*), COUNT(c.name) FROM left_out l LEFT JOIN collections c ON c.name = l.set_name AND c.role = "
      "'serves'");
  const ResetAtEnd reset(all);
  return all.step() ? LeftOutCounts{all.integer(0), all.integer(1)} : LeftOutCounts{};
}

std::vector<LeftOutRecord> LeftOutTable::latest(std::int64_t limit) {
  auto& rows = statements_.get(
      "SELECT c.collection, l.id, l.reason, l.since_ms, l.seen_ms FROM left_out l JOIN collections c ON c.name = "
      "l.set_name "
      "WHERE c.role = 'serves' ORDER BY l.seen_ms DESC, c.collection, l.id LIMIT ?1");
  const ResetAtEnd reset(rows);
  rows.bind(1, limit);
  std::vector<LeftOutRecord> found;
  while (rows.step()) {
    found.push_back({std::string(rows.text(0)), std::string(rows.text(1)), std::string(rows.text(2)), rows.integer(3),
                     rows.integer(4)});
  }
  return found;
}

void LeftOutTable::note(const std::string& set, const Record& record, LeftOutPart part, std::string_view reason,
                        std::int64_t now_ms) {
  changed_ = true;
  statements_
      .get(
          "INSERT INTO left_out VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8) ON CONFLICT (set_name, id, part) DO "
          "UPDATE SET scope = excluded.scope, order_ms = excluded.order_ms, generation = max(generation, "
          "excluded.generation), "
          "reason = excluded.reason, seen_ms = excluded.seen_ms")
      .bind_all(set, left_out_key(record.id), std::string_view(part_name(part)), left_out_scope(record.scope),
                record.order_ms, record.generation, reason, now_ms)
      .run();
}

void LeftOutTable::forget(const std::string& set, std::string_view id, LeftOutPart part) {
  changed_ = true;
  statements_.get("DELETE FROM left_out WHERE set_name = ?1 AND id = ?2 AND part = ?3")
      .bind_all(set, left_out_key(id), std::string_view(part_name(part)))
      .run();
}

void LeftOutTable::forget(const std::string& set, std::string_view id) {
  changed_ = true;
  statements_.get("DELETE FROM left_out WHERE set_name = ?1 AND id = ?2").bind_all(set, left_out_key(id)).run();
}

void LeftOutTable::sweep(const std::string& set, const Sweep& sweep) {
  changed_ = true;
  // A kept text goes with its record, which is swept by itself.
  statements_
      .get(
          "DELETE FROM left_out WHERE set_name = ?1 AND part = 'record' AND (?2 = '' OR scope = ?2) AND "
          "generation < ?3 AND order_ms BETWEEN ?4 AND ?5")
      .bind_all(set, left_out_scope(sweep.scope), sweep.generation, sweep.from_ms, sweep.to_ms)
      .run();
}

void LeftOutTable::sweep_sets() {
  statements_.get("DELETE FROM left_out WHERE set_name NOT IN (SELECT name FROM collections)").run();
}

}  // namespace krux
