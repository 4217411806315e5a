// What is read from the index's pages against what FTS5 says of the same index.
#include "core/replica/prefix_keys.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "core/replica/known_index.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::testing;

TEST_CASE("keys of prefixes are those that FTS5 finds, through changes, removals and merges") {
  for (const int page_bytes : {32, 64, 200, 4000}) {
    KnownIndex index(static_cast<std::uint32_t>(page_bytes), page_bytes);
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
  KnownIndex index(7);
  for (int round = 0; round < 10; ++round) index.change(30);
  auto expected = index.having("ab");
  const auto others = index.having("漢");
  Keys all;
  std::set_union(expected.begin(), expected.end(), others.begin(), others.end(), std::back_inserter(all));
  CHECK(*index.read({"ab", "漢"}) == all);
  CHECK(all.size() < expected.size() + others.size());
}

TEST_CASE("an index of which nothing is left, or nothing ever was, gives no key") {
  KnownIndex index(3);
  CHECK(index.read({"a"})->empty());
  index.change(40);
  for (const auto key : index.having("")) index.remove(key);
  CHECK(index.read({"a"})->empty());
}

TEST_CASE("gathering ends when its time is over") {
  KnownIndex index(11);
  for (int round = 0; round < 10; ++round) index.change(60);
  CHECK_FALSE(index.read({"a"}, kAll, true));
  CHECK(index.read({"zzz"}, kAll, true));  // nothing that takes time
}

TEST_CASE("of a format that is not known FTS5 is asked itself") {
  KnownIndex index(5);
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
  for (int round = 0; round < 300; ++round) {
    KnownIndex index(static_cast<std::uint32_t>(round), 64);
    for (int i = 0; i < 3; ++i) index.change(20);
    index.damage();
    try {
      (void)index.read({"a", "漢"});
    } catch (const Error& e) {
      CHECK(std::string(e.what()).find("Sync the account anew") != std::string::npos);
    }
  }
}

}  // namespace KRUXOS_TEST_FILE
