// Agents' programs, through the whole host: a person decides, the sandbox holds, a killed host leaves them unknown.
#include <unistd.h>

#include <sstream>
#include <thread>

#include "local_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

struct ProcessRig : LocalRig {
  explicit ProcessRig(const std::string& policy = "") {
    add_files();
    add_processes();
    if (!policy.empty()) {
      const auto policies = path("policies");
      std::filesystem::create_directories(policies);
      std::filesystem::permissions(policies, std::filesystem::perms::owner_all);
      ::support::write_safe(policies / "process.yaml", policy);
      config_text += "policies_dir: " + policies.string() + "\n";
    }
    begin();
  }
};

constexpr const char* kAutonomous = "policy: 1\nservice: process\ncapabilities:\n  process.run: {tier: autonomous}\n";

/// Of no other run of these tests on this machine.
std::string own_seconds(const char* seconds) {
  return seconds + ("." + std::to_string(getpid()));
}

/// How many run on this machine.
int sleepers(const char* seconds) {
  const auto wanted = std::string("sleep") + '\0' + own_seconds(seconds) + '\0';
  int count = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    std::ostringstream line;
    line << in.rdbuf();  // of a process that ends meanwhile nothing can be read
    count += line.str() == wanted ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("a program waits for a person, and then runs in its agent's workspace") {
  ProcessRig rig;
  REQUIRE(rig.invoke("filesystem.write", R"({"path":"a.txt","content":"hi"})").ok());
  const auto asked = rig.invoke("process.run", R"({"command":"ls -la /workspace"})");
  CHECK(asked.error() == "ApprovalRequired");
  const auto id = text_at(asked.document, "/result/error/context/write_id");
  REQUIRE(rig.kruxos({"approve", "accept", id, "--yes"}).status.ok());
  REQUIRE(eventually([&] { return rig.state(id) == "completed"; }));
  CHECK(text_at(rig.write(id), "/write/result/stdout").find("a.txt") != std::string::npos);
  CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}").ok() == false);
}

TEST_CASE("where the operator lets agents run programs, the answer comes at once") {
  ProcessRig rig(kAutonomous);
  const auto made = rig.invoke("process.run", R"({"command":"echo made > made.txt; cat made.txt","shell":true})");
  INFO(text_of(made.document));
  REQUIRE(made.ok());
  CHECK(made.text("/stdout") == "made\n");
  CHECK(rig.content("made.txt") == "made\n");
  CHECK(rig.invoke("process.run", R"({"command":"a | b"})").error() == "InvalidInput");
  const auto started =
      rig.invoke("process.run", R"({"command":"sleep )" + own_seconds("4711") + R"(","background":true})");
  CHECK(started.text("/state") == "running");
  CHECK(rig.invoke("process.list").text("/processes/0/state") == "running");
  CHECK(eventually([] { return sleepers("4711") == 1; }));
  CHECK(rig.invoke("process.kill", R"({"process_id":")" + started.text("/process_id") + "\"}").ok());
  CHECK(eventually([] { return sleepers("4711") == 0; }));
}

TEST_CASE("a killed host takes its programs with it, and what they had done is unknown") {
  ProcessRig rig(kAutonomous);
  const auto started =
      rig.invoke("process.run", R"({"command":"sleep )" + own_seconds("4712") + R"(","background":true})");
  REQUIRE(started.ok());
  const auto id = [&](const std::string& command) {
    const auto list = parse(rig.control("GET", "/writes?limit=10").body);
    for (std::size_t i = 0; i < size_at(list, "/writes"); ++i) {
      const auto at = "/writes/" + std::to_string(i);
      if (text_at(list, at + "/summary").find(command) != std::string::npos) return text_at(list, at + "/write_id");
    }
    return std::string();
  };
  rig.arm("write.execute.after_call");
  CHECK(eventually([] { return sleepers("4712") == 0; }));
  CHECK_FALSE(rig.invoke("process.run", R"({"command":"touch done.txt"})").ok());
  rig.expect_killed();
  rig.start();
  // It had ended, which is kept: the look finds it.
  CHECK(rig.rest_of(id("touch")) == "completed");
  CHECK(std::filesystem::exists(rig.files() / "done.txt"));
  // The answer comes when the host is gone.
  std::thread asking(
      [&] { CHECK_FALSE(rig.invoke("process.run", R"({"command":"sleep )" + own_seconds("4713") + R"("})").ok()); });
  CHECK(eventually([] { return sleepers("4713") == 1; }));
  const auto of_sleep = id("sleep 4713");
  rig.host().signal(SIGKILL);
  asking.join();
  rig.await_end();
  CHECK(eventually([] { return sleepers("4713") == 0; }));
  rig.start();
  CHECK(rig.pass_time([&] { return rig.told(of_sleep); }, 2'000'000, 60'000));
  CHECK(rig.state(of_sleep) == "unknown");
}

}  // namespace KRUXOS_TEST_FILE
