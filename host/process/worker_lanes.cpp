#include "host/process/worker_lanes.hpp"

#include <algorithm>

namespace krux {
namespace {

constexpr std::size_t kWaitingOfAgent = 256;
constexpr std::int64_t kLongestWaitMs = 30'000;

/// Half of the threads for an account. One less for an agent, so that another agent's call of the same account begins
/// at once.
LaneLimits shared_by_agents(int threads) {
  const auto half = static_cast<std::size_t>(std::max(1, threads / 2));
  return {threads, std::max<std::size_t>(1, half - 1), half, kWaitingOfAgent, kLongestWaitMs};
}

/// What has no network to wait for keeps a processor busy: agents that are there at a time divide what one may have.
LaneLimits divided_by_agents(int threads) {
  auto limits = shared_by_agents(threads);
  limits.divided = true;
  return limits;
}

}  // namespace

CallRunner::Options worker_lanes(const Config& config, unsigned cores) {
  const int processors = static_cast<int>(std::clamp(cores, 2U, 64U));
  const int workers = std::max(2, config.worker_threads);
  CallRunner::Options options;
  options.of(Lane::kLocal) = divided_by_agents(2 * (processors + 1));  // one alone may have every processor
  options.of(Lane::kIsolated) = divided_by_agents(workers);
  options.of(Lane::kFetch) = shared_by_agents(workers);
  options.of(Lane::kFetch).computing_of_queue = static_cast<std::size_t>(processors);
  options.of(Lane::kSync) = {workers, static_cast<std::size_t>(workers / 2), 1};
  options.of(Lane::kWrite) = {config.write_buffer.executor_concurrency};
  return options;
}

}  // namespace krux
