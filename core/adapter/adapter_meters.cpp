#include "core/adapter/adapter_meters.hpp"

#include <array>

namespace krux {
namespace {

constexpr MetricName kFunctionCalls{"kruxos_adapter_calls_total",
                                    "Calls into adapters that returned, by function and outcome."};
constexpr MetricName kFunctionTime{"kruxos_adapter_call_seconds",
                                   "Time that calls into adapters took until they returned."};
constexpr MetricName kReplaced{"kruxos_adapter_replaced_characters_total",
                               "NULs, halves of surrogate pairs and invalid bytes of a service that became U+FFFD."};
constexpr std::array<double, 14> kFunctionBounds{.0001, .0005, .001, .005, .01, .05, .1, .25, .5, 1, 5, 10, 30, 60};

/// By krux_status, then what the host itself saw.
constexpr std::array<const char*, 17> kFunctionOutcomes{
    "ok",          "auth",           "rate_limited", "network",  "refused", "invalid",
    "storage",     "cancelled",      "unsupported",  "internal", "timeout", "not_found",
    "unavailable", "cursor_expired", "conflict",     "deadline", "crash"};
constexpr std::size_t kDeadline = 15, kCrash = 16;

std::size_t outcome_of(const CallContext& call, const CallFailure* failure) {
  if (call.left_ms() == 0) return kDeadline;
  if (!failure) return 0;
  if (call.cut_off()) return kCrash;
  const bool known = failure->status > KRUX_OK && failure->status <= KRUX_CONFLICT;
  return static_cast<std::size_t>(known ? failure->status : krux_status{KRUX_INTERNAL});
}

}  // namespace

AdapterMeter::OfFunction::OfFunction(MetricRegistry& registry, std::string_view service, const char* function)
    : calls(registry, kFunctionCalls, {{"service", std::string(service)}, {"function", function}}, "outcome",
            kFunctionOutcomes),
      time(registry.histogram(kFunctionTime, {{"service", std::string(service)}, {"function", function}},
                              kFunctionBounds)) {}

AdapterMeter::AdapterMeter(MetricRegistry& registry, std::string_view service)
    : registry_(registry),
      service_(service),
      replaced_(registry.counter(kReplaced, {{"service", std::string(service)}})) {}

void AdapterMeter::returned(const char* function, const CallContext& call, const CallFailure* failure,
                            std::int64_t took_us) {
  auto& of = functions_.of("", function, [&] { return std::make_unique<OfFunction>(registry_, service_, function); });
  of.calls.add(outcome_of(call, failure));
  of.time.observe_us(took_us);
  if (call.replaced() > 0) replaced_.add(static_cast<double>(call.replaced()));
}

AdapterMeter& AdapterMeters::of(std::string_view service) {
  return table_.of(service, "", [&] { return std::make_unique<AdapterMeter>(registry_, service); });
}

}  // namespace krux
