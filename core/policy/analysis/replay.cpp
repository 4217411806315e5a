#include "core/policy/analysis/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/policy/rules/rule_request.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// Facts as the log has them.
class KeptFacts final : public FactSource {
 public:
  explicit KeptFacts(const PastDecision& past) : past_(past) {}
  std::vector<std::string> names() const override { return {}; }
  FactAnswer ask(std::string_view fact, const FactQuestion&) const override {
    const auto at = past_.facts.find(fact);
    return {at == past_.facts.end() ? Truth::kNotKnown : at->second, {}};
  }
  FactAnswer has_called(const RuleCondition& asked, const FactQuestion& question) const override {
    return ask(asked.input, question);
  }

 private:
  const PastDecision& past_;
};

std::optional<Tier> tier_named(std::string_view name) {
  for (const auto tier : {Tier::kAutonomous, Tier::kNotify, Tier::kApprovalRequired, Tier::kBlocked}) {
    if (name == to_string(tier)) return tier;
  }
  return std::nullopt;
}

/// Whether only its size and hash were kept, or those of an entry.
bool is_cut(const JsonValue& value) {
  if (value.IsObject()) return true;
  return value.IsArray() && std::any_of(value.Begin(), value.End(), is_cut);
}

JsonDocument object_of(const JsonValue& parent, std::string_view name) {
  JsonDocument out(rapidjson::kObjectType);
  const auto* value = find_member(parent, name);
  if (value && value->IsObject()) out.CopyFrom(*value, out.GetAllocator());
  return out;
}

enum class Input { kAbsent, kKnown, kSized, kUnknown };

/// One past call, asked about conditions: yes, no or not known.
class PastCall {
 public:
  PastCall(const PastDecision& past, const RuleRequest& request)
      : past_(past), capability_(request.capability()), request_(request) {}

  Truth holds(const RuleCondition& condition) const {
    if (reads_time(condition.kind)) return told(request_.holds(condition));
    if (reads_input(condition.kind)) return of_input(condition);
    if (reads_recipients(condition.kind))
      return all_known(capability_.recipients) ? told(request_.holds(condition)) : Truth::kNotKnown;
    if (reads_uploads(condition.kind)) return of_uploads(condition);
    return past_.facts.contains(condition.input) ? told(request_.holds(condition)) : Truth::kNotKnown;
  }
  /// Of a condition that is not known: what the log has not kept.
  static std::string lacking(const RuleCondition& condition) {
    if (reads_fact(condition.kind)) return fmt::format("The fact {} was not asked then.", condition.input);
    if (reads_history(condition.kind)) return fmt::format("Whether {} was not asked then.", in_words(condition));
    if (reads_input(condition.kind))
      return fmt::format("The log has not kept the input {}.", printable(condition.input));
    return "The log has not kept whom it reaches.";
  }

 private:
  static Truth told(bool yes) { return yes ? Truth::kYes : Truth::kNo; }

  Input input(std::string_view name) const {
    if (const auto* value = find_member(past_.looked_at, name)) return is_cut(*value) ? Input::kSized : Input::kKnown;
    if (past_.sizes.ObjectEmpty() && !past_.looked_at.ObjectEmpty()) return Input::kUnknown;
    return find_member(past_.sizes, name) ? Input::kSized : Input::kAbsent;
  }
  bool all_known(const std::vector<std::string>& names) const {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      const auto known = input(name);
      return known == Input::kKnown || known == Input::kAbsent;
    });
  }
  std::int64_t size(std::string_view name, const char* of) const {
    const auto* sizes = find_member(past_.sizes, name);
    return sizes ? find_int(*sizes, of).value_or(-1) : -1;
  }

  Truth of_input(const RuleCondition& c) const {
    const auto known = input(c.input);
    if (known == Input::kAbsent) return told(RuleRequest::holds_of(c, nullptr));
    if (known == Input::kKnown) return told(RuleRequest::holds_of(c, find_member(past_.looked_at, c.input)));
    if (known == Input::kUnknown) return Truth::kNotKnown;
    switch (c.kind) {
      case ConditionKind::kPresent:
        return Truth::kYes;
      case ConditionKind::kAbsent:
        return Truth::kNo;
      case ConditionKind::kMinBytes:
      case ConditionKind::kMaxBytes:
        return by_size(c, size(c.input, "bytes"), c.kind == ConditionKind::kMinBytes);
      case ConditionKind::kMinEntries:
      case ConditionKind::kMaxEntries:
        return by_size(c, size(c.input, "entries"), c.kind == ConditionKind::kMinEntries);
      default:
        return Truth::kNotKnown;
    }
  }
  static Truth by_size(const RuleCondition& c, std::int64_t size, bool least) {
    if (size < 0) return Truth::kNotKnown;
    return told(least ? size >= c.number : size <= c.number);
  }

  Truth of_uploads(const RuleCondition& c) const {
    bool any = false;
    for (const auto& one : capability_.inputs) {
      if (!one.uploads) continue;
      const auto known = input(one.name);
      if (known == Input::kUnknown) return Truth::kNotKnown;
      any = any || (known != Input::kAbsent && size(one.name, "entries") != 0);
    }
    return told(any == (c.kind == ConditionKind::kUploads));
  }

  const PastDecision& past_;
  const CapabilityDefinition& capability_;
  const RuleRequest& request_;
};

/// All conditions of a rule; of one that is not known, what is lacking.
Truth matches(const Rule& rule, const PastCall& call, std::string& lacking) {
  auto truth = Truth::kYes;
  for (const auto& condition : rule.when) {
    const auto one = call.holds(condition);
    if (one == Truth::kNo) return Truth::kNo;
    if (one == Truth::kYes) continue;
    truth = Truth::kNotKnown;
    if (lacking.empty()) lacking = PastCall::lacking(condition);
  }
  return truth;
}

struct Demanded {
  Tier least = Tier::kAutonomous, most = Tier::kAutonomous;
  const Rule* rule = nullptr;  ///< of `least`
  std::string lacking;         ///< of `most`
};

void add_rules(Demanded& demanded, const PastDecision& past, const CapabilityDefinition& capability,
               const RuleSet& rules) {
  const KeptFacts facts(past);
  const RuleRequest request(past.agent, capability, past.looked_at, past.at_ms, &facts);
  const PastCall call(past, request);
  for (const auto* rule : rules.compiled(past.agent, capability.name).rules()) {
    const auto tier = rule->tier.value_or(Tier::kAutonomous);
    std::string lacking;
    const auto truth = matches(*rule, call, lacking);
    if (truth == Truth::kYes && tier > demanded.least) {
      demanded.least = tier;
      demanded.rule = rule;
    }
    if (truth != Truth::kNo && tier > demanded.most) {
      demanded.most = tier;
      demanded.lacking = truth == Truth::kYes ? std::string() : lacking;
    }
  }
}

}  // namespace

std::optional<PastDecision> past_decision(const JsonValue& row) {
  const auto* body = row.IsObject() ? find_member(row, "body") : nullptr;
  const auto* decision = body && body->IsObject() ? find_member(*body, "decision") : nullptr;
  const auto kind = find_string(row, "kind").value_or("");
  const bool admits = kind == "write.submitted";
  if (!decision || !decision->IsObject() || !(admits || kind == "call")) return std::nullopt;
  const auto tier = tier_named(find_string(*decision, "tier").value_or(""));
  const auto capability = find_string(*body, admits ? "operation" : "capability");
  const auto at = find_string(row, "at");
  if (!tier || !capability || !at) return std::nullopt;
  PastDecision past;
  past.seq = find_int(row, "seq").value_or(0);
  past.at_ms = parse_time(std::string(*at), "at");
  past.agent = find_string(row, "agent").value_or("");
  past.capability = *capability;
  past.write_id = find_string(row, "write_id").value_or("");
  past.tier = *tier;
  const auto by = object_of(*decision, "decided_by");
  if (const auto name = find_string(by, "rule"))
    past.decided_by =
        fmt::format("{}:{} ({})", find_string(by, "file").value_or(""), find_int(by, "line").value_or(0), *name);
  past.looked_at = object_of(*decision, "looked_at");
  past.sizes = object_of(*body, "parameters");
  const auto facts = object_of(*decision, "facts");
  for (const auto& fact : facts.GetObject()) {
    const auto said = fact.value.IsString() ? view(fact.value) : std::string_view();
    past.facts[std::string(view(fact.name))] = said == "yes"  ? Truth::kYes
                                               : said == "no" ? Truth::kNo
                                                              : Truth::kNotKnown;
  }
  return past;
}

Replayed replay(const PastDecision& past, const CapabilityDefinition& capability, const CapabilityDefinition& counted,
                const RuleSet& now) {
  using enum Replayed::Verdict;
  Demanded demanded{counted.tier, counted.tier, nullptr, {}};
  add_rules(demanded, past, counted, now);
  if (&counted != &capability) add_rules(demanded, past, capability, now);
  Replayed replayed{kSame, demanded.least, demanded.rule, {}};
  if (demanded.least > past.tier) {
    replayed.verdict = kStricter;
  } else if (demanded.most < past.tier) {
    replayed.verdict = kLooser;
  } else if (demanded.least != demanded.most) {
    replayed.verdict = kNotKnown;
    replayed.why = demanded.lacking;
  }
  return replayed;
}

}  // namespace krux
