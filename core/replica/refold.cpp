#include "core/replica/refold.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/replica/row_texts.hpp"

namespace krux {
namespace {

/// What one transaction changes: other writers wait for it. Texts are indexed anew at some 100 KB a tenth of a second.
constexpr int kRowsAtOnce = 200;
constexpr std::size_t kBytesAtOnce = 64 << 10;

struct Changed {
  std::int64_t key;
  SearchedText before, after;
};

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
  std::vector<Changed> changed;
  std::int64_t through = *from;
  bool is_last = true;
  if (table.spec.searchable) {
    auto& next =
        statements.get(fmt::format("SELECT key, text, own_bytes FROM {} WHERE key > ?1 ORDER BY key", table.rows));
    const ResetAtEnd reset(next);
    next.bind(1, *from);
    std::size_t bytes = 0;
    for (int looked = 0; next.step(); ++looked) {
      if (looked == kRowsAtOnce || bytes >= kBytesAtOnce) {
        is_last = false;
        break;
      }
      through = next.integer(0);
      SearchedText before{std::string(next.text(1)), static_cast<std::size_t>(next.integer(2))};
      auto after = before;
      after.leave_out_accents();
      if (after == before) continue;
      bytes += before.all.size();
      changed.push_back({through, std::move(before), std::move(after)});
    }
  }
  RowTexts texts(statements);
  for (const auto& row : changed) texts.update(table, row.key, row.before, row.after);
  auto& note = statements.get("UPDATE collections SET refolded_through = ?2 WHERE name = ?1");
  note.bind(1, std::string_view(table.set));
  if (is_last) {
    note.bind(2, nullptr);
  } else {
    note.bind(2, through);
  }
  note.run();
  transaction.commit();
  return !is_last;
}

}  // namespace krux
