// The page that Prometheus reads: what was counted, and what is read from the host's parts for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/metrics/metric_registry.hpp"
#include "host/http/http_types.hpp"

namespace krux {

/// A part of the host that is asked for its figures. `read` may block and may throw; it runs on the page's own thread.
struct MetricSource {
  std::string name;
  std::function<void(MetricSheet&)> read;
};

/// One page is made at a time. A source that fails or takes too long is left out, and the page says so.
class MetricsPage {
 public:
  struct Options {
    std::int64_t patience_ms = 3'000;  ///< of real time, for all sources together
    std::size_t most_waiting = 8;      ///< pages that are asked for at once; more are refused with 503
  };
  /// `registry`, and what the sources use, must outlive it.
  MetricsPage(const MetricRegistry& registry, std::vector<MetricSource> sources, Options options);
  MetricsPage(const MetricRegistry& registry, std::vector<MetricSource> sources)
      : MetricsPage(registry, std::move(sources), Options{}) {}
  ~MetricsPage();  ///< waits for the source that is being asked
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  /// Any thread; does not block. `respond` is called later, on a thread of the page's.
  void give(const Respond& respond);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krux
