// All requests for one capability by one agent, as far as conditions can tell them apart: for each input, for whom it
// reaches, the time and each fact the finitely many ways in which the conditions on it can turn out. Whether conditions
// can hold and fail together is answered exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/policy/analysis/samples.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/policy/rules/rule.hpp"

namespace krux {

/// One request. What no condition is about stands in it only where the definition requires it.
struct SampleRequest {
  std::string params_json;
  std::int64_t wall_ms = 0;
  std::vector<std::pair<std::string, Truth>> facts;
};

/// The facts of one.
class SampleFacts final : public FactSource {
 public:
  explicit SampleFacts(std::vector<std::pair<std::string, Truth>> facts) : facts_(std::move(facts)) {}
  std::vector<std::string> names() const override;
  FactAnswer ask(std::string_view fact, const FactQuestion& question) const override;
  FactAnswer has_called(const RuleCondition& asked, const FactQuestion& question) const override;

 private:
  std::vector<std::pair<std::string, Truth>> facts_;
};

using ConditionList = std::vector<const RuleCondition*>;

class RequestSpace {
 public:
  /// The capability has what the conditions name; these outlive this. Each input varies by itself, and times are those
  /// of a year from `from_ms` on, by the minute. Throws TooManyCases.
  RequestSpace(const CapabilityDefinition& capability, const ConditionList& conditions, Bounds bounds,
               std::int64_t from_ms);
  ~RequestSpace();

  /// A request in which all of `holding` hold, and of each list of `failing` one at least fails; nothing where there is
  /// none. Throws TooManyCases.
  std::optional<SampleRequest> find(const ConditionList& holding, const std::vector<ConditionList>& failing = {}) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

/// The conditions of rules, each once.
ConditionList conditions_of(const std::vector<const Rule*>& rules);
ConditionList pointers_to(const std::vector<RuleCondition>& conditions);

}  // namespace krux
