#include "core/facts/fact_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/definition/forms.hpp"
#include "core/facts/look_alike.hpp"
#include "core/facts/outgoing.hpp"
#include "core/policy/rules/recipients.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/state/text_values.hpp"
#include "core/util/keyed_hash.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostValues = 2'000;

FactAnswer yes(std::string because) {
  return {Truth::kYes, std::move(because)};
}

FactAnswer no() {
  return {Truth::kNo, {}};
}

FactAnswer not_known(std::string because) {
  return {Truth::kNotKnown, std::move(because)};
}

const char* const kUnreadable = "A recipient cannot be read as an address.";

/// In small letters, each once; nullopt: one cannot be read, or there are more than `most`.
std::optional<std::vector<std::string>> recipients_of(const FactQuestion& question, std::size_t most) {
  std::vector<std::string> all;
  for (const auto address : recipient_addresses(question.capability, question.params)) {
    if (address.empty()) return std::nullopt;
    all.push_back(small_letters(address));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all.size() > most ? std::nullopt : std::optional(std::move(all));
}

ActiveAccountPtr account_of(const AccountDirectory& accounts, const FactContext& about) {
  for (const auto& account : accounts.accounts()) {
    if (account->ref.service == about.service && account->ref.account_id == about.account_id) return account;
  }
  return nullptr;
}

/// "email.read of m1".
std::string in_words(const ReadSource& source) {
  return printable(source.capability) + (source.target.empty() ? "" : " of " + printable(source.target));
}

/// A code as it stands in the text, and as others may have written it.
std::vector<std::string> spellings(std::string_view text, const TextValue& code) {
  const std::string written = small_letters(text.substr(code.at, code.size));
  std::vector<std::string> all{code.text, written};
  for (const auto& [from, to] : {std::pair{' ', '-'}, {'-', ' '}}) {
    auto other = written;
    std::replace(other.begin(), other.end(), from, to);
    all.push_back(std::move(other));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool is_of_replica(std::string_view fact) {
  return fact == "new_recipient" || fact == "unfamiliar_recipient" || fact == "look_alike_recipient" ||
         fact == "quotes_code" || fact == "new_link";
}

}  // namespace

FactBook::FactBook(const AgentReads& reads, const AccountDirectory& accounts, Limits limits)
    : reads_(reads), accounts_(accounts), limits_(limits) {}

std::vector<std::string> FactBook::names() const {
  return unanswered_facts().names();
}

FactAnswer FactBook::ask(std::string_view fact, const FactQuestion& question) const {
  if (is_of_replica(fact)) return asked_of_replica(fact, question);
  if (fact == "has_read") return has_read(question);
  if (fact != "carries_secret") return was_read(fact, question);
  const auto sent = outgoing_texts(question.capability, question.params);
  if (const auto found = secret_in(sent.text); !found.empty())
    return yes(fmt::format("It holds what looks like {}.", found));
  return sent.cut ? not_known("Its texts are longer than what is looked at.") : no();
}

FactAnswer FactBook::asked_of_replica(std::string_view fact, const FactQuestion& question) const {
  const auto content = to_json(question.params);
  const auto key = fmt::format("{}\n{}\n{}\n{}\n{:x}", fact, question.about.service, question.about.account_id,
                               content.size(), KeyedHash()(content));
  // A new content is looked up whoever had the same before: what the replica shows has changed meanwhile.
  if (question.about.content_ms > 0) {
    const std::lock_guard lock(mutex_);
    if (const auto at = kept_.find(key); at != kept_.end()) return at->second;
  }
  auto answer = look_up(fact, question);
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= limits_.kept) kept_.clear();
  kept_[key] = answer;
  return answer;
}

FactAnswer FactBook::look_up(std::string_view fact, const FactQuestion& question) const {
  const auto account = account_of(accounts_, question.about);
  if (!account) return not_known("The account is not connected.");
  Correspondents known(*account);
  const Account asked{text_of(account->ref), known};
  if (fact == "look_alike_recipient") return look_alike(question, known);
  if (fact == "quotes_code") return quotes_code(question, known);
  if (fact == "new_link") return new_link(question, known);
  return new_recipient(question, asked, fact == "unfamiliar_recipient");
}

/// Who was written to once stays so: this alone is not looked up again.
Truth FactBook::wrote_to(const Account& asked, const std::string& address) const {
  const auto key = asked.name + '\n' + address;
  {
    const std::lock_guard lock(mutex_);
    if (written_to_.contains(key)) return Truth::kYes;
  }
  const auto truth = asked.known.wrote_to(address);
  if (truth != Truth::kYes) return truth;
  const std::lock_guard lock(mutex_);
  if (written_to_.size() >= limits_.kept) written_to_.clear();
  written_to_.insert(key);
  return truth;
}

FactAnswer FactBook::new_recipient(const FactQuestion& question, const Account& asked, bool unfamiliar) const {
  auto& known = asked.known;
  const auto recipients = recipients_of(question, limits_.recipients);
  if (!recipients) return not_known(kUnreadable);
  const auto before_ms = question.content_ms() - limits_.familiar_after_ms;
  for (const auto& address : *recipients) {
    if (address == known.own_address()) continue;
    auto met = wrote_to(asked, address);
    if (unfamiliar && met == Truth::kNo) met = known.heard_from(address, before_ms);
    if (met == Truth::kNotKnown) return not_known("The replica cannot tell who was written to.");
    if (met == Truth::kNo)
      return yes(fmt::format("{} was never written to{}.", printable(address),
                             unfamiliar ? ", and nothing older than a day is from there" : ""));
  }
  return no();
}

FactAnswer FactBook::look_alike(const FactQuestion& question, Correspondents& known) const {
  const auto recipients = recipients_of(question, limits_.recipients);
  if (!recipients) return not_known(kUnreadable);
  const auto own = domain_of(known.own_address());
  if (own.empty()) return not_known("The account's own domain is not known.");
  for (const auto& address : *recipients) {
    const std::string domain(domain_of(address));
    if (!looks_like(domain, own)) continue;
    const auto met = known.wrote_to_domain(domain);
    if (met == Truth::kNotKnown) return not_known("The replica cannot tell who was written to.");
    if (met == Truth::kNo) return yes(fmt::format("{} looks like {}.", printable(domain), printable(own)));
  }
  return no();
}

FactAnswer FactBook::quotes_code(const FactQuestion& question, Correspondents& known) const {
  const auto recipients = recipients_of(question, limits_.recipients);
  if (!recipients) return not_known(kUnreadable);
  const auto sent = outgoing_texts(question.capability, question.params);
  std::size_t codes = 0;
  for (const auto& value : values_in(sent.text, kMostValues)) {
    if (value.kind != ValueKind::kCode) continue;
    if (++codes > limits_.codes) return not_known("It has more numbers than are looked up.");
    const auto texts = spellings(sent.text, value);
    const auto anywhere = known.has_message(texts, {});
    if (anywhere == Truth::kNotKnown) return not_known("The replica cannot tell where its numbers stand.");
    if (anywhere == Truth::kNo) continue;
    for (const auto& address : *recipients) {
      if (address == known.own_address()) continue;
      const auto has = known.has_message(texts, address);
      if (has == Truth::kNotKnown) return not_known("The replica cannot tell where its numbers stand.");
      if (has == Truth::kNo)
        return yes(fmt::format("A code or number of it stands in a message that {} has not got.", printable(address)));
    }
  }
  return sent.cut ? not_known("Its texts are longer than what is looked at.") : no();
}

FactAnswer FactBook::new_link(const FactQuestion& question, Correspondents& known) const {
  const auto sent = outgoing_texts(question.capability, question.params);
  std::set<std::string> hosts;
  for (auto& value : values_in(sent.text, kMostValues)) {
    if (value.kind == ValueKind::kLink) hosts.insert(std::move(value.text));
  }
  if (hosts.size() > limits_.links) return not_known("It has more links than are looked up.");
  for (const auto& host : hosts) {
    const auto met = known.has_text(host, question.content_ms() - limits_.familiar_after_ms);
    if (met == Truth::kNotKnown) return not_known("The replica cannot tell where its links stand.");
    if (met == Truth::kNo) return yes(fmt::format("No message older than a day has {}.", printable(host)));
  }
  return sent.cut ? not_known("Its texts are longer than what is looked at.") : no();
}

FactAnswer FactBook::was_read(std::string_view fact, const FactQuestion& question) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known("Whose call it is is not known.");
  std::vector<TextValue> values;
  const auto sent = outgoing_texts(question.capability, question.params);
  const auto kind = fact == "read_link" ? ValueKind::kLink : ValueKind::kCode;
  if (fact == "read_recipient") {
    const auto recipients = recipients_of(question, limits_.recipients);
    if (!recipients) return not_known(kUnreadable);
    for (const auto& address : *recipients) values.push_back({ValueKind::kAddress, address});
  } else {
    values = values_in(sent.text, kMostValues);
    std::erase_if(values, [&](const TextValue& value) { return value.kind != kind; });
  }
  const auto target = target_of(question.capability, question.params);
  for (const auto& value : values) {
    const auto found = reads_.find(about.agent_id, value, about.content_ms);
    if (!found) continue;
    const bool in_place = !found->source.target.empty() && found->source.target == target &&
                          found->source.service == about.service && found->source.account_id == about.account_id;
    if (fact == "read_code" && in_place) continue;
    // A code is not told: who looks at the queue need not know it.
    return yes(fact == "read_code" ? fmt::format("A code or number of it stood in {}.", in_words(found->source))
                                   : fmt::format("{} stood in {}.", printable(value.text), in_words(found->source)));
  }
  if (!values.empty() && reads_.has_forgotten(about.agent_id, about.content_ms))
    return not_known("The agent has read more than is kept.");
  return sent.cut && fact != "read_recipient" ? not_known("Its texts are longer than what is looked at.") : no();
}

FactAnswer FactBook::has_read(const FactQuestion& question) const {
  if (question.about.agent_id.empty()) return not_known("Whose call it is is not known.");
  const auto found = reads_.find_any(question.about.agent_id, question.about.content_ms);
  return found ? yes(fmt::format("It has read {}.", in_words(found->source))) : no();
}

}  // namespace krux
