#include "host/http/agent_pace.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("pace: who sends faster than he may waits for as long as it takes, and nobody else does", "[gateway]") {
  AgentPace pace({1'000, 100, 500});
  std::int64_t now_ms = 77'000;
  const auto hold_ms = [&](const char* who, std::size_t messages) { return pace.hold_ms(who, messages, now_ms); };
  for (int i = 0; i < 100; ++i) CHECK(hold_ms("a", 1) == 0);
  CHECK(hold_ms("a", 1) == 1);
  CHECK(hold_ms("a", 9) == 10);
  CHECK(hold_ms("b", 100) == 0);
  now_ms += 10;
  CHECK(hold_ms("a", 1) == 1);
  CHECK(hold_ms("a", 10'000) == 500);  // and no longer
  now_ms += 500;
  CHECK(hold_ms("a", 5) == 5);
  now_ms += 60'000;
  CHECK(hold_ms("a", 100) == 0);
  CHECK(hold_ms("a", 1) == 1);
}

TEST_CASE("pace: long messages count as many", "[gateway]") {
  CHECK(AgentPace::of_bytes(0) == 1);
  CHECK(AgentPace::of_bytes(16'000) == 1);
  CHECK(AgentPace::of_bytes(1 << 20) == 65);
}

}  // namespace KRUXOS_TEST_FILE
