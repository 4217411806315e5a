// Agents over WebSockets: who may, JSON-RPC, the end of a key.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <set>
#include <sstream>

#include "core/write/write.hpp"
#include "host/gateway/gateway_fixture.hpp"
#include "host/http/tls_client_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

std::string call_text(const std::string& id, const std::string& capability, const std::string& arguments = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"capabilities.invoke","params":{"capability":")" + capability +
         R"(","arguments":)" + arguments + "}}";
}

std::string list_text(const std::string& id) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"capabilities.list"})";
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

JsonDocument json_of(const std::string& text) {
  INFO(text);
  return parse_json(text, "the answer");
}

int code_of(const std::string& text) {
  const auto document = json_of(text);
  const auto* error = find_member(document, "error");
  return error ? static_cast<int>(find_int(*error, "code").value_or(1)) : 0;
}

}  // namespace

TEST_CASE("JSON-RPC over a WebSocket is that of POST /rpc", "[gateway]") {
  Fixture f;
  auto socket = f.socket(GENERATE("/", "/rpc"));
  REQUIRE(socket.is_open());
  CHECK(socket.ask(call_text("1", "x", R"({"a":1})")) ==
        R"({"jsonrpc":"2.0","id":1,"result":{"success":true,"data":{"a":1}}})");
  CHECK(f.api.last.agent_id == "agent_1");
  CHECK(has(socket.ask(call_text("\"t\"", "fail")), R"("id":"t","result":{"success":false)"));
  const auto batch = socket.ask("[" + list_text("1") + "," + call_text("2", "x") +
                                R"(,{"jsonrpc":"2.0","method":"capabilities.list"}])");
  CHECK(json_of(batch).Size() == 2);
  socket.text(R"({"jsonrpc":"2.0","method":"capabilities.list"})");  // is a notification
  CHECK(code_of(socket.ask("{")) == -32700);
  CHECK(code_of(socket.ask("[]")) == -32600);
  CHECK(code_of(socket.ask(R"({"jsonrpc":"2.0","id":1,"method":"no.such"})")) == -32601);
  CHECK(code_of(socket.ask(R"({"jsonrpc":"2.0","id":1,"method":"session.end"})")) == -32602);
  std::string many;
  for (int i = 0; i < 101; ++i) many += (i ? "," : "[") + list_text(std::to_string(i));
  CHECK(code_of(socket.ask(many + "]")) == -32600);
  CHECK(json_of(socket.ask(many.substr(0, many.rfind(",{")) + "]")).Size() == 100);
  // A session goes on from one message to the next, and over HTTP.
  const auto session = std::string(*find_string(
      json_of(socket.ask(R"({"jsonrpc":"2.0","id":1,"method":"session.create"})"))["result"], "session_id"));
  CHECK(has(f.call("session.end", R"({"session_id":")" + session + "\"}"), "true"));
  CHECK(code_of(socket.ask(R"({"jsonrpc":"2.0","id":1,"method":"session.end","params":{"session_id":")" + session +
                           "\"}}")) != 0);
}

TEST_CASE("several calls of a WebSocket are under way, and answered as they end", "[gateway]") {
  GatewayLimits limits;
  limits.calls_per_connection = 3;
  Fixture f(limits);
  auto socket = f.socket(), second = f.socket();
  for (const char* id : {"1", "2", "3"}) socket.text(call_text(id, "wait"));
  f.api.wait_for_held(3);
  CHECK(has(socket.ask(list_text("4")), R"("id":4,"result")"));
  const auto refused = socket.ask(call_text("5", "x"));
  CHECK(has(refused, R"("id":5)"));
  CHECK(code_of(refused) == -32000);
  CHECK(has(second.ask(call_text("6", "x")), "true"));
  f.api.release();
  std::set<std::string> answered;
  for (int i = 0; i < 3; ++i) answered.insert(socket.receive_text());
  CHECK(answered.size() == 3);
  while (code_of(socket.ask(call_text("7", "x"))) != 0) std::this_thread::yield();
}

TEST_CASE("a message whose turn does not come is refused under its id, where that is short", "[gateway]") {
  Fixture f;
  f.api.refusal = {ErrorCode::kRateLimited, "Not now.", true, 2'000};
  auto socket = f.socket();
  CHECK(has(socket.ask(list_text("\"mine\"")), R"("id":"mine","error":{"code":-32000)"));
  CHECK(has(socket.ask("[" + list_text("1") + "]"), R"("id":null)"));
  CHECK(has(socket.ask("no JSON"), R"("id":null)"));
  CHECK(has(socket.ask(list_text("1") + std::string(8'000, ' ')), R"("id":null)"));
}

TEST_CASE("who may not use HTTP may not use a WebSocket", "[gateway]") {
  Fixture f;
  const auto status = [&](std::string_view path, const std::string& key, const std::string& more = {}) {
    return f.socket(path, key, more).answer.status;
  };
  for (const std::string path : {"/", "/rpc", "/mcp"}) {
    INFO(path);
    CHECK(status(path, kKey) == 101);
    CHECK(status(path, "") == 401);
    CHECK(status(path, kWrongKey) == 401);
    CHECK(status(path, kKey, "Origin: https://evil.example\r\n") == 403);
    CHECK(status(path, kKey, "Origin: http://localhost:8080\r\n") == (path == "/mcp" ? 101 : 403));
    RawClient foreign(f.port);
    CHECK(foreign
              .ask("GET " + path + " HTTP/1.1\r\nHost: evil.example\r\n" + kHandshake + "Authorization: Bearer " +
                   kKey + "\r\n\r\n")
              .status == 403);
    CHECK(
        RawClient(f.port).ask(http_get(path, "Authorization: Bearer " + kKey + "\r\nUpgrade: websocket\r\n")).status ==
        400);
    CHECK(RawClient(f.port).ask(http_get(path, "Upgrade: websocket\r\n")).status == 400);
  }
  CHECK(status("/uploads", kKey) == 405);
  CHECK(status("/else", kKey) == 404);
  RawClient plain(f.port);
  CHECK(plain.ask(http_get("/", "Authorization: Bearer " + kKey + "\r\n")).status == 404);
  CHECK(plain.ask(http_get("/rpc", "Authorization: Bearer " + kKey + "\r\n")).status == 405);
}

TEST_CASE("the key may stand in a WebSocket's address, and nowhere else", "[gateway]") {
  Fixture f;
  const auto status = [&](const std::string& path, const std::string& more = {}) {
    return RawWebSocket(f.port, path, more).answer.status;
  };
  CHECK(status("/rpc?token=" + kKey) == 101);
  CHECK(status("/?a=b&token=" + kKey + "&c=d") == 101);
  CHECK(RawWebSocket(f.port, "/mcp?token=" + kKey, "Sec-WebSocket-Protocol: mcp\r\n")
            .answer.headers.at("Sec-WebSocket-Protocol") == "mcp");
  CHECK(status("/rpc?token=" + kWrongKey) == 401);
  CHECK(status("/rpc?token=") == 401);
  CHECK(status("/rpc?token=" + kKey + "a") == 401);
  CHECK(status("/rpc?Token=" + kKey) == 401);
  CHECK(status("/rpc?token=" + kKey + "&token=" + kKey) == 401);
  // A header counts alone, whatever it holds.
  CHECK(status("/rpc?token=" + kKey, "Authorization: Bearer " + kWrongKey + "\r\n") == 401);
  CHECK(status("/rpc?token=" + kKey, "Authorization: Basic x\r\n") == 401);
}

TEST_CASE("over HTTP no key is taken from an address", "[gateway]") {
  Fixture f;
  const std::string message = list_text("1");
  CHECK(RawClient(f.port).ask(http_post("/rpc?token=" + kKey, message)).status == 401);
  CHECK(RawClient(f.port).ask(http_post("/mcp?token=" + kKey, message)).status == 401);
  CHECK(RawClient(f.port).ask(http_post("/rpc?token=" + kKey, message, kHandshake)).status == 401);
  CHECK(RawClient(f.port).ask(http_get("/mcp?token=" + kKey)).status == 401);
  CHECK(RawClient(f.port).ask(http_post("/uploads?token=" + kKey, "x")).status == 401);
}

TEST_CASE("the key stands in an address only where nobody between reads that", "[gateway]") {
  FakeApi api;
  DrivenClock clock;
  AgentGateway gateway(api, clock);
  const ServerCertificate certificate;
  HttpServer server(1, HttpServer::Begin::kAtOnce, nullptr, HttpServer::Handlers::kTakeTime);
  const auto open_port =
      server.listen_tcp("127.0.0.1", 0, gateway.handler(false), {}, std::nullopt, gateway.admission(false)).port;
  const auto tls_port = server
                            .listen_tcp("127.0.0.1", 0, gateway.handler(false, true), {}, certificate.files(),
                                        gateway.admission(false, true))
                            .port;
  CHECK(RawWebSocket(open_port, "/rpc?token=" + kKey).answer.status == 401);
  CHECK(RawWebSocket(open_port, "/rpc", "Authorization: Bearer " + kKey + "\r\n").answer.status == 101);
  TlsClient client(tls_port);
  client.send(http_get("/rpc?token=" + kKey, kHandshake));
  CHECK(has(client.receive_to("\r\n\r\n"), " 101 "));
  TlsClient over_http(tls_port);
  over_http.send(http_post("/rpc?token=" + kKey, "{}"));
  CHECK(has(over_http.receive_to("\r\n\r\n"), " 401 "));
}

TEST_CASE("no key stands in the log, nor in an answer", "[gateway]") {
  std::ostringstream lines;
  const auto before = spdlog::default_logger();
  const auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
  logger->set_level(spdlog::level::trace);
  spdlog::set_default_logger(logger);
  {
    Fixture f;
    for (const auto& path : {"/rpc?token=" + kKey, "/mcp?token=" + kKey, "/rpc?token=" + kWrongKey,
                             "/else?token=" + kKey, "/rpc?token=%zz" + kKey}) {
      RawWebSocket socket(f.port, path);
      CHECK_FALSE(has(socket.answer.body, "aaaaaaaa"));
      for (const auto& [name, value] : socket.answer.headers) CHECK_FALSE(has(value, "aaaaaaaa"));
      if (!socket.is_open()) continue;
      CHECK_FALSE(has(socket.ask("{"), "aaaaaaaa"));
      socket.client.send("bad");
    }
  }
  spdlog::set_default_logger(before);
  CHECK_FALSE(has(lines.str(), "aaaaaaaa"));
  CHECK_FALSE(has(lines.str(), "cccccccc"));
  CHECK_FALSE(has(lines.str(), "token="));
}

TEST_CASE("with an agent's key its WebSockets end, and no other's", "[gateway]") {
  Fixture f;
  auto idle = f.socket(), speaks = f.socket(), other = f.socket("/rpc", kOtherKey), mcp = f.socket("/mcp");
  for (auto* socket : {&idle, &speaks, &other}) CHECK(has(socket->ask(list_text("1")), "result"));
  speaks.text(call_text("1", "wait"));
  f.api.wait_for_held(1);
  f.api.revoked = true;
  SECTION("at their next message") {
    idle.text(list_text("2"));
    CHECK(idle.receive().code() == 1008);
    const auto invoked = f.api.invoked.load();
    speaks.text(call_text("2", "x"));
    CHECK(speaks.receive().code() == 1008);
    CHECK(f.api.invoked == invoked);
  }
  SECTION("as soon as the gateway hears of it") {
    f.gateway.on_keys_changed()();
    CHECK(idle.receive().code() == 1008);
    CHECK(speaks.receive().code() == 1008);
    CHECK(mcp.receive().code() == 1008);
  }
  f.api.release();
  CHECK(has(other.ask(list_text("2")), "result"));
  CHECK(f.socket().answer.status == 401);
}

TEST_CASE("what WebSockets hold counts as their agent's memory", "[gateway]") {
  GatewayLimits limits;
  limits.memory = {3'500'000, 100 << 20, 1 << 20};
  Fixture f(limits);
  auto socket = f.socket(), second = f.socket(), other = f.socket("/rpc", kOtherKey);
  const auto padded = list_text("1") + std::string(1'000'000, ' ');
  std::vector<RawWebSocket> begun;  // messages that have not come whole, and for no more there is room
  for (int i = 0; i < 3; ++i) {
    begun.push_back(f.socket());
    begun.back().send(kText, padded, {.last = false});
  }
  std::string refusal;
  while (code_of(refusal = second.ask(padded)) == 0) std::this_thread::yield();
  CHECK(code_of(refusal) == -32000);
  CHECK(has(refusal, "Read the answers"));
  CHECK(has(other.ask(padded), "result"));
  for (auto& one : begun) one.send(kContinuation, "");
  for (auto& one : begun) one.receive();
  while (code_of(second.ask(padded)) != 0) std::this_thread::yield();
}

TEST_CASE("answers over a WebSocket that are not read are counted until they are", "[gateway]") {
  GatewayLimits limits;
  limits.memory = {70 << 20, 100 << 20, 1 << 20};
  Fixture f(limits);
  f.api.big_bytes = 32 << 20;
  auto socket = f.socket(), second = f.socket();
  for (const char* id : {"1", "2"}) socket.text(call_text(id, "big"));
  while (f.api.invoked < 2) std::this_thread::yield();
  while (!has(second.ask(call_text("3", "big")), "its answer is left out")) std::this_thread::yield();
  CHECK(has(second.ask(call_text("4", "x")), "true"));
  CHECK(socket.receive().payload.size() > (32 << 20));
  CHECK(socket.receive().payload.size() > (32 << 20));
  while (second.ask(call_text("5", "big")).size() < (32 << 20)) std::this_thread::yield();
}

TEST_CASE("over a WebSocket an agent hears of its writes, and of changed capabilities", "[gateway]") {
  Fixture f;
  const auto subscribe = [](const std::string& params) {
    return R"({"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":)" + params + "}";
  };
  auto all = f.socket(), some = f.socket(), silent = f.socket(), other = f.socket("/rpc", kOtherKey);
  CHECK(has(all.ask(subscribe("{}")),
            R"({"types":["write.status","approval.resolved","capabilities.changed"],"prefix":"","resumed":false,)"));
  CHECK(has(other.ask(subscribe("{}")), "result"));
  CHECK(has(some.ask(subscribe(R"({"types":["capabilities.changed"]})")), R"("types":["capabilities.changed"])"));
  CHECK(
      has(some.ask(subscribe(R"({"types":["write.status"],"prefix":"notes."})")), R"("prefix":"notes.")"));  // instead
  CHECK(code_of(silent.ask(subscribe(R"({"types":["no.such"]})"))) == -32602);
  CHECK(code_of(silent.ask(subscribe(R"({"types":"write.status"})"))) == -32602);
  CHECK(code_of(silent.ask(subscribe(R"({"types":[1]})"))) == -32602);
  CHECK(code_of(silent.ask(subscribe(R"({"prefix":1})"))) == -32602);
  CHECK(code_of(f.call("events.subscribe", "{}")) == -32600);

  WriteRecord write;
  write.agent_id = "agent_1";
  write.write_id = "w_1";
  write.operation = "chat.send";
  const auto changed = f.gateway.on_write_changed();
  changed(write);
  const auto told = json_of(all.receive_text());
  CHECK(find_string(told, "method") == "write.status");
  CHECK(find_string(told["params"], "write_id") == "w_1");
  CHECK(find_string(told["params"], "capability") == "chat.send");
  write.operation = "notes.add";
  changed(write);
  CHECK(has(all.receive_text(), "notes.add"));
  CHECK(has(some.receive_text(), "notes.add"));
  f.gateway.on_capabilities_changed()();
  CHECK(has(all.receive_text(), R"("method":"capabilities.changed")"));
  CHECK(has(other.receive_text(), R"("method":"capabilities.changed")"));  // and nothing of another's writes
  write.state = WriteState::kRejected;
  write.approval_resolved = true;
  changed(write);
  CHECK(has(all.receive_text(), "write.status"));
  const auto resolved = json_of(all.receive_text());
  CHECK(find_string(resolved, "method") == "approval.resolved");
  CHECK(find_string(resolved["params"], "approval_id") == "w_1");
  CHECK(find_string(resolved["params"], "status") == "rejected");
  CHECK(has(some.receive_text(), "write.status"));  // and nothing of what it did not ask for
  CHECK(has(some.ask(list_text("1")), "result"));
  CHECK(has(silent.ask(list_text("1")), "result"));
  write.approval_resolved = false;
  all.client.close();
  changed(write);
  CHECK(has(some.receive_text(), "notes.add"));
}

TEST_CASE("over a WebSocket an agent hears what changes of the shared state, where it asks for it", "[gateway]") {
  Fixture f;
  const auto subscribe = [](const std::string& params) {
    return R"({"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":)" + params + "}";
  };
  auto silent = f.socket(), some = f.socket(), other = f.socket("/rpc", kOtherKey);
  CHECK(has(silent.ask(subscribe("{}")), "result"));
  CHECK(has(some.ask(subscribe(R"({"types":["state.changed"],"prefix":"config."})")), R"("types":["state.changed"])"));
  CHECK(has(other.ask(subscribe(R"({"types":["state.changed"]})")), R"("prefix":"")"));
  const auto changed = f.gateway.on_state_changed();
  changed({"config.a", 3, false, "agent_1", 1'700'000'000'000}, "alice");
  changed({"other", 4, true, "agent_2", 1'700'000'000'000}, "bob");
  const auto told = json_of(some.receive_text());
  CHECK(find_string(told, "method") == "state.changed");
  CHECK(find_string(told["params"], "key") == "config.a");
  CHECK(find_int(told["params"], "version") == 3);
  CHECK(find_bool(told["params"], "deleted") == false);
  CHECK(find_string(told["params"], "updated_by") == "alice");
  CHECK(find_string(told["params"], "updated_at") == "2023-11-14T22:13:20.000Z");
  CHECK(has(other.receive_text(), "config.a"));
  CHECK(has(other.receive_text(), R"("deleted":true)"));
  CHECK(has(some.ask(list_text("1")), "result"));  // and nothing of what it did not ask for
  CHECK(has(silent.ask(list_text("1")), "result"));

  CHECK(f.api.AgentApi::why_not_hear_state("agent_1")->type() == ErrorCode::kUnsupported);
  f.api.no_state = Error(ErrorCode::kPolicyDenied, "No sharing.");
  changed({"config.b", 1, false, "agent_1", 0}, "alice");
  CHECK(has(some.ask(list_text("1")), "result"));
  CHECK(code_of(silent.ask(subscribe(R"({"types":["state.changed"]})"))) == -32001);
}

TEST_CASE("a WebSocket that is lost may be followed by one that goes on with its events", "[gateway]") {
  Fixture f;
  const auto subscribe = [](const std::string& params) {
    return R"({"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":)" + params + "}";
  };
  WriteRecord write;
  write.agent_id = "agent_1";
  const auto changed = f.gateway.on_write_changed();
  const auto happens = [&](const std::string& id) {
    write.write_id = id;
    changed(write);
  };
  std::string heard;
  {
    auto first = f.socket();
    const auto begun = json_of(first.ask(subscribe(R"({"types":["write.status"]})")));
    CHECK_FALSE(begun["result"]["resumed"].GetBool());
    CHECK(find_int(begun["result"], "kept_for_seconds") == 120);
    heard = find_string(begun["result"], "event_id").value_or("");
    happens("w_1");
    const auto told = json_of(first.receive_text());
    CHECK(find_string(told["params"], "event_id") == heard.substr(0, heard.size() - 1) + "1");
    heard = find_string(told["params"], "event_id").value_or("");
  }
  happens("w_2");
  auto other = f.socket("/rpc", kOtherKey);
  CHECK(has(other.ask(subscribe(R"({"after":")" + heard + R"("})")), R"("resumed":false)"));
  auto second = f.socket();
  second.text(subscribe(R"({"after":")" + heard + R"("})"));
  const auto both = second.receive_text() + second.receive_text();  // in either order
  CHECK(has(both, "w_2"));
  CHECK_FALSE(has(both, "w_1"));
  CHECK(has(both, R"("result":{"types":["write.status"],"prefix":"","resumed":true})"));
  happens("w_3");
  CHECK(has(second.receive_text(), "w_3"));
  CHECK(code_of(second.ask(subscribe(R"({"after":1})"))) == -32602);
}

}  // namespace KRUXOS_TEST_FILE
