#include "host/gateway/agent_memory.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("an agent's share of the memory ends at its limit, and comes back", "[gateway]") {
  AgentMemory memory({100, 150, 20});
  auto first = memory.take("a", 60);
  REQUIRE(first);
  CHECK_FALSE(memory.take("a", 41));
  CHECK(first->grow(40));
  CHECK_FALSE(first->grow(1));
  CHECK(memory.taken() == 100);
  const auto other = memory.take("b", 50);
  REQUIRE(other);
  CHECK_FALSE(other->grow(1));  // all have taken all
  const auto small = memory.take("c", 20);
  CHECK(small);  // but a little is there for everybody
  CHECK_FALSE(small->grow(1));
  first.reset();
  CHECK(memory.taken() == 70);
  CHECK(memory.take("a", 80));
  CHECK(memory.taken() == 70);
}

}  // namespace KRUXOS_TEST_FILE
