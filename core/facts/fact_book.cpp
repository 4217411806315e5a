#include "core/facts/fact_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/definition/forms.hpp"
#include "core/facts/fact_answers.hpp"
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

}  // namespace

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

std::vector<TextValue> values_of(Outgoing& sent, ValueKind kind) {
  auto values = values_in(sent.text, kMostValues);
  sent.cut = sent.cut || values.size() >= kMostValues;
  std::erase_if(values, [&](const TextValue& value) { return value.kind != kind; });
  return values;
}

FactAnswer nothing_in(const Outgoing& sent) {
  if (sent.absent) return not_known("The account's copy has not all of what it passes on: read it first.");
  return sent.cut ? not_known("Its texts are longer than what is looked at.") : no();
}

FactBook::FactBook(const AgentHistory& history, const AccountDirectory& accounts, Limits limits)
    : history_(history), accounts_(accounts), limits_(limits) {}

std::vector<std::string> FactBook::names() const {
  return unanswered_facts().names();
}

FactAnswer FactBook::ask(std::string_view fact, const FactQuestion& question) const {
  const auto of_history = history_fact(fact);
  return of_history ? of_history(*this, question) : kept_or_looked_up(fact, question);
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

std::string FactBook::json_of_message(const ActiveAccount& account, const std::string& id) {
  const auto& where = account.definition->correspondence;
  try {
    if (account.replica && !where.collection.empty())
      return json_of_record(*account.replica->reader(), where.collection, id);
  } catch (const Error&) {
    // The copy is being removed: it has nothing any more.
  }
  return {};
}

std::string FactBook::words_of_message(const ActiveAccount& account, const std::string& id) {
  return printable(record_in_words(account.definition->correspondence.words, id, json_of_message(account, id)));
}

/// `email.read of "Plans" from ada@example.com (m1)`: who decides sees whose words they are.
std::string FactBook::in_words(const ReadSource& source) const {
  auto words = printable(source.capability);
  if (source.target.empty()) return words;
  const auto account = account_of(accounts_, {{}, source.service, source.account_id});
  return words + " of " + (account ? words_of_message(*account, source.target) : printable(source.target));
}

FactAnswer FactBook::carries_secret(const FactQuestion& question) const {
  const auto sent = sent_by(question);
  if (const auto found = secret_in(sent.text); !found.empty())
    return yes(fmt::format("It holds what looks like {}.", found));
  return nothing_in(sent);
}

FactAnswer FactBook::kept_or_looked_up(std::string_view fact, const FactQuestion& question) const {
  const auto content = to_json(question.params);
  const auto& about = question.about;
  const auto key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{:x}", fact, question.capability.name, about.agent_id,
                               about.service, about.account_id, content.size(), KeyedHash()(content));
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
  if (fact == "carries_secret") return carries_secret(question);
  const auto of_replica = replica_fact(fact);
  if (!of_replica) return not_known("This host does not know such a fact.");
  const auto account = account_of(accounts_, question.about);
  if (!account) return not_known("The account is not connected.");
  Correspondents known(*account);
  return of_replica(*this, question, {*account, text_of(account->ref), known});
}

FactBook::HistoryFact FactBook::history_fact(std::string_view name) {
  using Question = const FactQuestion&;
  static const std::map<std::string_view, HistoryFact> all{
      {"has_read", [](const FactBook& book, Question question) { return book.has_read(question); }},
      {"read_unproven", [](const FactBook& book, Question question) { return book.read_unproven(question); }},
      {"read_recipient", [](const FactBook& book, Question question) { return book.read_recipient(question); }},
      {"read_link",
       [](const FactBook& book, Question question) { return book.read_value(question, ValueKind::kLink); }},
      {"read_phone",
       [](const FactBook& book, Question question) { return book.read_value(question, ValueKind::kPhone); }},
      {"read_code",
       [](const FactBook& book, Question question) { return book.read_value(question, ValueKind::kCode); }},
  };
  const auto at = all.find(name);
  return at == all.end() ? nullptr : at->second;
}

FactBook::ReplicaFact FactBook::replica_fact(std::string_view name) {
  using Question = const FactQuestion&;
  static const std::map<std::string_view, ReplicaFact> all{
      {"new_recipient", [](const FactBook& book, Question question,
                           const Asked& asked) { return book.new_recipient(question, asked, false); }},
      {"unfamiliar_recipient", [](const FactBook& book, Question question,
                                  const Asked& asked) { return book.new_recipient(question, asked, true); }},
      {"new_domain",
       [](const FactBook& book, Question question, const Asked& asked) { return book.new_domain(question, asked); }},
      {"look_alike_recipient",
       [](const FactBook& book, Question question, const Asked& asked) { return book.look_alike(question, asked); }},
      {"quotes_code", [](const FactBook& book, Question question,
                         const Asked& asked) { return book.quotes_code(question, asked.known); }},
      {"new_link", [](const FactBook& book, Question question,
                      const Asked& asked) { return book.new_value(question, asked.known, ValueKind::kLink); }},
      {"new_phone", [](const FactBook& book, Question question,
                       const Asked& asked) { return book.new_value(question, asked.known, ValueKind::kPhone); }},
      {"sent_lately",
       [](const FactBook& book, Question question, const Asked& asked) { return book.sent_lately(question, asked); }},
      {"unproven_sender",
       [](const FactBook&, Question question, const Asked& asked) { return unproven_sender(question, asked); }},
      {"read_words",
       [](const FactBook& book, Question question, const Asked& asked) { return book.read_words(question, asked); }},
  };
  const auto at = all.find(name);
  return at == all.end() ? nullptr : at->second;
}

}  // namespace krux
