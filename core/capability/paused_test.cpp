// What a paused agent may call.
#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"
#include "core/capability/questions.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/util/text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

struct PausedHost : Host {
  PausedHost() { connect(); }
  void pause(const std::string& agent) { agents.pauses().pause(agent, "Too many notes", "operator:ann"); }
  std::int64_t asked = 0;
};

std::string context_of(const JsonDocument& answer) {
  return to_json(answer["error"]["context"]);
}

}  // namespace

TEST_CASE("a paused agent's reads and writes are refused before anything is asked, others' are not") {
  PausedHost host;
  host.adapter->on_read = host.adapter->on_resolve = [&](auto&, auto, std::string_view params) {
    ++host.asked;
    return Text(params.empty() ? std::string("{}") : std::string(params));
  };
  const auto pause_of = GENERATE(as<std::string>{}, "agent_1", "");
  host.pause(pause_of);
  for (const auto* capability : {"notes.search", "notes.fetch"}) {
    const auto answer = host.call(capability);
    CHECK(type_of(answer) == "PolicyDenied");
    CHECK(context_of(answer) == R"({"paused":true,"since":")" + std::string(format_time(host.clock.wall_ms())) +
                                    R"(","reason":"Too many notes"})");
    CHECK_THAT(message_of(answer), Catch::Contains("An operator has paused") && Catch::Contains("Too many notes"));
  }
  for (const auto* capability : {"notes.add", "notes.mark", "notes.plain", "notes.wipe"})
    CHECK(type_of(host.call(capability, R"({"title":"t"})")) == "PolicyDenied");
  CHECK(host.asked == 0);
  CHECK(host.writes.ledger.list({}).empty());
  CHECK(type_of(host.call("notes.search", "{}", "agent_2")) == (pause_of.empty() ? "PolicyDenied" : "none"));
  host.agents.pauses().resume(pause_of, "operator:ann");
  CHECK(type_of(host.call("notes.add", R"({"title":"t"})")) == "none");
}

TEST_CASE("a paused agent sees what is held, and takes it back") {
  PausedHost host;
  const auto first = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  const auto second = text_of(host.call("notes.add", R"({"title":"b"})"), "write_id");
  const auto id = [](const std::string& write) { return R"({"write_id":")" + write + "\"}"; };
  host.pause("agent_1");
  for (const auto* capability : {"agent.whoami", "agent.capabilities", "agent.session", "agent.policy", "alerts.list",
                                 "proxy.list_writes", "state.briefing.generate"}) {
    INFO(capability);
    CHECK(type_of(host.call(capability)) != "PolicyDenied");
  }
  CHECK(to_json(host.call("agent.whoami")["data"]["paused"]["reason"]) == "\"Too many notes\"");
  CHECK(text_of(host.call("proxy.write_status", id(first)), "status") == "buffered");
  CHECK(text_of(host.call("notes.cancel", id(first)), "status") == "cancelled");
  CHECK(text_of(host.call("proxy.cancel_write", id(second)), "status") == "cancelled");
  CHECK(type_of(host.call("alerts.send", R"({"message":"m"})")) == "PolicyDenied");
  CHECK(type_of(host.call("proxy.rollback", id(first))) == "PolicyDenied");
  CHECK(type_of(host.call("proxy.edit_write", R"({"write_id":")" + second + R"(","arguments":{"title":"c"}})")) ==
        "PolicyDenied");
  host.agents.pauses().resume("agent_1", "operator:ann");
  CHECK_FALSE(host.call("agent.whoami")["data"].HasMember("paused"));
}

TEST_CASE("a question of a read is not asked any more once its agent is paused") {
  PausedHost host;
  Invocation invocation;
  invocation.agent_id = "agent_1";
  invocation.capability = "notes.search";
  host.pause("agent_1");
  const auto why = host.handler.why_not_ask(invocation, {});
  REQUIRE(why);
  CHECK(why->type() == ErrorCode::kPolicyDenied);
}

}  // namespace KRUXOS_TEST_FILE
