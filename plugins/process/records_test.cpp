// What is known of a run, and for how long.
#include "records.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

constexpr std::int64_t kNow = 1'800'000'000'000, kHour = 3'600'000;

struct Records {
  support::Scratch scratch;
  workspace::Homes homes{(scratch.path() / "root").string()};
  workspace::Home home = homes.of("agent_1");
  std::filesystem::path at = scratch.path() / "root" / "agent_1" / "processes";

  void begin(const std::string& id, std::int64_t now_ms) const { process::begin_record(home, id, now_ms); }
  void end(const std::string& id) const {
    process::View view;
    view.id = id;
    view.ended = "exited";
    process::end_record(home.processes.get(), view);
  }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(at), std::filesystem::directory_iterator());
  }
};

}  // namespace

TEST_CASE("that a run was begun is known for longer than how it ended") {
  const Records records;
  for (const char* id : {"w_1", "w_2", "w_3"}) {
    records.begin(id, kNow);
    records.end(id);
  }
  process::forget_old(records.home, 2, kNow + 95 * kHour);
  CHECK_FALSE(process::ended(records.home, "w_1"));
  CHECK(process::was_begun(records.home, "w_1"));
  CHECK(process::ended(records.home, "w_2"));
  process::forget_old(records.home, 2, kNow + 97 * kHour);
  CHECK_FALSE(process::was_begun(records.home, "w_1"));
  CHECK(process::ended(records.home, "w_3"));
  CHECK(records.files() == 8);  // four of each that is kept
}

TEST_CASE("what a killed host has cut off is forgotten in time") {
  const Records records;
  records.begin("w_1", kNow);
  records.begin("w_2", kNow + 90 * kHour);
  process::forget_old(records.home, 200, kNow + 97 * kHour);
  CHECK_FALSE(process::was_begun(records.home, "w_1"));
  CHECK(process::was_begun(records.home, "w_2"));
  CHECK(records.files() == 1);
}

}  // namespace KRUXOS_TEST_FILE
