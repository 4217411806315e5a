// Values that stand for all values of an input, as far as conditions can tell them apart.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/policy/rules/rule.hpp"

namespace krux {

/// What is answered would take too long to find out.
class TooManyCases : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether values keep to what the definition says of their inputs, or to their type alone: what a definition says may
/// change.
enum class Bounds { kDefinition, kType };

/// JSON by the parameter's name.
using SampleParams = std::map<std::string, std::string>;

/// What the samples of one thing may be together, in number and size.
class SampleBudget {
 public:
  /// `of`: what they are, for the sentence that says that they are too many.
  explicit SampleBudget(const char* of) : of_(of) {}
  /// Takes one more. Throws TooManyCases.
  void take(std::size_t bytes);
  void take(const SampleParams& params);

 private:
  const char* of_;
  std::size_t count_ = 100'000, bytes_ = 64 << 20;
};

// These throw TooManyCases.

/// Of an input that says neither whom it reaches nor which uploads it carries; without a member: it is not given.
std::vector<SampleParams> samples_of_input(const InputDefinition& input,
                                           const std::vector<const RuleCondition*>& conditions, Bounds bounds);

/// Of all inputs for uploads together.
std::vector<SampleParams> samples_of_uploads(const CapabilityDefinition& capability,
                                             const std::vector<const RuleCondition*>& conditions, Bounds bounds);

/// Of all parameters that say whom it reaches together, those too that are no inputs: the adapter adds them.
std::vector<SampleParams> samples_of_recipients(const CapabilityDefinition& capability,
                                                const std::vector<const RuleCondition*>& conditions, Bounds bounds);

/// Of agents' names, in small letters.
std::vector<std::string> samples_of_agents(const std::vector<std::string>& patterns);

}  // namespace krux
