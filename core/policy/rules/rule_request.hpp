// Conditions, asked of one call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/util/json.hpp"

namespace krux {

struct AskedFact {
  std::string fact;
  FactAnswer answer;
};

/// A call as rules see it. Refers to what it is given; for one decision of one thread.
class RuleRequest {
 public:
  /// `params`: one object, as the adapter has resolved it. `facts` may be null: then nothing is known.
  RuleRequest(std::string_view agent, const CapabilityDefinition& capability, const JsonValue& params,
              std::int64_t wall_ms, const FactSource* facts, FactContext about = {});

  /// Where that cannot be told, because a value is not of its input's type or a fact is not known: true.
  bool holds(const RuleCondition& condition) const;

  /// Of the input; nullptr where it is not given, or null.
  const JsonValue* value_of(const std::string& input) const;
  /// As holds(), of a condition that reads an input with this value.
  static bool holds_of(const RuleCondition& condition, const JsonValue* value);

  std::string_view agent() const { return question_.agent; }
  const CapabilityDefinition& capability() const { return question_.capability; }
  const JsonValue& params() const { return question_.params; }
  std::int64_t wall_ms() const { return question_.wall_ms; }
  /// The facts that were asked, each once.
  const std::vector<AskedFact>& asked() const { return asked_; }
  const FactSource* facts() const { return facts_; }

 private:
  const std::vector<std::string_view>& domains() const;
  bool has_uploads() const;
  const FactAnswer& answer_of(const RuleCondition& condition) const;

  const FactQuestion question_;
  const FactSource* facts_;
  mutable std::vector<AskedFact> asked_;
  mutable std::optional<std::vector<std::string_view>> domains_;  ///< read when they are first asked for
};

}  // namespace krux
