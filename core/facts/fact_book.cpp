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
#include "core/replica/replica.hpp"
#include "core/state/text_values.hpp"
#include "core/util/error.hpp"
#include "core/util/json_texts.hpp"
#include "core/util/keyed_hash.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostValues = 2'000, kMostPassedOn = 4 * kMostOutgoing;

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

/// What can be told apart in it; of more than that many `cut` says that there is more.
std::vector<TextValue> values_of(Outgoing& sent) {
  auto values = values_in(sent.text, kMostValues);
  sent.cut = sent.cut || values.size() >= kMostValues;
  return values;
}

/// Where nothing was found.
FactAnswer nothing_in(const Outgoing& sent) {
  if (sent.absent) return not_known("The account's copy has not all of what it passes on: read it first.");
  return sent.cut ? not_known("Its texts are longer than what is looked at.") : no();
}

/// What goes along of the record; false: the replica has not all of it.
bool add_record(Outgoing& out, const ActiveAccount& account, const PassedOn& passed_on, const std::string& id) {
  if (id.empty() || !account.replica) return false;
  try {
    const auto rows = account.replica->reader();
    const bool there = rows->get(passed_on.collection, id, [&](const RowView& row) {
      const auto record = parse_json(row.json, "a record", {16 << 20, 64});
      for (const auto& name : passed_on.texts) {
        if (const auto text = find_string(record, name)) add_text(out, *text);
      }
      return false;
    });
    return there && std::all_of(passed_on.blobs.begin(), passed_on.blobs.end(), [&](const std::string& name) {
             std::string json;
             const bool kept = rows->blob(passed_on.collection, id, name, [&](std::string_view bytes) {
               json += bytes;
               return json.size() <= kMostPassedOn;
             });
             each_text(json, [&](std::string_view key, std::string_view text) {
               if (!names_or_dates(key)) add_text(out, text);
             });
             out.cut = out.cut || json.size() > kMostPassedOn;
             return kept;
           });
  } catch (const Error&) {
    return false;
  }
}

bool is_of_replica(std::string_view fact) {
  return fact == "new_recipient" || fact == "unfamiliar_recipient" || fact == "look_alike_recipient" ||
         fact == "quotes_code" || fact == "new_link";
}

}  // namespace

FactBook::FactBook(const AgentReads& reads, const AgentCalls& calls, const AccountDirectory& accounts, Limits limits)
    : reads_(reads), calls_(calls), accounts_(accounts), limits_(limits) {}

std::vector<std::string> FactBook::names() const {
  return unanswered_facts().names();
}

FactAnswer FactBook::ask(std::string_view fact, const FactQuestion& question) const {
  const bool of_secrets = fact == "carries_secret";
  if (is_of_replica(fact) || (of_secrets && question.capability.passes_on)) return asked_of_replica(fact, question);
  if (fact == "has_read") return has_read(question);
  return of_secrets ? carries_secret(question) : was_read(fact, question);
}

Outgoing FactBook::sent_by(const FactQuestion& question) const {
  const auto& passed_on = question.capability.passes_on;
  if (!passed_on) return outgoing_texts(question.capability, question.params);
  auto sent = parameter_texts(question.capability, question.params);
  const auto account = account_of(accounts_, question.about);
  sent.absent = !account || !add_record(sent, *account, *passed_on, filled_whole(passed_on->id, question.params));
  add_hidden(sent);
  return sent;
}

/// `email.read of "Plans" from ada@example.com (m1)`: who decides sees whose words they are.
std::string FactBook::in_words(const ReadSource& source) const {
  auto words = printable(source.capability);
  if (source.target.empty()) return words;
  const auto account = account_of(accounts_, {{}, source.service, source.account_id});
  std::string record;
  try {
    if (account && account->replica && !account->definition->correspondence.collection.empty())
      record =
          json_of_record(*account->replica->reader(), account->definition->correspondence.collection, source.target);
  } catch (const Error&) {
    record.clear();  // the id says the same
  }
  const auto& form = account ? account->definition->correspondence.words : std::string();
  return words + " of " + printable(record_in_words(form, source.target, record));
}

FactAnswer FactBook::carries_secret(const FactQuestion& question) const {
  const auto sent = sent_by(question);
  if (const auto found = secret_in(sent.text); !found.empty())
    return yes(fmt::format("It holds what looks like {}.", found));
  return nothing_in(sent);
}

FactAnswer FactBook::asked_of_replica(std::string_view fact, const FactQuestion& question) const {
  const auto content = to_json(question.params);
  const auto key = fmt::format("{}\n{}\n{}\n{}\n{}\n{:x}", fact, question.capability.name, question.about.service,
                               question.about.account_id, content.size(), KeyedHash()(content));
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
  if (fact == "carries_secret") return carries_secret(question);
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
                             unfamiliar ? ", and nothing older than a day came from there" : ""));
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
  auto sent = sent_by(question);
  std::size_t codes = 0;
  for (const auto& value : values_of(sent)) {
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
  return nothing_in(sent);
}

FactAnswer FactBook::new_link(const FactQuestion& question, Correspondents& known) const {
  auto sent = sent_by(question);
  std::set<std::string> hosts;
  for (auto& value : values_of(sent)) {
    if (value.kind == ValueKind::kLink) hosts.insert(std::move(value.text));
  }
  if (hosts.size() > limits_.links) return not_known("It has more links than are looked up.");
  for (const auto& host : hosts) {
    const auto met = known.has_link(host, question.content_ms() - limits_.familiar_after_ms);
    if (met == Truth::kNotKnown) return not_known("The replica cannot tell where its links stand.");
    if (met == Truth::kNo) return yes(fmt::format("No message older than a day has {}.", printable(host)));
  }
  return nothing_in(sent);
}

FactAnswer FactBook::was_read(std::string_view fact, const FactQuestion& question) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known("Whose call it is is not known.");
  std::vector<TextValue> values;
  auto sent = sent_by(question);
  const auto kind = fact == "read_link" ? ValueKind::kLink : ValueKind::kCode;
  if (fact == "read_recipient") {
    const auto recipients = recipients_of(question, limits_.recipients);
    if (!recipients) return not_known(kUnreadable);
    for (const auto& address : *recipients) values.push_back({ValueKind::kAddress, address});
  } else {
    values = values_of(sent);
    std::erase_if(values, [&](const TextValue& value) { return value.kind != kind; });
  }
  const auto target = target_of(question.capability, question.params);
  for (const auto& value : values) {
    const auto found = reads_.find(about.agent_id, value, about.content_ms);
    if (!found) continue;
    const bool in_place = !question.capability.passes_on && !found->source.target.empty() &&
                          found->source.target == target && found->source.service == about.service &&
                          found->source.account_id == about.account_id;
    if (fact == "read_code" && in_place) continue;
    // A code is not told: who looks at the queue need not know it.
    return yes(fact == "read_code" ? fmt::format("A code or number of it stood in {}.", in_words(found->source))
                                   : fmt::format("{} stood in {}.", printable(value.text), in_words(found->source)));
  }
  if (!values.empty() && reads_.has_forgotten(about.agent_id, about.content_ms))
    return not_known("The agent has read more than is kept.");
  return fact == "read_recipient" ? no() : nothing_in(sent);
}

FactAnswer FactBook::has_called(const RuleCondition& asked, const FactQuestion& question) const {
  if (question.about.agent_id.empty()) return not_known("Whose call it is is not known.");
  // A write does not count itself, which is noted when its content is made or later.
  const auto by = question.about.content_ms > 0 ? question.about.content_ms : question.wall_ms + 1;
  const auto found = calls_.find(question.about.agent_id, asked.texts, by - 1 - asked.window_ms, by);
  if (found.count < asked.number) return no();
  return yes(fmt::format("It had called {} within {}, last {}.", found.count == 1 ? "one" : std::to_string(found.count),
                         span_in_words(asked.window_ms), printable(found.last)));
}

FactAnswer FactBook::has_read(const FactQuestion& question) const {
  if (question.about.agent_id.empty()) return not_known("Whose call it is is not known.");
  const auto found = reads_.find_any(question.about.agent_id, question.about.content_ms);
  return found ? yes(fmt::format("It has read {}.", in_words(found->source))) : no();
}

}  // namespace krux
