// Whatever happens in the workspace and whenever the host is killed: once it is quiet, the replica is the workspace.
#include <catch2/catch.hpp>

#include <random>

#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using slack::Rig;

namespace {

const std::vector<std::string> kChannels = {"C0000000A", "C0000000B", "C0000000C"};

class Life {
 public:
  explicit Life(unsigned seed) : random_(seed) {
    rig.options.initial_messages = 100'000;
    rig.options.page_size = 2 + pick(6);
    rig.options.look_back_every_ms = 0;
    rig.restart();
    rig.state.behaviour.history_oldest_only = pick(2) ? "closest_to_oldest" : "newest_first";
    const char* paging[] = {"first_page", "every_page", "newest_chunk_first"};
    rig.state.behaviour.replies_parent = paging[pick(3)];
    for (const auto& id : kChannels) rig.add_channel(id, "channel-" + id);
  }

  void change() {
    const auto& id = kChannels[static_cast<std::size_t>(pick(3))];
    rig.host.clock.advance(pick(30'000));
    switch (pick(9)) {
      case 0:
        return edit(id);
      case 1:
      case 2:
        return erase(id);
      case 3:
        return react(id);
      case 4:
      case 5:
        return reply(id);
      default:
        rig.say(id, "text " + std::to_string(++count_) + " <&>");
    }
  }

  void sync_a_little() {
    const int steps = pick(4);
    for (int i = 0; i < steps; ++i) {
      const auto step = rig.step();
      if (step.next == KRUX_SYNC_WAIT) rig.host.clock.advance(step.wait_ms);
    }
    if (pick(4) == 0) rig.restart();
  }

  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  Rig rig;

 private:
  std::string any_ts(const std::string& id) {
    const auto& messages = rig.channel(id).messages;
    if (messages.empty()) return "";
    auto at = messages.begin();
    std::advance(at, pick(static_cast<int>(messages.size())));
    return at->second.tombstone ? "" : emu::format_ts(at->first);
  }
  void edit(const std::string& id) {
    if (const auto ts = any_ts(id); !ts.empty()) rig.edit(id, ts, "edited " + std::to_string(++count_));
  }
  void erase(const std::string& id) {
    if (const auto ts = any_ts(id); !ts.empty()) rig.erase(id, ts);
  }
  void react(const std::string& id) {
    const auto ts = any_ts(id);
    if (ts.empty()) return;
    auto& message = rig.message(id, ts);
    if (!rig.workspace().react(message, "tada", "U0PERSON01")) rig.workspace().unreact(message, "tada", "U0PERSON01");
  }
  void reply(const std::string& id) {
    const auto ts = any_ts(id);
    if (ts.empty() || rig.message(id, ts).is_reply()) return;
    rig.say(id, "reply " + std::to_string(++count_), ts, pick(4) == 0);
  }

  std::mt19937 random_;
  int count_ = 0;
};

}  // namespace

TEST_CASE("once the workspace is quiet, the replica is the same") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Life life(seed);
    for (int round = 0; round < 12; ++round) {
      const int changes = life.pick(12);
      for (int i = 0; i < changes; ++i) life.change();
      life.sync_a_little();
    }
    life.rig.pass();  // the one under way
    // A round that took long makes the next one wait.
    life.rig.next_pass(6 * 3'600'000);
    life.rig.next_pass(6 * 3'600'000);
    INFO("seed " << seed << "\n" << life.rig.differences());
    REQUIRE(life.rig.differences().empty());
    CHECK(life.rig.store.reports.empty());
  }
}

}  // namespace KRUXOS_TEST_FILE
