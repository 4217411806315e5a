// All rules that are in force together, and what they decide.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/policy/rules/rule_request.hpp"

namespace krux {

/// What rules demand of one call: of each part the rule that demands it, nullptr where none does.
struct RuleDecision {
  Tier tier = Tier::kAutonomous;
  const Rule* tier_rule = nullptr;
  std::int64_t delay_ms = 0;
  const Rule* delay_rule = nullptr;
  std::int64_t expires_ms = 0;  ///< for how long a person may be asked; 0: for ever
  const Rule* expires_rule = nullptr;
  std::int64_t approvals = 0;  ///< so many operators must accept it, where a person is asked; 0: one
  const Rule* approvals_rule = nullptr;
  std::vector<const Rule*> limits{};  ///< each has one; by layer, file and line

  /// Tier, delay, expiry and approvals each become the stricter of both; the limits stay. Of two that are as strict as
  /// each other the one whose rule can be read counts: what cannot be read nobody knows for sure.
  void take_stricter(const RuleDecision& other);
};

/// The rules of one agent about one capability, each condition once.
class CompiledRules {
 public:
  explicit CompiledRules(std::vector<const Rule*> rules);

  bool empty() const { return steps_.empty(); }
  const std::vector<const Rule*>& rules() const { return rules_; }  ///< by layer, file and line
  /// Inputs that a condition reads, or that a limit counts apart by.
  const std::vector<std::string>& looks_at() const { return looks_at_; }
  /// Whether it matters whom a call reaches.
  bool by_recipients() const { return by_recipients_; }
  /// Whether the parameters are looked at.
  bool by_content() const { return by_content_; }
  RuleDecision decide(const RuleRequest& request) const;
  /// Those all of whose conditions hold, by layer, file and line.
  std::vector<const Rule*> matching(const RuleRequest& request) const;
  /// What they demand of every call, whatever stands in it and whenever it comes.
  RuleDecision always() const;
  /// What they demand of every call at that time, whatever stands in it.
  RuleDecision whatever_it_says(std::int64_t wall_ms) const;
  /// Writes count for one of their limits, whether it stops them or not.
  bool counts() const { return counts_; }

 private:
  struct Step {
    const Rule* rule;
    std::uint32_t from, to;  ///< of used_
    Tier tier;
    std::int64_t delay_ms, expires_ms, approvals;
    bool limits;
  };
  /// A condition, with what nearly all requests need of it beside each other.
  struct Asked {
    const RuleCondition* condition;
    ConditionKind kind;
    std::uint32_t place = 0;  ///< of inputs_ or zones_, as the condition reads one
    std::int64_t number = 0;
    std::uint8_t weekdays = 0;
    int from_minute = 0, to_minute = 0;
    std::bitset<256> first_bytes{};  ///< with which texts begin that are among `texts`, or begin so
    explicit Asked(const RuleCondition& c);
  };
  class Answers;
  std::vector<const Rule*> rules_;
  std::vector<Asked> conditions_;
  std::vector<std::string> inputs_, zones_, looks_at_;
  std::vector<std::uint32_t> used_;  ///< conditions, by their places
  std::vector<Step> steps_;          ///< the strictest first
  bool by_content_ = false, by_recipients_ = false, counts_ = false;
};

/// Immutable, but for what it keeps of questions. Any thread.
class RuleSet {
 public:
  explicit RuleSet(std::vector<Rule> rules = {});

  bool empty() const { return rules_.empty(); }
  const std::vector<Rule>& rules() const { return rules_; }  ///< by layer, file and line
  /// Whether one of them asks what an agent has read; the fact; when an agent has called the capability.
  bool ask_what_was_read() const { return ask_what_was_read_; }
  bool ask(std::string_view fact) const;
  bool ask_when_called(std::string_view capability) const;
  /// `agent`: its name, whatever the case. Lives as long as this.
  const CompiledRules& compiled(std::string_view agent, const std::string& capability) const;

 private:
  const std::vector<Rule> rules_;
  const bool ask_what_was_read_;
  const std::vector<std::string> history_;  ///< the capabilities, and patterns of some, that they ask for
  const CompiledRules none_{{}};
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::string, std::unique_ptr<const CompiledRules>> compiled_;  ///< by agent and capability
};
using RuleSetPtr = std::shared_ptr<const RuleSet>;

}  // namespace krux
