// All that the host counts while it works. docs/metrics.md lists it.
#pragma once

#include <cstdint>
#include <functional>

#include "core/metrics/adapter_meters.hpp"
#include "core/metrics/agent_meters.hpp"
#include "core/metrics/call_meters.hpp"
#include "core/metrics/metric_registry.hpp"
#include "core/metrics/token_meters.hpp"
#include "core/metrics/write_meters.hpp"

namespace krux {

/// Any thread. Must outlive every call that counts into it, abandoned ones included.
class Metrics {
 public:
  /// `now_us`: microseconds of a clock that never goes back, a finer one than Clock's; empty: the machine's steady one.
  explicit Metrics(std::function<std::int64_t()> now_us = {});
  std::int64_t now_us() const { return now_us_(); }

 private:
  const std::function<std::int64_t()> now_us_;

 public:
  MetricRegistry registry;  ///< of all that follow
  CallMeters calls{registry};
  WriteMeters writes{registry};
  AdapterMeters adapters{registry};
  AgentMeters agents{registry};
  TokenMeters tokens{registry};
};

}  // namespace krux
