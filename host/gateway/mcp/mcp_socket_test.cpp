// The Model Context Protocol over a WebSocket.
#include "host/gateway/gateway_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

std::string mcp_text(const std::string& method, const std::string& params = "{}", const std::string& id = "1") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

const std::string kInitialize = mcp_text(
    "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}})");
const std::string kInitialized = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

/// Of each list, a message.
bool hears_of_changes(RawWebSocket& socket) {
  bool all = true;
  for (const char* list : {"prompts", "resources", "tools"}) {
    const auto expected = R"({"jsonrpc":"2.0","method":"notifications/)" + std::string(list) + R"(/list_changed"})";
    all = socket.receive_text() == expected && all;
  }
  return all;
}

JsonDocument asked(RawWebSocket& socket, const std::string& text) {
  const auto answer = socket.ask(text);
  INFO(answer);
  return parse_json(answer, "the answer");
}

int code(const JsonDocument& answer) {
  const auto* error = find_member(answer, "error");
  return error ? static_cast<int>(find_int(*error, "code").value_or(1)) : 0;
}

std::shared_ptr<ServiceDefinition> one_tool() {
  auto definition = std::make_shared<ServiceDefinition>();
  definition->service = definition->prefix = "notes";
  CapabilityDefinition search;
  search.name = "notes.search";
  search.purpose = "Search the notes.";
  definition->capabilities = {search};
  return definition;
}

}  // namespace

TEST_CASE("A client of the model with sessions works over one WebSocket", "[mcp]") {
  Fixture f;
  const auto definition = one_tool();
  f.api.offers = {{{definition, &definition->capabilities[0]}, 0}};
  auto socket = f.socket("/mcp", kKey, "Sec-WebSocket-Protocol: mcp\r\n");
  CHECK(socket.answer.headers.at("Sec-WebSocket-Protocol") == "mcp");
  CHECK(asked(socket, mcp_text("ping"))["result"].ObjectEmpty());
  const auto hello = asked(socket, kInitialize);
  CHECK(find_string(hello["result"], "protocolVersion") == "2025-06-18");
  CHECK(find_string(hello["result"]["serverInfo"], "name") == "kruxos");
  CHECK(find_bool(hello["result"]["capabilities"]["tools"], "listChanged") == true);
  socket.text(kInitialized);
  CHECK(asked(socket, mcp_text("tools/list"))["result"]["tools"].Size() == 1);
  const auto result = asked(socket, mcp_text("tools/call", R"({"name":"notes__search","arguments":{"query":"x"}})"));
  CHECK(find_bool(result["result"], "isError") == false);
  CHECK(f.api.last.capability == "notes.search");
  CHECK(f.api.last.arguments_json == R"({"query":"x"})");
  CHECK(code(asked(socket, mcp_text("tools/call", R"({"name":"no__such"})"))) == -32602);
  CHECK(code(asked(socket, mcp_text("no/such"))) == -32601);
  CHECK(code(asked(socket, "{")) == -32700);
}

TEST_CASE("Over a WebSocket the handshake comes first, and once", "[mcp]") {
  Fixture f;
  auto socket = f.socket("/mcp"), second = f.socket("/mcp");
  CHECK(socket.answer.headers.count("Sec-WebSocket-Protocol") == 0);
  CHECK(code(asked(socket, mcp_text("tools/list"))) == -32600);
  CHECK(code(asked(socket, mcp_text("initialize"))) == -32602);
  socket.text(kInitialized);  // tells nobody anything
  CHECK(code(asked(socket, kInitialize)) == 0);
  CHECK(code(asked(socket, kInitialize)) == -32600);
  CHECK(code(asked(socket, mcp_text("tools/list"))) == 0);
  CHECK(code(asked(second, mcp_text("tools/list"))) == -32600);
  CHECK(find_string(asked(second, mcp_text("initialize", R"({"protocolVersion":"1999-01-01"})"))["result"],
                    "protocolVersion") == "2025-11-25");
}

TEST_CASE("The address of a WebSocket chooses the tools that it lists", "[mcp]") {
  Fixture f;
  const auto definition = one_tool();
  definition->capabilities[0].core = false;
  f.api.offers = {{{definition, &definition->capabilities[0]}, 0}};
  const auto listed = [&](const std::string& path) {
    auto socket = f.socket(path);
    CHECK(code(asked(socket, kInitialize)) == 0);
    return asked(socket, mcp_text("tools/list"))["result"]["tools"].Size();
  };
  CHECK(listed("/mcp") == 0);
  CHECK(listed("/mcp?tools=all") == 1);
  CHECK(RawWebSocket(f.port, "/mcp?tools=all&token=" + kKey).is_open());
}

TEST_CASE("Over a WebSocket the model without sessions is not spoken", "[mcp]") {
  Fixture f;
  auto socket = f.socket("/mcp");
  CHECK(code(asked(socket, kInitialize)) == 0);
  CHECK(code(asked(socket, mcp_text("server/discover"))) == -32601);
  CHECK(code(asked(socket, mcp_text("subscriptions/listen"))) == -32601);
  const auto refused =
      asked(socket, mcp_text("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})"));
  CHECK(code(refused) == -32022);
  CHECK(refused["error"]["data"]["supported"].Size() == 3);
}

TEST_CASE("That the tools have changed comes as a message, to those who listen", "[mcp]") {
  Fixture f;
  auto listens = f.socket("/mcp"), silent = f.socket("/mcp"), rpc = f.socket("/rpc");
  for (auto* socket : {&listens, &silent}) CHECK(code(asked(*socket, kInitialize)) == 0);
  listens.text(kInitialized);
  listens.text(kInitialized);  // is heard once
  CHECK(code(asked(listens, mcp_text("ping"))) == 0);
  const auto changed = f.gateway.on_capabilities_changed();
  changed();
  CHECK(hears_of_changes(listens));
  CHECK(code(asked(listens, mcp_text("ping"))) == 0);
  CHECK(code(asked(silent, mcp_text("ping"))) == 0);
  CHECK(rpc.ask(mcp_text("capabilities.list")).find("result") != std::string::npos);
  // As many as there are connections, and none of them ends another.
  std::vector<RawWebSocket> many;
  for (int i = 0; i < 12; ++i) {
    many.push_back(f.socket("/mcp"));
    CHECK(code(asked(many.back(), kInitialize)) == 0);
    many.back().text(kInitialized);
    CHECK(code(asked(many.back(), mcp_text("ping"))) == 0);
  }
  listens.client.close();
  changed();
  for (auto& socket : many) CHECK(hears_of_changes(socket));
}

TEST_CASE("Over a WebSocket a program hears of resources that it has subscribed to, until it goes") {
  Fixture f;
  auto definition = one_tool();
  definition->resources = {{"notes://{query}", "found", "F.", "", "notes.search", RecordAddress{"pages", "{query}"}}};
  f.api.offers = {{{definition, &definition->capabilities[0]}, 0}};
  {
    auto socket = f.socket("/mcp");
    CHECK(code(asked(socket, kInitialize)) == 0);
    CHECK(code(asked(socket, mcp_text("resources/subscribe", R"({"uri":"notes://a"})"))) == 0);
    f.api.record_changed();  // before it listens
    socket.text(kInitialized);
    const std::string updated =
        R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"notes://a"}})";
    CHECK(socket.receive_text() == updated);
    f.api.record_changed();
    CHECK(socket.receive_text() == updated);
    socket.client.close();
  }
  for (int i = 0; i < 10'000 && f.api.watches != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(f.api.watches == 0);
}

}  // namespace KRUXOS_TEST_FILE
