#include "host/process/worker_lanes.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("worker lanes: at most half of the threads for one account, and fewer for one agent") {
  Config config;
  config.worker_threads = GENERATE(1, 2, 3, 8, 256);
  const auto cores = GENERATE(0U, 1U, 2U, 16U, 1000U);
  auto options = worker_lanes(config, cores);
  for (const auto lane : {Lane::kLocal, Lane::kIsolated, Lane::kFetch}) {
    const auto& limits = options.of(lane);
    CHECK(limits.threads >= 2);
    CHECK(2 * limits.running_of_account <= static_cast<std::size_t>(limits.threads));
    CHECK(limits.running_of_queue <= limits.running_of_account);
    CHECK(limits.running_of_queue >= 1);
    CHECK(limits.waiting_of_queue == 256);
    CHECK(limits.wait_ms == 30'000);
  }
  CHECK(2 * options.of(Lane::kSync).running_of_queue <= static_cast<std::size_t>(options.of(Lane::kSync).threads));
  CHECK(options.of(Lane::kWrite).threads == config.write_buffer.executor_concurrency);
}

TEST_CASE("worker lanes: an agent may have every processor busy, and fewer than half of the threads") {
  auto options = worker_lanes(Config{}, 2);
  CHECK(options.of(Lane::kLocal).threads == 6);
  CHECK(options.of(Lane::kLocal).running_of_queue == 2);
  CHECK(options.of(Lane::kFetch).threads == 8);
  CHECK(options.of(Lane::kFetch).running_of_account == 4);
  CHECK(options.of(Lane::kFetch).running_of_queue == 3);
  CHECK(options.of(Lane::kFetch).computing_of_queue == 2);
}

}  // namespace KRUXOS_TEST_FILE
