// Calls of the Model Context Protocol that take their time: what is heard of them, and taking them back.
#include <future>
#include <set>

#include "host/gateway/gateway_fixture.hpp"
#include "host/gateway/mcp/conversation.hpp"
#include "host/gateway/mcp/notes_service.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

constexpr auto kLongEnough = std::chrono::seconds(20);
const std::string kBearer = "Authorization: Bearer " + kKey + "\r\n";
const std::string kTakesEvents = "Accept: application/json, text/event-stream\r\n";
const std::string kHandshakeText =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})";
const std::string kPingText = R"({"jsonrpc":"2.0","id":9,"method":"ping"})";

std::string call(const std::string& id, const std::string& name, const std::string& meta = {}) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":")" + name +
         R"(","arguments":{})" + (meta.empty() ? "" : R"(,"_meta":{)" + meta + "}") + "}}";
}

std::string cancelled(const std::string& id) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}";
}

std::string stateless(const std::string& name, const std::string& token = {}, const std::string& more = kTakesEvents) {
  const auto meta =
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{})" +
      (token.empty() ? "" : R"(,"progressToken":)" + token);
  return http_post(
      "/mcp", call("1", name, meta),
      kBearer + more + "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " + name + "\r\n");
}

/// Of the call that came last.
std::future<void> when_cancelled(FakeApi& api) {
  const auto promise = std::make_shared<std::promise<void>>();
  REQUIRE(api.last.cancellation);
  api.last.cancellation->on_cancel([promise] { promise->set_value(); });
  return promise->get_future();
}

bool comes(const std::future<void>& future) {
  return future.wait_for(kLongEnough) == std::future_status::ready;
}

struct SessionFixture : Fixture {
  void offer_slow_resource() {
    auto definition = notes();
    definition->capabilities[0].name = "wait";
    definition->resources = {{"notes://slow", "slow", "Takes its time.", "", "wait"}};
    api.offers = offers_of(definition);
  }
  std::string session(const std::string& key = kKey) {
    RawClient client(port);
    return client.ask(http_post("/mcp", kHandshakeText, "Authorization: Bearer " + key + "\r\n"))
        .headers.at("Mcp-Session-Id");
  }
  std::string in(const std::string& session, const std::string& body, const std::string& more = {}) {
    return http_post("/mcp", body,
                     kBearer + "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + session + "\r\n" + more);
  }
};

}  // namespace

TEST_CASE("What takes its time is answered by events, with the answer last", "[mcp]") {
  Fixture f;
  RawClient client(f.port);
  client.send(stateless("wait", R"("t1")"));
  CHECK(client.receive().headers.at("Content-Type") == "text/event-stream");
  f.api.wait_for_held(1);
  f.api.last.tell("It waits.");
  f.api.last.tell("It goes out.");
  f.api.release();
  bool whole = false;
  const auto body = client.receive_chunks(&whole);
  CHECK(whole);
  const std::string begins = "event: message\ndata: ";
  const auto progress = [&](int number, const std::string& text) {
    return begins + R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t1","progress":)" +
           std::to_string(number) + R"(,"message":")" + text + "\"}}\n\n";
  };
  CHECK(body.starts_with(progress(1, "It waits.") + progress(2, "It goes out.") + begins +
                         R"({"jsonrpc":"2.0","id":1,"result":{)"));
  CHECK(body.ends_with("}\n\n"));
  CHECK(client.ask(stateless("quick")).status == 200);  // the connection goes on
}

TEST_CASE("An answer by events may be larger than what nobody asked for", "[mcp]") {
  Fixture f;
  const std::string text((1 << 20) + (1 << 19), 'x');
  f.api.answer_of_held = R"({"text":")" + text + "\"}";
  RawClient client(f.port);
  client.send(stateless("wait", R"("t1")"));
  CHECK(client.receive().status == 200);
  f.api.wait_for_held(1);
  f.api.last.tell("It waits.");
  f.api.release();
  bool whole = false;
  const auto body = client.receive_chunks(&whole);
  CHECK(whole);
  CHECK(body.size() > 2 * text.size());
  CHECK(body.ends_with("\"isError\":false}}\n\n"));
  CHECK(client.ask(stateless("quick")).status == 200);
}

TEST_CASE("A client that reads nothing of a call's progress is reset, and its call taken back", "[mcp]") {
  HttpLimits limits;
  limits.unsent_bytes = 4'000;
  Fixture f({}, limits);
  RawClient client(f.port);
  client.send(stateless("wait", R"("t1")"));
  CHECK(client.receive().status == 200);
  f.api.wait_for_held(1);
  const auto taken_back = when_cancelled(f.api);
  for (int i = 0; i < 2; ++i) f.api.last.tell(std::string(5'000, 'x'));
  CHECK(comes(taken_back));
  f.api.release();
  client.receive_bytes(std::string::npos);
  CHECK(client.was_reset());
}

TEST_CASE("Without a token nothing is told, and no more than the answer comes", "[mcp]") {
  Fixture f;
  RawClient client(f.port);
  client.send(stateless("wait"));
  client.receive();
  f.api.wait_for_held(1);
  CHECK_FALSE(f.api.last.progress);
  f.api.release();
  CHECK(client.receive_chunks().starts_with("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"));
}

TEST_CASE("What is short, and who takes no events, is answered by JSON", "[mcp]") {
  Fixture f;
  RawClient client(f.port);
  CHECK(client.ask(stateless("quick", "7")).headers.at("Content-Type") == "application/json");
  std::thread releases([&] {
    f.api.wait_for_held(1);
    f.api.release();
  });
  CHECK(client.ask(stateless("wait", "7", "Accept: application/json\r\n")).headers.at("Content-Type") ==
        "application/json");
  releases.join();
  CHECK_FALSE(f.api.last.progress);
}

TEST_CASE("Without sessions the end of the stream takes the call back", "[mcp]") {
  Fixture f;
  RawClient client(f.port);
  client.send(stateless("wait"));
  client.receive();
  f.api.wait_for_held(1);
  const auto taken_back = when_cancelled(f.api);
  client.close();
  CHECK(comes(taken_back));
  f.api.release();
}

TEST_CASE("In a session a notification takes a call back, and its request ends without an answer", "[mcp]") {
  SessionFixture f;
  const auto session = f.session(), other = f.session();
  RawClient client(f.port), more(f.port);
  client.send(f.in(session, call("\"a\"", "wait")));
  f.api.wait_for_held(1);
  const auto taken_back = when_cancelled(f.api);
  for (const auto& nothing : {f.in(other, cancelled("\"a\"")), f.in(session, cancelled("\"b\"")),
                              f.in(session, R"({"jsonrpc":"2.0","method":"notifications/cancelled"})"),
                              http_post("/mcp", cancelled("\"a\""), kBearer)})
    CHECK(more.ask(nothing).status == 202);
  CHECK_FALSE(f.api.last.is_given_up());
  CHECK(more.ask(f.in(session, cancelled("\"a\""))).status == 202);
  CHECK(comes(taken_back));
  const auto ended = client.receive();
  CHECK(ended.status == 202);
  CHECK(ended.body.empty());
  f.api.release();
  CHECK(client.ask(f.in(session, kPingText)).status == 200);
  CHECK(more.ask(f.in(session, cancelled("\"a\""))).status == 202);  // it is over
}

TEST_CASE("A resource that takes its time is heard of and taken back as a call is", "[mcp]") {
  SessionFixture f;
  f.offer_slow_resource();
  const std::string kRead = R"({"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"notes://slow")";
  SECTION("in a session by a notification") {
    const auto session = f.session();
    RawClient client(f.port), more(f.port);
    client.send(f.in(session, kRead + R"(,"_meta":{"progressToken":"p"}}})", kTakesEvents));
    CHECK(client.receive().headers.at("Content-Type") == "text/event-stream");
    f.api.wait_for_held(1);
    const auto taken_back = when_cancelled(f.api);
    f.api.last.tell("It asks.");
    CHECK(more.ask(f.in(session, cancelled("3"))).status == 202);
    CHECK(comes(taken_back));
    const auto told = client.receive_chunks();
    CHECK_THAT(told, Catch::Contains(R"("progressToken":"p","progress":1,"message":"It asks.")"));
    CHECK_THAT(told, !Catch::Contains("\"id\":3"));
  }
  SECTION("without sessions by the stream's end") {
    const std::string meta =
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
    RawClient client(f.port);
    client.send(
        http_post("/mcp", kRead + "," + meta + "}}",
                  kBearer + kTakesEvents +
                      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: notes://slow\r\n"));
    CHECK(client.receive().headers.at("Content-Type") == "text/event-stream");
    f.api.wait_for_held(1);
    const auto taken_back = when_cancelled(f.api);
    client.close();
    CHECK(comes(taken_back));
  }
  f.api.release();
}

TEST_CASE("In a session the end of a connection takes nothing back, and a call hears of itself by events", "[mcp]") {
  SessionFixture f;
  const auto session = f.session();
  RawClient client(f.port);
  client.send(f.in(session, call("1", "wait", R"("progressToken":5)"), kTakesEvents));
  CHECK(client.receive().headers.at("Content-Type") == "text/event-stream");
  f.api.wait_for_held(1);
  f.api.last.tell("It waits.");
  CHECK_THAT(client.receive_bytes(240), Catch::Contains(R"("progressToken":5,"progress":1)"));
  client.close();
  f.server.stop(0);
  CHECK_FALSE(f.api.last.is_given_up());
  f.api.release();
}

TEST_CASE("Over a WebSocket calls hear of themselves, and are taken back", "[mcp]") {
  Fixture f;
  auto socket = f.socket("/mcp"), other = f.socket("/mcp");
  socket.ask(kHandshakeText);
  other.ask(kHandshakeText);
  socket.text(call("1", "wait", R"("progressToken":"p")"));
  f.api.wait_for_held(1);
  const auto taken_back = when_cancelled(f.api);
  f.api.last.tell("It waits.");
  CHECK_THAT(socket.receive_text(), Catch::Contains(R"("progressToken":"p","progress":1,"message":"It waits.")"));
  other.text(cancelled("1"));
  CHECK_THAT(other.ask(kPingText), Catch::Contains("\"id\":9"));
  CHECK_FALSE(f.api.last.is_given_up());
  socket.text(cancelled("1"));
  CHECK(comes(taken_back));
  f.api.release();
  CHECK_THAT(socket.ask(kPingText), Catch::Contains("\"id\":9"));  // and nothing before
}

TEST_CASE("No conversation has the number of another one, also not of one that has ended", "[mcp]") {
  std::set<std::string> numbers;
  for (int i = 0; i < 100; ++i) numbers.insert(std::make_unique<mcp::Conversation>(nullptr)->key());
  CHECK(numbers.size() == 100);
}

TEST_CASE("In a batch nobody is answered by events, and what is taken back is left out", "[mcp]") {
  SessionFixture f;
  const auto session = f.session();
  RawClient client(f.port), more(f.port);
  client.send(
      f.in(session, "[" + call("1", "wait", R"("progressToken":5)") + "," + call("2", "quick") + "]", kTakesEvents));
  f.api.wait_for_held(1);
  CHECK(more.ask(f.in(session, cancelled("1"))).status == 202);
  const auto answer = client.receive();
  CHECK(answer.headers.at("Content-Type") == "application/json");
  CHECK(answer.body.starts_with(R"([{"jsonrpc":"2.0","id":2,)"));
  f.api.release();
}

TEST_CASE("A notification that is refused is not answered", "[mcp]") {
  Fixture f;
  auto socket = f.socket("/rpc");
  const std::string notification = R"({"jsonrpc":"2.0","method":"capabilities.list","params":{)",
                    request = R"({"jsonrpc":"2.0","id":7,"method":"capabilities.list"})";
  f.api.refusal = {ErrorCode::kRateLimited, "Not now.", true, 1000};
  socket.text(notification + "}}");
  socket.text(notification + "\"name_contains\":\"" + std::string(8'000, 'x') + "\"}}");
  CHECK_THAT(socket.ask(request), Catch::Contains("\"id\":7,\"error\""));
  CHECK_THAT(socket.ask("no JSON"), Catch::Contains("\"id\":null"));
}

}  // namespace KRUXOS_TEST_FILE
