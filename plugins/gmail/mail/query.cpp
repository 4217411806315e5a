#include "query.hpp"

#include <kruxos/adapter/error.hpp>

#include <algorithm>
#include <utility>

#include "query_operators.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr int kDeepestGroup = 20;

bool is_query_blank(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
}
bool ends_word(char c) {
  return is_query_blank(c) || c == '(' || c == ')' || c == '{' || c == '}' || c == '"';
}
bool is_name(std::string_view word) {
  return word.size() >= 2 && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
         });
}
bool has_letter(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char c) { return c < '0' || c > '9'; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_query_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_query_blank(text.back())) text.remove_suffix(1);
  return text;
}

class Parser {
 public:
  Parser(std::string_view text, std::int64_t now_ms) : text_(text), now_ms_(now_ms) {}

  Term whole() {
    auto term = sequence('\0', nullptr);
    if (levels(term) > kDeepestTerm) throw too_deep(0);
    return term;
  }

 private:
  /// Everything up to `close`, side by side; '\0' is the query's end. `op` is what the words belong to, if anything.
  Term sequence(char close, const Operator* op) {
    std::vector<Term> parts;
    for (;;) {
      skip_blanks();
      if (at_end(close)) return combined(TermKind::kAllOf, std::move(parts));
      if (take_word("AND")) {
        require_neighbours("AND", parts.empty(), close);
        continue;
      }
      parts.push_back(alternatives(op));
    }
  }

  Term alternatives(const Operator* op) {
    if (sees_word("OR")) throw QueryProblem(at_, "'OR' needs a term on each side");
    std::vector<Term> parts;
    parts.push_back(factor(op));
    for (skip_blanks(); take_word("OR"); skip_blanks()) {
      require_neighbours("OR", false, '\0');
      parts.push_back(factor(op));
    }
    return combined(TermKind::kAnyOf, std::move(parts));
  }

  /// `{a b}`: one of them. OR within says nothing more.
  Term braces(const Operator* op) {
    std::vector<Term> parts;
    for (;;) {
      skip_blanks();
      if (at_end('}')) return combined(TermKind::kAnyOf, std::move(parts));
      if (take_word("OR")) {
        require_neighbours("OR", parts.empty(), '}');
        continue;
      }
      parts.push_back(factor(op));
    }
  }

  Term factor(const Operator* op) {
    const bool prefixed = at_ + 1 < text_.size() && !is_query_blank(text_[at_ + 1]) && text_[at_ + 1] != text_[at_];
    if (prefixed && text_[at_] == '-') {
      ++at_;
      std::vector<Term> one;
      one.push_back(primary(op));
      return counted({TermKind::kNoneOf, {}, 0, std::move(one)});
    }
    // A telephone number's is a part of it.
    if (prefixed && text_[at_] == '+' && (text_[at_ + 1] < '0' || text_[at_ + 1] > '9')) {
      throw QueryProblem(at_,
                         "'+' for exact words cannot be answered from the local copy of the mailbox, where words are "
                         "found as parts of words too; leave it out");
    }
    return primary(op);
  }

  Term primary(const Operator* op) {
    const auto start = at_;
    switch (text_[at_]) {
      case '(':
        return group(op, '(');
      case '{':
        return group(op, '{');
      case ')':
      case '}':
        throw QueryProblem(start, std::string("'") + text_[at_] + "' closes what was not opened");
      case '"':
        return value_term(op, quoted(), start);
      default:
        return word(op);
    }
  }

  Term group(const Operator* op, char open) {
    const auto start = at_++;
    if (++groups_ > kDeepestGroup) throw too_deep(start);
    opened_.push_back(start);
    auto term = open == '(' ? sequence(')', op) : braces(op);
    opened_.pop_back();
    --groups_;
    const bool empty = term.children.empty() && (term.kind == TermKind::kAllOf || term.kind == TermKind::kAnyOf);
    if (empty) throw QueryProblem(start, "the brackets are empty");
    return term;
  }

  Term word(const Operator* op) {
    const auto start = at_;
    const auto end = word_end();
    const auto found = text_.substr(start, end - start);
    const auto next = text_.find_first_not_of(' ', end);
    if (found == "AROUND" && next != std::string_view::npos && text_[next] >= '0' && text_[next] <= '9') {
      throw QueryProblem(
          start,
          "'AROUND' cannot be answered from the local copy of the mailbox; leave it and its number out to "
          "find what has both words, or put it in quotes to look for it as text");
    }
    const auto colon = found.find(':');
    const auto name = found.substr(0, colon);
    if (colon == std::string_view::npos || !is_name(name) || !has_letter(name)) {
      at_ = end;
      return value_term(op, found, start);
    }
    if (const auto* own = find_operator(name)) {
      if (op) {
        throw QueryProblem(
            start, "'" + std::string(name) + ":' cannot stand in the brackets of '" + std::string(name_of(*op)) + ":'");
      }
      at_ = start + colon + 1;
      return value_of(*own, start);
    }
    // https://…, and a name at a sentence's end, are text.
    const auto rest = found.substr(colon + 1);
    const bool has_value = !rest.empty() || (end < text_.size() && !is_query_blank(text_[end]));
    if (!op && has_value && !rest.starts_with("//")) throw QueryProblem(start, unknown_operator(name));
    at_ = end;
    return value_term(op, found, start);
  }

  /// What stands behind an operator's colon.
  Term value_of(const Operator& op, std::size_t start) {
    if (at_ >= text_.size() || is_query_blank(text_[at_]) || text_[at_] == ')' || text_[at_] == '}') {
      throw QueryProblem(start, needs_value(op));
    }
    if (text_[at_] == '(' || text_[at_] == '{') return group(&op, text_[at_]);
    if (text_[at_] == '"') return value_term(&op, quoted(), start);
    const auto from = at_;
    at_ = word_end();
    return value_term(&op, text_.substr(from, at_ - from), start);
  }

  Term value_term(const Operator* op, std::string_view value, std::size_t start) {
    if (op) return counted(term_of(*op, value, start, now_ms_));
    return counted({TermKind::kText, std::string(value), 0, {}});
  }

  std::string_view quoted() {
    const auto start = at_;
    const auto end = text_.find('"', start + 1);
    if (end == std::string_view::npos) throw QueryProblem(start, "the quotation is not closed");
    at_ = end + 1;
    const auto inside = trimmed(text_.substr(start + 1, end - start - 1));
    if (inside.empty()) throw QueryProblem(start, "the quotation is empty");
    return inside;
  }

  std::size_t word_end() const {
    auto end = at_;
    while (end < text_.size() && !ends_word(text_[end])) ++end;
    return end;
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_query_blank(text_[at_])) ++at_;
  }

  /// Takes `close` along.
  bool at_end(char close) {
    if (at_ == text_.size()) {
      if (close != '\0') throw QueryProblem(opened_.back(), std::string("'") + close + "' is missing for this bracket");
      return true;
    }
    if (close == '\0' || text_[at_] != close) return false;
    ++at_;
    return true;
  }

  bool sees_word(std::string_view word) const {
    return text_.substr(at_).starts_with(word) &&
           (at_ + word.size() == text_.size() || ends_word(text_[at_ + word.size()]));
  }
  bool take_word(std::string_view word) {
    if (!sees_word(word)) return false;
    at_ += word.size();
    return true;
  }
  /// After `word` was taken.
  void require_neighbours(const std::string& word, bool first, char close) {
    const auto start = at_ - word.size();
    skip_blanks();
    const bool last = at_ == text_.size() || text_[at_] == ')' || text_[at_] == '}' || text_[at_] == close;
    if (first || last || sees_word("OR") || sees_word("AND")) {
      throw QueryProblem(start, "'" + word + "' needs a term on each side");
    }
  }

  Term combined(TermKind kind, std::vector<Term> parts) {
    if (parts.size() == 1) return std::move(parts.front());
    return counted({kind, {}, 0, std::move(parts)});
  }
  Term counted(Term term) {
    if (++terms_ > kMostTerms) {
      throw QueryProblem(at_, "the query has more than " + std::to_string(kMostTerms) + " terms; ask for less at once");
    }
    return term;
  }
  static QueryProblem too_deep(std::size_t at) { return {at, "too many brackets stand within each other"}; }
  /// The parser's own bound has bounded this recursion.
  static int levels(const Term& term) {  // NOLINT(misc-no-recursion)
    int deepest = 0;
    for (const auto& child : term.children) deepest = std::max(deepest, levels(child));
    return deepest + 1;
  }

  const std::string_view text_;
  const std::int64_t now_ms_;
  std::size_t at_ = 0, terms_ = 0;
  int groups_ = 0;
  std::vector<std::size_t> opened_;
};

kruxos::ProxyError refused(const std::string& sentence) {
  kruxos::ProxyError error(kruxos::ErrorKind::kInvalid, sentence);
  error.type("InvalidInput").no_effect();
  return error;
}

}  // namespace

Term parse_query(std::string_view text, std::int64_t now_ms) {
  if (text.size() > kMostQueryBytes) {
    throw refused("The query is longer than " + std::to_string(kMostQueryBytes) + " bytes: ask for less at once.");
  }
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
    throw refused("The query is not valid UTF-8 without NUL.");
  }
  try {
    return Parser(text, now_ms).whole();
  } catch (const QueryProblem& problem) {
    const auto before = text.substr(0, problem.offset());
    const auto characters = std::count_if(before.begin(), before.end(),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    const std::string why = problem.what();
    throw refused("The query cannot be read at character " + std::to_string(characters + 1) + ": " + why + ".");
  }
}

bool asks_for_spam_or_trash(const Term& term) {  // NOLINT(misc-no-recursion)
  if (term.kind == TermKind::kAnywhere) return true;
  if (term.kind == TermKind::kSystemLabel) return term.text == "SPAM" || term.text == "TRASH";
  return std::any_of(term.children.begin(), term.children.end(), asks_for_spam_or_trash);
}

}  // namespace gmail
