#include "core/definition/quota_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/text.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {
namespace {

std::vector<QuotaRule> parse_rules(const YamlValue& value, bool changes) {
  std::vector<QuotaRule> rules;
  for (const auto& item : value.list(64)) {
    const YamlMap map(item, {"match", "per_minute", "burst", "cost", "per", "bucket"});
    QuotaRule rule;
    if (auto v = map.find("bucket")) rule.bucket = v->line(64);
    const bool whole_bucket = changes && !rule.bucket.empty() && !map.find("match");
    if (!whole_bucket) rule.match = map.at("match").line(200);
    rule.per_minute = map.at("per_minute").number(0.001, 1e9);
    for (const auto* key : {"burst", "cost", "per"}) {
      if (whole_bucket && map.find(key))
        item.fail(fmt::format("\"{}\" belongs to a rule with a \"match\"; a bucket alone takes \"per_minute\".", key));
    }
    if (auto v = map.find("burst")) rule.burst = v->number(1, 1e9);
    if (auto v = map.find("cost")) rule.cost = v->number(0, 1e6);
    if (auto v = map.find("per")) rule.key = v->line(64);
    for (const auto& other : rules) {
      if (other.match == rule.match && other.key == rule.key && other.bucket == rule.bucket)
        item.fail(
            fmt::format("there is a rule for \"{}\" already.", printable(whole_bucket ? rule.bucket : rule.match)));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

void resize(std::vector<QuotaRule>& rules, const QuotaRule& change) {
  double most = 0;
  for (const auto& rule : rules) {
    if (rule.bucket == change.bucket) most = std::max(most, rule.per_minute);
  }
  for (auto& rule : rules) {
    if (rule.bucket != change.bucket) continue;
    rule.per_minute *= change.per_minute / most;
    rule.burst *= change.per_minute / most;
  }
}

}  // namespace

std::vector<QuotaRule> parse_quota(const YamlValue& value) {
  return parse_rules(value, false);
}

std::vector<QuotaRule> parse_quota_changes(const YamlValue& value) {
  return parse_rules(value, true);
}

std::vector<QuotaRule> changed_quota(std::vector<QuotaRule> rules, const std::vector<QuotaRule>& changes) {
  std::vector<QuotaRule> own;
  for (const auto& change : changes) {
    if (change.match.empty()) {
      resize(rules, change);
    } else {
      std::erase_if(rules, [&](const QuotaRule& rule) { return rule.match == change.match; });
      own.push_back(change);
    }
  }
  // In front: of the rules that fit a path, the first one's `match` counts.
  rules.insert(rules.begin(), own.begin(), own.end());
  return rules;
}

}  // namespace krux
