// Whatever happens in the mailbox, whatever fails and whenever the host is killed: once it is quiet, the replica is the
// mailbox.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

#include "sync.hpp"
#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using gmail::Rig;
using kruxos::testing::FakeAnswer;

namespace {

const std::vector<std::string> kLabels = {"INBOX", "UNREAD", "STARRED", "IMPORTANT", "TRASH", "SPAM"};

class Life {
 public:
  explicit Life(unsigned seed) : random_(seed) {
    rig.options.page_size = 1 + pick(9);
    rig.options.side_by_side = 1 + pick(6);
    rig.options.catch_up_every_ms = pick(2) ? 1'000 : 60'000;
    rig.restart();
    const int mails = pick(40);
    for (int i = 0; i < mails; ++i) arrive();
    rig.override_answer = [this](const auto& request) { return trouble(request); };
  }

  void change() {
    rig.host.clock.advance(pick(30'000));
    switch (pick(12)) {
      case 0:
        if (const auto id = any(); !id.empty()) rig.erase(id);
        return;
      case 1:
        if (pick(4) == 0) rig.mailbox().expire_history();
        return;
      case 2:
        return label();
      case 3:
      case 4:
      case 5:
        return arrive();
      default:
        return relabel();
    }
  }

  void sync_a_little() {
    const int steps = pick(6);
    for (int i = 0; i < steps; ++i) step();
    if (pick(3) == 0) rig.restart();
  }

  void settle() {
    calm = true;
    for (int passes = 0; passes < 3; ++passes) {
      for (int i = 0; i < 20'000; ++i) {
        if (step() == KRUX_SYNC_DONE) break;
      }
      rig.host.clock.advance(2 * 86'400'000LL);
    }
  }

  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  Rig rig;
  bool calm = false;

 private:
  /// As the host goes on after what a step came to.
  std::int32_t step() {
    try {
      const auto step = rig.step();
      if (step.next == KRUX_SYNC_WAIT) rig.host.clock.advance(step.wait_ms);
      return step.next;
    } catch (const kruxos::ProxyError&) {
      rig.host.clock.advance(3'600'000);
      return -1;
    }
  }
  std::optional<FakeAnswer> trouble(const kruxos::testing::FakeRequest&) {
    rig.host.clock.advance(pick(300));
    if (calm) return std::nullopt;
    if (pick(8) == 0) change();  // in the middle of a step
    switch (pick(40)) {
      case 0:
        return FakeAnswer::json(503, "{}");
      case 1:
        return FakeAnswer::dropped();
      case 2:
        return FakeAnswer::rate_limited(5);
      case 3:
        return FakeAnswer::with(200, "<html>");
      default:
        return std::nullopt;
    }
  }
  std::string any() {
    const auto& all = rig.mailbox().newest_first();
    if (all.empty()) return "";
    auto at = all.begin();
    std::advance(at, pick(static_cast<int>(all.size())));
    return gmail::hex_of(at->second->id);
  }
  std::vector<std::string> some_labels() {
    std::set<std::string> labels;
    for (int i = pick(3); i > 0; --i) labels.insert(kLabels[static_cast<std::size_t>(pick(6))]);
    for (const auto& [id, label] : rig.mailbox().labels()) {
      if (!label.is_system && pick(3) == 0) labels.insert(id);
    }
    return {labels.begin(), labels.end()};
  }
  void relabel() {
    const auto id = any();
    if (id.empty()) return;
    const auto add = some_labels();
    auto remove = some_labels();
    // Gmail refuses both at once.
    std::erase_if(remove, [&](const auto& label) { return std::find(add.begin(), add.end(), label) != add.end(); });
    rig.modify(id, add, remove);
  }
  void arrive() { rig.arrive("subject " + std::to_string(++count_), some_labels()); }
  void label() {
    std::vector<std::string> own;
    for (const auto& [id, label] : rig.mailbox().labels()) {
      if (!label.is_system) own.push_back(id);
    }
    if (!own.empty() && pick(3) == 0)
      return rig.mailbox().erase_label(own[static_cast<std::size_t>(pick(static_cast<int>(own.size())))]);
    emu::Label label;
    label.name = "own " + std::to_string(++count_);
    if (own.size() < 4) rig.mailbox().add_label(label);
  }

  std::mt19937 random_;
  int count_ = 0;
};

}  // namespace

TEST_CASE("once the mailbox is quiet, the replica is the same") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Life life(seed);
    for (int round = 0; round < 12; ++round) {
      const int changes = life.pick(12);
      for (int i = 0; i < changes; ++i) life.change();
      life.sync_a_little();
    }
    life.settle();
    INFO("seed " << seed << "\n" << life.rig.differences());
    REQUIRE(life.rig.differences().empty());
    CHECK(life.rig.store.reports.empty());
  }
}

}  // namespace KRUXOS_TEST_FILE
