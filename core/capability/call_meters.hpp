// Agents' calls of capabilities.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/metrics/meter_table.hpp"
#include "core/metrics/metric_registry.hpp"
#include "core/util/error_type.hpp"

namespace krux {

/// The calls of one capability.
class CallMeter {
 public:
  CallMeter(MetricRegistry& registry, std::string_view service, std::string_view capability, bool is_read);
  /// No type: it succeeded. Those that adapters name are counted together. Without a time it is not timed.
  void ended(const ErrorType& type, std::optional<std::int64_t> took_us);

 private:
  MetricCounters calls_;
  MetricHistogram reads_;  ///< of other kinds nothing is timed here
};

/// Any thread.
class CallMeters {
 public:
  explicit CallMeters(MetricRegistry& registry) : registry_(registry) {}
  std::int64_t now_us() const { return registry_.now_us(); }
  /// Both as a definition has them: they become labels.
  CallMeter& of(std::string_view service, std::string_view capability, bool is_read);
  /// Of whatever no definition has.
  CallMeter& unknown();

 private:
  MetricRegistry& registry_;
  MeterTable<CallMeter> table_;
};

/// One call, from its turn to its answer. Made by default, or with nullptr, it counts nothing.
class MeteredCall {
 public:
  MeteredCall() = default;
  explicit MeteredCall(CallMeters* meters);
  void is(std::string_view service, std::string_view capability, bool is_read);
  /// Its time is what its caller has asked for, and says nothing of the host.
  void leave_untimed() { timed_ = false; }
  void ended(const ErrorType& type) const;

 private:
  CallMeters* meters_ = nullptr;
  CallMeter* meter_ = nullptr;
  std::int64_t began_us_ = 0;
  bool timed_ = true;
};

}  // namespace krux
