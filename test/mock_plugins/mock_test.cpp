// An agent's test against a mock, as docs/testing.md has it: the host is the real one, the adapter does what a file
// says.
#include <fstream>

#include "e2e/host_fixture.hpp"
#include "support/safe_file.hpp"

using namespace krux::test;

namespace {

struct MockRig : Rig {
  explicit MockRig(RigOptions options = {}) : Rig(std::move(options)) {
    take_place();
    support::copy_safe(KRUXOS_MOCK_EXAMPLE, path("adapters/slack.mock.json"));
    begin();
  }
  void take_place() {
    std::filesystem::remove(path("adapters/slack.so"));
    support::copy_safe(KRUXOS_MOCK_ADAPTER, path("adapters/slack.so"));
  }
  bool reaches(const std::string& id, const std::string& wanted, std::int64_t limit_ms = 300'000) {
    const bool so = pass_time([&] { return state(id) == wanted; }, limit_ms);
    UNSCOPED_INFO(text_of(write(id)));
    return so;
  }
  /// How often the journal has that text as done.
  int effects(const std::string& text) {
    std::ifstream journal(path("adapters/slack.mock.json.journal"));
    int count = 0;
    for (std::string line; std::getline(journal, line);) {
      const auto entry = parse(line);
      count += bool_at(entry, "/effect") && text_at(entry, "/call") == "execute_write" &&
                       text_at(parse(text_at(entry, "/params")), "/text") == text
                   ? 1
                   : 0;
    }
    return count;
  }
};

}  // namespace

TEST_CASE("a mock takes the place of a service's adapter") {
  MockRig rig;
  CHECK(rig.slack().calls("auth.test") == 0);
  CHECK(rig.invoke("slack.channels").text("/channels/0/name") == "general");
  CHECK(rig.invoke("slack.search", R"({"query":"nothing"})").number("/total") == 0);
  CHECK(rig.invoke("slack.search", R"({"query":"other"})").text("/messages/0/text") == "hello");
  CHECK_THAT(rig.invoke("slack.read", R"({"message_id":"C1/1"})").message(), Catch::Contains("no rule for a read"));
  const auto id = rig.send("fine").write_id();
  REQUIRE(rig.reaches(id, "completed"));
  CHECK(rig.effects("fine") == 1);
  CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}").ok());
}

TEST_CASE("a script's faults lead through the real safety chain") {
  MockRig rig;
  const auto refused = rig.send("refused").write_id(), later = rig.send("later").write_id(),
             lost = rig.send("lost").write_id(), vanished = rig.send("vanished").write_id(),
             garbage = rig.send("garbage").write_id(), changed = rig.send("changed").write_id();
  REQUIRE(rig.reaches(refused, "failed"));
  REQUIRE(rig.reaches(later, "completed"));
  REQUIRE(rig.reaches(lost, "completed"));
  REQUIRE(rig.pass_time([&] { return rig.told(vanished); }, 600'000));
  // No JSON is no proof of success: it is looked for, and found in the journal, whose answer is none either.
  REQUIRE(rig.pass_time([&] { return rig.told(garbage) || rig.state(garbage) == "completed"; }, 3'600'000));
  for (const auto* text : {"later", "lost"}) CHECK(rig.effects(text) == 1);
  for (const auto* text : {"refused", "vanished"}) CHECK(rig.effects(text) == 0);
  REQUIRE(rig.reaches(changed, "completed"));
  CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + changed + "\"}").error() == "RollbackConflict");
}

TEST_CASE("a mock that crashes in its own process costs one call") {
  RigOptions options;
  options.service = "    isolation: process\n";
  MockRig rig(options);
  const auto crash = rig.send("crash").write_id();
  REQUIRE(rig.reaches(crash, "unknown"));
  // Until the process may be started again, its service is unavailable.
  Answer sent;
  REQUIRE(rig.pass_time([&] { return (sent = rig.send("fine")).ok(); }, 60'000, 1'000));
  REQUIRE(rig.reaches(sent.write_id(), "completed"));
  // Nobody knows, and what the process remembered is gone with it.
  REQUIRE(rig.pass_time([&] { return rig.told(crash); }, 600'000));
  CHECK(rig.alive());
}

TEST_CASE("a mock without its script is refused with a sentence") {
  Rig rig;
  std::filesystem::remove(rig.path("adapters/slack.so"));
  support::copy_safe(KRUXOS_MOCK_ADAPTER, rig.path("adapters/slack.so"));
  rig.start();
  CHECK_THAT(rig.kruxos({"plugin", "list"}).out, Catch::Contains("refused"));
}
