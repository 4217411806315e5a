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
using kruxos::has_tag;
using kruxos::none_of;

// The host takes 1000 in a query.
constexpr int kMostConditions = 900;

/// Where messages say by a tag that they lack it, a look-up; else every message that has the label is passed over.
Condition without_label(std::string_view id) {
  const auto lack = lacking(id);
  return lack.empty() ? none_of({has_tag(std::string(id))}) : has_tag(lack);
}

Condition nothing() {
  return any_of({});
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
Condition addressed(const char* field, std::string text) {
  const auto at = text.rfind('@');
  if (at == std::string::npos) {
    const auto ascii = address_text(ascii_domain(text)), as_given = address_text(text);
    return ascii == as_given ? kruxos::text_of(field, ascii)
                             : any_of({kruxos::text_of(field, ascii), kruxos::text_of(field, as_given)});
  }
  text.replace(at + 1, std::string::npos, ascii_domain(text.substr(at + 1)));
  const bool has_domain = is_dotted(text.substr(at + 1));
  const auto anchor = !has_domain ? Anchor::kNone : at == 0 ? Anchor::kEnd : Anchor::kWhole;
  return kruxos::text_of(field, address_text(text, anchor));
}

/// What is written as addresses are is looked for in addresses alone: nobody's name is an address.
Condition of_person(const char* field, const std::string& text) {
  const auto open = text.rfind('<');
  if (open != std::string::npos && text.back() == '>') {
    const auto people = parse_addresses(text);
    if (people.size() == 1 && !people.front().address.empty())
      return kruxos::text_of(field, person_text(people.front().name, people.front().address));
  }
  if (text.find('@') != std::string::npos || is_dotted(text)) return addressed(field, text);
  const auto name = name_text(text), address = address_text(text);
  if (name.empty()) return nothing();
  return name == address ? kruxos::text_of(field, name)
                         : any_of({kruxos::text_of(field, name), kruxos::text_of(field, address)});
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
        return has_tag(term.text);
      case TermKind::kLabel:
        return labelled(term.text);
      case TermKind::kHasAttachments:
        return has_tag(kHasAttachment);
      case TermKind::kHasUserLabels:
        return has_tag(kHasUserLabel);
      case TermKind::kAnywhere:
        return all_of({});
      case TermKind::kArchived:
        return all_of(
            {without_label("INBOX"), none_of({has_tag("SENT"), has_tag("DRAFT"), has_tag("SPAM"), has_tag("TRASH")})});
      default:
        return of_value(term);
    }
  }

 private:
  Condition of_value(const Term& term) const {
    switch (term.kind) {
      case TermKind::kText:
        return contains_text(term.text);
      case TermKind::kFrom:
        return of_person(kFromText, person(term));
      case TermKind::kTo:
        return any_of(
            {of_person(kToText, person(term)), of_person(kCcText, person(term)), of_person(kBccText, person(term))});
      case TermKind::kCc:
        return of_person(kCcText, person(term));
      case TermKind::kBcc:
        return of_person(kBccText, person(term));
      case TermKind::kSubject:
        return kruxos::text_of(kSubjectText, term.text);
      case TermKind::kFilename:
        return kruxos::text_of(kFilenameText, term.text);
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
    for (const auto& id : labels_.ids(name)) any.push_back(has_tag(id));
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
      any.push_back(has_tag(id));
    }
    query.where.children.push_back(any.size() == 1 ? any.front() : any_of(std::move(any)));
  }
  if (const auto* is_read = member(params, "is_read"); is_read && is_read->IsBool()) {
    query.where.children.push_back(is_read->GetBool() ? without_label("UNREAD") : has_tag("UNREAD"));
  }
  if (!wants_all) query.where.children.push_back(none_of({has_tag("SPAM"), has_tag("TRASH")}));
  query.limit = bounded(params, "limit", 20, 1000);
  query.offset = bounded(params, "offset", 0, 1'000'000'000);
  return query;
}

}  // namespace gmail
