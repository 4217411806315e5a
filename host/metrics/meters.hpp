// All that the host counts while it works. docs/metrics.md lists it.
#pragma once

#include <utility>

#include "core/adapter/adapter_meters.hpp"
#include "core/capability/call_meters.hpp"
#include "core/metrics/agent_meters.hpp"
#include "core/metrics/metric_registry.hpp"
#include "core/oauth/token_meters.hpp"
#include "core/sign_in/sign_in_meters.hpp"
#include "core/write/write_meters.hpp"

namespace krux {

/// Any thread. Must outlive every call that counts into it, abandoned ones included.
struct Meters {
  /// `now_us`: as MetricRegistry takes it.
  explicit Meters(std::function<std::int64_t()> now_us = {}) : registry(std::move(now_us)) {}

  MetricRegistry registry;  ///< of all that follow
  CallMeters calls{registry};
  WriteMeters writes{registry};
  AdapterMeters adapters{registry};
  AgentMeters agents{registry};
  TokenMeters tokens{registry};
  SignInMeters sign_in{registry};
};

}  // namespace krux
