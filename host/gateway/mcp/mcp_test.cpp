#include "host/gateway/gateway_fixture.hpp"
#include "host/gateway/mcp/head.hpp"
#include "host/gateway/mcp/listening.hpp"
#include "host/gateway/mcp/notes_service.hpp"
#include "host/gateway/mcp/streams.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

const std::string kClient =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string message(const std::string& method, const std::string& params = "{}", const std::string& id = "1") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

std::string headers(std::initializer_list<std::pair<std::string, std::string>> more, const std::string& key = kKey) {
  std::string text = key.empty() ? "" : "Authorization: Bearer " + key + "\r\n";
  for (const auto& [name, value] : more) text.append(name).append(": ").append(value).append("\r\n");
  return text;
}

struct McpFixture : Fixture {
  RawAnswer send(const std::string& body, const std::string& head) {
    RawClient client(port);
    return client.ask(http_post("/mcp", body, head));
  }
  /// In the model with sessions.
  RawAnswer ask(const std::string& method, const std::string& params = "{}", const std::string& session = {}) {
    return send(message(method, params),
                session.empty() ? headers({{"MCP-Protocol-Version", "2025-11-25"}})
                                : headers({{"MCP-Protocol-Version", "2025-11-25"}, {"Mcp-Session-Id", session}}));
  }
  /// In the stateless one; `params` without _meta.
  RawAnswer ask_stateless(const std::string& method, const std::string& members = {}, const std::string& name = {}) {
    const auto params = "{" + kClient + (members.empty() ? "" : "," + members) + "}";
    return send(message(method, params),
                name.empty()
                    ? headers({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}})
                    : headers({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}, {"Mcp-Name", name}}));
  }
};

JsonDocument json_of(const RawAnswer& answer) {
  INFO(answer.body);
  return parse_json(answer.body, "the answer");
}

int error_code(const RawAnswer& answer) {
  const auto document = json_of(answer);
  const auto* error = find_member(document, "error");
  return error ? static_cast<int>(find_int(*error, "code").value_or(1)) : 0;
}

std::string header_of(const RawAnswer& answer, const std::string& name) {
  const auto at = answer.headers.find(name);
  return at == answer.headers.end() ? std::string() : at->second;
}

}  // namespace

TEST_CASE("A client of the model with sessions initializes, lists, calls and ends") {
  McpFixture f;
  f.api.offers = offers_of(notes());
  const auto began = f.ask(
      "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}})");
  CHECK(began.status == 200);
  const auto session = header_of(began, "Mcp-Session-Id");
  REQUIRE(session.starts_with("sess_"));
  const auto hello = json_of(began);
  CHECK(find_string(hello["result"], "protocolVersion") == "2025-06-18");
  CHECK(find_string(hello["result"]["serverInfo"], "name") == "kruxos");
  CHECK(hello["result"]["capabilities"].HasMember("tools"));

  const auto note = f.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
                           headers({{"MCP-Protocol-Version", "2025-06-18"}, {"Mcp-Session-Id", session}}));
  CHECK(note.status == 202);
  CHECK(note.body.empty());
  CHECK(json_of(f.ask("ping", "{}", session))["result"].ObjectEmpty());

  const auto list = json_of(f.ask("tools/list", "{}", session));
  REQUIRE(list["result"]["tools"].Size() == 2);
  CHECK_FALSE(list["result"].HasMember("resultType"));

  const auto result = json_of(f.ask("tools/call", R"({"name":"notes__search","arguments":{"query":"x"}})", session));
  CHECK(f.api.last.capability == "notes.search");
  CHECK(f.api.last.arguments_json == R"({"query":"x"})");
  CHECK(f.api.last.agent_id == "agent_1");
  CHECK(find_bool(result["result"], "isError") == false);
  CHECK(find_string(result["result"]["structuredContent"], "query") == "x");
  CHECK(find_string(result["result"]["content"][0], "text") == R"({"query":"x"})");

  RawClient client(f.port);
  const auto end = headers({{"Mcp-Session-Id", session}});
  CHECK(client.ask("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + end + "\r\n").status == 204);
  CHECK(client.ask("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + end + "\r\n").status == 404);
  CHECK(f.ask("tools/list", "{}", session).status == 404);
}

TEST_CASE("The address says which tools are shown") {
  McpFixture f;
  f.api.offers = offers_of(notes());
  const auto list = [&](const std::string& query) {
    RawClient client(f.port);
    return client.ask(http_post("/mcp" + query, message("tools/list"), headers({})));
  };
  CHECK(json_of(list("?tools=notes"))["result"]["tools"].Size() == 2);
  CHECK(json_of(list("?tools=tasks"))["result"]["tools"].Size() == 0);
  CHECK(json_of(list("?tools=all&x=1"))["result"]["tools"].Size() == 2);
  const auto refused = list("?tools=nots");
  CHECK(error_code(refused) == -32602);
  CHECK_THAT(refused.body, Catch::Contains("core, all, notes, tasks"));
}

TEST_CASE("A call asks for what a model takes") {
  McpFixture f;
  f.ask("tools/call", R"({"name":"notes__search","arguments":{}})");
  CHECK(f.api.last.for_model);
}

TEST_CASE("A version that is not spoken is answered with the newest that has sessions") {
  McpFixture f;
  for (const auto& [asked, answered] : {std::pair<std::string, std::string>{"2025-11-25", "2025-11-25"},
                                        {"2025-03-26", "2025-03-26"},
                                        {"2024-11-05", "2025-11-25"},
                                        {"x", "2025-11-25"}}) {
    const auto hello = json_of(f.ask("initialize", R"({"protocolVersion":")" + asked + R"(","capabilities":{}})"));
    CHECK(find_string(hello["result"], "protocolVersion") == answered);
  }
  CHECK(error_code(f.ask("initialize", "{}")) == -32602);
}

TEST_CASE("A client of the stateless model discovers, lists and calls without a session") {
  McpFixture f;
  f.api.offers = offers_of(notes());
  const auto found = f.ask_stateless("server/discover");
  CHECK(found.status == 200);
  CHECK(header_of(found, "Mcp-Session-Id").empty());
  const auto document = json_of(found);
  const auto& result = document["result"];
  CHECK(find_string(result, "resultType") == "complete");
  CHECK(find_string(result["supportedVersions"][0], "") == std::nullopt);
  CHECK(view(result["supportedVersions"][0]) == "2026-07-28");
  CHECK(result["supportedVersions"].Size() == 4);
  CHECK(find_int(result, "ttlMs").value_or(-1) >= 0);
  CHECK(find_string(result, "cacheScope") == "private");
  CHECK(find_string(result["_meta"]["io.modelcontextprotocol/serverInfo"], "name") == "kruxos");

  const auto list = json_of(f.ask_stateless("tools/list"));
  CHECK(list["result"]["tools"].Size() == 2);
  CHECK(find_string(list["result"], "cacheScope") == "private");

  const auto call =
      json_of(f.ask_stateless("tools/call", R"("name":"notes__add","arguments":{"text":"x"})", "notes__add"));
  CHECK(f.api.last.capability == "notes.add");
  CHECK(find_string(call["result"], "resultType") == "complete");
  CHECK(find_string(call["result"]["structuredContent"], "text") == "x");
}

TEST_CASE("In the stateless model the head must say what the body says") {
  McpFixture f;
  const auto body = message("tools/call", "{" + kClient + R"(,"name":"notes__add","arguments":{}})");
  const std::pair<std::string, std::string> version{"MCP-Protocol-Version", "2026-07-28"},
      method{"Mcp-Method", "tools/call"}, name{"Mcp-Name", "notes__add"};
  CHECK(f.send(body, headers({version, method, name})).status == 200);
  CHECK(f.send(body, headers({version, method, {"Mcp-Name", "=?base64?bm90ZXNfX2FkZA==?="}})).status == 200);
  const auto called = f.api.invoked.load();
  for (const auto& head : {headers({method, name}), headers({version, name}), headers({version, method}),
                           headers({version, {"Mcp-Method", "tools/list"}, name}),
                           headers({version, method, {"Mcp-Name", "notes__search"}}),
                           headers({version, method, {"Mcp-Name", "=?base64?!?="}}),
                           headers({version, method, {"Mcp-Name", "=?base64?bm90ZXM="}}),
                           headers({{"MCP-Protocol-Version", "2025-11-25"}, method, name})}) {
    CAPTURE(head);
    const auto answer = f.send(body, head);
    CHECK(answer.status == 400);
    CHECK(error_code(answer) == -32020);
  }
  CHECK(f.api.invoked == called);
}

TEST_CASE("What a stateless request lacks is said by the protocol's codes") {
  McpFixture f;
  const auto unknown =
      R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}})";
  const auto old = f.send(message("tools/list", unknown),
                          headers({{"MCP-Protocol-Version", "1900-01-01"}, {"Mcp-Method", "tools/list"}}));
  CHECK(old.status == 400);
  CHECK(error_code(old) == -32022);
  const auto data = json_of(old);
  CHECK(find_string(data["error"]["data"], "requested") == "1900-01-01");
  CHECK(view(data["error"]["data"]["supported"][0]) == "2026-07-28");
  const auto head = headers({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/list"}});
  for (const auto* params : {"{}", R"({"_meta":{}})", R"({"_meta":7})",
                             R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})",
                             R"({"_meta":{"io.modelcontextprotocol/protocolVersion":5}})"}) {
    CAPTURE(params);
    const auto answer = f.send(message("tools/list", params), head);
    CHECK(answer.status == 400);
    CHECK(error_code(answer) == -32602);
  }
  const auto none = f.ask_stateless("ping");
  CHECK(none.status == 404);
  CHECK(error_code(none) == -32601);
  CHECK(f.ask_stateless("initialize").status == 404);
}

TEST_CASE("What is no call is an error, what a capability refuses a result") {
  McpFixture f;
  for (const auto* params :
       {"{}", R"({"name":5})", R"({"name":"no__such"})", R"({"name":"notes__add","arguments":[]})"}) {
    CAPTURE(params);
    CHECK(error_code(f.ask("tools/call", params)) == -32602);
  }
  CHECK(error_code(f.ask("tools/list", R"({"cursor":"x"})")) == -32602);
  CHECK(error_code(f.ask("tasks/list")) == -32601);
  CHECK(f.ask("tasks/list").status == 200);
  const auto failed = json_of(f.ask("tools/call", R"({"name":"fail"})"));
  CHECK(find_bool(failed["result"], "isError") == true);
  CHECK(find_string(failed["result"]["content"][0], "text") == R"({"type":"NotConnected"})");
  CHECK_FALSE(failed["result"].HasMember("structuredContent"));
}

TEST_CASE("Without a valid key nothing is spoken, and none is taken from the address") {
  McpFixture f;
  CHECK(f.send(message("tools/list"), headers({}, "")).status == 401);
  const auto refused = f.send(message("tools/list"), headers({}, kWrongKey));
  CHECK(refused.status == 401);
  CHECK(error_code(refused) != -32003);  // of the gateway's own, which mean something else here
  CHECK(header_of(refused, "WWW-Authenticate") == "Bearer realm=\"kruxos\"");
  RawClient client(f.port);
  CHECK(client.ask(http_post("/mcp?token=" + kKey, message("tools/list"), "")).status == 401);
}

TEST_CASE("A session is its agent's") {
  McpFixture f;
  const auto session = header_of(f.ask("initialize", R"({"protocolVersion":"2025-11-25"})"), "Mcp-Session-Id");
  const auto other = f.send(message("tools/list"), headers({{"Mcp-Session-Id", session}}, kOtherKey));
  CHECK(other.status == 404);
  RawClient client(f.port);
  CHECK(client
            .ask("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + headers({{"Mcp-Session-Id", session}}, kOtherKey) +
                 "\r\n")
            .status == 404);
  CHECK(f.ask("tools/list", "{}", session).status == 200);
}

TEST_CASE("Pages of this machine are served, others are not") {
  McpFixture f;
  for (const auto* origin :
       {"http://localhost", "http://localhost:6274", "http://127.0.0.1:80", "http://[::1]:9", "HTTP://LOCALHOST"}) {
    CAPTURE(origin);
    CHECK(f.send(message("ping"), headers({{"Origin", origin}})).status == 200);
  }
  for (const auto* origin :
       {"null", "http://evil.example", "https://localhost", "http://localhost.evil.example", "http://localhost:x",
        "http://127.0.0.1.evil.example", "http://evil.example/http://localhost"}) {
    CAPTURE(origin);
    CHECK(f.send(message("ping"), headers({{"Origin", origin}})).status == 403);
  }
  RawClient client(f.port);
  CHECK(client.ask("PUT /mcp HTTP/1.1\r\nHost: localhost\r\n" + headers({}) + "\r\n").status == 405);
}

namespace {

std::string listen_request(const std::string& more = {}) {
  return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + headers({}) + more + "\r\n";
}

std::string subscribe_request(const std::string& filter) {
  const auto body = message("subscriptions/listen", "{" + kClient + R"(,"notifications":)" + filter + "}", "\"sub\"");
  return http_post("/mcp", body,
                   headers({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "subscriptions/listen"}}));
}

}  // namespace

TEST_CASE("Who listens is told that the tools have changed") {
  McpFixture f;
  const auto changed = f.gateway.on_capabilities_changed();
  Listening sessions(f.port, listen_request()),
      stateless(f.port, subscribe_request(R"({"toolsListChanged":true,"resourceSubscriptions":["x"]})")),
      nothing(f.port, subscribe_request("{}"));
  REQUIRE(sessions.hears("id: 1\ndata:\n\n"));
  CHECK_THAT(sessions.seen(), Catch::Contains("text/event-stream") && Catch::Contains("X-Accel-Buffering: no"));
  REQUIRE(stateless.hears(
      R"("method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"},"notifications":{"toolsListChanged":true}}})"));
  REQUIRE(nothing.hears(R"("notifications":{}}})"));
  changed();
  REQUIRE(sessions.hears(
      "id: 2\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"));
  REQUIRE(stateless.hears(
      R"(data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}})"));
  CHECK_THAT(nothing.seen(), !Catch::Contains("list_changed"));
  CHECK(error_code(f.ask_stateless("subscriptions/listen")) == -32602);
}

TEST_CASE("Who comes back hears what he has missed, and nothing else") {
  McpFixture f;
  const auto changed = f.gateway.on_capabilities_changed();
  changed();
  Listening missed(f.port, listen_request("Last-Event-ID: 1\r\n")),
      none(f.port, listen_request("Last-Event-ID: 2\r\n")), odd(f.port, listen_request("Last-Event-ID: x\r\n"));
  CHECK(missed.hears("id: 2\nevent: message"));
  CHECK(odd.hears("id: 2\nevent: message"));
  REQUIRE(none.hears("\r\n\r\n"));
  changed();
  CHECK(none.hears("id: 3\nevent: message"));
  CHECK_THAT(none.seen(), !Catch::Contains("id: 2"));
}

TEST_CASE("An agent's streams are bounded: the oldest ends") {
  McpFixture f;
  std::vector<std::unique_ptr<Listening>> all;
  for (std::size_t i = 0; i <= mcp::Streams::kPerAgent; ++i) {
    all.push_back(std::make_unique<Listening>(f.port, listen_request()));
    REQUIRE(all.back()->hears("data:\n\n"));
  }
  CHECK(all.front()->hears("0\r\n\r\n"));
  f.gateway.on_capabilities_changed()();
  CHECK(all.back()->hears("list_changed"));
  CHECK(all[1]->hears("list_changed"));
}

}  // namespace KRUXOS_TEST_FILE
