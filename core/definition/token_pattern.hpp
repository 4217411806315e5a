// The form of a token that an operator pastes, as a definition says it. The definition may be a stranger's, and the
// token comes from wherever the operator took it: both are matched in the host's process, in time and memory that their
// lengths alone decide.
#pragma once

#include <bitset>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

/// Letters, classes ([A-Za-z0-9_-], \d, \w, \s and a dot), counts ({4}, {4,250}, {4,}, +, * and ?) of one of these, and
/// alternatives (|), also in brackets that are not counted. Each means what it means in a regular expression of
/// ECMAScript; there is nothing else.
class TokenPattern {
 public:
  static constexpr std::size_t kLongestToken = 4096;

  /// A sentence.
  class Unfit : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };
  /// Throws Unfit.
  explicit TokenPattern(std::string_view text);

  /// The whole token, which must not be longer than kLongestToken.
  bool matches(std::string_view token) const;

 private:
  friend class TokenPatternParser;
  using Class = std::bitset<256>;
  /// `least` to `most` letters of a class.
  struct Run {
    Class letters;
    std::size_t least = 1, most = 1;
  };
  using Sequence = std::vector<Run>;
  static bool fits(const Sequence& sequence, std::string_view token);

  std::vector<Sequence> alternatives_;
};

}  // namespace krux
