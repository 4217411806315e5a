// The stream of a token's keys against what FTS5 says of the same index.
#include "core/replica/token_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/replica/known_index.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::testing;

namespace {

Keys part_of(const Keys& keys, KeyRange range, bool ascending) {
  Keys part;
  for (const auto key : keys) {
    if (key >= range.low && key <= range.high) part.push_back(key);
  }
  if (!ascending) std::reverse(part.begin(), part.end());
  return part;
}

/// Those of which each is further on than `further` from the one before.
Keys thinned(const Keys& keys, std::int64_t further) {
  Keys thin;
  for (const auto key : keys) {
    if (thin.empty() || std::abs(key - thin.back()) > further) thin.push_back(key);
  }
  return thin;
}

}  // namespace

TEST_CASE("a token's keys are those that FTS5 finds, in both orders, through changes, removals and merges") {
  for (const int page_bytes : {32, 64, 200, 4000}) {
    KnownIndex index(static_cast<std::uint32_t>(page_bytes) + 1, page_bytes);
    for (int round = 0; round < 60; ++round) {
      index.change(1 + static_cast<int>(index.below(40)));
      if (index.below(3) == 0) index.merge(1 + static_cast<int>(index.below(8)));
      for (const auto* token : {"aaaa", "abab", "baba", "zzzz", "    ", "漢字漢字", "a", "~~~~"}) {
        const KeyRange part{static_cast<std::int64_t>(index.below(1000)), std::int64_t{1} << (15 + index.below(20))};
        const std::int64_t further = std::int64_t{1} << index.below(18);
        for (const auto range : {kAll, part}) {
          for (const bool ascending : {true, false}) {
            INFO("pages of " << page_bytes << ", round " << round << ", " << token << ", ascending " << ascending);
            const auto expected = part_of(index.asked_token(token), range, ascending);
            REQUIRE(index.streamed(token, range, ascending) == expected);
            REQUIRE(index.streamed(token, range, ascending, further) == thinned(expected, further));
          }
        }
      }
    }
  }
}

TEST_CASE("pages far between two keys that are asked for are passed over") {
  KnownIndex index(5, 64);
  index.fill("abab", 20'000);
  for (const bool ascending : {true, false}) {
    const auto all = index.streamed("abab", kAll, ascending);
    REQUIRE(all.size() == 20'000);
    for (const std::int64_t further : {100, 1'000, 30'000, 1'000'000}) {
      CHECK(index.streamed("abab", kAll, ascending, further) == thinned(all, further));
    }
  }
}

TEST_CASE("a stream tells pages that are damaged, whatever they hold") {
  for (std::uint32_t round = 0; round < 300; ++round) {
    KnownIndex index(round, 64);
    for (int i = 0; i < 3; ++i) index.change(40);
    index.damage();
    for (const auto* token : {"abab", "aaaa", "漢字漢字"}) {
      try {
        (void)index.streamed(token, kAll, round % 2 == 0, index.below(100));
      } catch (const Error& e) {
        CHECK(std::string(e.what()).find("Sync the account anew") != std::string::npos);
      }
    }
  }
}

}  // namespace KRUXOS_TEST_FILE
