// The order of writes while the host carries them out.
#include <catch2/catch.hpp>
#include <mutex>

#include "core/write/executor_test_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("a used-up quota and a refused token in between do not change the order") {
  ExecutorFixture f;
  std::mutex mutex;
  std::vector<std::string> sent;
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite& write) -> CallResult<std::string> {
    const int attempt = ++f.executed;
    if (attempt == 1) return refused(KRUX_RATE_LIMITED, 60'000)(call);
    if (attempt == 2) return refused(KRUX_AUTH)(call);
    const std::lock_guard lock(mutex);
    sent.emplace_back(write.params_json);
    return success(call);
  };
  Host host(f.scratch.path(), f.clock);
  std::vector<WriteRecord> said;
  for (const auto* text : {"a", "b", "c"}) {
    auto write = at_once(text);
    write.order = "C1";
    said.push_back(host.submit(write));
  }
  host.serve(f.adapter);
  const auto& first = said.front().write_id;
  host.until(first, WriteState::kDeadLetter);
  host.quiet();
  f.clock.advance(70'000);
  REQUIRE(host.changes.until(first, [](const auto& w) {
    return w.state == WriteState::kDeadLetter && w.error_type == ErrorCode::kNotAuthenticated;
  }));
  host.quiet();
  CHECK(f.executed == 2);
  f.clock.advance(60'000);
  host.quiet();
  CHECK(f.executed == 2);
  host.executor.connection_restored(kAccount);
  CHECK_FALSE(host.until(said.back().write_id, WriteState::kCompleted).out_of_order);
  CHECK(sent == std::vector<std::string>{said[0].params_json, said[1].params_json, said[2].params_json});
}

}  // namespace KRUXOS_TEST_FILE
