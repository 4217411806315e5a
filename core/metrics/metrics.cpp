#include "core/metrics/metrics.hpp"

#include <chrono>

namespace krux {
namespace {

std::int64_t steady_us() {
  using std::chrono::microseconds;
  return std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Metrics::Metrics(std::function<std::int64_t()> now_us) : now_us_(now_us ? std::move(now_us) : steady_us) {}

}  // namespace krux
