#include "core/capability/call_meters.hpp"

#include <array>
#include <vector>

namespace krux {
namespace {

constexpr MetricName kCapabilityCalls{"kruxos_capability_calls_total",
                                      "Calls of capabilities by agents, by how they ended."};
constexpr MetricName kReads{"kruxos_read_seconds", "Time from a search's or read's turn to its answer."};

/// "ok", the host's error types, and at the end all that adapters may name themselves.
const std::vector<const char*>& outcome_names() {
  static const auto names = [] {
    std::vector<const char*> all{"ok"};
    for (const auto& row : error_table()) all.push_back(row.name);
    all.push_back("other");
    return all;
  }();
  return names;
}

constexpr std::array<double, 14> kReadBounds{.0001, .00025, .0005, .001, .0025, .005, .01,
                                             .025,  .05,    .1,    .25,  .5,    1,    10};

std::size_t outcome_of(const ErrorType& type) {
  if (!type) return 0;
  if (type == ErrorCode::kService) return outcome_names().size() - 1;
  return 1 + static_cast<std::size_t>(&type.facts() - error_table().data());
}

MetricLabels labels_of(std::string_view service, std::string_view capability) {
  return {{"service", std::string(service)}, {"capability", std::string(capability)}};
}

}  // namespace

CallMeter::CallMeter(MetricRegistry& registry, std::string_view service, std::string_view capability, bool is_read)
    : calls_(registry, kCapabilityCalls, labels_of(service, capability), "outcome", outcome_names()) {
  if (is_read) reads_ = registry.histogram(kReads, labels_of(service, capability), kReadBounds);
}

void CallMeter::ended(const ErrorType& type, std::optional<std::int64_t> took_us) {
  calls_.add(outcome_of(type));
  if (took_us) reads_.observe_us(*took_us);
}

CallMeter& CallMeters::of(std::string_view service, std::string_view capability, bool is_read) {
  return table_.of(service, capability,
                   [&] { return std::make_unique<CallMeter>(registry_, service, capability, is_read); });
}

CallMeter& CallMeters::unknown() {
  return of("unknown", "unknown", false);
}

MeteredCall::MeteredCall(CallMeters* meters) : meters_(meters) {
  if (meters_) began_us_ = meters_->now_us();
}

void MeteredCall::is(std::string_view service, std::string_view capability, bool is_read) {
  if (meters_) meter_ = &meters_->of(service, capability, is_read);
}

void MeteredCall::ended(const ErrorType& type) const {
  if (!meters_) return;
  (meter_ ? *meter_ : meters_->unknown())
      .ended(type, timed_ ? std::optional(meters_->now_us() - began_us_) : std::nullopt);
}

}  // namespace krux
