// Gmail's search operators, as email.search takes them: a text becomes a tree of terms.
//
// What is written side by side must all hold. OR binds tighter than that, as in Google's other searches: `a b OR c` is
// a and (b or c). `{a b}` is (a OR b), parentheses group, `subject:(a b)` gives each word its operator, "-" negates
// what follows it. AND and a "+" before a word are taken and change nothing. OR and AND are upper case.
//
// Days are UTC: the API reads them in the US Pacific zone, which helps nobody here, and the account's zone is not
// known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gmail {

enum class TermKind {
  kAllOf,   ///< children; none: everything
  kAnyOf,   ///< children, at least one
  kNoneOf,  ///< children: exactly one

  // Below, `text` is never empty, is compared as a substring whatever its case, and came quoted or not.
  kText,  ///< anywhere in the message
  kFrom,  ///< `me` stands for the account's own addresses, here and in the next three
  kTo,    ///< To; Gmail's to: also looks at Cc and Bcc
  kCc,
  kBcc,
  kSubject,
  kFilename,  ///< name or extension of an attachment

  kSystemLabel,  ///< text: the label's id, such as INBOX, UNREAD or CATEGORY_SOCIAL
  kLabel,        ///< text: a label's name as it was written; Gmail writes "-" for blanks and "/" in it
  kMessageId,    ///< text: the Message-ID header without its angle brackets
  kHasAttachments,
  kHasUserLabels,
  kAnywhere,  ///< in:anywhere: fits everything; says that spam and trash are wanted as well
  kArchived,  ///< in:archive: neither in the inbox nor sent, draft, spam or trash

  kSince,   ///< number: Unix milliseconds; at that time or later
  kBefore,  ///< number: Unix milliseconds; earlier than that
  kLarger,  ///< number: bytes; more than that
  kSmaller  ///< number: bytes; fewer than that
};

struct Term {
  TermKind kind = TermKind::kAllOf;
  std::string text{};
  std::int64_t number = 0;
  std::vector<Term> children{};
};

constexpr std::size_t kMostQueryBytes = 2048;
constexpr std::size_t kMostTerms = 200;  ///< groups included
constexpr int kDeepestTerm = 8;          ///< the tree's levels, the outermost included

/// `text` is UTF-8. The empty one gives kAllOf of nothing. `now_ms`: Unix milliseconds, for older_than and newer_than.
/// Throws ProxyError kInvalid (InvalidInput) with a sentence that says at which character something is wrong.
Term parse_query(std::string_view text, std::int64_t now_ms);

/// Whether in:anywhere, or the label SPAM or TRASH, is asked for somewhere. Gmail leaves spam and trash out otherwise.
bool asks_for_spam_or_trash(const Term& term);

}  // namespace gmail
