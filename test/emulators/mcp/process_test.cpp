// The program itself, over both of its ways.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "support/mcp_emulator.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using namespace krux::test;

namespace {

const Headers kHead = {{"content-type", "application/json"}, {"accept", "application/json, text/event-stream"}};

std::string request(const std::string& method, const std::string& params = "{}", int id = 1) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

struct Client {
  McpEmulator& server;
  std::string session;

  HttpReply send(const std::string& body, Headers more = {}) {
    auto head = kHead;
    if (!session.empty()) head["mcp-session-id"] = session;
    head.insert(more.begin(), more.end());
    return http_request(server.port(), "POST", "/mcp", head, body);
  }
  void begin() {
    session.clear();
    const auto hello = send(request("initialize", R"({"protocolVersion":"2025-11-25"})"));
    REQUIRE(hello.status == 200);
    session = hello.header("mcp-session-id");
    REQUIRE(send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status == 202);
  }
};

std::string call(const std::string& tool, const std::string& arguments = "{}", const std::string& more = "") {
  return request("tools/call", R"({"name":")" + tool + R"(","arguments":)" + arguments + more + "}");
}

}  // namespace

TEST_CASE("over HTTP a session begins with initialize, and is needed") {
  McpEmulator server({.script_json = R"({"page_size":4})"});
  Client client{server, ""};
  CHECK_THAT(client.send(request("tools/list")).body, Contains("-32600"));
  client.begin();
  CHECK(server.sessions_begun() == 1);
  const auto first = client.send(request("tools/list")).body;
  CHECK_THAT(first, Contains(R"("name":"echo")") && Contains(R"("nextCursor":"4")"));
  const auto second = client.send(request("tools/list", R"({"cursor":"4"})")).body;
  CHECK_THAT(second, Contains(R"("name":"release")") && !Contains("nextCursor"));
  CHECK_THAT(client.send(request("tools/list", R"({"cursor":"x"})")).body, Contains("-32602"));
  CHECK_THAT(client.send(request("server/discover")).body, Contains("-32601"));
  server.forget_sessions();
  CHECK(client.send(request("tools/list")).status == 404);
  CHECK(http_request(server.port(), "GET", "/mcp", kHead).status == 405);
  CHECK(http_request(server.port(), "POST", "/mcp", {{"accept", "application/json"}}, "{}").status == 406);
  client.begin();
  CHECK(http_request(server.port(), "DELETE", "/mcp", {{"mcp-session-id", client.session}}).status == 204);
  CHECK(client.send(request("ping")).status == 404);
}

TEST_CASE("each effect is a line of the journal, with the _meta that it got") {
  McpEmulator server({.events = true});
  Client client{server, ""};
  client.begin();
  const auto kept = client.send(call("add_note", R"({"text":"a"})", R"(,"_meta":{"key":"w_1"})"));
  CHECK(kept.header("content-type") == "text/event-stream");
  CHECK_THAT(kept.body, Contains("data: {") && Contains("Note 1 is kept"));
  CHECK_THAT(client.send(call("list_notes")).body, Contains(R"("text":"a")"));
  CHECK_THAT(client.send(call("fail")).body, Contains(R"("isError":true)"));
  CHECK_THAT(client.send(call("echo", R"({"text":"b"})")).body, Contains(R"("structuredContent":{"text":"b"})"));
  REQUIRE(server.effects().size() == 1);
  CHECK(server.effects()[0] == R"({"tool":"add_note","arguments":{"text":"a"},"_meta":{"key":"w_1"}})");
  CHECK(server.requests("tools/call") == 4);
}

TEST_CASE("the stateless revision wants all there is to know with each request") {
  McpEmulator server({.revision = "2026-07-28"});
  Client client{server, ""};
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{},)"
      R"("io.modelcontextprotocol/clientCapabilities":{}})";
  const auto head = [](const std::string& method) {
    return Headers{{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", method}};
  };
  const auto found = client.send(request("server/discover", "{" + meta + "}"), head("server/discover"));
  CHECK(found.status == 200);
  CHECK_THAT(found.body, Contains(R"("supportedVersions":["2026-07-28"])"));
  const auto began = client.send(request("initialize", "{" + meta + "}"), head("initialize"));
  CHECK(began.status == 404);
  CHECK_THAT(began.body, Contains("-32601"));
  CHECK_THAT(client.send(request("tools/list", "{" + meta + "}"), head("tools/call")).body, Contains("-32020"));
  CHECK_THAT(client.send(request("tools/list"), head("tools/list")).body, Contains("-32602"));
}

TEST_CASE("faults come in the order of the script, and are used up") {
  McpEmulator server({.script_json = R"({
    "tools": [{"name": "drop", "description": "Drops.", "writes": true}],
    "changes": [{"after_lists": 1, "tool": "drop", "description": "Drops more."}],
    "faults": [{"method": "tools/list", "kind": "http_status", "number": 503, "text": "later"},
               {"tool": "drop", "kind": "reset_after", "skip": 1},
               {"tool": "echo", "kind": "error", "number": -32000, "text": "no"}]})"});
  Client client{server, ""};
  client.begin();
  CHECK(client.send(request("tools/list")).status == 503);
  CHECK_THAT(client.send(request("tools/list")).body, Contains("Drops."));
  CHECK_THAT(client.send(request("tools/list")).body, Contains("Drops more."));
  CHECK_THAT(client.send(call("drop")).body, Contains("done"));
  CHECK_THROWS_WITH(client.send(call("drop")), Contains("reset"));
  CHECK(server.effects().size() == 2);
  CHECK_THAT(client.send(call("echo")).body, Contains("-32000"));
  CHECK_THAT(client.send(call("echo")).body, Contains("structuredContent"));
  CHECK_THROWS_WITH(server.script(R"({"faults":[{"kind":"hnag"}]})"), Contains("hnag"));
  CHECK_THROWS_WITH(server.script(R"({"fault":[]})"), Contains("fault"));
  CHECK_THROWS_WITH(server.script("{"), Contains("no JSON"));
}

TEST_CASE("of several changes of a tool the latest that is due counts, whatever their order") {
  McpEmulator server({.script_json = R"({"changes": [
    {"after_lists": 1, "tool": "fail", "description": "First."},
    {"after_lists": 3, "tool": "fail", "description": "Third."},
    {"after_lists": 2, "tool": "fail", "description": "Second."},
    {"after_lists": 2, "tool": "echo", "description": "Another tool's."}]})"});
  Client client{server, ""};
  client.begin();
  for (const char* says : {"Fails.", "First.", "Second.", "Third.", "Third."})
    CHECK_THAT(client.send(request("tools/list")).body,
               Contains(R"("name":"fail","description":")" + std::string(says)));
}

TEST_CASE("over standard input and output one line is one message") {
  const auto call = [](const std::string& tool, int id) {
    return request("tools/call", R"({"name":")" + tool + "\"}", id);
  };
  const auto said = [](int id, const std::string& text) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"content":[{"type":"text","text":")" +
           text + R"("}],"isError":false}})";
  };
  const support::Scratch scratch;
  const auto script = (scratch.path() / "script.json").string();
  std::ofstream(script) << R"({"tools":[{"name":"slow","text":"held"},{"name":"release","text":"let go"}]})";
  Command command;
  command.argv = {KRUXOS_MCP_EMULATOR, "--stdio", "--script", script};
  command.stdin_text = request("ping", "{}", 7) + "\nno JSON\n" +
                       request("initialize", R"({"protocolVersion":"2024-11-05"})", 8) + "\n" +
                       R"({"jsonrpc":"2.0","method":"notifications/initialized"})" + "\n" + call("slow", 9) + "\n" +
                       call("release", 10) + "\n";
  const auto finished = run(command);
  CHECK(finished.status.ok());
  std::istringstream lines(finished.out);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  REQUIRE(all.size() == 5);
  CHECK(all[0] == R"({"jsonrpc":"2.0","id":7,"result":{}})");
  CHECK_THAT(all[1], Contains("-32700"));
  CHECK_THAT(all[2], Contains(R"("id":8)") && Contains(R"("protocolVersion":"2024-11-05")"));
  CHECK(all[3] == said(10, "let go"));
  CHECK(all[4] == said(9, "held"));
}

}  // namespace KRUXOS_TEST_FILE
