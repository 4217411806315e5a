#include "core/audit/anchor_writer.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("a file of heads that does not answer holds nobody up, not even at the end") {
  std::promise<void> answers;
  const auto answered = answers.get_future().share();
  const auto written = std::make_shared<std::atomic<int>>(0);
  {
    AnchorWriter writer(
        [answered, written](const Anchor&) {
          answered.wait();
          ++*written;
        },
        std::chrono::milliseconds(0));
    CHECK_THROWS_WITH(writer.write({}), Catch::Contains("does not answer"));
    CHECK_THROWS_WITH(writer.write({}), Catch::Contains("does not answer"));
  }
  answers.set_value();
  while (*written == 0) std::this_thread::yield();
  CHECK(*written == 1);
}

TEST_CASE("a head that cannot be written is told of, and the next one is tried anew") {
  std::atomic<bool> full = true;
  AnchorWriter writer([&](const Anchor&) {
    if (full) throw database_error("The disk is full.");
  });
  CHECK_THROWS_WITH(writer.write({}), "The disk is full.");
  full = false;
  CHECK_NOTHROW(writer.write({}));
}

}  // namespace KRUXOS_TEST_FILE
