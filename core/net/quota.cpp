#include "core/net/quota.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr double kWindowMs = 61'000;

/// A rule of less than one unit a minute still allows one, in a longer window.
double window_ms(const QuotaBucket::Limits& limits) {
  return limits.per_minute >= 1 ? kWindowMs : kWindowMs / limits.per_minute;
}
double window_units(const QuotaBucket::Limits& limits) {
  return std::max(limits.per_minute, 1.0);
}
double unit_ms(const QuotaBucket::Limits& limits) {
  return kWindowMs / limits.per_minute;
}

QuotaBucket::Limits limits_of(const QuotaRule& rule) {
  const double burst = rule.burst > 0 ? rule.burst : std::ceil(rule.per_minute / 10);
  return {rule.per_minute, std::max(1.0, std::min(burst, rule.per_minute))};
}

std::string shared_name(const QuotaRule& rule, std::size_t number) {
  return rule.bucket.empty() ? std::to_string(number) : '=' + rule.bucket;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  std::size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void QuotaBucket::forget_old(double window, std::int64_t now) {
  while (!window_.empty() && static_cast<double>(now - window_.front().at) >= window) {
    in_window_ -= window_.front().cost;
    window_.pop_front();
  }
}

double QuotaBucket::left(const Limits& limits, std::int64_t now) {
  if (blocked_until_ > now) return 0;
  forget_old(window_ms(limits), now);
  return window_.empty() ? 1 : std::clamp(1 - in_window_ / window_units(limits), 0.0, 1.0);
}

std::int64_t QuotaBucket::wait_ms(const Limits& limits, double cost, std::int64_t now) {
  const double window = window_ms(limits);
  forget_old(window, now);
  double until = static_cast<double>(blocked_until_);
  // A request that alone is dearer than a window holds goes when the window is empty; the even pace makes up for it.
  double left = in_window_;
  for (const auto& taken : window_) {
    if (left + cost <= window_units(limits)) break;
    left -= taken.cost;
    until = std::max(until, static_cast<double>(taken.at) + window);
  }
  const double allowance = std::max(0.0, limits.burst - cost) * unit_ms(limits);
  until = std::max(until, even_at_ - allowance);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(until)) - now);
}

void QuotaBucket::take(const Limits& limits, double cost, std::int64_t now) {
  if (cost <= 0) return;
  if (!window_.empty() && window_.back().at == now) {
    window_.back().cost += cost;
  } else {
    window_.push_back({now, cost});
  }
  in_window_ = window_.size() == 1 ? window_.back().cost : in_window_ + cost;
  even_at_ = std::max(even_at_, static_cast<double>(now)) + cost * unit_ms(limits);
}

Quota::Quota(std::vector<QuotaRule> rules, const Clock& clock) : rules_(std::move(rules)), clock_(clock) {
  for (const auto& rule : rules_) {
    const bool sound = std::isfinite(rule.per_minute) && rule.per_minute > 0 && std::isfinite(rule.cost) &&
                       rule.cost >= 0 && std::isfinite(rule.burst) && rule.burst >= 0;
    if (rule.match.empty() || !sound) {
      throw ConfigError(fmt::format(
          "quota rule '{}': it needs a match and a per_minute above 0; burst and cost are not negative", rule.match));
    }
  }
}

std::vector<Quota::Use> Quota::buckets_for(std::string_view path, const Parameters& parameters) {
  std::vector<Use> uses;
  const auto first =
      std::find_if(rules_.begin(), rules_.end(), [&](const QuotaRule& r) { return glob_match(r.match, path); });
  for (auto rule = first; rule != rules_.end(); ++rule) {
    if (rule->match != first->match) continue;
    const auto number = static_cast<std::size_t>(rule - rules_.begin());
    QuotaBucket* bucket = nullptr;
    if (rule->key.empty()) {
      bucket = &shared_[shared_name(*rule, number)];
    } else {
      bucket = &keyed_bucket(number, parameters ? parameters(rule->key).value_or("") : "");
    }
    uses.push_back({&*rule, bucket});
  }
  return uses;
}

QuotaBucket& Quota::keyed_bucket(std::size_t rule, const std::string& value) {
  std::string name = shared_name(rules_[rule], rule) + '\n' + value;
  if (const auto found = keyed_.find(name); found != keyed_.end()) {
    recently_used_.splice(recently_used_.begin(), recently_used_, found->second.used);
    return found->second.bucket;
  }
  recently_used_.push_front(name);
  auto& entry = keyed_[std::move(name)];
  entry.used = recently_used_.begin();
  if (keyed_.size() > kMaxBuckets) {
    keyed_.erase(recently_used_.back());
    recently_used_.pop_back();
  }
  return entry.bucket;
}

std::int64_t Quota::try_acquire(std::string_view path, const Parameters& parameters) {
  const std::lock_guard lock(mutex_);
  const auto now = clock_.boot_ms();
  const auto uses = buckets_for(path, parameters);
  if (uses.empty()) return std::max<std::int64_t>(0, others_blocked_until_ - now);
  std::int64_t wait = 0;
  for (const auto& use : uses) wait = std::max(wait, use.bucket->wait_ms(limits_of(*use.rule), use.rule->cost, now));
  if (wait > 0) return wait;
  for (const auto& use : uses) use.bucket->take(limits_of(*use.rule), use.rule->cost, now);
  return 0;
}

void Quota::block(std::string_view path, const Parameters& parameters, std::int64_t for_ms) {
  const std::lock_guard lock(mutex_);
  const auto until = clock_.boot_ms() + for_ms;
  const auto uses = buckets_for(path, parameters);
  if (uses.empty()) others_blocked_until_ = std::max(others_blocked_until_, until);
  for (const auto& use : uses) use.bucket->block_until(until);
}

std::map<std::string, double> Quota::left() {
  const std::lock_guard lock(mutex_);
  const auto now = clock_.boot_ms();
  std::map<std::string, double> by_rule;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const auto& rule = rules_[i];
    const auto name = shared_name(rule, i);
    std::optional<double> least;
    const auto look = [&](QuotaBucket& bucket) {
      least = std::min(least.value_or(1), bucket.left(limits_of(rule), now));
    };
    if (rule.key.empty()) {
      if (const auto found = shared_.find(name); found != shared_.end()) look(found->second);
    } else {
      for (auto& [key, entry] : keyed_) {
        if (key.starts_with(name + '\n')) look(entry.bucket);
      }
    }
    if (!least) continue;
    const auto [told, added] =
        by_rule.try_emplace(rule.key.empty() ? rule.match : rule.match + " per " + rule.key, *least);
    if (!added) told->second = std::min(told->second, *least);
  }
  return by_rule;
}

}  // namespace krux
