// What the search index is asked for a condition, and what that costs as far as a few rows tell.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica/condition.hpp"
#include "core/replica/prefix_keys.hpp"

namespace krux {

/// Texts of some rows, to see what is common.
class TextSample {
 public:
  static constexpr std::size_t kMost = 256;

  const std::vector<std::string>& texts() const { return texts_; }
  void add(std::string text) { texts_.push_back(std::move(text)); }
  /// Of the rows, those that have `term`: at least least(), for a rare one may just not be among them.
  double share(std::string_view term) const;
  double least() const { return share_of(0, texts_.size()); }
  /// As many more may have it as one row of the sample stands for.
  double at_most(double share) const { return std::min(1.0, share + 1 / (static_cast<double>(texts_.size()) + 1)); }

 private:
  static double share_of(std::size_t count, std::size_t rows) {
    return (static_cast<double>(count) + 0.3) / (static_cast<double>(rows) + 0.3);
  }
  std::vector<std::string> texts_;
};

/// Tokens, or beginnings of tokens, one of which each row has that fits. Gathering them all takes `ns` for each row of
/// the collection.
struct Cover {
  Prefixes prefixes;
  double share = 1;  ///< of the rows, those that have one
  double ns = 0;
  bool exact = true;  ///< no other rows have one
};

/// A token, or alternatives: all of one of them.
struct TokenNeed {
  std::string token;  ///< if there are no alternatives
  std::vector<std::vector<TokenNeed>> any;
};

/// Rows that have one of the prefixes, read from the index before the first one is given.
struct Gather {
  Prefixes prefixes;
  double share = 1;  ///< of the rows
  double ns = 0;     ///< for each row of the collection
};

/// Times are for each row of the collection, whether it is found or not. What the plan finds is what both parts of it
/// find, a superset of what fits.
struct TextPlan {
  std::vector<TokenNeed> needs;  ///< the rarest first; may be empty
  std::vector<Gather> gathers;   ///< those first that pay most
  bool exact = true;             ///< it finds nothing else
  double share = 1;              ///< of the rows that it is likely to find
  double most = 1;               ///< of the rows that it could find, were the tokens of a phrase always together
  double walk_ns = 0;            ///< going through the tokens' rows
  double gather_ns = 0;
  Cover cover;  ///< what could be gathered instead
};

/// What is searched: rows, and how many of them are wanted.
struct Goal {
  double rows = 0, missing = 0;
};

// Measured at a million rows: a row by key, and the same with comparing it, which the index gave.
constexpr double kLookupNs = 1500, kVerifyNs = 3500;

/// How far a search has come by looking at rows in turn: those that its equalities hold for, or all.
struct LookedAt {
  double rows = 0;  ///< of the collection
  double base_share =
      1;  ///< of these, those to be looked at, in a sample of the newest: more than 0. There may be more
  double looked_at = 1, found = 0;
  double missing = 0;    ///< still to be found
  double row_ns = 0;     ///< looking at one
  bool in_order = true;  ///< the index would give rows in the order that is asked for, so that not all are needed
  /// Time until counting ends, once the page is full; nothing before.
  std::optional<double> left_ns;
};

/// Whether the search index would get there sooner, as far as the rows looked at tell.
bool index_is_sooner(const LookedAt& so_far, const TextPlan& plan);

/// How far a search has come by rows that the index gave.
struct GivenSoFar {
  double rows = 0;       ///< of the collection
  double part_gone = 1;  ///< of what is searched; more than 0, at most 1
  double given = 1, fit = 0;
  double missing = 0;  ///< still to be found
};

/// The plan with tokens added that exclude more than they cost, as far as texts of rows tell that `now` gave; nothing
/// where none does.
std::optional<TextPlan> stricter_plan(const TextPlan& now, const Predicate& predicate, const TextSample& sample,
                                      const TextSample& given, const GivenSoFar& so_far);

/// Whether the index can answer a part of it.
bool is_indexed(const Predicate& predicate);

/// Nothing unless is_indexed(). Of texts that must all be there, those are asked for that exclude more than they cost:
/// the others are compared with the rows that are found.
std::optional<TextPlan> text_plan(const Predicate& predicate, const TextSample& sample, const Goal& goal);

/// The same without any rows that show what is common: what is searched for is expected in hardly any row. Nothing
/// where a text is too short to be asked for by itself.
std::optional<TextPlan> rare_text_plan(const Predicate& predicate);

}  // namespace krux
