// Cursors that an earlier version has kept.
#include "sync_state.hpp"

#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>

namespace KRUXOS_TEST_FILE {

using namespace slack;

TEST_CASE("a sync's state of a version that kept its looks as numbers goes on") {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store(host.clock, {});
  store.cursors["pass"] =
      R"({"number":1,"started_ms":2,"next_generation":3,"revision":4,"open":true,"look_back":true,"round_began_ms":5,)"
      R"("last_round_ms":6,"round_cost_ms":7,"replies_through_ms":8,"channels":{"cursor":"c","generation":9,)"
      R"("completed_ms":10,"pages":11,"pages_so_far":12,"wanted":false},"users":{"cursor":"","generation":0,)"
      R"("completed_ms":0,"pages":0,"pages_so_far":0,"wanted":true}})";
  store.cursors["channel:C1"] =
      R"({"newest":"9.1","floor":"1.0","pass":1,"through_ms":2,"synced":true,"failed":false,"refused":true,"look":3,)"
      R"("oldest":"2.0","page":"p","max_ts":"8.0","min_ts":"3.0","got":4,"generation":5,"began_ms":6})";
  store.cursors["channel:C2"] = R"({"newest":"9.1"})";
  store.cursors["tracked"] = R"(["C1","C2"])";
  auto face = store.store();
  const auto pass = PassState::load(face);
  CHECK((pass.number == 1 && pass.started_ms == 2 && pass.next_generation == 3 && pass.revision == 4));
  CHECK((pass.open && pass.look_back && pass.round_began_ms == 5 && pass.last_round_ms == 6));
  CHECK((pass.round_cost_ms == 7 && pass.replies_through_ms == 8));
  CHECK((pass.channels.cursor == "c" && pass.channels.generation == 9 && pass.channels.completed_ms == 10));
  CHECK((pass.channels.pages == 11 && pass.channels.pages_so_far == 12 && !pass.channels.wanted && pass.users.wanted));
  const auto channel = ChannelState::load(face, "C1");
  CHECK((channel.id == "C1" && channel.newest == "9.1" && channel.floor == "1.0" && channel.pass == 1));
  CHECK((channel.through_ms == 2 && channel.synced && !channel.failed && channel.refused));
  CHECK((channel.look == Look::kBack && channel.oldest == "2.0" && channel.page == "p" && channel.max_ts == "8.0"));
  CHECK((channel.min_ts == "3.0" && channel.got == 4 && channel.generation == 5 && channel.began_ms == 6));
  const auto plain = ChannelState::load(face, "C2");
  CHECK((plain.floor == "0" && plain.look == Look::kNone && !plain.look_has_pages()));
  CHECK(load_tracked(face) == std::vector<std::string>{"C1", "C2"});
  CHECK(ThreadState::load(face).id.empty());
}

}  // namespace KRUXOS_TEST_FILE
