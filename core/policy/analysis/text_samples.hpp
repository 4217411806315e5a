// Texts that stand for all texts, as far as finitely many equalities, beginnings, ends and lengths can tell them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace krux {

/// What is asked of a text.
struct TextMarks {
  std::vector<std::string> whole, prefixes, suffixes;
  std::vector<std::int64_t> from_bytes;              ///< lengths at which an answer changes
  std::size_t min_length = 0, max_length = 1 << 20;  ///< code points that a text may have
};

/// For each text within the bounds there is one among these that gives the same answer to every question of `marks`.
/// Some may be outside of the bounds. Without order. Throws TooManyCases.
std::vector<std::string> text_samples(const TextMarks& marks);

/// A character of so many `bytes` (1 to 4) in UTF-8 that stands in none of `texts`: of one byte one that agents' names
/// can have, if there is any. Throws TooManyCases where they have all.
std::string unused_character(std::size_t bytes, const std::vector<std::string>& texts);

}  // namespace krux
