#include "core/definition/token_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/util/text.hpp"

namespace krux {

/// From left to right, once.
class TokenPatternParser {
 public:
  using Class = TokenPattern::Class;
  using Run = TokenPattern::Run;
  using Sequence = TokenPattern::Sequence;

  explicit TokenPatternParser(std::string_view text) : text_(text) {}

  std::vector<Sequence> whole() {
    auto all = alternatives(0);
    if (!ended()) fail("a closing bracket without an opening one");
    return all;
  }

 private:
  static constexpr int kDeepest = 8;
  static constexpr std::size_t kMostRuns = 1000;

  [[noreturn]] void fail(const std::string& what) const {
    throw TokenPattern::Unfit(fmt::format(
        "{} at letter {}. A pattern has letters, classes such as [A-Za-z0-9_-], counts of one of these such "
        "as {{4,250}} or +, and alternatives such as (a|b).",
        what, at_ + 1));
  }

  bool ended() const { return at_ == text_.size(); }
  bool next_is(char c) const { return !ended() && text_[at_] == c; }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  char letter() {
    if (ended()) fail("the pattern ends too early");
    return text_[at_++];
  }

  std::vector<Sequence> alternatives(int depth) {
    std::vector<Sequence> all;
    do {
      for (auto& sequence : sequences(depth)) all.push_back(std::move(sequence));
      check_size(all);
    } while (take('|'));
    return all;
  }

  /// One alternative: as many sequences as its brackets have alternatives.
  std::vector<Sequence> sequences(int depth) {
    std::vector<Sequence> all(1);
    if (depth == 0) take('^');
    while (!ended() && !next_is('|') && !next_is(')')) {
      if (depth == 0 && next_is('$') && (at_ + 1 == text_.size() || text_[at_ + 1] == '|')) {
        ++at_;
        continue;
      }
      if (take('(')) {
        all = joined(all, group(depth));
      } else {
        const auto next = run();
        for (auto& sequence : all) sequence.push_back(next);
      }
      check_size(all);
    }
    return all;
  }

  std::vector<Sequence> group(int depth) {
    if (depth == kDeepest) fail("brackets are nested too deeply");
    if (take('?') && !take(':')) fail("a bracket of a kind that is not known");
    auto inner = alternatives(depth + 1);
    if (!take(')')) fail("an opening bracket without a closing one");
    if (next_is('*') || next_is('+') || next_is('?') || next_is('{')) fail("brackets are counted");
    return inner;
  }

  std::vector<Sequence> joined(const std::vector<Sequence>& heads, const std::vector<Sequence>& tails) const {
    std::size_t runs = 0;
    for (const auto& sequence : heads) runs += sequence.size() * tails.size();
    for (const auto& sequence : tails) runs += (sequence.size() + 1) * heads.size();
    if (runs > kMostRuns) fail("too many alternatives");
    std::vector<Sequence> all;
    for (const auto& head : heads) {
      for (const auto& tail : tails) {
        all.push_back(head);
        all.back().insert(all.back().end(), tail.begin(), tail.end());
      }
    }
    return all;
  }

  void check_size(const std::vector<Sequence>& all) const {
    std::size_t runs = all.size();
    for (const auto& sequence : all) runs += sequence.size();
    if (runs > kMostRuns) fail("too many alternatives");
  }

  Run run() {
    Run run;
    run.letters = one_of();
    if (take('*')) {
      run.least = 0, run.most = TokenPattern::kLongestToken;
    } else if (take('+')) {
      run.most = TokenPattern::kLongestToken;
    } else if (take('?')) {
      run.least = 0;
    } else if (take('{')) {
      count(run);
    } else {
      return run;
    }
    take('?');  // as few as possible: of the whole token that makes no difference
    if (next_is('*') || next_is('+') || next_is('{')) fail("a count is counted");
    return run;
  }

  void count(Run& run) {
    run.least = run.most = number();
    if (take(',')) run.most = next_is('}') ? TokenPattern::kLongestToken : number();
    if (!take('}') || run.most < run.least) fail("a count that makes no sense");
  }

  std::size_t number() {
    std::size_t value = 0;
    const auto* const end = text_.data() + text_.size();
    const auto parsed = std::from_chars(text_.data() + at_, end, value);
    if (parsed.ec != std::errc() || value > TokenPattern::kLongestToken) fail("a count that makes no sense");
    at_ = static_cast<std::size_t>(parsed.ptr - text_.data());
    return value;
  }

  Class one_of() {
    const char c = letter();
    if (c == '[') return bracketed();
    if (c == '\\') return escaped();
    if (c == '.') return ~(exactly('\n') | exactly('\r'));
    if (c == '^' || c == '$' || c == '*' || c == '+' || c == '?' || c == '{' || c == '}' || c == ']') {
      --at_;
      fail(fmt::format("{} stands where it means nothing", c));
    }
    return exactly(c);
  }

  Class bracketed() {
    const bool inverted = take('^');
    Class all;
    while (!take(']')) {
      char first = letter();
      if (first == '\\') {
        const auto some = escaped();
        all |= some;
        if (some.count() != 1 || !next_is('-')) continue;
        first = text_[at_ - 1];
      }
      all |= next_is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']' ? range(first) : exactly(first);
    }
    return inverted ? ~all : all;
  }

  Class range(char first) {
    ++at_;
    char last = letter();
    if (last == '\\') {
      if (escaped().count() != 1) fail("a range without an end");
      last = text_[at_ - 1];
    }
    const auto from = static_cast<unsigned char>(first), to = static_cast<unsigned char>(last);
    if (from > to) fail("a range that runs backwards");
    Class all;
    for (std::size_t c = from; c <= to; ++c) all.set(c);
    return all;
  }

  Class escaped() {
    const char c = letter();
    switch (c) {
      case 'd':
        return digits();
      case 'D':
        return ~digits();
      case 'w':
        return words();
      case 'W':
        return ~words();
      case 's':
        return spaces();
      case 'S':
        return ~spaces();
      default:
        break;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || byte <= ' ' || words().test(byte)) fail(fmt::format("\\{} is not known", printable({&c, 1})));
    return exactly(c);
  }

  static Class exactly(char c) {
    Class all;
    all.set(static_cast<unsigned char>(c));
    return all;
  }
  static Class between(char from, char to) {
    Class all;
    for (char c = from; c <= to; ++c) all.set(static_cast<unsigned char>(c));
    return all;
  }
  static Class digits() { return between('0', '9'); }
  static Class words() { return digits() | between('a', 'z') | between('A', 'Z') | exactly('_'); }
  static Class spaces() { return exactly(' ') | between('\t', '\r'); }

  const std::string_view text_;
  std::size_t at_ = 0;
};

TokenPattern::TokenPattern(std::string_view text) : alternatives_(TokenPatternParser(text).whole()) {}

bool TokenPattern::matches(std::string_view token) const {
  if (token.size() > kLongestToken) return false;
  return std::any_of(alternatives_.begin(), alternatives_.end(),
                     [&](const auto& sequence) { return fits(sequence, token); });
}

/// Run by run: from which ends of what came before can which ends be reached? An end is reached when one of those at
/// least `least` and at most `most` letters before it was, with letters of the class alone in between. Each step looks
/// at each letter once.
bool TokenPattern::fits(const Sequence& sequence, std::string_view token) {
  const auto size = token.size();
  std::vector<char> reached(size + 1, 0), next(size + 1);
  std::vector<std::size_t> reached_before(size + 2);  // how many of the ends before the index
  reached[0] = 1;
  for (const auto& run : sequence) {
    reached_before[0] = 0;
    for (std::size_t i = 0; i <= size; ++i) reached_before[i + 1] = reached_before[i] + (reached[i] ? 1 : 0);
    std::size_t in_class = 0;  // letters of the class in a row, up to here
    for (std::size_t end = 0; end <= size; ++end) {
      if (end > 0) in_class = run.letters.test(static_cast<unsigned char>(token[end - 1])) ? in_class + 1 : 0;
      const auto longest = std::min(run.most, in_class);
      next[end] = longest >= run.least && reached_before[end - run.least + 1] > reached_before[end - longest] ? 1 : 0;
    }
    reached.swap(next);
  }
  return reached[size] != 0;
}

}  // namespace krux
