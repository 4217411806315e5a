#include "core/facts/reach.hpp"

#include <fmt/format.h>

#include <algorithm>
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

ReachedPeople people_of(const ActiveAccount& account, const CapabilityDefinition& capability, const JsonValue& params) {
  ReachedPeople people;
  if (!account.definition->correspondence.has_people()) return people;
  Correspondents known(account);
  const std::string own_domain(domain_of(known.own_address()));
  people.own_domain_known = !own_domain.empty();
  std::set<std::string> all;
  for (const auto address : recipient_addresses(capability, params)) {
    people.unreadable = people.unreadable || address.empty();
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

/// What the copy has of it; empty: nothing.
std::string record_json(ReplicaReader& rows, const std::string& collection, const std::string& id) {
  std::string json;
  rows.get(collection, id, [&](const RowView& row) {
    json = row.json;
    return false;
  });
  return json;
}

/// Of a record that has been looked at.
struct Seen {
  std::set<std::string> conversations, senders;

  void add(const JsonValue& record, const CorrespondenceDefinition& where) {
    if (const auto at = member_text(record, where.conversation); !at.empty()) conversations.emplace(at);
    if (const auto by = member_text(record, where.sender); !by.empty()) senders.insert(small_letters(by));
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
  for (const auto& id : ids) {
    if (found.looked_at == kMostReached) break;
    ++found.looked_at;
    const auto json = rows ? record_json(*rows, named.collection, id) : std::string();
    found.absent += json.empty() ? 1 : 0;
    if (found.first.size() < kFewInWords) found.first.push_back(record_in_words(named.words, id, json));
    if (json.empty()) continue;
    const auto record = parse_json(json, "a record", {8 << 20, 64});
    if (named.collection == where.collection) seen.add(record, where);
    const auto* people = named.people.empty() ? nullptr : find_member(record, named.people);
    if (people && people->IsInt64() && people->GetInt64() > 0 && ids.size() == 1) found.people = people->GetInt64();
  }
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
  if (!people.all.empty()) {
    auto sentence = "It reaches " + counted(people.all.size(), "person", "people");
    const auto domain = domain_of(account.ref.account_id);
    if (!people.outside.empty())
      sentence += fmt::format(", {} outside {}: {}", people.outside.size(), printable(domain),
                              listed(people.outside, people.outside.size()));
    else if (people.own_domain_known)
      sentence += fmt::format(", nobody outside {}", printable(domain));
    sentences.push_back(sentence + ".");
    const auto& strangers = people.never_written_to;
    if (!strangers.empty())
      sentences.push_back("Never written to before: " + listed(strangers, strangers.size()) + ".");
    if (!people.written_to_known) sentences.emplace_back("The copy cannot tell who was written to before.");
    if (people.all.size() > kMostReached)
      sentences.push_back(fmt::format("Of the first {} was looked up who was written to before.", kMostReached));
  }
  if (people.unreadable) sentences.emplace_back("A recipient cannot be read as an address.");
}

void add_records(std::vector<std::string>& sentences, const ReachedRecords& records) {
  if (records.count > 1) {
    auto sentence = fmt::format("It is about {} {}", records.count, printable(records.collection));
    if (records.conversations > 0) sentence += " of " + counted(records.conversations, "conversation", "conversations");
    if (records.senders > 0) sentence += " from " + counted(records.senders, "person", "people");
    sentences.push_back(sentence + ": " + listed(records.first, records.count) + ".");
    if (records.absent > 0) sentences.push_back(fmt::format("The copy does not have {} of them.", records.absent));
    if (records.looked_at < records.count)
      sentences.push_back(fmt::format("The first {} of them were looked at.", records.looked_at));
  }
  if (records.people >= 0 && !records.first.empty())
    sentences.push_back(fmt::format("{}: {}.", printable(records.first.front()),
                                    counted(static_cast<std::size_t>(records.people), "person", "people")));
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
