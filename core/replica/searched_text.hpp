// What is searched of a record, put together in one place: its text, its tags and its named texts, as the search index
// and the comparison with a row find them. docs/storage-format.md is the grammar.
//
// The index finds any four characters of a text. So a tag is four characters of Unicode's private area (U+E000 to
// U+F8FF) that stand for its number, and a byte of a named text is one character of that area, of a range that the name
// alone has. Of people's texts and of what is searched for in them these characters are taken out, so that nobody's
// text is a tag. A collection without tags and named texts has none of this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/replica/collection.hpp"

namespace krux {

/// As a row has it: the record's own text, and what was kept besides.
struct SearchedText {
  std::string all;
  std::size_t own_bytes = 0;  ///< of `all`; a separator follows where there is a kept text

  /// As it would be put now: texts that an earlier version has put have their accents.
  void leave_out_accents();
  /// Both take what the functions below give.
  void set_own(const std::string& own);
  void set_kept(const std::string& kept);
  bool operator==(const SearchedText&) const = default;
};

/// Never a tag's number: the gram of it is in no text.
constexpr std::int64_t kNoTag = 0;
constexpr int kTagNumberBits = 41;

/// The record's own text. `number_of` gives a tag's number.
std::string own_searched_text(const Record& record, const CollectionSpec& spec,
                              const std::function<std::int64_t(const std::string&)>& number_of);
/// A kept text.
std::string searched_text(std::string_view text, const CollectionSpec& spec);

/// What a text has that a condition fits. Empty: every text fits. What the collection keeps no text with is found
/// nowhere.
std::string searched_part(std::string_view part, const CollectionSpec& spec);
/// The same for texts that were put before accents were left out (refold.hpp).
std::string accented_part(std::string_view part, const CollectionSpec& spec);
std::string tag_gram(std::int64_t number);
/// `index`: of spec.texts.
std::string named_text_part(std::string_view part, const CollectionSpec& spec, std::size_t index);

}  // namespace krux
