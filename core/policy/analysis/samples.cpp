#include "core/policy/analysis/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/definition/input_check.hpp"
#include "core/policy/analysis/lists.hpp"
#include "core/policy/analysis/text_samples.hpp"
#include "core/policy/rules/recipients.hpp"
#include "core/policy/rules/rule_request.hpp"
#include "core/util/json.hpp"

namespace krux {
namespace {

using Conditions = std::vector<const RuleCondition*>;

constexpr std::int64_t kLargest = 9'007'199'254'740'991;  // exact in JSON

bool is_within(const InputDefinition& input, const std::string& json, Bounds bounds) {
  if (bounds == Bounds::kType) return true;
  return why_not_value(input, parse_json(json, "a sample", {16 << 20, 32})).empty();
}

/// An input that is not given; "" in the list of its values.
bool may_be_missing(const InputDefinition& input, Bounds bounds) {
  return bounds == Bounds::kType || (!input.required && !input.default_json) || input.nullable;
}

TextMarks text_marks(const InputDefinition& input, const Conditions& conditions, Bounds bounds) {
  using enum ConditionKind;
  TextMarks marks;
  marks.whole = input.one_of;
  for (const auto* c : conditions) {
    auto& to = c->kind == kPrefix ? marks.prefixes : c->kind == kSuffix ? marks.suffixes : marks.whole;
    to.insert(to.end(), c->texts.begin(), c->texts.end());
    if (c->kind == kMinBytes) marks.from_bytes.push_back(c->number);
    if (c->kind == kMaxBytes) marks.from_bytes.push_back(c->number + 1);
  }
  if (bounds == Bounds::kDefinition && input.type == InputType::kString) {
    marks.min_length = input.min_length.value_or(marks.min_length);
    marks.max_length = std::min(input.max_length.value_or(marks.max_length), marks.max_length);
  }
  return marks;
}

std::vector<std::string> text_values(const InputDefinition& input, const Conditions& conditions, Bounds bounds) {
  std::vector<std::string> values;
  for (const auto& text : text_samples(text_marks(input, conditions, bounds))) values.push_back(json_string(text));
  return values;
}

std::vector<std::string> number_values(const InputDefinition& input, const Conditions& conditions) {
  std::set<std::int64_t> numbers{0, input.minimum.value_or(-kLargest), input.maximum.value_or(kLargest)};
  for (const auto* c : conditions) {
    for (const auto near : {c->number - 1, c->number, c->number + 1}) numbers.insert(near);
  }
  std::vector<std::string> values;
  for (const auto number : numbers) values.push_back(std::to_string(number));
  return values;
}

std::vector<std::string> values_of(const InputDefinition& input, const Conditions& conditions, Bounds bounds);

/// What each entry of a list may be, and what it answers to the conditions on texts.
std::vector<SampleEntry> entries_of(const InputDefinition& input,
                                    const Conditions& conditions,  // NOLINT(misc-no-recursion)
                                    Bounds bounds) {
  InputDefinition entry;
  if (!input.items.empty()) entry = input.items.front();
  auto values = values_of(entry, entry.type == InputType::kString ? conditions : Conditions(), bounds);
  if (input.items.empty() || bounds == Bounds::kType) values.emplace_back("1");  // of anything there may be one
  static const CapabilityDefinition nothing;
  std::vector<SampleEntry> entries;
  for (auto& value : values) {
    if (!input.items.empty() && !is_within(entry, value, bounds)) continue;
    const auto params = parse_json("{" + json_string(input.name) + ":[" + value + "]}", "a sample", {16 << 20, 32});
    const RuleRequest request("", nothing, params, 0, nullptr);
    std::vector<bool> answers;
    for (const auto* c : conditions) answers.push_back(!c->texts.empty() && request.holds(*c));
    const auto same = [&](const SampleEntry& other) { return other.answers == answers; };
    if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back({std::move(answers), std::move(value)});
  }
  return entries;
}

std::vector<std::string> list_values(const InputDefinition& input,
                                     const Conditions& conditions,  // NOLINT(misc-no-recursion)
                                     Bounds bounds) {
  ListMarks marks;
  marks.from_entries = {1};
  for (const auto* c : conditions) {
    if (c->kind == ConditionKind::kMinEntries) marks.from_entries.push_back(c->number);
    if (c->kind == ConditionKind::kMaxEntries) marks.from_entries.push_back(c->number + 1);
  }
  if (bounds == Bounds::kDefinition) {
    marks.min_length = static_cast<std::int64_t>(input.min_length.value_or(0));
    if (input.max_length) marks.max_length = static_cast<std::int64_t>(*input.max_length);
  }
  std::vector<std::string> values;
  for (const auto& list : list_samples(entries_of(input, conditions, bounds), marks)) {
    std::string json = "[";
    for (const auto& value : list) json += (json.size() == 1 ? "" : ",") + value;
    values.push_back(json + "]");
  }
  return values;
}

std::vector<std::string> values_of(const InputDefinition& input,
                                   const Conditions& conditions,  // NOLINT(misc-no-recursion)
                                   Bounds bounds) {
  switch (input.type) {
    case InputType::kString:
      return text_values(input, conditions, bounds);
    case InputType::kInteger:
    case InputType::kNumber:
      return number_values(input, conditions);
    case InputType::kBoolean:
      return {"true", "false"};
    case InputType::kArray:
      return list_values(input, conditions, bounds);
    case InputType::kObject:
      return {"{}"};
    case InputType::kDateTime:
      return {"\"2026-01-01T00:00:00Z\""};
    case InputType::kAny:
      return {"true"};
  }
  return {};
}

Conditions of_input(const Conditions& conditions, const std::string& name) {
  Conditions own;
  std::copy_if(conditions.begin(), conditions.end(), std::back_inserter(own),
               [&](const RuleCondition* c) { return reads_input(c->kind) && c->input == name; });
  return own;
}

}  // namespace

void SampleBudget::take(std::size_t bytes) {
  if (count_ == 0 || bytes > bytes_) throw TooManyCases(fmt::format("{} are too many, or too long", of_));
  --count_;
  bytes_ -= bytes;
}

void SampleBudget::take(const SampleParams& params) {
  take(std::accumulate(params.begin(), params.end(), std::size_t{0},
                       [](std::size_t sum, const auto& one) { return sum + one.second.size(); }));
}

std::vector<SampleParams> samples_of_input(const InputDefinition& input, const Conditions& conditions, Bounds bounds) {
  std::vector<SampleParams> samples;
  if (may_be_missing(input, bounds)) samples.emplace_back();
  for (const auto& value : values_of(input, conditions, bounds)) {
    if (is_within(input, value, bounds)) samples.push_back({{input.name, value}});
  }
  return samples;
}

std::vector<SampleParams> samples_of_uploads(const CapabilityDefinition& capability, const Conditions& conditions,
                                             Bounds bounds) {
  std::vector<SampleParams> all{{}};
  SampleBudget budget("conditions over several inputs for uploads");
  for (const auto& input : capability.inputs) {
    if (!input.uploads) continue;
    std::vector<SampleParams> more;
    for (const auto& own : samples_of_input(input, of_input(conditions, input.name), bounds)) {
      for (auto params : all) {
        params.insert(own.begin(), own.end());
        budget.take(params);
        more.push_back(std::move(params));
      }
    }
    all = std::move(more);
  }
  return all;
}

std::vector<std::string> samples_of_agents(const std::vector<std::string>& patterns) {
  TextMarks marks;
  marks.min_length = 1;
  marks.max_length = 64;
  for (const auto& pattern : patterns) {
    if (pattern.ends_with('*')) {
      marks.prefixes.push_back(pattern.substr(0, pattern.size() - 1));
    } else if (pattern.starts_with('*')) {
      marks.suffixes.push_back(pattern.substr(1));
    } else {
      marks.whole.push_back(pattern);
    }
  }
  auto names = text_samples(marks);
  std::erase_if(names, [](const std::string& name) { return name.empty() || name.size() > 64; });
  names.insert(names.begin(), "agent");  // one that people know for a name, where any will do
  return names;
}

}  // namespace krux
