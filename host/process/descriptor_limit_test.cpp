#include "host/process/descriptor_limit.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("the limit of descriptors is raised as far as it goes, and agents get half of it") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  auto low = before;
  low.rlim_cur = 256;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(descriptor_limit() == 256);
  raise_descriptor_limit();
  CHECK(descriptor_limit() == before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(agent_connections(1024, 1024) == 512);
  CHECK(agent_connections(1024, 2048) == 1024);
  CHECK(agent_connections(1024, 1'000'000) == 1024);
  CHECK(agent_connections(1024, 1) == 1);
}

}  // namespace KRUXOS_TEST_FILE
