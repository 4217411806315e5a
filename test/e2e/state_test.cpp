// What agents note outlasts the host's ends and comes back from a backup; over JSON-RPC and over MCP.
#include <filesystem>

#include "kill_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kSet = R"({"key":"counter","value":{"n":2},"expected_version":1})";
constexpr const char* kGet = R"({"key":"counter"})";

std::string same_call(const std::string& name) {
  return R"(,"idempotency_key":")" + name + "\"";
}

struct StateRig : KillRig {
  Json over_mcp(const std::string& tool, const std::string& arguments) {
    const auto call = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + tool +
                      R"(","arguments":)" + arguments +
                      R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                      R"("io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},)"
                      R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
    return parse(http_request(gateway_port(), "POST", "/mcp",
                              {{"authorization", "Bearer " + key},
                               {"content-type", "application/json"},
                               {"accept", "application/json, text/event-stream"},
                               {"mcp-protocol-version", "2026-07-28"},
                               {"mcp-method", "tools/call"},
                               {"mcp-name", tool}},
                              call, milliseconds(30000))
                     .body);
  }
  bool finds(const std::string& agent_key, const std::string& capability, const std::string& name) {
    return bool_at(invoke_as(agent_key, capability, R"({"key":")" + name + "\"}").document, "/result/data/found");
  }
};

}  // namespace

TEST_CASE("what an agent notes is durable before it is acknowledged, and the same call again is the same set") {
  const auto [point, value_after] =
      GENERATE(table<std::string, std::int64_t>({{"state.write.before_commit", 1}, {"state.write.after_commit", 2}}));
  CAPTURE(point);
  StateRig rig;
  for (const std::string space : {"shared", "persistent"}) {
    const auto set = "state." + space + ".set", get = "state." + space + ".get";
    REQUIRE(rig.invoke(set, R"({"key":"counter","value":{"n":1}})").ok());
    rig.arm(point);
    CHECK_FALSE(rig.invoke(set, kSet, same_call(space)).ok());
    rig.expect_killed();
    rig.start();
    CHECK(rig.invoke(get, kGet).number("/value/n") == value_after);
    const auto again = rig.invoke(set, kSet, same_call(space));
    INFO(text_of(again.document));
    CHECK(again.number("/version") == 2);
    const auto found = rig.invoke(get, kGet);
    CHECK(found.number("/version") == 2);
    CHECK(found.number("/value/n") == 2);
  }
}

TEST_CASE("a backup has what agents noted, and the notes of a session are gone with the host") {
  StateRig rig;
  REQUIRE(rig.invoke("state.session.set", R"({"key":"k","value":1})").ok());
  for (const char* n : {"1", "2"})
    REQUIRE(rig.invoke("state.persistent.set", R"({"key":"counter","value":)" + std::string(n) + "}").ok());
  REQUIRE(rig.invoke("state.shared.set", R"({"key":"counter","value":"mine"})").ok());
  CHECK(rig.finds(rig.key, "state.session.get", "k"));
  REQUIRE(rig.kruxos({"backup", rig.path("monday").string(), "--with-key", rig.path("key").string()}).status.ok());
  REQUIRE(rig.invoke("state.persistent.delete", kGet).ok());
  REQUIRE(rig.stop().ok());
  std::filesystem::rename(rig.data(), rig.path("original"));
  REQUIRE(rig.kruxos({"restore", rig.path("monday").string()}).status.ok());
  rig.start();
  CHECK(rig.invoke("state.persistent.history", kGet).size("/versions") == 2);
  CHECK(rig.invoke("state.persistent.get", R"({"key":"counter","version":1})").number("/value") == 1);
  CHECK(rig.invoke("state.shared.get", kGet).text("/value") == "mine");
  CHECK(rig.invoke("state.session.get", R"({"key":"k"})").ok());
  CHECK_FALSE(rig.finds(rig.key, "state.session.get", "k"));
}

TEST_CASE("nobody has the notes of an agent that was revoked, and what it shared stays") {
  StateRig rig;
  REQUIRE(rig.invoke("state.persistent.set", R"({"key":"k","value":1})").ok());
  const auto other = rig.new_agent("other");
  CHECK_FALSE(rig.finds(other, "state.persistent.get", "k"));
  REQUIRE(rig.invoke_as(other, "state.shared.set", R"({"key":"k","value":"of other"})").ok());
  REQUIRE(rig.kruxos({"agent", "revoke", "other", "--yes"}).status.ok());
  CHECK(rig.invoke_as(other, "state.shared.get", R"({"key":"k"})").status == 401);
  const auto left = rig.invoke("state.shared.get", R"({"key":"k"})");
  CHECK(left.text("/value") == "of other");
  CHECK(left.text("/updated_by") == "other");
}

TEST_CASE("a model notes things by tools, and is told that others wrote what agents share") {
  StateRig rig;
  const auto set = rig.over_mcp("state__persistent__set", R"({"key":"task","value":{"step":3}})");
  INFO(text_of(set));
  CHECK(number_at(set, "/result/structuredContent/version") == 1);
  const auto got = rig.over_mcp("state__persistent__get", R"({"key":"task"})");
  CHECK(number_at(got, "/result/structuredContent/value/step") == 3);
  CHECK_FALSE(find_at(got, "/result/_meta/ifc"));
  REQUIRE(rig.invoke("state.shared.set", R"({"key":"k","value":1})").ok());
  const auto shared = rig.over_mcp("state__shared__get", R"({"key":"k"})");
  CHECK(text_at(shared, "/result/structuredContent/content_trust") == "untrusted");
  CHECK(text_at(shared, "/result/_meta/ifc/integrity") == "untrusted");
}

}  // namespace KRUXOS_TEST_FILE
