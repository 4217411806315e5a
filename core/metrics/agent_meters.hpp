// What agents send to the gateway.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/metrics/metric_registry.hpp"

namespace krux {

/// Any thread.
class AgentMeters {
 public:
  explicit AgentMeters(MetricRegistry& registry);
  /// `error_code`: JSON-RPC's, 0 for a result. Methods that there are not are counted together.
  void requested(std::string_view method, int error_code);
  enum class Refusal { kWrongKey, kLockedOut };
  void refused(Refusal why);

 private:
  std::vector<std::unique_ptr<MetricCounters>> methods_;
  MetricCounters refusals_;
};

}  // namespace krux
