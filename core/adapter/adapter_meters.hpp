// Calls into adapters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/adapter/call.hpp"
#include "core/metrics/meter_table.hpp"
#include "core/metrics/metric_registry.hpp"

namespace krux {

/// One service's. Any thread.
class AdapterMeter {
 public:
  AdapterMeter(MetricRegistry& registry, std::string_view service);
  /// When the code of the adapter's function of that name has returned. `failure`: what it said, nullptr for success; a
  /// call that was past its deadline by then, or whose process had ended, is counted as that instead.
  void returned(const char* function, const CallContext& call, const CallFailure* failure, std::int64_t took_us);

 private:
  struct OfFunction {
    OfFunction(MetricRegistry& registry, std::string_view service, const char* function);
    MetricCounters calls;
    MetricHistogram time;
  };
  MetricRegistry& registry_;
  const std::string service_;
  const MetricCounter replaced_;
  MeterTable<OfFunction> functions_;  ///< those that were called
};

/// Any thread.
class AdapterMeters {
 public:
  explicit AdapterMeters(MetricRegistry& registry) : registry_(registry) {}
  std::int64_t now_us() const { return registry_.now_us(); }
  AdapterMeter& of(std::string_view service);

 private:
  MetricRegistry& registry_;
  MeterTable<AdapterMeter> table_;
};

}  // namespace krux
