#include "query_operators.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <vector>

namespace gmail {

enum class Takes { kText, kLabel, kCategory, kState, kPossession, kDay, kAge, kSize, kMessageId, kNothing };

struct Operator {
  std::string_view name;
  Takes takes;
  TermKind kind;
  std::string_view needs;  ///< as in "'size:' needs …"
};

namespace {

constexpr std::string_view kWords = "a value right after the colon, in quotes where it has blanks, such as ";
constexpr std::string_view kDayForm = "a day as YYYY/MM/DD or MM/DD/YYYY, or Unix seconds, such as ";
constexpr std::string_view kAgeForm = "a number with d, m or y, such as ";
constexpr std::string_view kSizeForm = "a number of bytes, or one with K or M, such as ";

constexpr Operator kOperators[] = {
    {"from", Takes::kText, TermKind::kFrom, "amy@example.com"},
    {"to", Takes::kText, TermKind::kTo, "amy@example.com"},
    {"cc", Takes::kText, TermKind::kCc, "amy@example.com"},
    {"bcc", Takes::kText, TermKind::kBcc, "amy@example.com"},
    {"subject", Takes::kText, TermKind::kSubject, "dinner"},
    {"filename", Takes::kText, TermKind::kFilename, "pdf"},
    {"label", Takes::kLabel, TermKind::kLabel, "friends"},
    {"in", Takes::kLabel, TermKind::kLabel, "inbox"},
    {"category", Takes::kCategory, TermKind::kSystemLabel, "primary, social, promotions, updates or forums"},
    {"is", Takes::kState, TermKind::kSystemLabel, "unread, read, starred or important"},
    {"has", Takes::kPossession, TermKind::kHasAttachments, "attachment, userlabels or nouserlabels"},
    {"after", Takes::kDay, TermKind::kSince, "2024/04/16"},
    {"newer", Takes::kDay, TermKind::kSince, "2024/04/16"},
    {"before", Takes::kDay, TermKind::kBefore, "2024/04/16"},
    {"older", Takes::kDay, TermKind::kBefore, "2024/04/16"},
    {"newer_than", Takes::kAge, TermKind::kSince, "7d"},
    {"older_than", Takes::kAge, TermKind::kBefore, "7d"},
    {"size", Takes::kSize, TermKind::kLarger, "5M"},
    {"larger", Takes::kSize, TermKind::kLarger, "5M"},
    {"smaller", Takes::kSize, TermKind::kSmaller, "5M"},
    {"rfc822msgid", Takes::kMessageId, TermKind::kMessageId, "1234@mail.example.com"},
    // Gmail has them, the local copy of the mailbox has not what they ask for.
    {"list", Takes::kNothing, TermKind::kText, ""},
    {"deliveredto", Takes::kNothing, TermKind::kText, ""},
};

struct SystemLabel {
  std::string_view word, id;
};
constexpr SystemLabel kSystemLabels[] = {
    {"inbox", "INBOX"},
    {"sent", "SENT"},
    {"draft", "DRAFT"},
    {"drafts", "DRAFT"},
    {"trash", "TRASH"},
    {"spam", "SPAM"},
    {"starred", "STARRED"},
    {"important", "IMPORTANT"},
    {"unread", "UNREAD"},
    {"chat", "CHAT"},
    {"chats", "CHAT"},
    {"category_personal", "CATEGORY_PERSONAL"},
    {"category_social", "CATEGORY_SOCIAL"},
    {"category_promotions", "CATEGORY_PROMOTIONS"},
    {"category_updates", "CATEGORY_UPDATES"},
    {"category_forums", "CATEGORY_FORUMS"},
};

Term leaf(TermKind kind, std::string_view text = {}, std::int64_t number = 0) {
  Term term;
  term.kind = kind;
  term.text = text;
  term.number = number;
  return term;
}

Term none_of(Term child) {
  Term term;
  term.kind = TermKind::kNoneOf;
  term.children.push_back(std::move(child));
  return term;
}

std::string_view system_label(std::string_view word) {
  const auto* const at =
      std::find_if(std::begin(kSystemLabels), std::end(kSystemLabels), [&](const auto& l) { return l.word == word; });
  return at == std::end(kSystemLabels) ? std::string_view() : at->id;
}

std::optional<Term> label_term(std::string_view value) {
  const auto word = lower(value);
  if (word == "anywhere") return leaf(TermKind::kAnywhere);
  if (word == "archive") return leaf(TermKind::kArchived);
  // Not an empty result: the API tells nobody which messages these are.
  if (word == "snoozed" || word == "scheduled") return std::nullopt;
  if (word == "read") return none_of(leaf(TermKind::kSystemLabel, "UNREAD"));
  const auto id = system_label(word);
  return id.empty() ? leaf(TermKind::kLabel, value) : leaf(TermKind::kSystemLabel, id);
}

std::optional<Term> category_term(std::string_view value) {
  const auto word = lower(value);
  const auto id = system_label("category_" + (word == "primary" ? "personal" : word));
  if (id.empty()) return std::nullopt;
  return leaf(TermKind::kSystemLabel, id);
}

std::optional<Term> state_term(std::string_view value) {
  const auto word = lower(value);
  if (word == "read") return none_of(leaf(TermKind::kSystemLabel, "UNREAD"));
  constexpr std::array<std::string_view, 4> kStates = {"unread", "starred", "important", "chat"};
  if (std::find(kStates.begin(), kStates.end(), word) == kStates.end()) return std::nullopt;
  return leaf(TermKind::kSystemLabel, system_label(word));
}

std::optional<Term> possession_term(std::string_view value) {
  const auto word = lower(value);
  if (word == "attachment" || word == "attachments") return leaf(TermKind::kHasAttachments);
  if (word == "userlabels") return leaf(TermKind::kHasUserLabels);
  if (word == "nouserlabels") return none_of(leaf(TermKind::kHasUserLabels));
  return std::nullopt;
}

std::optional<std::int64_t> bytes_of(std::string_view value) {
  std::int64_t factor = 1;
  if (!value.empty() && (value.back() == 'b' || value.back() == 'B')) value.remove_suffix(1);
  const char unit = value.empty() ? '0' : value.back();
  if (unit == 'k' || unit == 'K') factor = 1024;
  if (unit == 'm' || unit == 'M') factor = 1024 * 1024;
  if (factor > 1) value.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.size() > 12 || error != std::errc() || end != value.data() + value.size() || number < 0) {
    return std::nullopt;
  }
  return number * factor;
}

std::optional<Term> message_id_term(std::string_view value) {
  if (value.front() == '<') value.remove_prefix(1);
  if (!value.empty() && value.back() == '>') value.remove_suffix(1);
  if (value.empty()) return std::nullopt;
  return leaf(TermKind::kMessageId, value);
}

std::optional<Term> numbered(TermKind kind, std::optional<std::int64_t> number) {
  if (!number) return std::nullopt;
  return leaf(kind, {}, *number);
}

std::optional<Term> read_value(const Operator& op, std::string_view value, std::int64_t now_ms) {
  switch (op.takes) {
    case Takes::kText:
      return leaf(op.kind, value);
    case Takes::kLabel:
      return label_term(value);
    case Takes::kCategory:
      return category_term(value);
    case Takes::kState:
      return state_term(value);
    case Takes::kPossession:
      return possession_term(value);
    case Takes::kDay:
      return numbered(op.kind, day_ms(value));
    case Takes::kAge:
      return numbered(op.kind, age_ms(value, now_ms));
    case Takes::kSize:
      return numbered(op.kind, bytes_of(value));
    case Takes::kMessageId:
      return message_id_term(value);
    case Takes::kNothing:
      return std::nullopt;
  }
  return std::nullopt;
}

/// How many letters must change.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

const Operator* find_operator(std::string_view name) {
  const auto wanted = lower(name);
  const auto* const at =
      std::find_if(std::begin(kOperators), std::end(kOperators), [&](const Operator& op) { return op.name == wanted; });
  return at == std::end(kOperators) ? nullptr : at;
}

std::string_view name_of(const Operator& op) {
  return op.name;
}

std::string needs_value(const Operator& op) {
  const auto quoted = "'" + std::string(op.name) + ":' ";
  const auto example = std::string(op.name) + ":" + std::string(op.needs);
  switch (op.takes) {
    case Takes::kNothing:
      return quoted + "cannot be answered from the local copy of the mailbox; leave it out";
    case Takes::kDay:
      return quoted + "needs " + std::string(kDayForm) + example;
    case Takes::kAge:
      return quoted + "needs " + std::string(kAgeForm) + example;
    case Takes::kSize:
      return quoted + "needs " + std::string(kSizeForm) + example;
    case Takes::kCategory:
    case Takes::kState:
    case Takes::kPossession:
      return quoted + "takes " + std::string(op.needs) + " here";
    default:
      return quoted + "needs " + std::string(kWords) + example;
  }
}

Term term_of(const Operator& op, std::string_view value, std::size_t offset, std::int64_t now_ms) {
  if (auto term = read_value(op, value, now_ms)) return std::move(*term);
  if (op.takes == Takes::kLabel) {
    throw QueryProblem(offset, "Gmail does not tell programs which messages are " + lower(value) + "; leave it out");
  }
  throw QueryProblem(offset, needs_value(op));
}

std::string unknown_operator(std::string_view name) {
  const auto word = lower(name);
  const Operator* nearest = nullptr;
  std::size_t least = word.size() <= 3 ? 2 : 3;
  for (const auto& op : kOperators) {
    if (op.takes == Takes::kNothing) continue;
    // "larger_than:", as older_than: is.
    const bool is_longer_form = word == std::string(op.name) + "_than";
    if (const auto d = is_longer_form ? 0 : distance(word, op.name); d < least) {
      least = d;
      nearest = &op;
    }
  }
  auto sentence = "there is no operator '" + std::string(name) + ":'";
  if (!nearest) return sentence + "; put it in quotes to look for it as text";
  return sentence + "; did you mean '" + std::string(nearest->name) + ":'? Put it in quotes to look for it as text";
}

}  // namespace gmail
