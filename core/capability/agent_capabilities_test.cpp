#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"
#include "core/util/ids.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

struct AgentHost : Host {
  AgentStore::WithKey made = agents.create("reporter");
  const std::string id = made.agent.agent_id;

  AgentHost() { connect(); }
  /// Without naming a session, unless one is given.
  JsonDocument ask(const std::string& capability, const std::string& arguments = "{}",
                   const std::string& session = {}) {
    std::promise<InvocationResult> answered;
    handler.invoke({id, "reporter", session, capability, arguments, "", for_model},
                   [&](InvocationResult r) { answered.set_value(std::move(r)); });
    return document(answered.get_future().get());
  }
  std::string begin_session(const std::string& name, const std::string& purpose) {
    std::promise<std::string> made_id;
    AgentSession asked;
    asked.agent_id = id;
    asked.name = name;
    asked.purpose = purpose;
    sessions.create(asked, [&](auto outcome) { made_id.set_value(std::get<AgentSession>(outcome).session_id); });
    return made_id.get_future().get();
  }
};

}  // namespace

TEST_CASE("an agent sees who it is and how old its key is") {
  AgentHost host;
  host.clock.advance(3 * 86'400'000 + 5'000);
  const auto who = host.ask("agent.whoami");
  CHECK(text_of(who, "agent_id") == host.id);
  CHECK(text_of(who, "name") == "reporter");
  CHECK(find_int(who["data"], "key_age_days") == 3);
  CHECK(is_id("sess_", text_of(who, "session_id")));
  host.agents.rotate("reporter");
  CHECK(find_int(host.ask("agent.whoami")["data"], "key_age_days") == 0);
  const auto unknown = host.call("agent.whoami");  // of an agent that is not kept
  CHECK(text_of(unknown, "name") == "tester");
  CHECK_FALSE(unknown["data"].HasMember("key_age_days"));
}

TEST_CASE("an agent sees what it may call, and on which terms") {
  AgentHost host;
  const auto listed = host.ask("agent.capabilities");
  CHECK(listed["data"]["capabilities"].Size() == 9 + 13 + 15);
  CHECK(to_json(listed["data"]["capabilities"][0]) == R"({"name":"notes.search","kind":"read","tier":"autonomous"})");
  CHECK(type_of(host.ask("agent.policy", R"({"category":"nots"})")) == "InvalidInput");

  host.ask("notes.add", R"({"title":"a"})");
  host.ask("notes.add", R"({"title":"b"})");
  host.ask("notes.add", R"({"title":"b","room":"r"})");
  const auto policy = host.ask("agent.policy", R"({"category":"notes"})");
  const JsonValue* add = nullptr;
  for (const auto& one : policy["data"]["capabilities"].GetArray()) {
    CHECK(find_string(one, "name") != "notes.wipe");
    if (find_string(one, "name") == "notes.add") add = &one;
  }
  REQUIRE(add);
  CHECK(find_string(*add, "tier") == "notify");
  CHECK(find_int(*add, "delay_seconds") == 30);
  CHECK(
      to_json((*add)["limits"]) ==
      R"([{"limit":10,"window_seconds":3600,"per":"title","used":[{"value":"b","count":2},{"value":"a","count":1}]}])");
}

TEST_CASE("an agent sees its session, and what it has written in it") {
  AgentHost host;
  const auto mine = host.begin_session("helper", "sort the mail");
  CHECK(text_of(host.ask("agent.session", "{}", mine), "purpose") == "sort the mail");
  const auto first = text_of(host.ask("notes.add", R"({"title":"a"})", mine), "write_id");
  host.ask("notes.add", R"({"title":"b"})", mine);
  host.ask("notes.add", R"({"title":"c"})");
  host.ask("proxy.cancel_write", R"({"write_id":")" + first + "\"}", mine);
  const auto session = host.ask("agent.session", "{}", mine);
  CHECK(text_of(session, "session_id") == mine);
  CHECK(text_of(session, "name") == "helper");
  CHECK(text_of(session, "origin") == "agent");
  CHECK(to_json(session["data"]["writes"]) == R"({"buffered":1,"cancelled":1})");
  const auto day = host.ask("agent.session");
  CHECK(text_of(day, "origin") == "day");
  CHECK(to_json(day["data"]["writes"]) == R"({"buffered":1})");

  const auto of = [&](const std::string& session_id) {
    return host.ask("proxy.list_writes", R"({"session_id":")" + session_id + "\"}");
  };
  CHECK(of(mine)["data"]["writes"].Size() == 2);
  CHECK(find_string(of(mine)["data"]["writes"][0], "session_id") == mine);
  CHECK(of(text_of(day, "session_id"))["data"]["writes"].Size() == 1);
  CHECK(type_of(of("sess_01900000-0000-7000-8000-000000000000")) == "InvalidInput");
  CHECK(type_of(host.call("proxy.list_writes", R"({"session_id":")" + mine + "\"}")) == "InvalidInput");
  CHECK(text_of(host.ask("proxy.write_status", R"({"write_id":")" + first + "\"}"), "session_id") == mine);
}

TEST_CASE("an undo belongs to the session it is asked for in") {
  AgentHost host;
  host.adapter->on_rollback = [](auto&, auto&) { return Text(std::string("{}")); };
  host.executor.start();
  const auto mine = host.begin_session("helper", "");
  const auto id = text_of(host.ask("notes.add", R"({"title":"a"})", mine), "write_id");
  while (host.writes.ledger.get(id)->state != WriteState::kCompleted) host.clock.advance(1'000);
  const auto undone = host.ask("proxy.rollback", R"({"write_id":")" + id + "\"}");
  REQUIRE(type_of(undone) == "none");
  const auto undo = host.writes.ledger.get(text_of(undone, "write_id"));
  CHECK(undo->session_id == text_of(host.ask("agent.whoami"), "session_id"));
  CHECK(host.writes.ledger.get(id)->session_id == mine);
}

}  // namespace KRUXOS_TEST_FILE
