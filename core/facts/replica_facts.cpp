// Facts that the account's copy alone can tell.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/definition/forms.hpp"
#include "core/facts/fact_answers.hpp"
#include "core/facts/fact_book.hpp"
#include "core/facts/look_alike.hpp"
#include "core/policy/rules/recipients.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/replica/replica.hpp"
#include "core/replica/sender_proof.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr const char* kNobodyKnows = "The replica cannot tell who was written to.";
constexpr const char* kManyMessages = "It is about more messages than are looked up.";
constexpr std::size_t kMostMessages = 100;

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

/// Ids of the messages that the write is about, or answers.
std::vector<std::string> messages_of(const CapabilityDefinition& capability, const JsonValue& params,
                                     const std::string& collection) {
  std::vector<std::string> ids;
  for (const auto& named : capability.summary_records) {
    if (named.collection != collection) continue;
    for (auto& id : ids_of(named.id, params)) ids.push_back(std::move(id));
  }
  auto target = target_of(capability, params);
  if (ids.empty() && !target.empty()) ids.push_back(std::move(target));
  return ids;
}

}  // namespace

/// Who was written to once stays so: this alone is not looked up again. `address` may be "@" and a domain.
Truth FactBook::wrote_to(const Asked& asked, const std::string& address) const {
  const auto key = asked.name + '\n' + address;
  {
    const std::lock_guard lock(mutex_);
    if (written_to_.contains(key)) return Truth::kYes;
  }
  const auto truth =
      address.front() == '@' ? asked.known.wrote_to_domain(address.substr(1)) : asked.known.wrote_to(address);
  if (truth != Truth::kYes) return truth;
  const std::lock_guard lock(mutex_);
  if (written_to_.size() >= limits_.kept) written_to_.clear();
  written_to_.insert(key);
  return truth;
}

FactAnswer FactBook::new_recipient(const FactQuestion& question, const Asked& asked, bool unfamiliar) const {
  auto& known = asked.known;
  const auto recipients = recipients_of(question, limits_.recipients);
  if (!recipients) return not_known(kUnreadable);
  const auto before_ms = question.content_ms() - limits_.familiar_after_ms;
  for (const auto& address : *recipients) {
    if (address == known.own_address()) continue;
    auto met = wrote_to(asked, address);
    if (unfamiliar && met == Truth::kNo) met = known.heard_from(address, before_ms);
    if (met == Truth::kNotKnown) return not_known(kNobodyKnows);
    if (met == Truth::kNo)
      return yes(fmt::format("{} was never written to{}.", printable(address),
                             unfamiliar ? ", and nothing older than a day came from there" : ""));
  }
  return no();
}

FactAnswer FactBook::new_domain(const FactQuestion& question, const Asked& asked) const {
  const auto recipients = recipients_of(question, limits_.recipients);
  if (!recipients) return not_known(kUnreadable);
  const std::string own(domain_of(asked.known.own_address()));
  for (const auto& address : *recipients) {
    const std::string domain(domain_of(address));
    if (domain == own) continue;
    const auto met = wrote_to(asked, "@" + domain);
    if (met == Truth::kNotKnown) return not_known(kNobodyKnows);
    if (met == Truth::kNo) return yes(fmt::format("Nobody at {} was ever written to.", printable(domain)));
  }
  return no();
}

FactAnswer FactBook::look_alike(const FactQuestion& question, const Asked& asked) const {
  const auto recipients = recipients_of(question, limits_.recipients);
  if (!recipients) return not_known(kUnreadable);
  const std::string own(domain_of(asked.known.own_address()));
  if (own.empty()) return not_known("The account's own domain is not known.");
  for (const auto& address : *recipients) {
    const std::string domain(domain_of(address));
    if (domain == own) continue;
    const auto met = wrote_to(asked, "@" + domain);
    if (met == Truth::kNotKnown) return not_known(kNobodyKnows);
    if (met == Truth::kYes) continue;
    const auto like = looks_like(domain, own) ? own : written_.one_like(asked.name, asked.known, domain);
    if (!like) return not_known("Whom the account has written to is not read to its end yet.");
    // Many names of correspondents are alike: one that has written before is another one. Of one's own none is.
    const auto before_ms = question.content_ms() - limits_.familiar_after_ms;
    if (*like != own && asked.known.heard_from_domain(domain, before_ms) == Truth::kYes) continue;
    if (!like->empty()) return yes(fmt::format("{} looks like {}.", printable(domain), printable(*like)));
  }
  return no();
}

FactAnswer FactBook::quotes_code(const FactQuestion& question, Correspondents& known) const {
  const auto recipients = recipients_of(question, limits_.recipients);
  if (!recipients) return not_known(kUnreadable);
  auto sent = sent_by(question);
  std::size_t codes = 0;
  for (const auto& code : values_of(sent, ValueKind::kCode)) {
    if (++codes > limits_.codes) return not_known("It has more numbers than are looked up.");
    const auto texts = spellings(sent.text, code);
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
  return nothing_in(sent);
}

FactAnswer FactBook::new_value(const FactQuestion& question, Correspondents& known, ValueKind kind) const {
  const auto* const things = kind == ValueKind::kLink ? "links" : "phone numbers";
  auto sent = sent_by(question);
  std::map<std::string, TextValue> all;
  for (auto& value : values_of(sent, kind)) all.emplace(value.text, value);
  if (all.size() > limits_.values) return not_known(fmt::format("It has more {} than are looked up.", things));
  for (const auto& [text, value] : all) {
    // Hosts are written alike everywhere; numbers are looked for as they are written here.
    const auto written = kind == ValueKind::kLink ? text : sent.text.substr(value.at, value.size);
    const auto met = known.has_value(value, written, question.content_ms() - limits_.familiar_after_ms);
    if (met == Truth::kNotKnown) return not_known(fmt::format("The replica cannot tell where its {} stand.", things));
    if (met == Truth::kNo) return yes(fmt::format("No message older than a day has {}.", printable(written)));
  }
  return nothing_in(sent);
}

FactAnswer FactBook::sent_lately(const FactQuestion& question, const Asked& asked) const {
  const auto ids =
      messages_of(question.capability, question.params, asked.account.definition->correspondence.collection);
  if (ids.size() > kMostMessages) return not_known(kManyMessages);
  for (const auto& id : ids) {
    const auto sent = asked.known.was_sent(id, question.content_ms() - limits_.lately_ms);
    if (sent == Truth::kNotKnown) return not_known("The replica cannot tell when its messages were sent.");
    if (sent == Truth::kNo) continue;
    return yes(fmt::format("{} was sent within the hour.", words_of_message(asked.account, id)));
  }
  return no();
}

FactAnswer FactBook::unproven_sender(const FactQuestion& question, const Asked& asked) {
  const auto& account = asked.account;
  const auto& where = account.definition->correspondence;
  const auto ids = messages_of(question.capability, question.params, where.collection);
  if (ids.size() > kMostMessages) return not_known(kManyMessages);
  std::optional<std::string> unsaid;
  try {
    for (const auto& id : ids) {
      const auto proof =
          account.replica ? sender_proof(*account.replica->reader(), where, id) : SenderProof::kNoMessage;
      if (proof == SenderProof::kUnproven)
        return yes(fmt::format("The service has not proven who has sent {}.", words_of_message(account, id)));
      if (proof != SenderProof::kProven && !unsaid) unsaid = id;
    }
  } catch (const Error&) {
    return not_known("The account's copy cannot be read.");
  }
  if (!unsaid) return no();
  return not_known(fmt::format("The service does not say whether it has proven who has sent {}.",
                               words_of_message(account, *unsaid)));
}

}  // namespace krux
