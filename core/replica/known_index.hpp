// A search index whose rows are known, for tests that read its pages.
#pragma once

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>

#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/replica/gram_index.hpp"
#include "core/replica/index_segment.hpp"
#include "core/replica/prefix_keys.hpp"
#include "core/replica/token_keys.hpp"

namespace krux::testing {

using Keys = std::vector<std::int64_t>;
constexpr KeyRange kAll{1, INT64_MAX};

/// Pages are small, so that lists and terms end at their borders.
class KnownIndex {
 public:
  explicit KnownIndex(std::uint32_t seed, int page_bytes = 64) : random_(seed) {
    register_gram_tokenizer(db_.getHandle());
    db_.exec("CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='krux_gram', detail=none, columnsize=0)");
    db_.exec(fmt::format("INSERT INTO t(t, rank) VALUES ('pgsz', {})", page_bytes));
    db_.exec("INSERT INTO t(t, rank) VALUES ('automerge', 0)");
  }

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  /// So much in one transaction; keys lie in lumps.
  void change(int rows) {
    db_.exec("BEGIN");
    for (int i = 0; i < rows; ++i) {
      const auto key = static_cast<std::int64_t>(1 + below(20)) << (below(4) * 15) | below(50);
      remove(key);
      if (below(3) == 0) continue;
      std::string text;
      for (auto n = 1 + below(12); n > 0; --n) text += kPieces[below(static_cast<std::uint32_t>(kPieces.size()))];
      run("INSERT INTO t(rowid, text) VALUES (?1, ?2)", key, text);
      rows_[key] = text;
    }
    db_.exec("COMMIT");
  }
  void remove(std::int64_t key) {
    const auto row = rows_.find(key);
    if (row == rows_.end()) return;
    run("INSERT INTO t(t, rowid, text) VALUES ('delete', ?1, ?2)", key, row->second);
    rows_.erase(row);
  }
  /// A part of a merge: the segments that it takes from lose their first pages.
  void merge(int pages) { db_.exec(fmt::format("INSERT INTO t(t, rank) VALUES ('merge', {})", pages)); }
  void exec(const std::string& sql) { db_.exec(sql); }
  /// Rows that all have `text`, at about even distances.
  void fill(const std::string& text, int rows) {
    db_.exec("BEGIN");
    for (std::int64_t key = 1; rows > 0; --rows, key += 1 + below(20)) {
      run("INSERT INTO t(rowid, text) VALUES (?1, ?2)", key, text);
      rows_[key] = text;
    }
    db_.exec("COMMIT");
  }
  /// Up to four bytes of every third page become two others.
  void damage() {
    exec(
        fmt::format("UPDATE t_data SET block = CAST(substr(block, 1, {0}) || x'{1:02x}{2:02x}' || "
                    "substr(block, {0} + {3}) AS BLOB) WHERE id > 10 AND id % 3 = {4}",
                    below(40), below(256), below(256), 1 + below(4), below(3)));
  }

  std::optional<Keys> read(const Prefixes& prefixes, KeyRange range = kAll, bool late = false) {
    return keys_with(sql_, "t", prefixes, range, [late] { return late; });
  }
  Keys asked(const std::string& prefix, KeyRange range = kAll) { return found(quoted_token(prefix) + " *", range); }
  Keys asked_token(const std::string& token) { return found(quoted_token(token), kAll); }
  /// Those whose text contains it, which no piece divides.
  Keys having(const std::string& term) const {
    Keys keys;
    for (const auto& [key, text] : rows_) {
      if (text.find(term) != std::string::npos) keys.push_back(key);
    }
    return keys;
  }
  /// As a search asks a stream: from one key to the next, or further.
  Keys streamed(const std::string& token, KeyRange range, bool ascending, std::int64_t further = 0) {
    const std::string table = "t";
    const auto segments = *index_segments(sql_, table);
    TokenKeys stream(sql_, table, segments, token, range, ascending);
    Keys keys;
    auto rank = INT64_MIN / 2;
    while (const auto found = stream.at_least(rank)) {
      if (*found < rank) throw std::logic_error("a stream went back");
      keys.push_back(ascending ? *found : -*found);
      rank = *found + 1 + further;
    }
    return keys;
  }
  std::size_t segments() { return index_segments(sql_, "t")->size(); }

  static inline const std::vector<std::string> kPieces{"a", "b", "c", "ab", "ba", " ", "é", "漢", "字", "\x1f", "zz"};

 private:
  Keys found(const std::string& expression, KeyRange range) {
    Statement find(db_.getHandle(), "SELECT rowid FROM t WHERE t MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid");
    find.bind_all(expression, range.low, range.high);
    Keys keys;
    while (find.step()) keys.push_back(find.integer(0));
    return keys;
  }
  void run(const char* sql, std::int64_t key, const std::string& text) { sql_.get(sql).bind_all(key, text).run(); }

  SQLite::Database db_{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  StatementCache sql_{db_.getHandle()};
  std::mt19937 random_;
  std::map<std::int64_t, std::string> rows_;
};

}  // namespace krux::testing
