#include "core/policy/rules/rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/policy/rules/facts.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kDayMinutes = 24 * 60;

std::int64_t floor_div(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

std::string listed(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : ", ") + printable(text.substr(0, 60));
  return all;
}

/// Of a fact: "a recipient was never written to".
std::string in_words_of_fact(const std::string& name) {
  const auto* known = known_fact(name);
  return known ? known->words : printable(name) + " is so";
}

std::string in_words_of_calls(const RuleCondition& c) {
  const auto times = c.number == 1 ? std::string() : fmt::format(" {} times or more", c.number);
  return fmt::format("called {}{} within {}", listed(c.texts), times, span_in_words(c.window_ms));
}

std::string clock_time(int minute) {
  return fmt::format("{:02}:{:02}", minute / 60, minute % 60);
}

std::string in_words(const TimeWindow& window) {
  static constexpr const char* kDays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  std::string days;
  for (int day = 0; day < 7; ++day) {
    if (window.weekdays >> day & 1) days += std::string(days.empty() ? "" : " ") + kDays[day];
  }
  return fmt::format("{} {}-{} ({})", days, clock_time(window.from_minute), clock_time(window.to_minute),
                     window.zone ? window.zone->name() : "");
}

/// Inputs whose values the kind can look at.
bool looks_at(ConditionKind kind, InputType type) {
  using enum ConditionKind;
  using enum InputType;
  switch (kind) {
    case kOneOf:
    case kNoneOf:
    case kPrefix:
    case kSuffix:
      return type == kString || type == kArray;
    case kMinBytes:
    case kMaxBytes:
      return type == kString;
    case kMinEntries:
    case kMaxEntries:
      return type == kArray;
    case kMinimum:
    case kMaximum:
      return type == kInteger;
    case kIsTrue:
    case kIsFalse:
      return type == kBoolean;
    default:
      return true;
  }
}

/// What the capability lacks for the condition; empty: nothing.
std::string lacks(const CapabilityDefinition& capability, const RuleCondition& condition) {
  if (reads_recipients(condition.kind)) {
    if (capability.recipients_are_texts)
      return "its recipients are no mail addresses: ask for them by \"input\", as for any other";
    return capability.recipients.empty() ? "its definition names no recipients" : std::string();
  }
  if (reads_uploads(condition.kind)) {
    const bool takes = std::any_of(capability.inputs.begin(), capability.inputs.end(),
                                   [](const InputDefinition& input) { return input.uploads; });
    return takes ? std::string() : "it takes no uploads";
  }
  if (reads_fact(condition.kind)) {
    const auto* known = known_fact(condition.input);
    if (known && capability.kind == CapabilityKind::kRead) return "it is a read, and the facts are about writes";
    return known && known->of_recipients && capability.recipients.empty() ? "its definition names no recipients"
                                                                          : std::string();
  }
  if (!reads_input(condition.kind)) return {};
  for (const auto& input : capability.inputs) {
    if (input.name != condition.input) continue;
    if (!looks_at(condition.kind, input.type))
      return fmt::format("its input \"{}\" is of type {}, which this condition does not look at", input.name,
                         to_string(input.type));
    const auto& reached = capability.recipients;
    const bool says_whom =
        !capability.recipients_are_texts && std::find(reached.begin(), reached.end(), input.name) != reached.end();
    const bool of_presence = condition.kind == ConditionKind::kPresent || condition.kind == ConditionKind::kAbsent;
    if (says_whom && !of_presence)
      return fmt::format("its input \"{}\" says whom it reaches: use \"recipients\"", input.name);
    return {};
  }
  return fmt::format("it has no input \"{}\"", printable(condition.input));
}

}  // namespace

bool TimeWindow::operator==(const TimeWindow& other) const {
  const auto name = [](const TimeWindow& window) { return window.zone ? window.zone->name() : std::string(); };
  return weekdays == other.weekdays && from_minute == other.from_minute && to_minute == other.to_minute &&
         name(*this) == name(other);
}

LocalTime local_time(const Zone* zone, std::int64_t wall_ms) {
  const auto unix_s = floor_div(wall_ms, 1000);
  const auto minutes = floor_div(unix_s + (zone ? zone->offset_s(unix_s) : 0), 60);
  const auto day = floor_div(minutes, kDayMinutes);
  const auto weekday = (day + 3) % 7;  // 1970-01-01 was a Thursday
  return {static_cast<int>(weekday < 0 ? weekday + 7 : weekday), static_cast<int>(minutes - day * kDayMinutes)};
}

bool TimeWindow::holds(LocalTime time) const {
  const auto on = [&](int weekday) { return (weekdays >> weekday & 1) != 0; };
  const bool begun = time.minute >= from_minute, over = time.minute >= to_minute;
  if (from_minute < to_minute) return on(time.weekday) && begun && !over;
  return (on(time.weekday) && begun) || (on(time.weekday == 0 ? 6 : time.weekday - 1) && !over);
}

std::string in_words(const RuleCondition& c) {
  using enum ConditionKind;
  const auto input = printable(c.input);
  switch (c.kind) {
    case kPresent:
      return fmt::format("{} is given", input);
    case kAbsent:
      return fmt::format("{} is not given", input);
    case kOneOf:
      return fmt::format("{} is one of {}", input, listed(c.texts));
    case kNoneOf:
      return fmt::format("{} is none of {}", input, listed(c.texts));
    case kPrefix:
      return fmt::format("{} begins with {}", input, listed(c.texts));
    case kSuffix:
      return fmt::format("{} ends with {}", input, listed(c.texts));
    case kMinBytes:
      return fmt::format("{} has {} bytes or more", input, c.number);
    case kMaxBytes:
      return fmt::format("{} has {} bytes or fewer", input, c.number);
    case kMinEntries:
      return fmt::format("{} has {} entries or more", input, c.number);
    case kMaxEntries:
      return fmt::format("{} has {} entries or fewer", input, c.number);
    case kMinimum:
      return fmt::format("{} is {} or more", input, c.number);
    case kMaximum:
      return fmt::format("{} is {} or less", input, c.number);
    case kIsTrue:
      return fmt::format("{} is true", input);
    case kIsFalse:
      return fmt::format("{} is false", input);
    case kAnyInside:
      return fmt::format("a recipient is inside {}", listed(c.texts));
    case kAnyOutside:
      return fmt::format("a recipient is outside {}", listed(c.texts));
    case kMinRecipients:
      return fmt::format("it has {} recipients or more", c.number);
    case kUploads:
      return "it carries uploads";
    case kNoUploads:
      return "it carries no uploads";
    case kTimeWithin:
      return "the time is within " + in_words(c.window);
    case kTimeOutside:
      return "the time is outside " + in_words(c.window);
    case kFactIs:
      return in_words_of_fact(c.input) + ", or this is not known";
    case kFactIsNot:
      return "it is not so, or not known, that " + in_words_of_fact(c.input);
    case kCalled:
      return fmt::format("the agent has {}", in_words_of_calls(c));
    case kNotCalled:
      return fmt::format("the agent has not {}", in_words_of_calls(c));
  }
  return {};
}

std::string in_words(const std::vector<RuleCondition>& when) {
  std::string all;
  for (const auto& condition : when) all += (all.empty() ? "" : ", and ") + in_words(condition);
  return all.empty() ? "always" : all;
}

std::string approvals_in_words(std::int64_t approvals) {
  return approvals > 1 ? fmt::format("the approval of {} people", approvals) : "a person's approval";
}

Limit limit_of(const Rule& rule) {
  return {rule.counts, rule.limit->limit, rule.limit->window_ms, rule.limit->key};
}

bool fits_pattern(std::string_view pattern, std::string_view text) {
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return text.ends_with(pattern.substr(1));
  return pattern == text;
}

bool is_for_agent(const Rule& rule, std::string_view agent) {
  return rule.agents.empty() || std::any_of(rule.agents.begin(), rule.agents.end(),
                                            [&](const auto& pattern) { return fits_pattern(pattern, agent); });
}

bool has_what_is_named(const CapabilityDefinition& capability, const std::vector<RuleCondition>& when,
                       std::string* why) {
  if (capability.kind == CapabilityKind::kCancel) {
    if (why) *why = "it takes writes back, and rules are about reads and writes";
    return false;
  }
  for (const auto& condition : when) {
    auto lacking = lacks(capability, condition);
    if (lacking.empty()) continue;
    if (why) *why = std::move(lacking);
    return false;
  }
  return true;
}

std::string small_letters(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace krux
