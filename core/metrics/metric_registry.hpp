// What is counted, and the page that Prometheus reads. The library's own headers stay in metric_registry.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prometheus {
class Counter;
class Histogram;
}  // namespace prometheus

namespace krux {

/// Values are ids and words of definitions, never what an agent or a service said.
using MetricLabels = std::map<std::string, std::string>;

/// One line of the page. Copies count into the same; valid as long as its registry. Any thread, without a lock.
class MetricCounter {
 public:
  MetricCounter() = default;  ///< counts nothing
  explicit MetricCounter(prometheus::Counter& counter) : counter_(&counter) {}
  void add(double by = 1) const;

 private:
  prometheus::Counter* counter_ = nullptr;
};

/// As above; a lock of its own for as long as a number is added.
class MetricHistogram {
 public:
  MetricHistogram() = default;  ///< counts nothing
  explicit MetricHistogram(prometheus::Histogram& histogram) : histogram_(&histogram) {}
  void observe_us(std::int64_t microseconds) const;  ///< a negative span counts as none

 private:
  prometheus::Histogram* histogram_ = nullptr;
};

struct MetricName {
  const char* name;
  const char* help;
};

/// Values that are known elsewhere and only read for a page. One thread.
class MetricSheet {
 public:
  void gauge(const MetricName& name, MetricLabels labels, double value) { add(name, false, std::move(labels), value); }
  /// Only grows while the host runs, or begins again at 0.
  void counter(const MetricName& name, MetricLabels labels, double value) { add(name, true, std::move(labels), value); }
  void merge(MetricSheet&& other);

 private:
  friend class MetricRegistry;
  struct Family {
    std::string help;
    bool counter = false;
    std::vector<std::pair<MetricLabels, double>> values;
  };
  void add(const MetricName& name, bool counter, MetricLabels labels, double value);

  std::map<std::string, Family> families_;
};

/// Any thread. What is asked for twice is made once.
class MetricRegistry {
 public:
  /// `now_us`: microseconds of a clock that never goes back, a finer one than Clock's; empty: the machine's steady one.
  explicit MetricRegistry(std::function<std::int64_t()> now_us = {});
  ~MetricRegistry();
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  std::int64_t now_us() const { return now_us_(); }

  // These take locks and allocate: ask once and keep the answer.
  MetricCounter counter(const MetricName& name, const MetricLabels& labels);
  /// `bounds` in seconds, ascending; those of the first one asked for by this name and labels count.
  MetricHistogram histogram(const MetricName& name, const MetricLabels& labels, std::span<const double> bounds);

  /// Everything, and what the sheet says, in Prometheus' text format 0.0.4, ordered by name and labels.
  std::string text(const MetricSheet& sheet) const;

 private:
  friend class MetricCounters;
  prometheus::Counter& make_counter(const MetricName& name, const MetricLabels& labels);

  struct State;
  const std::unique_ptr<State> state_;
  const std::function<std::int64_t()> now_us_;
};

/// A counter for each value of one label, made when it is first counted: what never happens takes no line. Any thread;
/// without a lock but for the first time. The registry and the texts must outlive it.
class MetricCounters {
 public:
  MetricCounters(MetricRegistry& registry, const MetricName& name, MetricLabels labels, const char* label,
                 std::span<const char* const> values);

  /// `value`: an index into the values; one that is too large counts as the last.
  void add(std::size_t value, double by = 1);

 private:
  prometheus::Counter& make(std::size_t value);

  MetricRegistry& registry_;
  const MetricName name_;
  const MetricLabels labels_;
  const char* const label_;
  const std::span<const char* const> values_;
  const std::unique_ptr<std::atomic<prometheus::Counter*>[]> made_;
};

}  // namespace krux
