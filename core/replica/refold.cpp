#include "core/replica/refold.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/replica/row_texts.hpp"

namespace krux {
namespace {

/// A transaction of so many keeps other writers waiting for some ten milliseconds.
constexpr std::int64_t kRowsAtOnce = 200;

/// The key up to which all are done; nothing where all are.
std::optional<std::int64_t> done_through(StatementCache& statements, const CollectionTable& table) {
  auto& row = statements.get("SELECT refolded_through FROM collections WHERE name = ?1");
  const ResetAtEnd reset(row);
  row.bind(1, std::string_view(table.set));
  if (!row.step() || row.is_null(0)) return std::nullopt;
  return row.integer(0);
}

}  // namespace

bool has_accents_left(StatementCache& statements, const CollectionTable& table) {
  return done_through(statements, table).has_value();
}

bool refold_some(StatementCache& statements, const CollectionTable& table) {
  const auto from = done_through(statements, table);
  if (!from) return false;
  Transaction transaction(statements.db());
  std::vector<std::pair<std::int64_t, SearchedText>> rows;
  if (table.spec.searchable) {
    auto& next = statements.get(fmt::format("SELECT key, text, own_bytes FROM {} WHERE key > ?1 ORDER BY key LIMIT {}",
                                            table.rows, kRowsAtOnce));
    const ResetAtEnd reset(next);
    next.bind(1, *from);
    while (next.step())
      rows.emplace_back(next.integer(0),
                        SearchedText{std::string(next.text(1)), static_cast<std::size_t>(next.integer(2))});
  }
  RowTexts texts(statements);
  for (const auto& [key, before] : rows) {
    auto text = before;
    text.leave_out_accents();
    texts.update(table, key, before, text);
  }
  const bool is_last = static_cast<std::int64_t>(rows.size()) < kRowsAtOnce;
  auto& note = statements.get("UPDATE collections SET refolded_through = ?2 WHERE name = ?1");
  note.bind(1, std::string_view(table.set));
  if (is_last) {
    note.bind(2, nullptr);
  } else {
    note.bind(2, rows.back().first);
  }
  note.run();
  transaction.commit();
  return !is_last;
}

}  // namespace krux
