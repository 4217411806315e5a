// What the benchmarks search: people, channels and messages, the same for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/replica/collection.hpp"

namespace krux::bench {

/// Messages of about 280 bytes: words by Zipf's law, common English ones first, then made-up ones of common syllables.
class Corpus {
 public:
  explicit Corpus(std::int64_t messages);

  /// The i-th newest, as a record of the collection "messages" with the fields channel, sender and is_read.
  Record next(std::int64_t i);
  /// The text of message i alone. Few have "zyxwquark", Chinese or Cyrillic.
  std::string body(std::int64_t i);
  /// So many words of its vocabulary, with a comma now and then.
  std::string text(std::size_t words);
  const std::string& person(std::size_t i) const { return people_[i]; }     ///< of 5,000, the most frequent first
  const std::string& vocabulary(std::size_t i) const { return words_[i]; }  ///< of 40,000, the most frequent first
  std::size_t skewed(std::size_t n);                                        ///< below n, the first ones far more often

 private:
  std::string made_up();
  std::string word();

  std::mt19937_64 random_{42};
  std::int64_t messages_;
  std::vector<std::string> words_, people_;
  std::vector<double> shares_;
};

}  // namespace krux::bench
