#include "core/metrics/metric_registry.hpp"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>

namespace krux {
namespace {

std::int64_t steady_us() {
  using std::chrono::microseconds;
  return std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

ClientMetric client_metric(const MetricLabels& labels, double value, bool counter) {
  ClientMetric metric;
  for (const auto& [name, text] : labels) metric.label.push_back({name, text});
  (counter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

}  // namespace

struct MetricRegistry::State {
  prometheus::Registry registry;
};

void MetricCounter::add(double by) const {
  if (counter_) counter_->Increment(by);
}

void MetricHistogram::observe_us(std::int64_t microseconds) const {
  if (histogram_) histogram_->Observe(static_cast<double>(std::max<std::int64_t>(microseconds, 0)) / 1e6);
}

void MetricSheet::add(const MetricName& name, bool counter, MetricLabels labels, double value) {
  auto& family = families_[name.name];
  family.help = name.help;
  family.counter = counter;
  family.values.emplace_back(std::move(labels), value);
}

void MetricSheet::merge(MetricSheet&& other) {
  for (auto& [name, theirs] : other.families_) {
    const auto [mine, added] = families_.try_emplace(name, theirs);
    if (!added) std::move(theirs.values.begin(), theirs.values.end(), std::back_inserter(mine->second.values));
  }
}

MetricRegistry::MetricRegistry(std::function<std::int64_t()> now_us)
    : state_(std::make_unique<State>()), now_us_(now_us ? std::move(now_us) : steady_us) {}

MetricRegistry::~MetricRegistry() = default;

prometheus::Counter& MetricRegistry::make_counter(const MetricName& name, const MetricLabels& labels) {
  auto& family = prometheus::BuildCounter().Name(name.name).Help(name.help).Register(state_->registry);
  return family.Add(labels);
}

MetricCounter MetricRegistry::counter(const MetricName& name, const MetricLabels& labels) {
  return MetricCounter(make_counter(name, labels));
}

MetricHistogram MetricRegistry::histogram(const MetricName& name, const MetricLabels& labels,
                                          std::span<const double> bounds) {
  auto& family = prometheus::BuildHistogram().Name(name.name).Help(name.help).Register(state_->registry);
  return MetricHistogram(family.Add(labels, prometheus::Histogram::BucketBoundaries(bounds.begin(), bounds.end())));
}

std::string MetricRegistry::text(const MetricSheet& sheet) const {
  auto families = state_->registry.Collect();
  for (const auto& [name, read] : sheet.families_) {
    MetricFamily family{name, read.help, read.counter ? MetricType::Counter : MetricType::Gauge, {}};
    for (const auto& [labels, value] : read.values) family.metric.push_back(client_metric(labels, value, read.counter));
    families.push_back(std::move(family));
  }
  std::sort(families.begin(), families.end(), [](auto& a, auto& b) { return a.name < b.name; });
  for (auto& family : families) {
    std::sort(family.metric.begin(), family.metric.end(), [](auto& a, auto& b) { return a.label < b.label; });
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

MetricCounters::MetricCounters(MetricRegistry& registry, const MetricName& name, MetricLabels labels, const char* label,
                               std::span<const char* const> values)
    : registry_(registry),
      name_(name),
      labels_(std::move(labels)),
      label_(label),
      values_(values),
      made_(std::make_unique<std::atomic<prometheus::Counter*>[]>(values.size())) {}

void MetricCounters::add(std::size_t value, double by) {
  value = std::min(value, values_.size() - 1);
  auto* known = made_[value].load(std::memory_order_acquire);
  (known ? *known : make(value)).Increment(by);
}

/// Two threads that come here at once are given the same counter.
prometheus::Counter& MetricCounters::make(std::size_t value) {
  auto labels = labels_;
  labels[label_] = values_[value];
  auto& counter = registry_.make_counter(name_, labels);
  made_[value].store(&counter, std::memory_order_release);
  return counter;
}

}  // namespace krux
