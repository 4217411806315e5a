#include "core/replica/row_texts.hpp"

#include <fmt/format.h>

namespace krux {

SearchedText RowTexts::of(const CollectionTable& table, std::int64_t key) {
  auto& row = statements_.get(fmt::format("SELECT text, own_bytes FROM {} WHERE key = ?1", table.rows));
  const ResetAtEnd reset(row);
  row.bind(1, key);
  SearchedText text;
  if (row.step()) text = {std::string(row.text(0)), static_cast<std::size_t>(row.integer(1))};
  return text;
}

void RowTexts::update(const CollectionTable& table, std::int64_t key, const SearchedText& before,
                      const SearchedText& text) {
  if (text == before) return;
  auto& row = statements_.get(fmt::format("UPDATE {} SET text = ?2, own_bytes = ?3 WHERE key = ?1", table.rows));
  row.bind_all(key, std::string_view(text.all), static_cast<std::int64_t>(text.own_bytes)).run();
  unindex(table, key, before);
  index(table, key, text);
}

void RowTexts::index(const CollectionTable& table, std::int64_t key, const SearchedText& text) {
  if (!table.spec.searchable) return;
  auto& statement = statements_.get(fmt::format("INSERT INTO {}(rowid, text) VALUES (?1, ?2)", table.search));
  statement.bind_all(key, std::string_view(text.all)).run();
}

void RowTexts::unindex(const CollectionTable& table, std::int64_t key, const SearchedText& text) {
  if (!table.spec.searchable) return;
  auto& statement =
      statements_.get(fmt::format("INSERT INTO {0}({0}, rowid, text) VALUES ('delete', ?1, ?2)", table.search));
  statement.bind_all(key, std::string_view(text.all)).run();
}

}  // namespace krux
