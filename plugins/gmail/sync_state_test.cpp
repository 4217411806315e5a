// Cursors that an earlier version has kept.
#include "sync_state.hpp"

#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>

namespace KRUXOS_TEST_FILE {

using namespace gmail;

TEST_CASE("a sync's state of a version that kept its phase as a number goes on") {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store(host.clock, {});
  store.cursors["sync"] =
      R"({"phase":2,"open":true,"history_id":"h","history_page":"hp","run_began_ms":1,"caught_up_ms":2,)"
      R"("list_page":"lp","listed":3,"total":4,"compares":true,"since_ms":5,"whole_ms":6,"losses":7,"disturbed":true,)"
      R"("relists":8,"restarts":9,"senseless":10,"lost_ms":11,"lost_times":12,"full_passes":13})";
  store.cursors["unread"] = R"([{"id":"m1","why":"odd","tries":2,"full_pass":13}])";
  auto face = store.store();
  const auto state = SyncState::load(face);
  CHECK(state.phase == Phase::kListing);
  CHECK((state.open && state.compares && state.disturbed));
  CHECK((state.history_id == "h" && state.history_page == "hp" && state.list_page == "lp"));
  CHECK((state.run_began_ms == 1 && state.caught_up_ms == 2 && state.listed == 3 && state.total == 4));
  CHECK((state.since_ms == 5 && state.whole_ms == 6 && state.losses == 7 && state.relists == 8));
  CHECK((state.restarts == 9 && state.senseless == 10 && state.lost_ms == 11 && state.lost_times == 12));
  CHECK(state.full_passes == 13);
  const auto unread = Unreadable::load(face);
  REQUIRE(unread.entries.size() == 1);
  CHECK((unread.entries[0].id == "m1" && unread.entries[0].why == "odd"));
  CHECK((unread.entries[0].tries == 2 && unread.entries[0].full_pass == 13));
}

}  // namespace KRUXOS_TEST_FILE
