// Quota rules as a definition and the configuration write them, and how the second changes the first.
#pragma once

#include <vector>

#include "core/definition/definition.hpp"

namespace krux {

class YamlValue;

/// A definition's list. Throws ConfigError with the place.
std::vector<QuotaRule> parse_quota(const YamlValue& value);

/// The configuration's: the same, and rules that name a bucket and no `match`.
std::vector<QuotaRule> parse_quota_changes(const YamlValue& value);

/// The definition's rules with the configuration's: one with a `match` replaces all of that match; one with a bucket
/// alone says how many units a minute that bucket is to have, and every rule of it grows or shrinks in proportion.
std::vector<QuotaRule> changed_quota(std::vector<QuotaRule> rules, const std::vector<QuotaRule>& changes);

}  // namespace krux
