#include "host/gateway/mcp/wait_watches.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const std::string kAwaited = "w_0192f0c1-0000-7000-8000-000000000001";

}  // namespace

TEST_CASE("Who waits for a write is found by it, and who waits no more is let go of by those who come") {
  using mcp::WaitWatches;
  WaitWatches watches;
  const auto caller = std::make_shared<AgentMethods::Caller>(Agent{"agent_1", "alice"});
  const auto one_of = [&](const std::string& write_id) {
    auto one =
        std::make_shared<WaitWatches::One>(caller, mcp::AwaitedWrite{write_id, 1}, 0, [](const mcp::TaskView&) {});
    watches.add(one);
    return one;
  };
  const auto stays = one_of(kAwaited);
  for (std::size_t i = 2; i < WaitWatches::kFewest; ++i) one_of("w_" + std::to_string(i));
  one_of(kAwaited);
  CHECK(watches.size() == 2);  // whoever comes when there are many takes out those that nobody holds
  for (int i = 0; i < 10; ++i) one_of(kAwaited);
  // Whoever tells of a change looks at no others, and takes nothing away.
  CHECK(watches.of(kAwaited, "agent_1") == std::vector{stays});
  CHECK(watches.of(kAwaited, "agent_2").empty());
  CHECK(watches.of("w_2", "agent_1").empty());
  CHECK(watches.size() == 12);
  // What is held is never let go of.
  std::vector<std::shared_ptr<WaitWatches::One>> held;
  for (std::size_t i = 0; i < 3 * WaitWatches::kFewest; ++i) held.push_back(one_of(kAwaited));
  CHECK(watches.of(kAwaited, "agent_1").size() == held.size() + 1);
}

}  // namespace KRUXOS_TEST_FILE
