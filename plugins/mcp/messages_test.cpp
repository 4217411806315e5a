// What is said to a server, and what it says.
#include "messages.hpp"

#include <kruxos/kit/json.hpp>

#include <catch2/catch.hpp>
#include <string>

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using kruxos::ProxyError;
using mcp::Handshake;
using mcp::read_messages;
using mcp::RpcError;

namespace {

mcp::Incoming one(std::string_view json) {
  auto all = read_messages(json);
  REQUIRE(all.size() == 1);
  return all[0];
}

std::string shown(const mcp::Incoming& incoming) {
  if (incoming.is_request()) return "request " + incoming.method + " " + incoming.id_json;
  if (incoming.is_notification()) return "notification " + incoming.method;
  if (!incoming.answers) return "nothing";
  const auto id = std::to_string(*incoming.answers) + " ";
  if (!incoming.answer) return id + "no answer";
  if (const auto* error = std::get_if<RpcError>(&*incoming.answer))
    return id + std::to_string(error->code()) + " " + error->what();
  return id + std::get<std::string>(*incoming.answer);
}

}  // namespace

TEST_CASE("messages are one line of JSON-RPC each") {
  CHECK(mcp::request_message(7, "tools/list", R"({"cursor":"a"})") ==
        R"({"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"a"}})");
  CHECK(mcp::notification_message("notifications/initialized") ==
        R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK_THAT(mcp::cancelled_message(7), Contains("notifications/cancelled") && Contains(R"("requestId":7)"));
  CHECK(mcp::with_meta({}, "{ \"a\":\n 1 }") == R"({"a":1})");
  for (const char* params : {"", "[]", "7", "{", R"({"a":1} {})"})
    CHECK_THROWS_AS(mcp::with_meta({}, params), ProxyError);
}

TEST_CASE("a handshake with a server that has sessions takes its version") {
  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    Handshake handshake;
    const auto first = handshake.first();
    CHECK(first->method == "initialize");
    CHECK(first->params_json ==
          R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"kruxos","version":"1.0.0"}})");
    CHECK_FALSE(handshake.take(R"({"protocolVersion":")" + std::string(version) + "\"}"));
    CHECK(handshake.agreed().version == version);
    CHECK_FALSE(handshake.agreed().stateless);
  }
}

TEST_CASE("a server of another version is refused by its name") {
  for (const char* version : {"2023-01-01", "", "x\\u001b[31m"}) {
    try {
      (void)Handshake().take(R"({"protocolVersion":")" + std::string(version) + "\"}");
      FAIL("it was taken");
    } catch (const ProxyError& error) {
      CHECK(error.kind() == kruxos::ErrorKind::kRefused);
      CHECK(error.type() == "ServerNotUnderstood");
      CHECK(error.has_no_effect());
      CHECK_THAT(error.what(), !Contains("\x1b"));
    }
  }
  CHECK_THROWS_WITH(Handshake().take(R"({"protocolVersion":"2023-01-01"})"), Contains("2023-01-01"));
  CHECK_THROWS_WITH(Handshake().take(std::string(R"({"protocolVersion":7})")), Contains("not understood"));
  CHECK_THROWS_AS(Handshake().take(RpcError(-32603, "not today")), RpcError);
}

TEST_CASE("a server without sessions is discovered") {
  for (const std::int64_t code : {-32601, -32022}) {
    Handshake handshake;
    const auto next = handshake.take(RpcError(code, "no"));
    REQUIRE(next);
    CHECK(next->method == "server/discover");
    CHECK_THAT(next->params_json, Contains(R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")"));
    CHECK_FALSE(handshake.take(std::string(R"({"supportedVersions":["2027-01-01","2026-07-28"]})")));
    CHECK(handshake.agreed().stateless);
    CHECK(handshake.agreed().version == "2026-07-28");
  }
  Handshake other;
  (void)other.take(RpcError(-32601, "no"));
  CHECK_THROWS_WITH(other.take(std::string(R"({"supportedVersions":["2027-01-01"]})")), Contains("2027-01-01"));
  CHECK_THROWS_WITH(other.take(RpcError(-32601, "no")), Contains("neither"));
}

TEST_CASE("stateless requests carry all there is to know, beside what their meta has") {
  const auto with = mcp::with_meta(
      {"2026-07-28", true}, R"({"name":"a","_meta":{"key":"w_1","io.modelcontextprotocol/protocolVersion":"x"}})");
  CHECK(with == R"({"name":"a","_meta":{"key":"w_1","io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                R"("io.modelcontextprotocol/clientInfo":{"name":"kruxos","version":"1.0.0"},)"
                R"("io.modelcontextprotocol/clientCapabilities":{}}})");
  CHECK_THAT(mcp::with_meta({"2026-07-28", true}, "{}"), Contains("clientCapabilities"));
}

TEST_CASE("what a server says is one of few things, or nothing") {
  CHECK(shown(one(R"({"jsonrpc":"2.0","id":3,"result":{"a":[1,"\u00e4"]}})")) == "3 {\"a\":[1,\"ä\"]}");
  CHECK(shown(one(R"({"id":3,"error":{"code":-32602,"message":"no\nsuch \u001b tool"}})")) == "3 -32602 no such tool");
  CHECK(shown(one(R"({"id":3,"error":{"code":"x"}})")) == "3 0 It gave no reason.");
  CHECK(shown(one(R"({"id":3,"error":7})")) == "3 no answer");
  CHECK(shown(one(R"({"id":3,"result":7})")) == "3 no answer");
  CHECK(shown(one(R"({"id":3})")) == "3 no answer");
  CHECK(shown(one(R"({"id":"a","method":"ping"})")) == "request ping \"a\"");
  CHECK(shown(one(R"({"method":"notifications/tools/list_changed"})")) ==
        "notification notifications/tools/list_changed");
  CHECK(one(R"({"method":"notifications/tools/list_changed"})").changes_tools());
  for (const char* json : {"", "x", "7", "null", R"("id")", "[]", R"({"id":"3","result":{}})",
                           R"({"id":null,"result":{}})", R"({"id":3.5,"result":{}})", R"({"id":null,"method":"ping"})",
                           R"({"id":{},"method":"ping"})", R"({"method":7,"id":"a"})"}) {
    INFO(json);
    CHECK(shown(one(json)) == "nothing");
  }
  CHECK(shown(one(R"({"id":")" + std::string(1000, 'x') + R"(","method":"ping"})")) == "nothing");
  CHECK(shown(one(R"({"id":1,"method":")" + std::string(1000, 'x') + "\"}")) == "nothing");
  const auto batch = read_messages(R"([{"id":1,"result":{}},7,{"method":"a"}])");
  REQUIRE(batch.size() == 3);
  CHECK(shown(batch[0]) == "1 {}");
  CHECK(shown(batch[1]) == "nothing");
  std::string many = "[0";
  for (int i = 0; i < 1000; ++i) many += ",0";
  CHECK(read_messages(many + "]").size() == 1);
}

TEST_CASE("a server that asks is answered, and offered nothing") {
  CHECK(mcp::reply_to(one(R"({"id":"a","method":"ping"})")) == R"({"jsonrpc":"2.0","id":"a","result":{}})");
  CHECK_THAT(mcp::reply_to(one(R"({"id":5,"method":"sampling/createMessage"})")),
             Contains(R"("id":5)") && Contains("-32601"));
}

TEST_CASE("a result is taken, and anything else thrown") {
  CHECK(mcp::result_of(mcp::Answer(std::string("{}"))) == "{}");
  CHECK_THROWS_AS(mcp::result_of(mcp::Answer(RpcError(1, "no"))), RpcError);
  CHECK_THROWS_WITH(mcp::result_of(std::nullopt), Contains("no answer of the protocol"));
}

}  // namespace KRUXOS_TEST_FILE
