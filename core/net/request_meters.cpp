#include "core/net/request_meters.hpp"

#include <array>

#include "core/metrics/account_label.hpp"
#include "core/net/account_http.hpp"

namespace krux {
namespace {

constexpr MetricName kServiceRequests{"kruxos_service_requests_total",
                                      "Requests of the host to services, by the class of the answer's status."};
constexpr MetricName kServiceTime{
    "kruxos_service_request_seconds",
    "Time from sending a request until its answer was complete, waiting for the quota left out."};
constexpr MetricName kQuotaWait{"kruxos_quota_wait_seconds_total",
                                "Time that requests to services waited for the account's quota."};
constexpr std::array<double, 11> kServiceBounds{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30};
constexpr std::array<const char*, 7> kStatuses{"1xx", "2xx", "3xx", "4xx", "5xx", "held_back", "none"};
constexpr std::size_t kHeldBack = 5, kNone = 6;

MetricLabels account_labels(const std::string& service, const std::string& account_id) {
  // While an account is being connected its id is not known.
  return {{"service", service}, {"account", account_id.empty() ? "connecting" : account_label(account_id)}};
}

std::size_t status_of(const RequestRecord& record) {
  if (record.status >= 100 && record.status < 600) return static_cast<std::size_t>(record.status / 100 - 1);
  return record.outcome == KRUX_RATE_LIMITED ? kHeldBack : kNone;
}

}  // namespace

RequestMeter::RequestMeter(MetricRegistry& registry, const std::string& service, const std::string& account_id)
    : requests_(registry, kServiceRequests, account_labels(service, account_id), "status", kStatuses),
      time_(registry.histogram(kServiceTime, {{"service", service}}, kServiceBounds)),
      quota_wait_(registry.counter(kQuotaWait, account_labels(service, account_id))) {}

void RequestMeter::sent(const RequestRecord& record) {
  requests_.add(status_of(record));
  if (record.quota_wait_ms > 0) quota_wait_.add(static_cast<double>(record.quota_wait_ms) / 1000);
  if (record.status != 0) time_.observe_us((record.ms - record.quota_wait_ms) * 1000);
}

}  // namespace krux
