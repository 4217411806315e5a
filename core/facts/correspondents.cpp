#include "core/facts/correspondents.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "core/policy/rules/rule.hpp"
#include "core/replica/replica.hpp"
#include "core/state/text_values.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

/// Of a write's hundred recipients and twenty codes nobody waits for thousands of look-ups: others wait for the commit.
constexpr auto kTimeForAll = std::chrono::milliseconds(500);
/// Those of a host whose name is a part of another's: it is new if none of so many has it.
constexpr std::uint32_t kMostRows = 50;
constexpr std::size_t kMostRunsOfMessage = 20'000, kMostInRow = 2'000, kMostOfBody = 1 << 20;
constexpr auto kForEver = std::numeric_limits<std::int64_t>::max();

Condition group(Condition::Kind kind, std::vector<Condition> children) {
  Condition condition;
  condition.kind = kind;
  condition.children = std::move(children);
  return condition;
}

Condition with_text(Condition::Kind kind, std::string field, std::string text) {
  Condition condition;
  condition.kind = kind;
  condition.field = std::move(field);
  condition.text = std::move(text);
  return condition;
}

}  // namespace

Correspondents::Correspondents(const ActiveAccount& account)
    : where_(account.definition->correspondence), until_(std::chrono::steady_clock::now() + kTimeForAll) {
  if (account.ref.account_id.find('@') != std::string::npos) own_ = small_letters(account.ref.account_id);
  if (where_.collection.empty() || !account.replica) return;
  try {
    if (account.replica->state().whole) rows_ = account.replica->reader();
  } catch (const Error&) {
    // Removed meanwhile: nothing is known of it.
  }
}

Condition Correspondents::sent(bool is) const {
  auto tag = with_text(Condition::Kind::kTag, {}, where_.sent_tag);
  return is ? tag : group(Condition::Kind::kNoneOf, {std::move(tag)});
}

Condition Correspondents::in_texts(const std::vector<std::string>& names, const std::string& text) const {
  std::vector<Condition> any;
  for (const auto& name : names) any.push_back(with_text(Condition::Kind::kNamedText, name, text));
  return group(Condition::Kind::kAnyOf, std::move(any));
}

std::string Correspondents::as_it_stands(const std::string& address) const {
  return where_.before_address + address + where_.behind_address;
}

Truth Correspondents::wrote_to(const std::string& address) {
  if (!where_.has_people()) return Truth::kNotKnown;
  return exists({sent(true), in_texts(where_.to, as_it_stands(address))}, kForEver);
}

Truth Correspondents::wrote_to_domain(const std::string& domain) {
  if (!where_.has_people()) return Truth::kNotKnown;
  return exists({sent(true), in_texts(where_.to, "@" + domain + where_.behind_address)}, kForEver);
}

Truth Correspondents::heard_from(const std::string& address, std::int64_t before_ms) {
  if (!where_.has_people()) return Truth::kNotKnown;
  return exists({sent(false), in_texts({where_.from}, as_it_stands(address))}, before_ms);
}

Truth Correspondents::heard_from_domain(const std::string& domain, std::int64_t before_ms) {
  if (!where_.has_people()) return Truth::kNotKnown;
  return exists({sent(false), in_texts({where_.from}, "@" + domain + where_.behind_address)}, before_ms);
}

Truth Correspondents::has_message(const std::vector<std::string>& texts, const std::string& with) {
  std::vector<Condition> any;
  for (const auto& text : texts) any.push_back(with_text(Condition::Kind::kText, {}, text));
  std::vector<Condition> all{group(Condition::Kind::kAnyOf, std::move(any))};
  if (!with.empty()) {
    if (!where_.has_people()) return Truth::kNotKnown;
    auto people = where_.to;
    people.push_back(where_.from);
    all.push_back(in_texts(people, as_it_stands(with)));
  }
  return exists(std::move(all), kForEver);
}

bool Correspondents::has_value_of(const RowView& row, const TextValue& value) {
  const auto has = [&](std::string_view json) {
    const auto values = values_in_json(json, kMostInRow);
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return has(row.json) || std::any_of(where_.bodies.begin(), where_.bodies.end(),
                                      [&](const std::string& name) { return has(body_of(row, name)); });
}

Truth Correspondents::has_value(const TextValue& value, const std::string& part, std::int64_t before_ms) {
  auto query = about({with_text(Condition::Kind::kText, {}, part)});
  query.to_ms = before_ms;
  query.limit = kMostRows;
  return one_is(query, [&](const RowView& row) { return has_value_of(row, value); });
}

Truth Correspondents::has_run(const std::string& words, const std::string& with) {
  if (!where_.has_people()) return Truth::kNotKnown;
  auto people = where_.to;
  people.push_back(where_.from);
  return one_has_run(words, in_texts(people, as_it_stands(with)), kForEver);
}

Truth Correspondents::sent_run(const std::string& words, std::int64_t before_ms) {
  if (!where_.has_people()) return Truth::kNotKnown;
  return one_has_run(words, sent(true), before_ms);
}

/// Found by the longest of its words, and then compared as words: what stands between them in the message may differ.
Truth Correspondents::one_has_run(const std::string& words, Condition in, std::int64_t before_ms) {
  const auto asked = runs_in(words, kMostRunsOfMessage);
  std::string_view longest;
  for (std::size_t from = 0; from <= words.size();) {
    const auto end = std::min(words.find(' ', from), words.size());
    if (end - from > longest.size()) longest = std::string_view(words).substr(from, end - from);
    from = end + 1;
  }
  if (asked.runs.size() != 1 || longest.empty()) return Truth::kNotKnown;
  auto query = about({std::move(in), with_text(Condition::Kind::kText, {}, std::string(longest))});
  query.to_ms = before_ms;
  query.limit = kMostRows;
  return one_is(query, [&](const RowView& row) { return has_run_of(row, asked.runs.front()); });
}

bool Correspondents::has_run_of(const RowView& row, const WordRun& run) {
  const auto has = [&](std::string_view json) {
    const auto runs = runs_in_json(json, kMostRunsOfMessage);
    return std::binary_search(runs.runs.begin(), runs.runs.end(), run);
  };
  return has(row.json) || std::any_of(where_.bodies.begin(), where_.bodies.end(),
                                      [&](const std::string& name) { return has(body_of(row, name)); });
}

std::string Correspondents::body_of(const RowView& row, const std::string& name) {
  std::string json;
  rows_->blob(where_.collection, row.id, name, [&](std::string_view bytes) {
    json += bytes;
    return json.size() < kMostOfBody;
  });
  return json;
}

Truth Correspondents::has_got(const std::string& address, const std::string& message_id) {
  if (!where_.has_people()) return Truth::kNotKnown;
  auto people = where_.to;
  people.push_back(where_.from);
  auto query = about({in_texts(people, as_it_stands(address))});
  query.id = message_id;
  return one_is(query, [](const RowView&) { return true; });
}

Truth Correspondents::was_sent(const std::string& message_id, std::int64_t since_ms) {
  if (!where_.has_people()) return Truth::kNotKnown;
  auto query = about({sent(true)});
  query.id = message_id;
  query.from_ms = since_ms;
  return one_is(query, [](const RowView&) { return true; });
}

bool Correspondents::each_sent(std::int64_t since_ms, std::uint32_t most,
                               const std::function<void(const RowView&)>& on_row) {
  if (!where_.has_people()) return false;
  auto query = about({sent(true)});
  query.rare = query.descending = false;
  query.from_ms = since_ms;
  query.limit = most;
  return one_is(query, [&](const RowView& row) {
           on_row(row);
           return false;
         }) == Truth::kNo;
}

Truth Correspondents::exists(std::vector<Condition> all, std::int64_t before_ms) {
  auto query = about(std::move(all));
  query.to_ms = before_ms;
  return one_is(query, [](const RowView&) { return true; });
}

Query Correspondents::about(std::vector<Condition> all) const {
  std::vector<Condition> without;
  for (const auto& tag : where_.without_tags) without.push_back(with_text(Condition::Kind::kTag, {}, tag));
  if (!without.empty()) all.push_back(group(Condition::Kind::kNoneOf, std::move(without)));
  Query query;
  query.collection = where_.collection;
  query.where = group(Condition::Kind::kAllOf, std::move(all));
  query.limit = 1;
  query.count_limit = 1;
  query.rare = true;
  return query;
}

Truth Correspondents::one_is(const Query& query, const std::function<bool(const RowView&)>& meant) {
  if (!rows_ || std::chrono::steady_clock::now() > until_) return Truth::kNotKnown;
  bool found = false;
  try {
    const auto result = rows_->query(query, [&](const RowView& row) {
      found = meant(row);
      return !found && std::chrono::steady_clock::now() <= until_;
    });
    if (found) return Truth::kYes;
    return result.incomplete || std::chrono::steady_clock::now() > until_ ? Truth::kNotKnown : Truth::kNo;
  } catch (const Error&) {
    return Truth::kNotKnown;
  }
}

}  // namespace krux
