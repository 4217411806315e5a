#include "core/definition/definition.hpp"

#include <fmt/format.h>

#include "core/util/durations.hpp"

namespace krux {

std::vector<ContentOutput> content_outputs(const CapabilityDefinition& capability) {
  std::vector<ContentOutput> all;
  for (const auto& output : capability.outputs) {
    if (output.content) all.push_back({output.name, *output.content});
  }
  return all;
}

const CapabilityDefinition* ServiceDefinition::find(const std::string& capability) const {
  for (const auto& c : capabilities) {
    if (c.name == capability) return &c;
  }
  return nullptr;
}

std::string one_input_in_words(const std::vector<std::vector<std::string>>& groups) {
  std::vector<std::string> together;
  for (const auto& group : groups) {
    if (group.size() == 2 && group[0] == groups[0][0]) together.push_back(group[1]);
  }
  if (groups.size() > 1 && together.size() == groups.size())
    return fmt::format("{}, or else {}", groups[0][0], fmt::join(together, " and "));
  std::vector<std::string> all;
  for (const auto& group : groups) all.push_back(fmt::format("at least one of {}", fmt::join(group, ", ")));
  return fmt::format("{}", fmt::join(all, ", and "));
}

std::string limit_in_words(std::int64_t limit, std::int64_t window_ms) {
  return fmt::format("{} in {}", limit, span_in_words(window_ms));
}

std::string in_words(const Limit& limit) {
  return fmt::format("{} of {} in {}{}", limit.limit, fmt::join(limit.operations, " + "),
                     span_in_words(limit.window_ms), limit.key.empty() ? "" : " per " + limit.key);
}

const char* to_string(Tier tier) {
  switch (tier) {
    case Tier::kAutonomous:
      return "autonomous";
    case Tier::kNotify:
      return "notify";
    case Tier::kApprovalRequired:
      return "approval_required";
    case Tier::kBlocked:
      break;
  }
  return "blocked";
}

const char* to_string(InputType type) {
  switch (type) {
    case InputType::kString:
      return "String";
    case InputType::kInteger:
      return "Integer";
    case InputType::kNumber:
      return "Number";
    case InputType::kBoolean:
      return "Boolean";
    case InputType::kArray:
      return "Array";
    case InputType::kObject:
      return "Object";
    case InputType::kDateTime:
      return "DateTime";
    case InputType::kAny:
      break;
  }
  return "Any";
}

const char* to_string(CapabilityKind kind) {
  switch (kind) {
    case CapabilityKind::kRead:
      return "read";
    case CapabilityKind::kWrite:
      return "write";
    case CapabilityKind::kCancel:
      return "cancel";
    case CapabilityKind::kDecide:
      break;
  }
  return "decide";
}

const char* to_string(WhenAbsent when_absent) {
  return when_absent == WhenAbsent::kAsk ? "ask" : "resend";
}

const char* to_string(ContentKind kind) {
  switch (kind) {
    case ContentKind::kImage:
      return "image";
    case ContentKind::kAudio:
      return "audio";
    case ContentKind::kResource:
      return "resource";
    case ContentKind::kText:
      break;
  }
  return "text";
}

const char* to_string(Confidentiality confidentiality) {
  return confidentiality == Confidentiality::kPrivate ? "private" : "public";
}

}  // namespace krux
