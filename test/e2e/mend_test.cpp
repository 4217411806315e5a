// What broke and is mended while the operator looks on: the service goes on, and the alert goes.
#include <fstream>
#include <thread>

#include "host_fixture.hpp"
#include "stuck_service.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

std::string open_alerts(Rig& rig) {
  return text_of(rig.operate({"alerts"}));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::filesystem::path replica_of(Rig& rig) {
  for (const auto& entry : std::filesystem::directory_iterator(rig.data() / "replica/slack")) {
    if (entry.path().extension() == ".db") return entry.path();
  }
  throw std::runtime_error("there is no replica");
}

}  // namespace

TEST_CASE("an adapter that hangs twice is called again when the operator releases it") {
  Rig rig;
  begin_with_stuck(rig, false);
  REQUIRE(rig.invoke("stuck.read").ok());
  CHECK(rig.kruxos({"plugin", "release", "stuck"}).status.code == 5);

  std::ofstream(rig.path("stuck")) << "";
  for (int i = 0; i < 2; ++i) {
    std::optional<Answer> answer;
    std::thread agent([&] { answer = rig.invoke("stuck.read"); });
    const auto passed = rig.pass_time([&] { return answer.has_value(); }, 60'000);
    agent.join();
    REQUIRE(passed);
    CHECK(answer->error() == "Timeout");
  }
  const auto refused = rig.invoke("stuck.read");
  CHECK(refused.error() == "ServiceUnavailable");
  CHECK(contains(refused.message(), "kruxos plugin release stuck"));
  CHECK(eventually([&] { return contains(open_alerts(rig), "adapter_quarantined"); }));
  CHECK(contains(text_of(rig.operate({"plugin", "list"})), "quarantined"));
  CHECK(rig.invoke("slack.channels").ok());

  std::filesystem::remove(rig.path("stuck"));
  CHECK(rig.kruxos({"plugin", "release", "stuck"}).status.ok());
  CHECK(rig.invoke("stuck.read").ok());
  CHECK(eventually([&] { return !contains(open_alerts(rig), "adapter_quarantined"); }));
  CHECK_FALSE(contains(text_of(rig.operate({"plugin", "list"})), "quarantined"));
}

TEST_CASE("a damaged replica is set aside and synced anew, and the operator is told") {
  Rig rig;
  rig.begin();
  const auto sent = rig.send("still to be sent");
  REQUIRE(sent.ok());
  CHECK(rig.stop().ok());
  const auto file = replica_of(rig);
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(4096);
    bytes << std::string(30'000, '\x33');
  }
  rig.start();
  REQUIRE(rig.pass_time([&] { return rig.invoke("slack.search", R"({"query":"a"})").ok() && rig.synced(); }));
  CHECK(rig.invoke("slack.channels").size("/channels") == 2);
  CHECK(eventually([&] { return contains(open_alerts(rig), "replica_damaged"); }));
  CHECK(std::filesystem::exists(file));
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }));
}

TEST_CASE("an account that cannot be served is told to its agent, until it can be again") {
  Rig rig;
  rig.begin();
  CHECK(rig.stop().ok());
  const auto file = replica_of(rig), aside = rig.path("aside.db");
  std::filesystem::rename(file, aside);
  std::filesystem::create_directory(file);
  rig.start();
  const auto refused = rig.invoke("slack.channels");
  CHECK(refused.error() == "ServiceUnavailable");
  CHECK(contains(refused.message(), "kruxos alerts"));
  CHECK(eventually([&] { return contains(open_alerts(rig), "account_not_served"); }));
  CHECK(rig.stop().ok());
  std::filesystem::remove(file);
  std::filesystem::rename(aside, file);
  rig.start();
  CHECK(rig.invoke("slack.channels").size("/channels") == 2);
  CHECK(eventually([&] { return !contains(open_alerts(rig), "account_not_served"); }));
}

}  // namespace KRUXOS_TEST_FILE
