// An adapter in a process of its own: whatever ends that process, the host goes on, and nothing happens twice.
#include <signal.h>

#include <fstream>
#include <thread>

#include "host_fixture.hpp"
#include "stuck_service.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kText = "Said by a process that is no more.";

struct IsolatedRig : Rig {
  explicit IsolatedRig(RigOptions options = {}) : Rig(isolated(std::move(options))) {}
  static RigOptions isolated(RigOptions options) {
    options.service += kInItsOwnProcess;
    return options;
  }
  Json plugins() { return operate({"plugin", "list"}); }
  pid_t runner() { return static_cast<pid_t>(number_at(plugins(), "/plugins/0/process/pid")); }
  std::int64_t restarts() { return number_at(plugins(), "/plugins/0/process/restarts"); }
  void kill_runner() {
    const auto pid = runner();
    REQUIRE(pid > 0);
    REQUIRE(kill(pid, SIGKILL) == 0);
    REQUIRE(eventually([&] { return runner() == 0; }));
  }
  std::string open_alerts() { return text_of(operate({"alerts"})); }
};

bool exists(pid_t pid) {
  return kill(pid, 0) == 0;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("killed while its write is under way, the write is looked up and not repeated") {
  const bool happened = GENERATE(true, false);
  CAPTURE(happened);
  IsolatedRig rig;
  rig.begin();
  rig.slack().fault(std::string(R"({"method":"chat.postMessage","kind":")") + (happened ? "hang_after" : "hang") +
                    "\"}");
  const auto sent = rig.send(kText);
  REQUIRE(sent.ok());
  rig.advance(30'000);
  REQUIRE(eventually([&] { return rig.slack().hanging() == 1; }));
  CHECK(rig.state(sent.write_id()) == "executing");
  rig.kill_runner();
  REQUIRE(eventually([&] { return rig.state(sent.write_id()) == "unknown"; }));
  rig.slack().clear_faults();
  rig.slack().release();
  if (happened) {
    REQUIRE(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 300'000));
  } else {
    REQUIRE(rig.pass_time([&] { return rig.told(sent.write_id()); }, 1'800'000));
  }
  for (int i = 0; i < 4; ++i) rig.advance(15 * 60'000);
  CHECK(rig.slack().posted(sent.write_id()) == (happened ? 1 : 0));
  CHECK(rig.slack().effect("posts") == (happened ? 1 : 0));
  // On a busy machine the clock may also leap over a call that is under way, which ends that process as well.
  CHECK(rig.restarts() >= 1);
  rig.check_contract();
}

TEST_CASE("killed before it has sent anything, the write is tried again") {
  IsolatedRig rig;
  rig.begin();
  const auto sent = rig.send(kText);
  REQUIRE(sent.ok());
  rig.kill_runner();
  rig.advance(30'000);
  REQUIRE(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 600'000));
  CHECK(rig.slack().posted(sent.write_id()) == 1);
}

TEST_CASE("killed in the first sync, the next process goes on where it was") {
  IsolatedRig rig({.service = "    adapter: {page_size: 10}\n", .seed = false});
  rig.slack().seed(R"({"channels": 3, "users": 5, "messages_per_channel": 40})");
  rig.slack().fault(R"({"method":"conversations.history","kind":"hang","skip":4})");
  rig.start();
  rig.connect();
  REQUIRE(rig.pass_time([&] { return rig.slack().hanging() == 1; }, 120'000));
  const auto before = rig.slack().calls("conversations.history");
  rig.kill_runner();
  rig.slack().release();
  rig.key = rig.new_agent("reader");
  const auto all_there = [&] { return rig.invoke("slack.search", R"({"limit":1})").number("/total") == 120; };
  REQUIRE(rig.pass_time(all_there, 600'000));
  CHECK(rig.slack().calls("conversations.history") - before <= 12);  // 3 channels of 4 pages; what was there is kept
  rig.check_contract();
}

TEST_CASE("while it may not be started again calls say when to come back, and a crashing adapter is told") {
  IsolatedRig rig;
  rig.begin();
  CHECK(text_at(rig.plugins(), "/plugins/0/isolation") == "process");
  for (int i = 0; i < 3; ++i) {
    rig.kill_runner();
    const auto refused = rig.invoke("slack.channels");
    CHECK(refused.error() == "ServiceUnavailable");
    CHECK(number_at(refused.document, "/result/error/retry_after") > 0);
    CHECK(bool_at(refused.document, "/result/error/retryable"));
    CHECK(contains(rig.open_alerts(), "adapter_crashing") == (i == 2));
    REQUIRE(rig.pass_time([&] { return rig.invoke("slack.channels").ok(); }, 70'000, 1'000));
  }
  const auto listed = rig.kruxos({"plugin", "list"}).out;
  INFO(listed);
  CHECK(contains(listed, "pid " + std::to_string(rig.runner())));
  CHECK(contains(listed, "3 restarts"));
  CHECK(contains(listed, "Killed"));
  CHECK(rig.pass_time([&] { return !contains(rig.open_alerts(), "adapter_crashing"); }, 200'000));
}

TEST_CASE("the host's end is its adapters' end") {
  IsolatedRig rig;
  rig.begin();
  const auto pid = rig.runner();
  REQUIRE(exists(pid));
  SECTION("an orderly one") {
    CHECK(rig.stop(milliseconds(5000)).ok());
  }
  SECTION("a kill") {
    rig.host().signal(SIGKILL);
    rig.await_end();
  }
  CHECK(eventually([&] { return !exists(pid); }));
}

TEST_CASE("a static destructor of an adapter in the host's process does not keep the host") {
  Rig rig;
  begin_with_stuck(rig, false);
  REQUIRE(rig.invoke("stuck.read").ok());
  std::ofstream(rig.path("stuck")) << "";
  CHECK(rig.stop(milliseconds(10'000)).ok());
}

TEST_CASE("an adapter that hangs in its own process is killed, quarantined, and does not hold up the end") {
  Rig rig;
  begin_with_stuck(rig, true);
  REQUIRE(rig.invoke("stuck.read").ok());
  std::ofstream(rig.path("stuck")) << "";
  const auto process = [&](const char* what) {
    return number_at(rig.operate({"plugin", "list"}), std::string("/plugins/1/process/") + what);
  };
  for (int i = 0; i < 2; ++i) {
    std::optional<Answer> answer;
    std::thread agent([&] { answer = rig.invoke("stuck.read"); });
    // Loading takes real time, which must not be cut short by the driven one.
    const bool started = eventually([&] {
      return process("pid") > 0 && text_at(rig.operate({"plugin", "list"}), "/plugins/1/process/state") == "running";
    });
    const auto pid = static_cast<pid_t>(process("pid"));
    const auto passed = rig.pass_time([&] { return answer.has_value(); }, 600'000);
    agent.join();
    REQUIRE((started && passed));
    CHECK(answer->error() == "Timeout");
    CHECK(rig.pass_time([&] { return !exists(pid); }, 10'000, 1'000));
    rig.advance(60'000);
  }
  CHECK(text_at(rig.operate({"plugin", "list"}), "/plugins/1/state") == "quarantined");
  CHECK_THAT(rig.kruxos({"plugin", "list"}).out,
             Catch::Contains("did not return in time") && Catch::Contains("kruxos plugin release stuck"));
  REQUIRE(rig.kruxos({"plugin", "release", "stuck"}).status.ok());
  std::thread agent([&] { rig.invoke("stuck.read"); });
  CHECK(eventually([&] { return process("pid") > 0; }));
  rig.settle();
  CHECK(rig.stop(milliseconds(5000)).ok());
  agent.join();
}

}  // namespace KRUXOS_TEST_FILE
