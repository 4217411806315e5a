// A host among clients without a key that take every connection they can get.
#include "support/strangers.hpp"
#include "host_fixture.hpp"
#include "metrics_page.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

std::size_t lines_with(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("strangers lock nobody out of a host with few descriptors") {
  REQUIRE(allow_descriptors(4'000));
  Rig rig({.launcher = {"/usr/bin/prlimit", "--nofile=1024", "--"}});
  rig.begin();
  double sent_away = 0;
  for (const auto kind :
       {StrangerKind::kSilent, StrangerKind::kHalfHeader, StrangerKind::kNoBody, StrangerKind::kIdleAfterAnswer}) {
    INFO(name_of(kind));
    Strangers at_gateway(rig.gateway_port(), 1'200, kind, 100), at_health(rig.health_port(), 1'200, kind, 100);
    at_gateway.await_all();
    at_health.await_all();
    const auto sent = rig.send(std::string("Among strangers: ") + name_of(kind));
    REQUIRE(sent.ok());
    for (int i = 0; i < 10; ++i) {
      CHECK(rig.invoke("slack.search", R"({"query":"deploy"})").ok());
      CHECK(rig.control("GET", "/vault").status == 200);
      CHECK(http_request(rig.health_port(), "GET", "/health").status == 200);
    }
    CHECK(
        rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }));  // and the host reaches its service
    // Nobody had to wait until the strangers' time was over.
    const auto now = read_metrics(rig).sum("kruxos_connections_sent_away_total", "stranger");
    CHECK(now > sent_away);
    sent_away = now;
  }
  CHECK(lines_with(rig.log(), "cannot take connections") <= 2);
}

}  // namespace KRUXOS_TEST_FILE
