// What is read from the index's pages against what FTS5 says of the same index.
#include "core/replica/prefix_keys.hpp"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "core/replica/gram_index.hpp"
#include "core/replica/index_segment.hpp"
#include "core/util/error.hpp"

using namespace krux;

namespace {

using Keys = std::vector<std::int64_t>;
constexpr KeyRange kAll{1, INT64_MAX};

/// An index whose rows are known. Pages are small, so that lists and terms end at their borders.
class Index {
 public:
  explicit Index(std::uint32_t seed, int page_bytes = 64) : random_(seed) {
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

  std::optional<Keys> read(const Prefixes& prefixes, KeyRange range = kAll, bool late = false) {
    return keys_with(sql_, "t", prefixes, range, [late] { return late; });
  }
  Keys asked(const std::string& prefix, KeyRange range = kAll) {
    Statement find(db_.getHandle(), "SELECT rowid FROM t WHERE t MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid");
    const auto expression = quoted_token(prefix) + " *";
    find.bind_all(expression, range.low, range.high);
    Keys keys;
    while (find.step()) keys.push_back(find.integer(0));
    return keys;
  }
  /// Those whose text contains it, which no piece divides.
  Keys having(const std::string& term) const {
    Keys keys;
    for (const auto& [key, text] : rows_) {
      if (text.find(term) != std::string::npos) keys.push_back(key);
    }
    return keys;
  }
  std::size_t segments() { return index_segments(sql_, "t")->size(); }

  static inline const std::vector<std::string> kPieces{"a", "b", "c", "ab", "ba", " ", "é", "漢", "字", "\x1f", "zz"};

 private:
  void run(const char* sql, std::int64_t key, const std::string& text) { sql_.get(sql).bind_all(key, text).run(); }

  SQLite::Database db_{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  StatementCache sql_{db_.getHandle()};
  std::mt19937 random_;
  std::map<std::int64_t, std::string> rows_;
};

}  // namespace

TEST_CASE("keys of prefixes are those that FTS5 finds, through changes, removals and merges") {
  for (const int page_bytes : {32, 64, 200, 4000}) {
    Index index(static_cast<std::uint32_t>(page_bytes), page_bytes);
    std::size_t most_segments = 0;
    for (int round = 0; round < 60; ++round) {
      index.change(1 + static_cast<int>(index.below(30)));
      if (index.below(3) == 0) index.merge(1 + static_cast<int>(index.below(8)));
      most_segments = std::max(most_segments, index.segments());
      for (const auto* term : {"a", "b", "ab", "ba", "aba", "abab", "é", "漢", "漢字", "z", "zzz", " ", "q", "~"}) {
        INFO("pages of " << page_bytes << ", round " << round << ", " << term);
        const auto keys = index.read({term});
        REQUIRE(keys);
        REQUIRE(*keys == index.having(term));
        REQUIRE(*keys == index.asked(term));
        const KeyRange part{static_cast<std::int64_t>(index.below(1000)), std::int64_t{1} << (15 + index.below(20))};
        REQUIRE(*index.read({term}, part) == index.asked(term, part));
      }
    }
    CHECK(most_segments > 4);
  }
}

TEST_CASE("a row with several of the prefixes is given once") {
  Index index(7);
  for (int round = 0; round < 10; ++round) index.change(30);
  auto expected = index.having("ab");
  const auto others = index.having("漢");
  Keys all;
  std::set_union(expected.begin(), expected.end(), others.begin(), others.end(), std::back_inserter(all));
  CHECK(*index.read({"ab", "漢"}) == all);
  CHECK(all.size() < expected.size() + others.size());
}

TEST_CASE("an index of which nothing is left, or nothing ever was, gives no key") {
  Index index(3);
  CHECK(index.read({"a"})->empty());
  index.change(40);
  for (const auto key : index.having("")) index.remove(key);
  CHECK(index.read({"a"})->empty());
}

TEST_CASE("gathering ends when its time is over") {
  Index index(11);
  for (int round = 0; round < 10; ++round) index.change(60);
  CHECK_FALSE(index.read({"a"}, kAll, true));
  CHECK(index.read({"zzz"}, kAll, true));  // nothing that takes time
}

TEST_CASE("of a format that is not known FTS5 is asked itself") {
  Index index(5);
  for (int round = 0; round < 5; ++round) index.change(30);
  const auto expected = index.asked("ab");  // which knows its format from now on
  index.exec("UPDATE t_config SET v = 5 WHERE k = 'version'");
  CHECK(*index.read({"ab"}) == expected);
  // Its pages were not read: there are none.
  index.exec("UPDATE t_config SET v = 4 WHERE k = 'version'");
  index.exec("DELETE FROM t_data WHERE id > 10");
  CHECK_THROWS_AS(index.read({"ab"}), Error);
}

TEST_CASE("pages that are damaged are told, whatever they hold") {
  std::mt19937 random(99);
  for (int round = 0; round < 300; ++round) {
    Index index(static_cast<std::uint32_t>(round), 64);
    for (int i = 0; i < 3; ++i) index.change(20);
    index.exec(
        fmt::format("UPDATE t_data SET block = CAST(substr(block, 1, {0}) || x'{1:02x}{2:02x}' || "
                    "substr(block, {0} + {3}) AS BLOB) WHERE id > 10 AND id % 3 = {4}",
                    random() % 40, random() % 256, random() % 256, 1 + random() % 4, random() % 3));
    try {
      (void)index.read({"a", "漢"});
    } catch (const Error& e) {
      CHECK(std::string(e.what()).find("Sync the account anew") != std::string::npos);
    }
  }
}
