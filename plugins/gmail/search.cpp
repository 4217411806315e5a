#include "search.hpp"

#include <algorithm>
#include <limits>

#include "mail/recipients.hpp"
#include "searched_text.hpp"

namespace gmail {
namespace {

using kruxos::all_of;
using kruxos::any_of;
using kruxos::Condition;
using kruxos::contains_text;
using kruxos::field_is;
using kruxos::none_of;

// The host takes 1000 in a query.
constexpr int kMostConditions = 900;

Condition marked(std::string_view id) {
  return contains_text(mark(id));
}

/// Where a message's mark says so, a look-up; else every message that has the label is passed over.
Condition without_label(std::string_view id) {
  const auto lack = lacking(id);
  return lack.empty() ? none_of({marked(id)}) : marked(lack);
}

Condition nothing() {
  return any_of({});
}

/// A search for characters that no text is kept with finds nothing.
Condition contains(const std::string& text) {
  const auto words = plain(text);
  return words.empty() ? nothing() : contains_text(words);
}

Condition in_hidden(Hidden range, const std::string& text) {
  const auto words = hidden(range, text);
  return words.empty() ? nothing() : contains_text(words);
}

/// "example.com", "amy.lee": what has dots as addresses have them, and no blanks.
bool is_dotted(std::string_view text) {
  const auto last = text.rfind('.');
  if (last == std::string_view::npos || last == 0 || text.size() - last < 3) return false;
  return text.find_first_of(" \t\"(),:;<>[\\]") == std::string_view::npos && text.find("..") == std::string_view::npos;
}

/// As domains are kept: in ASCII.
std::string ascii_domain(const std::string& text) {
  const auto found = parse_addresses("a@" + text);
  const bool is_domain = found.size() == 1 && found.front().name.empty() && found.front().address.starts_with("a@");
  return is_domain ? found.front().address.substr(2) : text;
}

/// An address, or a part of one. A whole one is that address alone: "amy@example.com" is not "amy@example.com.test".
Condition addressed(Hidden range, std::string text) {
  const auto at = text.rfind('@');
  if (at == std::string::npos) {
    const auto ascii = hidden_address(range, ascii_domain(text)), as_given = hidden_address(range, text);
    return ascii == as_given ? contains_text(ascii) : any_of({contains_text(ascii), contains_text(as_given)});
  }
  text.replace(at + 1, std::string::npos, ascii_domain(text.substr(at + 1)));
  const bool has_domain = is_dotted(text.substr(at + 1));
  const auto anchor = !has_domain ? Anchor::kNone : at == 0 ? Anchor::kEnd : Anchor::kWhole;
  return contains_text(hidden_address(range, text, anchor));
}

/// What is written as addresses are is looked for in addresses alone: nobody's name is an address.
Condition of_person(Hidden range, const std::string& given) {
  const auto text = plain(given);
  const auto open = text.rfind('<');
  if (open != std::string::npos && text.back() == '>') {
    const auto people = parse_addresses(text);
    if (people.size() == 1 && !people.front().address.empty()) {
      return contains_text(hidden_person(range, people.front().name, people.front().address));
    }
  }
  if (text.find('@') != std::string::npos || is_dotted(text)) return addressed(range, text);
  const auto name = hidden_name(range, text);
  if (name.empty()) return nothing();
  const auto address = hidden_address(range, text);
  return name == address ? contains_text(name) : any_of({contains_text(name), contains_text(address)});
}

class Translator {
 public:
  Translator(const LabelNames& labels, std::string_view own_address) : labels_(labels), own_(own_address) {}

  Condition of(const Term& term) const {
    switch (term.kind) {
      case TermKind::kAllOf:
        return all_of(children_of(term));
      case TermKind::kAnyOf:
        return any_of(children_of(term));
      case TermKind::kNoneOf:
        return not_of(term.children.front());
      case TermKind::kSystemLabel:
        return marked(term.text);
      case TermKind::kLabel:
        return labelled(term.text);
      case TermKind::kHasAttachments:
        return marked(kHasAttachment);
      case TermKind::kHasUserLabels:
        return marked(kHasUserLabel);
      case TermKind::kAnywhere:
        return all_of({});
      case TermKind::kArchived:
        return all_of(
            {without_label("INBOX"), none_of({marked("SENT"), marked("DRAFT"), marked("SPAM"), marked("TRASH")})});
      default:
        return of_value(term);
    }
  }

 private:
  Condition of_value(const Term& term) const {
    switch (term.kind) {
      case TermKind::kText:
        return contains(term.text);
      case TermKind::kFrom:
        return of_person(Hidden::kFrom, person(term));
      case TermKind::kTo:
        return any_of({of_person(Hidden::kTo, person(term)), of_person(Hidden::kCc, person(term)),
                       of_person(Hidden::kBcc, person(term))});
      case TermKind::kCc:
        return of_person(Hidden::kCc, person(term));
      case TermKind::kBcc:
        return of_person(Hidden::kBcc, person(term));
      case TermKind::kSubject:
        return in_hidden(Hidden::kSubject, term.text);
      case TermKind::kFilename:
        return in_hidden(Hidden::kFilename, term.text);
      case TermKind::kMessageId:
        return kruxos::field_eq("message_id", term.text);
      case TermKind::kSince:
        return field_is("date", KRUX_GE, term.number);
      case TermKind::kBefore:
        return field_is("date", KRUX_LT, term.number);
      case TermKind::kLarger:
        return field_is("size", KRUX_GT, term.number);
      case TermKind::kSmaller:
        return field_is("size", KRUX_LT, term.number);
      default:
        throw invalid("The query holds something that this adapter does not know.");
    }
  }

  std::vector<Condition> children_of(const Term& term) const {
    std::vector<Condition> out;
    for (const auto& child : term.children) out.push_back(of(child));
    return out;
  }

  Condition not_of(const Term& term) const {
    return term.kind == TermKind::kSystemLabel ? without_label(term.text) : none_of({of(term)});
  }

  Condition labelled(std::string_view name) const {
    std::vector<Condition> any;
    for (const auto& id : labels_.ids(name)) any.push_back(marked(id));
    return any.size() == 1 ? any.front() : any_of(std::move(any));
  }

  std::string person(const Term& term) const { return folded(term.text) == "me" ? std::string(own_) : term.text; }

  const LabelNames& labels_;
  const std::string_view own_;
};

int count_of(const Condition& condition) {
  int count = 1;
  for (const auto& child : condition.children) count += count_of(child);
  return count;
}

/// Bounds of time that must hold become those of the query: the replica is ordered by time.
void take_bounds(const Term& term, kruxos::Query& query) {
  if (term.kind == TermKind::kSince) query.from_ms = std::max(query.from_ms, term.number);
  if (term.kind == TermKind::kBefore) query.to_ms = std::min(query.to_ms, term.number - 1);
  if (term.kind != TermKind::kAllOf) return;
  for (const auto& child : term.children) take_bounds(child, query);
}

/// Kept within what a query takes, though the host has checked it.
std::uint32_t bounded(const Json& params, std::string_view name, std::int64_t otherwise, std::int64_t most) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(integer_of(params, name, otherwise), 0, most));
}

}  // namespace

kruxos::ProxyError invalid(const std::string& message) {
  return kruxos::ProxyError(kruxos::ErrorKind::kInvalid, message).type("InvalidInput").no_effect();
}

LabelNames::LabelNames(const kruxos::Reader& reader) {
  kruxos::Query query;
  query.collection = kLabels;
  query.descending = false;
  query.limit = 10'000;  // Gmail's own bound
  query.count_limit = 1;
  reader.query(query, [&](const kruxos::Row& row) {
    if (auto label = label_from_record(row.json)) {
      ids_by_key_.emplace(label_key(label->name), label->id);
      names_.emplace(std::move(label->id), std::move(label->name));
    }
    return true;
  });
}

const std::string& LabelNames::name(const std::string& id) const {
  const auto at = names_.find(id);
  return at == names_.end() ? id : at->second;
}

std::vector<std::string> LabelNames::ids(std::string_view name_or_id) const {
  if (names_.contains(name_or_id)) return {std::string(name_or_id)};
  std::vector<std::string> ids;
  const auto [first, last] = ids_by_key_.equal_range(label_key(name_or_id));
  for (auto at = first; at != last; ++at) ids.push_back(at->second);
  if (!ids.empty()) return ids;
  std::string known;
  for (const auto& [id, name] : names_) {
    if (known.size() < 500) known += (known.empty() ? "" : ", ") + name;
  }
  throw invalid(
      "There is no label \"" + std::string(name_or_id) + "\" in this mailbox. " +
      (known.empty() ? "The replica has no labels yet: wait for the first sync." : "There are: " + known + "."));
}

Condition condition_of(const Term& term, const LabelNames& labels, std::string_view own_address) {
  auto condition = Translator(labels, own_address).of(term);
  if (count_of(condition) > kMostConditions) throw invalid("The query has too many terms: ask for less at once.");
  return condition;
}

kruxos::Query search_query(const Json& params, const LabelNames& labels, std::string_view own_address,
                           std::int64_t now_ms) {
  const auto term = parse_query(text_of(params, "query"), now_ms);
  kruxos::Query query;
  query.collection = kMessages;
  take_bounds(term, query);
  query.where = all_of({condition_of(term, labels, own_address)});
  bool wants_all = asks_for_spam_or_trash(term);
  if (const auto label = text_of(params, "label"); !label.empty()) {
    std::vector<Condition> any;
    for (const auto& id : labels.ids(label)) {
      wants_all = wants_all || id == "SPAM" || id == "TRASH";
      any.push_back(marked(id));
    }
    query.where.children.push_back(any.size() == 1 ? any.front() : any_of(std::move(any)));
  }
  if (const auto* is_read = member(params, "is_read"); is_read && is_read->IsBool()) {
    query.where.children.push_back(is_read->GetBool() ? without_label("UNREAD") : marked("UNREAD"));
  }
  if (!wants_all) query.where.children.push_back(none_of({marked("SPAM"), marked("TRASH")}));
  query.limit = bounded(params, "limit", 20, 1000);
  query.offset = bounded(params, "offset", 0, 1'000'000'000);
  return query;
}

}  // namespace gmail
