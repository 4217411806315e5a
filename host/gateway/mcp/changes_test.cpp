// Clients that wait for resources to change, and calls whose inputs are repeated in headers.
#include "host/gateway/mcp/listening.hpp"
#include "host/gateway/mcp/notes_service.hpp"
#include "host/gateway/mcp/subscriptions.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

const std::string kStateless =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

struct ChangesFixture : Fixture {
  ChangesFixture() {
    auto definition = notes();
    definition->resources = {
        {"notes://{query}", "found", "F.", "", "notes.search", RecordAddress{"pages", "p/{query}"}},
        {"notes://all", "all", "A.", "", "notes.search"}};
    api.offers = offers_of(definition);
  }

  RawAnswer ask(const std::string& method, const std::string& params, const std::string& head) {
    RawClient client(port);
    return client.ask(http_post("/mcp",
                                R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}",
                                "Authorization: Bearer " + kKey + "\r\n" + head));
  }
  std::string begin_session() {
    return ask("initialize", R"({"protocolVersion":"2025-11-25"})", "").headers.at("Mcp-Session-Id");
  }
  std::string in_session(const std::string& session, const std::string& method, const std::string& uri) {
    const auto head = session.empty() ? std::string() : "Mcp-Session-Id: " + session + "\r\n";
    return ask(method, R"({"uri":")" + uri + "\"}", head).body;
  }
  static std::string listen(const std::string& more = {}) {
    return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer " + kKey +
           "\r\n" + more + "\r\n";
  }
  std::string subscribed(const std::string& filter) {
    return http_post("/mcp",
                     R"({"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{)" + kStateless +
                         R"(,"notifications":)" + filter + "}}",
                     "Authorization: Bearer " + kKey +
                         "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n");
  }
  void wait_for_watches(int count) {
    for (int i = 0; i < 10'000 && api.watches != count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(api.watches == count);
  }
};

const std::string kUpdated =
    R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"notes://a%20b"}})";

}  // namespace

TEST_CASE("A session is told of resources that it has subscribed to, also of what changed while nobody listened") {
  ChangesFixture f;
  const auto session = f.begin_session(), other = f.begin_session();
  const auto none = [&](const std::string& text) { return text.find("\"error\"") == std::string::npos; };
  CHECK(none(f.in_session(session, "resources/subscribe", "notes://a%20b")));
  CHECK(f.api.watched_record == "notes pages p/a b");
  f.api.record_changed();
  f.api.record_changed();
  Listening listening(f.port, f.listen("Mcp-Session-Id: " + session + "\r\n")),
      stranger(f.port, f.listen("Mcp-Session-Id: " + other + "\r\n"));
  REQUIRE(listening.hears("event: message\ndata: " + kUpdated + "\n\n"));
  REQUIRE(stranger.hears("id: 1\ndata:"));
  f.api.record_changed();
  f.gateway.on_capabilities_changed()();
  REQUIRE(listening.hears("tools/list_changed"));
  REQUIRE(stranger.hears("tools/list_changed"));
  const auto& seen = listening.seen();
  const auto first = seen.find(kUpdated), second = seen.find(kUpdated, first + 1);
  CHECK(second != std::string::npos);
  CHECK(seen.find(kUpdated, second + 1) == std::string::npos);
  CHECK_THAT(stranger.seen(), !Catch::Contains("resources/updated"));
  CHECK_THAT(stranger.seen(), Catch::Contains("notifications/prompts/list_changed") &&
                                  Catch::Contains("notifications/resources/list_changed"));
  CHECK(none(f.in_session(session, "resources/unsubscribe", "notes://a%20b")));
  CHECK(f.api.watches == 0);
  CHECK(none(f.in_session(session, "resources/subscribe", "notes://c")));
  RawClient client(f.port);
  client.ask("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kKey +
             "\r\nMcp-Session-Id: " + session + "\r\n\r\n");
  f.wait_for_watches(0);
}

TEST_CASE("What cannot be subscribed to says why") {
  ChangesFixture f;
  const auto session = f.begin_session();
  CHECK_THAT(f.in_session("", "resources/subscribe", "notes://a"), Catch::Contains("in a session"));
  CHECK_THAT(f.in_session(session, "resources/subscribe", "notes://all"), Catch::Contains("names no record"));
  CHECK_THAT(f.in_session(session, "resources/subscribe", "other://a"), Catch::Contains("-32002"));
  CHECK_THAT(f.ask("resources/subscribe", R"({"uri":1})", "Mcp-Session-Id: " + session + "\r\n").body,
             Catch::Contains(R"(\"uri\" is missing)"));
  CHECK_THAT(f.in_session(session, "resources/subscribe", "notes://" + std::string(5'000, 'a')),
             Catch::Contains("-32002"));
  for (std::size_t i = 0; i < mcp::Subscriptions::kPerSession; ++i)
    f.in_session(session, "resources/subscribe", "notes://" + std::to_string(i));
  CHECK_THAT(f.in_session(session, "resources/subscribe", "notes://more"), Catch::Contains("64 resources at most"));
  const auto stateless = f.ask("resources/subscribe", "{" + kStateless + R"(,"uri":"notes://a"})",
                               "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/subscribe\r\n");
  CHECK(stateless.status == 404);
}

TEST_CASE("A stream without a session hears of the resources that it names, and of nothing else") {
  ChangesFixture f;
  {
    Listening listening(f.port,
                        f.subscribed(R"({"resourceSubscriptions":["notes://a%20b","notes://all","other://a"]})"));
    REQUIRE(listening.hears(R"("notifications":{"resourceSubscriptions":["notes://a%20b"]}}})"));
    f.wait_for_watches(1);
    f.api.record_changed();
    REQUIRE(listening.hears(
        R"("method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"uri":"notes://a%20b"}})"));
    f.gateway.on_capabilities_changed()();
    f.api.record_changed();
    REQUIRE(listening.hears("resources/updated", 2));  // what came before it has come as well
    CHECK_THAT(listening.seen(), !Catch::Contains("list_changed"));
  }
  f.wait_for_watches(0);
  Listening prompts(f.port, f.subscribed(R"({"promptsListChanged":true})"));
  REQUIRE(prompts.hears(R"("notifications":{"promptsListChanged":true}}})"));
  f.gateway.on_capabilities_changed()();
  CHECK(prompts.hears("notifications/prompts/list_changed"));
  CHECK_THAT(f.ask("subscriptions/listen", "{" + kStateless + R"(,"notifications":{"resourceSubscriptions":[1]}})",
                   "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n")
                 .body,
             Catch::Contains("list of texts"));
}

TEST_CASE("A call whose head does not say what its body does is refused before it is made") {
  ChangesFixture f;
  InputDefinition region;
  region.name = "query";
  region.header = "Region";
  f.api.inputs_in_headers = {region};
  const auto call = [&](const std::string& more) {
    return f.ask("tools/call", "{" + kStateless + R"(,"name":"notes__search","arguments":{"query":"eu"}})",
                 "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: notes__search\r\n" + more);
  };
  for (const char* more : {"", "Mcp-Param-Region: us\r\n", "Mcp-Param-Region: eu\r\nMCP-PARAM-REGION: eu\r\n"}) {
    const auto refused = call(more);
    CHECK(refused.status == 400);
    CHECK_THAT(refused.body, Catch::Contains("-32020") && Catch::Contains(R"("data":{"headers":{"Region":"query"}})"));
  }
  CHECK(f.api.invoked == 0);
  CHECK(call("mcp-param-REGION:  eu \r\n").status == 200);
  CHECK(f.api.invoked == 1);
  // The models with sessions know nothing of it.
  CHECK(f.ask("tools/call", R"({"name":"notes__search","arguments":{"query":"eu"}})", "").status == 200);
}

}  // namespace KRUXOS_TEST_FILE
