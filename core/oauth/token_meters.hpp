// The renewals of access tokens.
#pragma once

#include <string>
#include <string_view>

#include "core/metrics/metric_registry.hpp"

namespace krux {

/// Any thread.
class TokenMeters {
 public:
  explicit TokenMeters(MetricRegistry& registry) : registry_(registry) {}
  /// Of an account that is served: its line stands there from the start.
  void begin(const std::string& service, const std::string& account_id);
  /// As TokenRefresher::Hooks::count; seldom, so that it may look its counter up.
  void refreshed(const std::string& service, const std::string& account_id, std::string_view outcome);

 private:
  MetricRegistry& registry_;
};

}  // namespace krux
