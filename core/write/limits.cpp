#include "core/write/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "core/definition/definition.hpp"
#include "core/policy/rules/decider.hpp"
#include "core/util/durations.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kNoticedJumpMs = 1000;
constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::max();

/// How a sentence about a limit names the operator's rule that it is of.
std::string of_rule(const RuleName& rule) {
  return rule.name.empty() ? std::string() : fmt::format(", of the rule \"{}\",", printable(rule.name));
}

}  // namespace

std::string counted_as(bool counts, const std::string& named, const std::string& operation) {
  if (!counts) return {};
  return named.empty() ? operation : named;
}

std::int64_t WindowClock::begin_of(std::int64_t window_ms) {
  const auto boot = clock_.boot_ms(), wall = clock_.wall_ms(), offset = wall - boot;
  if (offsets_.empty() || std::abs(offset - offsets_.back().second) >= kNoticedJumpMs)
    offsets_.emplace_back(boot, offset);
  while (offsets_.size() > 1 && offsets_[1].first < boot - kLongestWindow) offsets_.erase(offsets_.begin());
  // Rows of the window's boot time were stamped with one of the offsets that held since; the least leaves out none.
  auto least = offset;
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    const bool held_since = i + 1 == offsets_.size() || offsets_[i + 1].first > boot - window_ms;
    if (held_since) least = std::min(least, offsets_[i].second);
  }
  return std::min(wall - window_ms, boot - window_ms + least);
}

LimitUse use_of(StatementCache& sql, const std::string& agent_id, const LimitRule& rule, std::int64_t begin_ms,
                const LimitAsked& asked) {
  auto& rows = sql.get(
      "SELECT counted_at_ms FROM writes WHERE agent_id = ?1 AND counted_as = ?2 AND counted_at_ms > ?3 AND "
      "counted_at_ms <= ?4 AND (counted_at_ms < ?4 OR seq < ?5) AND seq <> ?5 AND (?6 = '' OR "
      "coalesce(CAST(json_extract(params_json, '$.' || ?6) AS TEXT), '') = ?7) ORDER BY counted_at_ms DESC LIMIT ?8");
  // What counts within the window is counted already.
  auto& scheduled = sql.get(
      "SELECT send_at_ms FROM writes INDEXED BY writes_scheduled WHERE agent_id = ?1 AND counted_as = ?2 AND "
      "send_at_ms > ?9 AND send_at_ms < ?10 AND counted_at_ms <= ?3 AND seq <> ?5 AND (?6 = '' OR "
      "coalesce(CAST(json_extract(params_json, '$.' || ?6) AS TEXT), '') = ?7) LIMIT ?8");
  std::vector<std::int64_t> times;
  for (auto* counted : {&rows, &scheduled}) {
    const ResetAtEnd reset(*counted);
    for (const auto& operation : rule.operations) {
      counted->bind_all(agent_id, operation, begin_ms, asked.counted_at_ms > 0 ? asked.counted_at_ms : kAnyTime,
                        asked.seq, rule.key, rule.key_value, rule.limit);
      if (counted == &scheduled) {
        counted->bind(9, asked.goes_out_ms - rule.window_ms);
        counted->bind(10, asked.goes_out_ms + rule.window_ms);
      }
      while (counted->step()) times.push_back(counted->integer(0));
    }
  }
  std::sort(times.begin(), times.end(), std::greater<>());
  LimitUse use;
  use.counted = std::min<std::int64_t>(static_cast<std::int64_t>(times.size()), rule.limit);
  if (use.counted == rule.limit) use.free_at_ms = times[static_cast<std::size_t>(rule.limit) - 1] + rule.window_ms;
  return use;
}

std::optional<Exceeded> exceeded(StatementCache& sql, WindowClock& clock, const std::string& agent_id,
                                 const std::vector<LimitRule>& rules, const LimitAsked& asked) {
  for (const auto& rule : rules) {
    const auto begin = asked.counted_at_ms > 0 ? asked.counted_at_ms - rule.window_ms : clock.begin_of(rule.window_ms);
    const auto use = use_of(sql, agent_id, rule, begin, asked);
    if (use.counted < rule.limit) continue;
    std::string operations;
    for (const auto& operation : rule.operations) operations += (operations.empty() ? "" : " + ") + operation;
    const auto where = rule.key.empty()         ? std::string()
                       : rule.key_value.empty() ? fmt::format(" without {}", rule.key)
                                                : fmt::format(" where {} is {}", rule.key, printable(rule.key_value));
    return Exceeded{rule, use,
                    fmt::format("The limit of {} for {}{}{} is reached; one more fits at {}.",
                                limit_in_words(rule.limit, rule.window_ms), operations, where, of_rule(rule.rule),
                                format_time(use.free_at_ms))};
  }
  return std::nullopt;
}

std::string asked_by_json(const Exceeded& exceeded) {
  const auto& rule = exceeded.rule.rule;
  if (rule.name.empty()) return {};
  return json_object([&](JsonWriter& out) { put_decider(out, rule); });
}

std::string limit_json(const Exceeded& exceeded) {
  const auto& rule = exceeded.rule;
  return json_object([&](JsonWriter& out) {
    put(out, "limit", rule.limit);
    put(out, "window_ms", rule.window_ms);
    put(out, "counted", exceeded.use.counted);
    if (rule.rule.name.empty()) {
      put_definition_decider(out, rule.definition_version, rule.capability);
    } else {
      put_rule_decider(out, "decided_by", rule.rule);
    }
  });
}

Error refusal_of(const Exceeded& exceeded) {
  const auto& rule = exceeded.rule;
  return Error(ErrorCode::kBatchProtection,
               exceeded.sentence + " Nothing was accepted: write less, or ask the operator.")
      .with_context(json_object([&](JsonWriter& out) {
        put(out, "limit", rule.limit);
        put(out, "window_seconds", rule.window_ms / 1000);
        put(out, "counted", exceeded.use.counted);
        put(out, "per", rule.key);
        put(out, "free_at", format_time(exceeded.use.free_at_ms));
        if (!rule.rule.name.empty()) put_decider(out, rule.rule);
      }));
}

bool has_too_many_pending(StatementCache& sql, const std::string& agent_id) {
  auto& count = sql.get(
      "SELECT count(*) FROM (SELECT 1 FROM writes WHERE state = 'pending_approval' AND state <> 'buffered' AND "
      "agent_id = ?1 LIMIT ?2)");
  count.bind_all(agent_id, kMostPendingApprovals);
  const ResetAtEnd reset(count);
  return count.step() && count.integer(0) >= kMostPendingApprovals;
}

}  // namespace krux
