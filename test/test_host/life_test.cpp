// From its ready line to its end.
#include <signal.h>

#include "test_host/started_host.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;
namespace fs = std::filesystem;

namespace {

std::string script_file(const support::Scratch& scratch, const std::string& text,
                        const char* name = "slack.mock.json") {
  std::ofstream(scratch.path() / name) << text;
  return scratch.path() / name;
}

}  // namespace

TEST_CASE("one command is a host with a connected mock and an agent's key, and leaves nothing behind") {
  StartedHost host({"slack"});
  CHECK(text_at(host.ready, "/agent") == "tester");
  CHECK(text_at(host.ready, "/services/0/adapter") == "mock");
  CHECK(bool_at(host.ready, "/services/0/connected"));
  const auto sent = host.invoke("slack.send", R"({"channel":"general","text":"hello"})");
  REQUIRE(sent.ok());
  REQUIRE(host.reaches(sent.write_id(), "completed"));
  REQUIRE(host.journal().size() == 1);
  CHECK(bool_at(host.journal()[0], "/effect"));
  CHECK(host.operate({"approve", "list", "--recent", "5"}).status.ok());
  SECTION("when its standard input ends") {
    host.process().close_stdin();
  }
  SECTION("when it is told to end") {
    host.process().signal(SIGTERM);
  }
  const auto ended = host.process().wait(milliseconds(20'000));
  REQUIRE(ended);
  CHECK(ended->code == 0);
  CHECK(host.left_nothing());
}

TEST_CASE("a script says what the mock does, also while the host runs, and its records are there from the beginning") {
  const support::Scratch scratch;
  const auto file = script_file(scratch, R"({"service": "slack",
    "collections": [{"name": "messages"}], "records": [{"collection": "messages", "id": "1", "json": {}, "order_ms": 1}],
    "rules": [{"call": "read", "operation": "slack.channels", "answer": {"channels": [], "total": 0}}]})");
  StartedHost host({file, "--agent", "ann", "--agent", "ben"});
  const auto channels = host.invoke("slack.channels", "{}");
  REQUIRE(channels.ok());
  CHECK_FALSE(channels.text("/freshness/synced_at").empty());
  CHECK(text_at(host.ready, "/agents/1/agent") == "ben");
  CHECK(host.invoke_as(text_at(host.ready, "/agents/1/key"), "slack.channels", "{}").ok());
  support::write_safe(text_at(host.ready, "/services/0/script"), R"({"service": "slack", "version": "0.1.0",
    "rules": [{"call": "read", "error": {"status": "unavailable", "message": "Not now."}}]})");
  CHECK_THAT(host.invoke("slack.channels", "{}").message(), Catch::Contains("Not now."));
  const auto more = host.tell("agent cleo");
  CHECK(host.invoke_as(text_at(more, "/key"), "agent.policy", "{}").ok());
}

TEST_CASE("a service that is only signed in to has a mock all the same") {
  StartedHost host({"gmail"});
  CHECK(bool_at(host.ready, "/services/0/connected"));
  const auto made = host.invoke("email.draft", R"({"to":"ann@example.com","subject":"x","body":"y"})");
  INFO(text_of(made.document));
  CHECK(made.ok());
}

TEST_CASE("a real adapter is served, and connected where there is a token for it") {
  StartedHost host({KRUXOS_SLACK_ADAPTER});
  CHECK(text_at(host.ready, "/services/0/adapter") == "adapter");
  CHECK_FALSE(bool_at(host.ready, "/services/0/connected"));
}

TEST_CASE("what a host would only warn of is a failure") {
  const support::Scratch scratch;
  CHECK_THAT(refusal({"nosuch"}), Catch::Contains("There is no definition of nosuch"));
  CHECK_THAT(refusal({"slack", "slack"}), Catch::Contains("slack is named twice"));
  CHECK_THAT(refusal({"no/such/thing"}), Catch::Contains("is no service's name"));
  CHECK_THAT(refusal({script_file(scratch, "{")}), Catch::Contains("is not valid JSON"));
  CHECK_THAT(refusal({script_file(scratch, R"({"rules": []})")}), Catch::Contains("is no mock's script"));
  CHECK_THAT(refusal({script_file(scratch, R"({"service": "slack", "ruels": []})")}),
             Catch::Contains("there is no key \"ruels\""));
  CHECK_THAT(refusal({script_file(scratch, R"({"service": "slack", "version": "9.0.0"})")}), Catch::Contains("9.0.0"));
  CHECK_THAT(refusal({script_file(scratch, R"({"service": "slack",
    "rules": [{"call": "verify", "error": {"status": "auth", "message": "Whose is that?"}}]})")}),
             Catch::Contains("Whose is that?"));
  std::ofstream(scratch.path() / "broken.so") << "no library";
  CHECK_THAT(refusal({scratch.path() / "broken.so"}), Catch::Contains("broken.so"));
  CHECK_THAT(refusal({"slack", "--token", "gmail=x"}), Catch::Contains("--token takes SERVICE=TOKEN"));
  CHECK_THAT(refusal({"slack", "--set", "data_dir=/home/ann"}), Catch::Contains("has its own data_dir"));
  CHECK_THAT(refusal({"slack", "--set", "no.such=1"}), Catch::Contains("no.such"));
  CHECK_THAT(refusal({"slack", "--delay", "soon"}), Catch::Contains("is no time"));
  fs::create_directory(scratch.path() / "policies");
  std::ofstream(scratch.path() / "policies/slack.yaml") << "policy: 7\n";
  CHECK_THAT(refusal({"slack", "--policies", scratch.path() / "policies"}), Catch::Contains("slack.yaml"));
  CHECK_THAT(refusal({}), Catch::Contains("ADAPTER"));
}

TEST_CASE("a host is killed as by a power cut, and goes on with what it had") {
  StartedHost host({"slack", "--delay", "3 s"});
  const auto sent = host.invoke("slack.send", R"({"channel":"general","text":"kept"})");
  REQUIRE(sent.ok());
  CHECK(bool_at(host.tell("kill"), "/killed"));
  CHECK_THAT(text_of(host.tell("agent x")), Catch::Contains("The host was killed"));
  const auto again = host.tell("start");
  CHECK(text_at(again, "/url") == text_at(host.ready, "/url"));
  CHECK(host.reaches(sent.write_id(), "completed"));
  CHECK(host.journal().size() == 1);
  CHECK_THAT(text_of(host.tell("start")), Catch::Contains("The host runs"));
  CHECK_THAT(text_of(host.tell("advance 1 s")), Catch::Contains("--driven-time"));
  CHECK_THAT(text_of(host.tell("dance")), Catch::Contains("There is no such line"));
}

TEST_CASE("a host that ends by itself ends the command, which says so") {
  const support::Scratch scratch;
  StartedHost host({script_file(scratch, R"({"service": "slack", "rules": [{"call": "read", "crash": "abort"}]})")});
  CHECK_THROWS(host.invoke("slack.channels", "{}"));
  const auto ended = host.process().wait(milliseconds(20'000));
  REQUIRE(ended);
  CHECK(ended->code == 1);
  CHECK_THAT(host.process().output(Stream::err), Catch::Contains("ended by itself") && Catch::Contains("Aborted"));
  CHECK(host.left_nothing());
}

TEST_CASE("the host ends with a command that is killed") {
  StartedHost host({"slack"});
  const auto health = text_at(host.ready, "/health");
  const auto port = static_cast<std::uint16_t>(std::stoi(health.substr(health.rfind(':') + 1)));
  REQUIRE(http_request(port, "GET", "/health").status == 200);
  host.process().signal(SIGKILL);
  REQUIRE(host.process().wait(milliseconds(10'000)));
  CHECK(eventually([&] {
    try {
      http_request(port, "GET", "/health");
      return false;
    } catch (const std::exception&) {
      return true;
    }
  }));
}

}  // namespace KRUXOS_TEST_FILE
