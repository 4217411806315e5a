// Rules: what agents are held to besides definitions and services' policies, by agent, content and time. They only
// restrict. docs/policies.md has the form and what it means.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/policy/rules/decider.hpp"
#include "core/policy/rules/zone.hpp"
#include "core/util/durations.hpp"

namespace krux {

/// What one condition asks.
enum class ConditionKind {
  // Of `input`
  kPresent,
  kAbsent,
  kOneOf,   ///< a text, or one of a list's, is among `texts`
  kNoneOf,  ///< it is not among `texts`, or not given; of a list: one at least is not
  kPrefix,  ///< of a text, or of one of a list's
  kSuffix,
  kMinBytes,
  kMaxBytes,  ///< a text of so many bytes or fewer, or not given
  kMinEntries,
  kMaxEntries,
  kMinimum,
  kMaximum,
  kIsTrue,
  kIsFalse,
  // Of those that it reaches
  kAnyInside,   ///< one's domain is within `texts`
  kAnyOutside,  ///< one's domain is not
  kMinRecipients,
  // Of the call
  kUploads,
  kNoUploads,
  kTimeWithin,
  kTimeOutside,
  kFactIs,  ///< `input` names the fact
  kFactIsNot,
  kCalled,     ///< the agent has called one of `texts` `number` times or more within `window_ms`
  kNotCalled,  ///< it has not
};

/// How far back, and how many calls of one capability, a condition may ask.
inline constexpr std::int64_t kLongestHistory = 7 * kDay, kMostCalls = 100;

/// What the clocks of a zone show.
struct LocalTime {
  int weekday = 0, minute = 0;  ///< 0: Monday; of the day
};
LocalTime local_time(const Zone* zone, std::int64_t wall_ms);  ///< null: UTC

/// Every day of `weekdays` from one minute of it to before another; over midnight where it ends before it begins, and
/// then by the day on which it began.
struct TimeWindow {
  std::shared_ptr<const Zone> zone;  ///< null: no condition of time
  std::uint8_t weekdays = 0x7f;      ///< bit 0: Monday
  int from_minute = 0, to_minute = 24 * 60;

  bool operator==(const TimeWindow& other) const;
  bool holds(LocalTime time) const;
  bool holds(std::int64_t wall_ms) const { return holds(local_time(zone.get(), wall_ms)); }
};

struct RuleCondition {
  ConditionKind kind = ConditionKind::kPresent;
  std::string input;               ///< or under what a fact's answer is kept; empty where the kind has none
  std::vector<std::string> texts;  ///< sorted; domains in small letters, "*.example.com" for those below it
  std::int64_t number = 0;
  TimeWindow window{};
  std::int64_t window_ms = 0;

  bool operator==(const RuleCondition& other) const = default;
};

/// Of an input. The others are of the whole call.
constexpr bool reads_input(ConditionKind kind) {
  return kind <= ConditionKind::kIsFalse;
}
constexpr bool reads_recipients(ConditionKind kind) {
  using enum ConditionKind;
  return kind == kAnyInside || kind == kAnyOutside || kind == kMinRecipients;
}
constexpr bool reads_time(ConditionKind kind) {
  return kind == ConditionKind::kTimeWithin || kind == ConditionKind::kTimeOutside;
}
constexpr bool reads_uploads(ConditionKind kind) {
  return kind == ConditionKind::kUploads || kind == ConditionKind::kNoUploads;
}
constexpr bool reads_fact(ConditionKind kind) {
  return kind == ConditionKind::kFactIs || kind == ConditionKind::kFactIsNot;
}

/// What the agent has called.
constexpr bool reads_history(ConditionKind kind) {
  return kind == ConditionKind::kCalled || kind == ConditionKind::kNotCalled;
}
/// Whether its answer is kept under its `input`.
constexpr bool is_answered(ConditionKind kind) {
  return reads_fact(kind) || reads_history(kind);
}

/// "body has 10000 bytes or more", for people and agents.
std::string in_words(const RuleCondition& condition);
/// All of them; "always" of none.
std::string in_words(const std::vector<RuleCondition>& when);

struct RuleLimit {
  std::int64_t limit = 0, window_ms = 0;
  std::string key;       ///< counted apart for every value of this input; empty: not
  bool escalate = true;  ///< what exceeds it goes to a person; false: it is refused
};

struct Rule : RuleName {
  std::vector<std::string> capabilities;  ///< names and patterns, as written
  std::vector<std::string> agents;        ///< patterns in small letters; empty: all. Of an agent's file: that agent
  std::vector<RuleCondition> when;        ///< all must hold
  std::optional<Tier> tier;
  std::optional<std::int64_t> delay_ms;
  std::optional<std::int64_t> expires_ms;  ///< what waits for a person's approval for so long is rejected
  std::optional<std::int64_t> approvals;   ///< so many different operators must accept it; with kApprovalRequired
  std::optional<RuleLimit> limit;
  std::vector<std::string> covers;  ///< capabilities, sorted
  std::vector<std::string> counts;  ///< those of them that its limit counts: writes
  /// It stands for a file that could not be read: it covers everything, also what comes later.
  bool unreadable = false;
};

/// "the approval of 2 people"; of one: "a person's approval".
std::string approvals_in_words(std::int64_t approvals);

/// Its limit, over the writes that it counts. It has one.
Limit limit_of(const Rule& rule);

/// `pattern` is a text with one "*" at most, at its beginning or its end.
bool fits_pattern(std::string_view pattern, std::string_view text);
bool is_for_agent(const Rule& rule, std::string_view agent_in_small_letters);

/// Whether it is among the reads and writes that rules are about, and has what the conditions name. Where it has not,
/// `why` says what it lacks.
bool has_what_is_named(const CapabilityDefinition& capability, const std::vector<RuleCondition>& when,
                       std::string* why = nullptr);

/// ASCII letters alone.
std::string small_letters(std::string_view text);

}  // namespace krux
