#include "core/facts/reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "core/definition/forms.hpp"
#include "core/facts/correspondents.hpp"
#include "core/policy/rules/recipients.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/replica/replica.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr auto kTimeForRecords = std::chrono::milliseconds(500);

ReachedPeople people_of(const ActiveAccount& account, const CapabilityDefinition& capability, const JsonValue& params) {
  ReachedPeople people;
  if (!account.definition->correspondence.has_people()) return people;
  Correspondents known(account);
  const std::string own_domain(domain_of(known.own_address()));
  people.own_domain_known = !own_domain.empty();
  std::set<std::string> all;
  for (const auto address : recipient_addresses(capability, params)) {
    people.unreadable += address.empty() ? 1 : 0;
    if (!address.empty()) all.insert(small_letters(address));
  }
  all.erase(known.own_address());
  for (const auto& address : all) {
    if (people.own_domain_known && domain_of(address) != own_domain) people.outside.push_back(address);
    if (people.all.size() < kMostReached && people.written_to_known) {
      const auto met = known.wrote_to(address);
      people.written_to_known = met != Truth::kNotKnown;
      if (met == Truth::kNo) people.never_written_to.push_back(address);
    }
    people.all.push_back(address);
  }
  return people;
}

/// Of a record that has been looked at.
struct Seen {
  std::set<std::string> conversations, senders;
  bool all_told = true;

  void add(const JsonValue& record, const CorrespondenceDefinition& where) {
    const auto at = member_text(record, where.conversation), by = member_text(record, where.sender);
    if (!at.empty()) conversations.emplace(at);
    if (!by.empty()) senders.insert(small_letters(by));
    all_told = all_told && at.empty() == where.conversation.empty() && by.empty() == where.sender.empty();
  }
};

ReachedRecords records_of(const ActiveAccount& account, const SummaryRecord& named, const JsonValue& params) {
  ReachedRecords found;
  found.collection = named.collection;
  const auto ids = ids_of(named.id, params);
  found.count = ids.size();
  const auto& where = account.definition->correspondence;
  const auto rows = account.replica ? account.replica->reader() : nullptr;
  Seen seen;
  const auto until = std::chrono::steady_clock::now() + kTimeForRecords;
  for (const auto& id : ids) {
    if (found.looked_at == kMostReached || std::chrono::steady_clock::now() > until) break;
    ++found.looked_at;
    const auto json = rows ? json_of_record(*rows, named.collection, id) : std::string();
    found.absent += json.empty() ? 1 : 0;
    if (found.first.size() < kFewInWords) found.first.push_back(record_in_words(named.words, id, json));
    if (json.empty()) continue;
    const auto record = parse_json(json, "a record", {8 << 20, 64});
    if (named.collection == where.collection) seen.add(record, where);
    const auto* members = named.members.empty() ? nullptr : find_member(record, named.members);
    if (members && members->IsInt64() && ids.size() == 1) found.members = members->GetInt64();
  }
  found.all_told = seen.all_told && found.absent == 0 && found.looked_at == found.count;
  found.conversations = seen.conversations.size();
  found.senders = seen.senders.size();
  return found;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// "a, b, c and 9 more".
std::string listed(const std::vector<std::string>& all, std::size_t count) {
  std::string text;
  const auto shown = std::min(all.size(), kFewInWords);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + printable(all[i]);
  return count > shown ? fmt::format("{} and {} more", text, count - shown) : text;
}

void add_people(std::vector<std::string>& sentences, const ReachedPeople& people, const ActiveAccount& account) {
  if (people.all.empty() && people.unreadable == 0) return;
  auto sentence = "It names " + counted(people.all.size(), "address", "addresses");
  if (people.unreadable > 0) sentence += fmt::format(" and {} that cannot be read as one", people.unreadable);
  const auto domain = printable(domain_of(account.ref.account_id));
  if (!people.outside.empty())
    sentence += fmt::format(", {} outside {}: {}", people.outside.size(), domain,
                            listed(people.outside, people.outside.size()));
  else if (people.own_domain_known && people.unreadable == 0)
    sentence += ", none outside " + domain;
  sentences.push_back(sentence + ".");
  const auto& strangers = people.never_written_to;
  if (!strangers.empty()) sentences.push_back("Never written to before: " + listed(strangers, strangers.size()) + ".");
  if (people.all.empty()) return;
  if (!people.written_to_known)
    sentences.push_back(fmt::format("The copy cannot tell who {} was written to before.",
                                    strangers.empty() ? "of them" : "of the others"));
  else if (people.all.size() > kMostReached)
    sentences.push_back(fmt::format("Of the first {} was looked up who was written to before.", kMostReached));
}

void add_records(std::vector<std::string>& sentences, const ReachedRecords& records) {
  if (records.count > 1) {
    const auto* at_least = records.all_told ? "" : "at least ";
    auto sentence = fmt::format("It is about {} {}", records.count, printable(records.collection));
    if (records.conversations > 0)
      sentence += fmt::format(" of {}{}", at_least, counted(records.conversations, "conversation", "conversations"));
    if (records.senders > 0)
      sentence += fmt::format(" from {}{}", at_least, counted(records.senders, "sender", "senders"));
    sentences.push_back(sentence + ": " + listed(records.first, records.count) + ".");
    if (records.absent > 0) sentences.push_back(fmt::format("The copy does not have {} of them.", records.absent));
    if (records.looked_at < records.count)
      sentences.push_back(fmt::format("The first {} of them were looked at.", records.looked_at));
  }
  if (records.members > 0 && !records.first.empty())
    sentences.push_back(fmt::format("{}: {}.", printable(records.first.front()),
                                    counted(static_cast<std::size_t>(records.members), "member", "members")));
}

}  // namespace

Reach reach_of(const ActiveAccount& account, const CapabilityDefinition& capability, const JsonValue& params) {
  Reach reach;
  reach.people = people_of(account, capability, params);
  try {
    for (const auto& named : capability.summary_records) reach.records.push_back(records_of(account, named, params));
  } catch (const Error&) {
    // The copy is being removed: what was found so far is shown.
  }
  return reach;
}

std::vector<std::string> in_words(const Reach& reach, const ActiveAccount& account) {
  std::vector<std::string> sentences;
  add_people(sentences, reach.people, account);
  for (const auto& records : reach.records) add_records(sentences, records);
  return sentences;
}

}  // namespace krux
