// The host's requests to services.
#pragma once

#include <string>

#include "core/metrics/metric_registry.hpp"

namespace krux {

struct RequestRecord;

/// One account's. Any thread.
class RequestMeter {
 public:
  RequestMeter(MetricRegistry& registry, const std::string& service, const std::string& account_id);
  void sent(const RequestRecord& record);

 private:
  MetricCounters requests_;
  MetricHistogram time_;
  MetricCounter quota_wait_;
};

}  // namespace krux
