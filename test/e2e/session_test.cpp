// An agent's sessions over the host's ends, and what it hears of its work afterwards.
#include "kill_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

struct SessionRig : KillRig {
  Json rpc(const std::string& method, const std::string& params) {
    const auto body = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}";
    return parse(http_request(gateway_port(), "POST", "/rpc",
                              {{"authorization", "Bearer " + key}, {"content-type", "application/json"}}, body,
                              milliseconds(30000))
                     .body);
  }
  std::string create(const std::string& name, const std::string& purpose) {
    const auto made = rpc("session.create", R"({"agent_name":")" + name + R"(","purpose":")" + purpose + "\"}");
    return text_at(made, "/result/session_id");
  }
  Answer send_in(const std::string& session, const std::string& text) {
    return invoke("slack.send", R"({"channel":"general","text":")" + text + "\"}",
                  R"(,"session_id":")" + session + "\"");
  }
  Json briefing(const std::string& session) {
    return invoke("state.briefing.generate", "{}", R"(,"session_id":")" + session + "\"").document;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a session goes on when the host was killed, and people see what it is for") {
  SessionRig rig;
  const auto session = rig.create("helper", "sort the mail");
  REQUIRE(!session.empty());
  rig.arm("write.submit.after_commit");
  CHECK_FALSE(rig.send_in(session, kPosted).ok());
  rig.expect_killed();
  rig.start();
  const auto again = rig.send_in(session, kPosted);
  REQUIRE(again.ok());
  CHECK_FALSE(again.text("/duplicate_of").empty());
  const auto shown = rig.write(again.write_id());
  CHECK(text_at(shown, "/write/session/session_id") == session);
  CHECK(text_at(shown, "/write/session/name") == "helper");
  CHECK(text_at(shown, "/write/session/purpose") == "sort the mail");
  const auto words = rig.kruxos({"approve", "show", again.write_id()}).out;
  CHECK(contains(words, "helper"));
  CHECK(contains(words, "sort the mail"));
  CHECK(rig.invoke("agent.session", "{}", R"(,"session_id":")" + session + "\"").number("/writes/buffered") == 1);
  // What names no session is the day's.
  const auto plain = rig.send("Of the day.");
  CHECK(text_at(rig.write(plain.write_id()), "/write/session/origin") == "day");
  rig.rpc("session.end", R"({"session_id":")" + session + "\"}");
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(rig.send_in(session, "Too late.").error() == "SessionExpired");
  CHECK(text_at(rig.write(again.write_id()), "/write/session/name") == "helper");
}

TEST_CASE("a briefing tells what happened while the agent was away") {
  SessionRig rig;
  const auto first = rig.create("helper", "");
  const auto sent = rig.send_in(first, "While I am away.");
  REQUIRE(sent.ok());
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }));
  rig.invoke("alerts.send", R"({"message":"All sent.","severity":"warning"})");
  const auto alerts = rig.kruxos({"alerts"}).out;
  CHECK(contains(alerts, "assistant says: All sent."));
  REQUIRE(rig.stop().ok());
  rig.start();
  const auto told = rig.briefing(rig.create("helper", ""));
  CHECK(text_at(told, "/result/data/briefing/previous_session_id") == first);
  CHECK(number_at(told, "/result/data/briefing/writes/completed") == 1);
  const auto summary = text_at(told, "/result/data/briefing/summary");
  CHECK(contains(summary, "1 write was done"));
  CHECK(contains(summary, "1 alert is open"));
  CHECK(contains(rig.log(), "says: All sent."));
}

}  // namespace KRUXOS_TEST_FILE
