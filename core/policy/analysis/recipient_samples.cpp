// Whom a write reaches: lists of addresses, laid into the parameters that hold them.
#include <algorithm>
#include <optional>
#include <set>

#include "core/definition/input_check.hpp"
#include "core/policy/analysis/lists.hpp"
#include "core/policy/analysis/samples.hpp"
#include "core/policy/rules/recipients.hpp"
#include "core/util/json.hpp"

namespace krux {
namespace {

using Conditions = std::vector<const RuleCondition*>;
using Addresses = std::vector<std::string>;

constexpr std::size_t kMostParameters = 6;

/// A label that stands in none of them.
std::string unused_label(const std::set<std::string>& domains) {
  std::string label = "other";
  const auto has = [&](const std::string& domain) { return domain.find(label) != std::string::npos; };
  while (std::any_of(domains.begin(), domains.end(), has) && label.size() < 60) label += 'x';
  return label;
}

/// One domain for each way of lying inside and outside of the conditions' sets.
std::vector<std::string> domain_samples(const Conditions& conditions) {
  std::set<std::string> named;
  for (const auto* c : conditions) {
    if (reads_recipients(c->kind)) named.insert(c->texts.begin(), c->texts.end());
  }
  const auto label = unused_label(named);
  std::set<std::string> domains{label + ".example"};
  for (const auto& one : named) domains.insert(one.starts_with("*.") ? label + one.substr(1) : one);
  return {domains.begin(), domains.end()};
}

std::vector<SampleEntry> address_samples(const Conditions& conditions) {
  std::vector<SampleEntry> entries;
  const auto add = [&](const std::string& address, const std::string& domain) {
    std::vector<bool> answers;
    for (const auto* c : conditions) {
      const bool odd = !is_domain(domain, false);
      answers.push_back((c->kind == ConditionKind::kAnyInside && (odd || is_inside(domain, c->texts))) ||
                        (c->kind == ConditionKind::kAnyOutside && (odd || !is_inside(domain, c->texts))));
    }
    const auto same = [&](const SampleEntry& other) { return other.answers == answers; };
    if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back({std::move(answers), address});
  };
  for (const auto& domain : domain_samples(conditions)) add("a@" + domain, domain);
  add("somebody", "");  // what cannot be read counts as either
  return entries;
}

/// The definition's, or what stands for a parameter that the adapter adds.
InputDefinition parameter_of(const CapabilityDefinition& capability, const std::string& name) {
  for (const auto& input : capability.inputs) {
    if (input.name == name) return input;
  }
  InputDefinition added;
  added.name = name;
  return added;
}

std::string value_of(const InputDefinition& parameter, const Addresses& addresses) {
  std::string all;
  for (const auto& one : addresses) {
    if (parameter.type == InputType::kArray) {
      all += (all.empty() ? "" : ",") + json_string(one);
    } else {
      all += (all.empty() ? "" : ", ") + one;
    }
  }
  return parameter.type == InputType::kArray ? "[" + all + "]" : json_string(all);
}

/// Each of `given` has one at least where there are enough, and `takes_rest` the rest.
std::optional<SampleParams> laid_into(const std::vector<InputDefinition>& given, const Addresses& addresses,
                                      std::size_t takes_rest, Bounds bounds) {
  if (given.empty() && !addresses.empty()) return std::nullopt;
  std::vector<Addresses> lists(given.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) lists[i < given.size() ? i : takes_rest].push_back(addresses[i]);
  SampleParams params;
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto value = value_of(given[i], lists[i]);
    if (bounds == Bounds::kDefinition &&
        !why_not_value(given[i], parse_json(value, "a sample", {16 << 20, 32})).empty())
      return std::nullopt;
    params[given[i].name] = std::move(value);
  }
  return params;
}

std::int64_t most_entries(const std::vector<std::int64_t>& from) {
  return *std::max_element(from.begin(), from.end()) + 8;
}

}  // namespace

std::vector<SampleParams> samples_of_recipients(const CapabilityDefinition& capability, const Conditions& conditions,
                                                Bounds bounds) {
  std::vector<InputDefinition> parameters;
  for (const auto& name : capability.recipients) parameters.push_back(parameter_of(capability, name));
  if (parameters.size() > kMostParameters) throw TooManyCases("too many parameters say whom it reaches");
  ListMarks marks;
  for (std::size_t i = 0; i <= parameters.size(); ++i) marks.from_entries.push_back(static_cast<std::int64_t>(i));
  for (const auto* c : conditions) {
    if (c->kind == ConditionKind::kMinRecipients) marks.from_entries.push_back(c->number);
  }
  marks.max_length = most_entries(marks.from_entries);
  const auto lists = list_samples(address_samples(conditions), marks);
  std::vector<SampleParams> samples;
  SampleBudget budget("the ways in which recipients lie in several parameters");
  for (unsigned which = 0; which < 1U << parameters.size(); ++which) {
    std::vector<InputDefinition> given;
    bool possible = true;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto& one = parameters[i];
      if (which >> i & 1)
        given.push_back(one);
      else
        possible = possible && (bounds == Bounds::kType || (!one.required && !one.default_json));
    }
    if (!possible) continue;
    // Those that must hold something come first.
    std::stable_partition(given.begin(), given.end(), [](const auto& one) { return one.min_length.value_or(0) > 0; });
    for (const auto& list : lists) {
      for (std::size_t rest = 0; rest < std::max<std::size_t>(given.size(), 1); ++rest) {
        auto params = laid_into(given, list, rest, bounds);
        if (!params) continue;
        budget.take(*params);
        samples.push_back(*std::move(params));
        break;
      }
    }
  }
  return samples;
}

}  // namespace krux
