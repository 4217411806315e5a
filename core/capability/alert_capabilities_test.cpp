#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

std::string message(const std::string& text, const std::string& more = {}) {
  return "{\"message\":" + json_string(text) + more + "}";
}

}  // namespace

TEST_CASE("an agent tells the operator something, in its own words") {
  Host host;
  const auto sent = host.call("alerts.send", message("Page 7\nfailed.", R"(,"severity":"warning","title":"Research")"));
  REQUIRE(type_of(sent) == "none");
  const auto all = host.alerts.list(true);
  REQUIRE(all.size() == 1);
  CHECK(all[0].message == "Research: Page 7 failed.");
  CHECK(all[0].severity == "warning");
  CHECK(all[0].in_agents_words());
  CHECK(all[0].agent_id == "agent_1");
  CHECK(in_agents_words("agent x", all[0].message) == "agent x says: Research: Page 7 failed.");

  const auto listed = host.call("alerts.list");
  REQUIRE(listed["data"]["alerts"].Size() == 1);
  CHECK(find_bool(listed["data"]["alerts"][0], "by_you") == true);
  CHECK(host.call("alerts.list", "{}", "agent_2")["data"]["alerts"].Empty());

  const auto id = "{\"alert_id\":" + std::to_string(all[0].id) + "}";
  CHECK(type_of(host.call("alerts.acknowledge", id, "agent_2")) == "InvalidInput");
  CHECK(host.alerts.list(true).size() == 1);
  CHECK(find_bool(host.call("alerts.acknowledge", id)["data"], "open") == false);
  CHECK(host.call("alerts.list")["data"]["alerts"].Empty());
  CHECK(host.call("alerts.list", R"({"open_only":false})")["data"]["alerts"].Size() == 1);
}

TEST_CASE("an agent cannot raise the host's health, nor speak of what it is not allowed to") {
  Host host;
  for (const auto& bad : {message("x", R"(,"severity":"critical")"), message("x", R"(,"severity":"")"), message(""),
                          message("  \n"), message(std::string(1001, 'x')),
                          message("x", R"(,"title":")" + std::string(101, 't') + "\""), message("\x1b[2J"),
                          message("a\xe2\x80\xae"
                                  "b"),
                          std::string("{}"), message("x", R"(,"agent_id":"agent_2")")}) {
    INFO(bad);
    CHECK(type_of(host.call("alerts.send", bad)) == "InvalidInput");
  }
  CHECK(host.alerts.list(false).empty());
  for (const char* bad : {"{}", R"({"alert_id":0})", R"({"alert_id":"1"})", R"({"alert_id":99})"})
    CHECK(type_of(host.call("alerts.acknowledge", bad)) == "InvalidInput");
  for (const char* bad : {R"({"limit":0})", R"({"limit":51})", R"({"open_only":1})"})
    CHECK(type_of(host.call("alerts.list", bad)) == "InvalidInput");
}

TEST_CASE("an agent that sends too much is told when it may again") {
  Host host;
  for (int i = 0; i < kAgentAlertsPerHour; ++i)
    CHECK(type_of(host.call("alerts.send", message(std::to_string(i)))) == "none");
  const auto refused = host.call("alerts.send", message("more"));
  CHECK(type_of(refused) == "RateLimited");
  CHECK(find_int(refused["error"], "retry_after") == 3600);
}

}  // namespace KRUXOS_TEST_FILE
