#include "core/policy/rules/rule_set.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <tuple>

#include "core/policy/rules/facts.hpp"

namespace krux {
namespace {

/// The order in which rules are named; it decides nothing.
std::vector<Rule> in_order(std::vector<Rule> rules) {
  std::stable_sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) {
    return std::tie(a.layer, a.file, a.line) < std::tie(b.layer, b.file, b.line);
  });
  return rules;
}

std::tuple<Tier, std::int64_t> strictness(const Rule& rule) {
  return {rule.tier.value_or(Tier::kAutonomous), rule.delay_ms.value_or(0)};
}

/// What is demanded, and by which rule; nullptr: by none.
template <class Demand>
bool is_stricter(const Demand& demand, const Rule* rule, const Demand& than, const Rule* than_rule) {
  if (demand != than) return demand > than;
  return rule && than_rule && !rule->unreadable && than_rule->unreadable;
}

/// 0: never.
bool expires_sooner(std::int64_t ms, std::int64_t than_ms) {
  return ms > 0 && (than_ms == 0 || ms < than_ms);
}

bool is_about(const Rule& rule, const std::string& capability) {
  return rule.unreadable || std::binary_search(rule.covers.begin(), rule.covers.end(), capability);
}

template <class List, class Item>
std::uint32_t place_in(List& list, const Item& item) {
  const auto at = std::find(list.begin(), list.end(), item);
  const auto place = static_cast<std::uint32_t>(at - list.begin());
  if (at == list.end()) list.push_back(item);
  return place;
}

/// So many of something, on the stack where nearly every set has no more.
template <class Item, std::size_t kFew>
class Some {
 public:
  explicit Some(std::size_t count) : more_(count > kFew ? count : 0) {}
  Item& operator[](std::size_t at) { return more_.empty() ? few_[at] : more_[at]; }

 private:
  std::array<Item, kFew> few_{};
  std::vector<Item> more_;
};

void add(const Rule& rule, RuleDecision& decision) {
  const auto [tier, delay_ms] = strictness(rule);
  decision.take_stricter(
      {tier, &rule, delay_ms, &rule, rule.expires_ms.value_or(0), &rule, rule.approvals.value_or(0), &rule});
  if (rule.limit) decision.limits.push_back(&rule);
}

/// What conditions about calls name, each once.
std::vector<std::string> asked_history(const std::vector<Rule>& rules) {
  std::vector<std::string> all;
  for (const auto& rule : rules) {
    for (const auto& condition : rule.when) {
      if (reads_history(condition.kind)) all.insert(all.end(), condition.texts.begin(), condition.texts.end());
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void sort_limits(RuleDecision& decision) {
  std::sort(decision.limits.begin(), decision.limits.end());  // as they lie in the set, which is their order
}

}  // namespace

void RuleDecision::take_stricter(const RuleDecision& other) {
  if (is_stricter(other.tier, other.tier_rule, tier, tier_rule)) {
    tier = other.tier;
    tier_rule = other.tier_rule;
  }
  if (is_stricter(other.delay_ms, other.delay_rule, delay_ms, delay_rule)) {
    delay_ms = other.delay_ms;
    delay_rule = other.delay_rule;
  }
  if (expires_sooner(other.expires_ms, expires_ms)) {
    expires_ms = other.expires_ms;
    expires_rule = other.expires_rule;
  }
  if (other.approvals > approvals) {
    approvals = other.approvals;
    approvals_rule = other.approvals_rule;
  }
}

/// What one request says to each condition: asked once, each input looked up once, each zone's clock read once.
class CompiledRules::Answers {
 public:
  Answers(const CompiledRules& rules, const RuleRequest& request)
      : rules_(rules),
        request_(request),
        found_(rules.conditions_.size()),
        inputs_(rules.inputs_.size()),
        zones_(rules.zones_.size()) {}

  bool holds(std::uint32_t condition) {
    auto& found = found_[condition];
    if (found == kOpen) found = asked(rules_.conditions_[condition]) ? kHolds : kFails;
    return found == kHolds;
  }

 private:
  enum State : std::uint8_t { kOpen, kHolds, kFails };
  struct Input {
    bool known = false;
    const JsonValue* value = nullptr;
  };
  struct Clock {
    bool known = false;
    LocalTime time;
  };

  bool asked(const Asked& asked) {
    if (reads_input(asked.kind)) return of_input(asked);
    if (!reads_time(asked.kind)) return request_.holds(*asked.condition);
    auto& clock = zones_[asked.place];
    if (!clock.known) clock = {true, local_time(asked.condition->window.zone.get(), request_.wall_ms())};
    const TimeWindow window{nullptr, asked.weekdays, asked.from_minute, asked.to_minute};
    return window.holds(clock.time) == (asked.kind == ConditionKind::kTimeWithin);
  }

  /// As RuleRequest::holds_of(), which is asked where the beginning of a text does not tell.
  bool of_input(const Asked& asked) {
    using enum ConditionKind;
    auto& input = inputs_[asked.place];
    if (!input.known) input = {true, request_.value_of(asked.condition->input)};
    if (input.value && input.value->IsString()) {
      const auto text = view(*input.value);
      if (asked.kind == kMinBytes) return text.size() >= static_cast<std::uint64_t>(asked.number);
      const bool by_beginning = asked.kind == kOneOf || asked.kind == kPrefix;
      if (by_beginning && !text.empty() && !asked.first_bytes[static_cast<unsigned char>(text.front())]) return false;
    }
    return RuleRequest::holds_of(*asked.condition, input.value);
  }

  const CompiledRules& rules_;
  const RuleRequest& request_;
  Some<State, 256> found_;
  Some<Input, 16> inputs_;
  Some<Clock, 4> zones_;
};

CompiledRules::Asked::Asked(const RuleCondition& c)
    : condition(&c),
      kind(c.kind),
      number(c.number),
      weekdays(c.window.weekdays),
      from_minute(c.window.from_minute),
      to_minute(c.window.to_minute) {
  for (const auto& text : c.texts) {
    if (!text.empty()) first_bytes.set(static_cast<unsigned char>(text.front()));
  }
}

CompiledRules::CompiledRules(std::vector<const Rule*> rules) : rules_(std::move(rules)) {
  auto strictest_first = rules_;
  std::stable_sort(strictest_first.begin(), strictest_first.end(),
                   [](const Rule* a, const Rule* b) { return is_stricter(strictness(*a), a, strictness(*b), b); });
  for (const auto* rule : strictest_first) {
    const auto from = static_cast<std::uint32_t>(used_.size());
    for (const auto& condition : rule->when) {
      const auto same = std::find_if(conditions_.begin(), conditions_.end(),
                                     [&](const Asked& known) { return *known.condition == condition; });
      used_.push_back(static_cast<std::uint32_t>(same - conditions_.begin()));
      if (same != conditions_.end()) continue;
      Asked asked(condition);
      if (reads_input(condition.kind)) asked.place = place_in(inputs_, condition.input);
      if (reads_time(condition.kind)) asked.place = place_in(zones_, condition.window.zone->name());
      conditions_.push_back(asked);
      by_content_ = by_content_ || !reads_time(condition.kind);
      by_recipients_ = by_recipients_ || reads_recipients(condition.kind);
    }
    const auto [tier, delay_ms] = strictness(*rule);
    steps_.push_back({rule, from, static_cast<std::uint32_t>(used_.size()), tier, delay_ms,
                      rule->expires_ms.value_or(0), rule->approvals.value_or(0), rule->limit.has_value()});
    counts_ = counts_ || rule->limit.has_value();
    by_content_ = by_content_ || (rule->limit && !rule->limit->key.empty());
    if (rule->limit && !rule->limit->key.empty()) place_in(looks_at_, rule->limit->key);
  }
  for (const auto& input : inputs_) place_in(looks_at_, input);
}

RuleDecision CompiledRules::decide(const RuleRequest& request) const {
  RuleDecision decision;
  if (steps_.empty()) return decision;
  Answers answers(*this, request);
  for (const auto& step : steps_) {
    if (step.tier <= decision.tier && step.delay_ms <= decision.delay_ms && !step.limits &&
        step.approvals <= decision.approvals && !expires_sooner(step.expires_ms, decision.expires_ms))
      continue;
    bool holds = true;
    for (auto at = step.from; holds && at != step.to; ++at) holds = answers.holds(used_[at]);
    if (holds) add(*step.rule, decision);
  }
  sort_limits(decision);
  return decision;
}

std::vector<const Rule*> CompiledRules::matching(const RuleRequest& request) const {
  std::vector<const Rule*> all;
  std::copy_if(rules_.begin(), rules_.end(), std::back_inserter(all), [&](const Rule* rule) {
    return std::all_of(rule->when.begin(), rule->when.end(), [&](const auto& c) { return request.holds(c); });
  });
  return all;
}

RuleDecision CompiledRules::always() const {
  RuleDecision decision;
  for (const auto& step : steps_) {
    if (step.from == step.to) add(*step.rule, decision);
  }
  sort_limits(decision);
  return decision;
}

RuleDecision CompiledRules::whatever_it_says(std::int64_t wall_ms) const {
  RuleDecision decision;
  const auto holds_of_any = [&](const RuleCondition& c) {
    return reads_time(c.kind) && c.window.holds(wall_ms) == (c.kind == ConditionKind::kTimeWithin);
  };
  for (const auto& step : steps_) {
    const auto& when = step.rule->when;
    if (std::all_of(when.begin(), when.end(), holds_of_any)) add(*step.rule, decision);
  }
  sort_limits(decision);
  return decision;
}

RuleSet::RuleSet(std::vector<Rule> rules)
    : rules_(in_order(std::move(rules))),
      ask_what_was_read_(
          std::any_of(rules_.begin(), rules_.end(),
                      [](const Rule& rule) {
                        return std::any_of(rule.when.begin(), rule.when.end(), [](const RuleCondition& condition) {
                          const auto* fact = reads_fact(condition.kind) ? known_fact(condition.input) : nullptr;
                          return fact && fact->of_reads;
                        });
                      })),
      history_(asked_history(rules_)) {}

bool RuleSet::ask(std::string_view fact) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return std::any_of(rule.when.begin(), rule.when.end(), [&](const RuleCondition& condition) {
      return reads_fact(condition.kind) && condition.input == fact;
    });
  });
}

bool RuleSet::ask_when_called(std::string_view capability) const {
  return std::any_of(history_.begin(), history_.end(),
                     [&](const std::string& pattern) { return fits_pattern(pattern, capability); });
}

const CompiledRules& RuleSet::compiled(std::string_view agent, const std::string& capability) const {
  if (rules_.empty()) return none_;
  auto key = small_letters(agent);
  const auto length = key.size();
  key += '\n' + capability;
  {
    const std::shared_lock lock(mutex_);
    const auto known = compiled_.find(key);
    if (known != compiled_.end()) return *known->second;
  }
  std::vector<const Rule*> rules;
  for (const auto& rule : rules_) {
    if (is_about(rule, capability) && is_for_agent(rule, std::string_view(key).substr(0, length)))
      rules.push_back(&rule);
  }
  auto made = std::make_unique<const CompiledRules>(std::move(rules));
  const std::unique_lock lock(mutex_);
  return *compiled_.try_emplace(std::move(key), std::move(made)).first->second;
}

}  // namespace krux
