#include "host/gateway/gateway_fixture.hpp"

#include "core/util/ids.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

std::string result(const std::string& json) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + json + "}";
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string invoke_batch(int count, const std::string& capability) {
  std::string items;
  for (int i = 0; i < count; ++i) {
    items += std::string(i ? "," : "[") +
             R"({"jsonrpc":"2.0","method":"capabilities.invoke","params":{"capability":")" + capability +
             R"("},"id":)" + std::to_string(i) + "}";
  }
  return items + "]";
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("capabilities are listed, described and invoked", "[gateway]") {
  Fixture f;
  CHECK(f.call("capabilities.list", R"({"category":"c","name_contains":"n"})") ==
        result(R"({"capabilities":["c||n"]})"));
  CHECK(f.call("capabilities.list", "{}") == result(R"({"capabilities":["||"]})"));
  CHECK(f.call("capabilities.describe", R"({"name":"x.read"})") == result(R"({"name":"x.read"})"));
  CHECK(has(f.call("capabilities.describe", R"({"name":"x.\u001bwrite"})"), "-32602"));
  CHECK(f.call("capabilities.invoke", R"({"capability":"x.read","arguments":{"q":"é", "n": 1.50}})") ==
        result(R"({"success":true,"data":{"q":"é", "n": 1.50}})"));
  CHECK(f.call("capabilities.invoke", R"({"capability":"x.read"})") == result(R"({"success":true,"data":{}})"));
  CHECK(f.call("capabilities.invoke", R"({"capability":"fail","idempotency_key":"k"})") ==
        result(R"({"success":false,"error":{"type":"NotConnected"}})"));
  CHECK(f.api.last.idempotency_key == "k");
  CHECK(f.api.last.agent_id == "agent_1");
  CHECK(f.api.last.agent_name == "alice");
}

TEST_CASE("wrong parameters are named", "[gateway]") {
  Fixture f;
  struct Row {
    const char *method, *params, *says;
  };
  const std::vector<Row> rows{
      {"capabilities.invoke", "{}", "\\\"capability\\\" is missing"},
      {"capabilities.invoke", R"({"capability":1})", "must be a string"},
      {"capabilities.invoke", R"({"capability":"x","arguments":[]})", "must be an object"},
      {"capabilities.invoke", R"({"capability":"x","arguments":"{}"})", "must be an object"},
      {"capabilities.invoke", R"({"capability":"x","argument":{}})", "no parameter \\\"argument\\\""},
      {"capabilities.invoke", R"({"capability":"x","capability":"y"})", "stands twice"},
      {"capabilities.describe", "{}", "missing"},
      {"capabilities.list", R"({"tags":"x"})", "it takes category, tag, name_contains"},
      {"session.create", R"({"agent_name":7})", "must be a string"},
      {"session.end", "{}", "missing"},
      {"session.create", R"({"agent_name":"a\u0000b"})", "\\\"agent_name\\\" holds the character U+0000"},
      {"session.create", R"({"purpose":"\ud800"})", "\\\"purpose\\\" holds half of a surrogate pair"},
      {"capabilities.invoke", R"({"capability":"x","idempotency_key":"\u0000"})", "\\\"idempotency_key\\\" holds"},
  };
  for (const auto& row : rows) {
    const auto text = f.call(row.method, row.params);
    INFO(row.method << row.params << " -> " << text);
    CHECK(has(text, R"("code":-32602)"));
    CHECK(has(text, row.says));
  }
  CHECK(has(f.call("session.create", R"({"agent_name":")" + std::string(300, 'x') + "\"}"), "at most 256"));
  CHECK(has(f.call("no.such", "{}"), R"("code":-32601)"));
  CHECK(f.api.invoked == 0);
  CHECK(has(f.call("transaction.commit", "{}"), "\\\"transaction\\\" is missing"));
  CHECK(has(f.call("transaction.begin", R"({"timeout":0})"), "timeout"));
  CHECK(has(f.call("transaction.begin", R"({"session_id":"sess_none"})"), "SessionExpired"));
  CHECK(has(f.call("transaction.status", R"({"transaction":"tx_none"})"), "There is no transaction"));
  CHECK(f.api.invoked == 0);
  f.call("capabilities.invoke", R"({"capability":"x","transaction":"t"})");
  CHECK(f.api.last.transaction_id == "t");
}

TEST_CASE("sessions belong to one agent and end", "[gateway]") {
  Fixture f;
  const auto created = parse_json(f.call("session.create", R"({"agent_name":"helper","purpose":"tests"})"), "x");
  const auto& session = *find_member(created, "result");
  const std::string id(find_string(session, "session_id").value());
  CHECK(is_id("sess_", id));
  CHECK(find_string(session, "agent") == "alice");
  CHECK(find_int(session, "expires_in") == 86'400);
  const auto params = R"({"capability":"x","session_id":")" + id + "\"}";
  CHECK(has(f.call("capabilities.invoke", params), R"("success":true)"));
  CHECK(f.api.last.session_id == id);
  f.api.invoked = 0;
  CHECK(has(f.call("capabilities.invoke", params, kOtherKey), R"("success":false,"error":{"type":"SessionExpired")"));
  CHECK(has(f.call("session.end", R"({"session_id":")" + id + "\"}", kOtherKey), "SessionExpired"));
  CHECK(f.api.invoked == 0);
  SECTION("by session.end") {
    CHECK(f.call("session.end", R"({"session_id":")" + id + "\"}") == result(R"({"ended":true})"));
  }
  SECTION("by a day without use") {
    f.clock.advance(24 * 3'600'000);
  }
  CHECK(has(f.call("capabilities.invoke", params), "SessionExpired"));
  CHECK(f.api.invoked == 0);
}

TEST_CASE("without a valid key there is nothing", "[gateway]") {
  Fixture f;
  const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.list"})";
  for (const auto& header :
       {std::string(), "Authorization: Bearer " + kWrongKey + "\r\n", "Authorization: Bearer " + kKey + "a\r\n",
        "Authorization: Basic " + kKey + "\r\n", std::string("Authorization: Bearer\r\n"),
        "Authorization: Bearer " + std::string(64, 'g') + "\r\n", "Authorization: " + kKey + "\r\n"}) {
    RawClient client(f.port);
    const auto answer = client.ask(http_post("/rpc", body, header));
    INFO(header);
    CHECK(answer.status == 401);
    CHECK(has(answer.body, R"("code":-32003)"));
    CHECK(has(answer.headers.at("WWW-Authenticate"), "Bearer"));
    CHECK_FALSE(has(answer.body, kKey));
  }
  CHECK(f.post(body).status == 200);
  CHECK(RawClient(f.port).ask(http_post("/rpc", body, "authorization: bearer " + kKey + "\r\n")).status == 200);
}

TEST_CASE("guessing keys is slowed down, right keys pass", "[gateway]") {
  Fixture f;
  const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.list"})";
  for (int i = 0; i < 10; ++i) {
    CHECK(f.post(body, kWrongKey).status == 401);
    f.clock.advance(1'000);
  }
  const auto locked = f.post(body, kWrongKey);
  CHECK(locked.status == 429);
  CHECK(has(locked.body, R"("code":-32000)"));
  CHECK(locked.headers.at("Retry-After") == "50");
  CHECK(f.post(body, kOtherKey).status == 200);
  f.clock.advance(50'000);
  CHECK(f.post(body, kWrongKey).status == 401);
}

TEST_CASE("browsers and foreign names get nothing, other paths and methods are named", "[gateway]") {
  Fixture f;
  const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.list"})";
  CHECK(f.post(body, kKey, "Origin: http://localhost:7700\r\n").status == 403);
  CHECK(f.post(body, kKey, "Origin: null\r\n").status == 403);
  const auto with_host = [&](const std::string& host) {
    RawClient client(f.port);
    return client
        .ask("POST /rpc HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + kKey +
             "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)
        .status;
  };
  for (const auto* host : {"localhost", "LOCALHOST:1", "127.0.0.1:7700", "[::1]", "[::1]:7700"})
    CHECK(with_host(host) == 200);
  for (const auto* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil:7700", "[::2]", "", "evil@localhost"})
    CHECK(with_host(host) == 403);
  RawClient client(f.port);
  CHECK(client.ask(http_get("/")).status == 404);
  CHECK(client.ask(http_get("/health")).status == 404);
  const auto get = client.ask(http_get("/rpc"));
  CHECK(get.status == 405);
  CHECK(get.headers.at("Allow") == "POST");
}

TEST_CASE("a gateway for the network takes any Host", "[gateway]") {
  Fixture f;
  const auto port = f.server.listen_tcp("127.0.0.1", 0, f.gateway.handler(false)).port;
  CHECK(RawClient(port).ask("POST /rpc HTTP/1.1\r\nHost: kruxos.example\r\n\r\n").status == 401);
}

TEST_CASE("notifications alone are answered with 204", "[gateway]") {
  Fixture f;
  const auto answer = f.post(R"({"jsonrpc":"2.0","method":"capabilities.list"})");
  CHECK(answer.status == 204);
  CHECK(answer.body.empty());
  CHECK(answer.headers.count("Content-Length") == 0);
}

TEST_CASE("calls in flight are limited for a connection and for an agent", "[gateway]") {
  Fixture f({64, 100});
  const auto header = "Authorization: Bearer " + kKey + "\r\n";
  RawClient first(f.port), second(f.port);
  first.send(http_post("/rpc", invoke_batch(70, "wait"), header));
  f.api.wait_for_held(64);
  second.send(http_post("/rpc", invoke_batch(40, "wait"), header));
  f.api.wait_for_held(100);
  CHECK(has(f.call("capabilities.invoke", R"({"capability":"x"})"), "This agent has 100 calls in flight"));
  CHECK(has(f.call("capabilities.invoke", R"({"capability":"x"})", kOtherKey), R"("success":true)"));
  CHECK(has(f.call("capabilities.list", "{}", kOtherKey), "capabilities"));
  f.api.release();
  const auto one = first.receive().body, two = second.receive().body;
  CHECK(count_of(one, R"("success":true)") == 64);
  CHECK(count_of(one, "This connection has 64 calls in flight") == 6);
  CHECK(count_of(one, R"("code":-32000)") == 6);
  CHECK(count_of(two, "This agent has 100 calls in flight") == 4);
  CHECK(has(f.call("capabilities.invoke", R"({"capability":"x"})"), R"("success":true)"));
}

TEST_CASE("a message of an agent that may have no more calls is refused as it is", "[gateway]") {
  GatewayLimits limits;
  limits.calls_per_agent = 2;
  Fixture f(limits);
  const auto header = "Authorization: Bearer " + kKey + "\r\n";
  RawClient busy(f.port), client(f.port);
  busy.send(http_post("/rpc", invoke_batch(2, "wait"), header));
  f.api.wait_for_held(2);
  CHECK(f.api.turns_asked == 1);
  const auto refused = client.ask(http_post("/rpc", "[[[ no one looks at this", header));
  CHECK(refused.status == 429);
  CHECK(refused.headers.at("Retry-After") == "1");
  CHECK(has(refused.body, "This agent has 2 calls in flight"));
  CHECK(has(refused.body, R"("type":"RateLimited","retryable":true,"retry_after":1)"));
  CHECK(f.api.turns_asked == 1);
  CHECK(has(f.metrics.text({}), R"(kruxos_agent_requests_total{method="unknown",outcome="rate_limited"} 1)"));
  CHECK(f.post(invoke_batch(1, "x"), kOtherKey).status == 200);
  f.api.release();
  CHECK(busy.receive().status == 200);
  CHECK(client.ask(http_post("/rpc", invoke_batch(1, "x"), header)).status == 200);  // on the same connection
}

TEST_CASE("a hundred agents' clients at once", "[gateway]") {
  Fixture f;
  std::atomic<int> right{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back([&, i] {
      RawClient client(f.port);
      for (int k = 0; k < 20; ++k) {
        const auto text = R"({"n":)" + std::to_string(i * 100 + k) + "}";
        const auto answer = client.ask(http_post(
            "/rpc",
            R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"x","arguments":)" + text +
                "}}",
            "Authorization: Bearer " + (i % 2 ? kKey : kOtherKey) + "\r\n"));
        if (answer.body == result(R"({"success":true,"data":)" + text + "}")) ++right;
      }
    });
  }
  for (auto& client : clients) client.join();
  CHECK(right == 2000);
}

TEST_CASE("an agent that hangs up while its call runs costs nothing", "[gateway]") {
  Fixture f;
  {
    RawClient client(f.port);
    client.send(http_post("/rpc", invoke_batch(3, "wait"), "Authorization: Bearer " + kKey + "\r\n"));
    f.api.wait_for_held(3);
  }
  f.api.release();
  CHECK(has(f.call("capabilities.invoke", R"({"capability":"x"})"), R"("success":true)"));
}

namespace {
struct FakeHealth final : HealthSource {
  std::string status = "ok";
  bool ready = true;
  Health health() override { return {status, ready, R"({"status":")" + status + "\"}"}; }
};
}  // namespace

TEST_CASE("requests are counted by method and outcome, refused keys by why", "[gateway]") {
  Fixture f({64, 1});
  f.call("session.create", "{}");
  f.call("session.end", "{}");
  f.call("capabilities.list", R"({"nonsense":1})");
  f.call("capabilities.invoke", R"({"capability":"fail"})");
  f.call("capabilities.invoke", R"({"capability":"x","transaction":"t"})");
  f.call("capabilities.invoke", R"({"capability":"x","session_id":"s"})");
  f.call("capabilities.invent", "{}");
  std::thread held([&] { f.call("capabilities.invoke", R"({"capability":"wait"})"); });
  f.api.wait_for_held(1);
  f.call("capabilities.invoke", R"({"capability":"x"})");
  f.api.release();
  held.join();
  for (int i = 0; i < 30; ++i) f.call("session.create", "{}", std::string(64, 'e'));
  const auto text = f.metrics.text({});
  INFO(text);
  const auto counted = [&](const std::string& method, const std::string& outcome, int times) {
    return has(text, "kruxos_agent_requests_total{method=\"" + method + "\",outcome=\"" + outcome + "\"} " +
                         std::to_string(times) + "\n");
  };
  CHECK(counted("session.create", "ok", 1));
  CHECK(counted("session.end", "invalid_params", 1));
  CHECK(counted("capabilities.list", "invalid_params", 1));
  CHECK(counted("capabilities.invoke", "ok", 4));
  CHECK(counted("unknown", "rate_limited", 1));  // it was not looked at
  CHECK(counted("unknown", "unknown_method", 1));
  CHECK_FALSE(has(text, "wrong_key\"} 0"));
  CHECK_FALSE(has(text, "locked_out\"} 0"));
  CHECK_FALSE(has(text, "invent"));
}

TEST_CASE("the page of metrics stands beside the health pages", "[gateway]") {
  FakeHealth source;
  HttpServer server;
  const auto metrics = [](const Respond& respond) {
    ServerResponse response;
    response.content_type = "text/plain";
    response.body = "a 1\n";
    respond(std::move(response));
  };
  RawClient client(server.listen_tcp("127.0.0.1", 0, health_handler(source, metrics)).port);
  CHECK(client.ask(http_get("/metrics")).body == "a 1\n");
  CHECK(client.ask(http_get("/health")).status == 200);
  CHECK(client.ask(http_post("/metrics", "")).status == 405);
  CHECK(has(client.ask(http_get("/")).body, "/metrics"));
  CHECK(client.ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 403);
}

TEST_CASE("health and readiness", "[gateway]") {
  FakeHealth source;
  HttpServer server;
  const auto port = server.listen_tcp("127.0.0.1", 0, health_handler(source)).port;
  RawClient client(port);
  CHECK(client.ask(http_get("/health")).body == R"({"status":"ok"})");
  CHECK(client.ask(http_get("/health/ready")).body == R"({"ready":true})");
  source.status = "degraded";
  CHECK(client.ask(http_get("/health")).status == 200);
  source.status = "critical";
  source.ready = false;
  CHECK(client.ask(http_get("/health")).status == 503);
  CHECK(client.ask(http_get("/health/ready")).status == 503);
  CHECK(client.ask(http_post("/health", "")).status == 405);
  CHECK(client.ask(http_get("/metrics.txt")).status == 404);
  CHECK(client.ask(http_get("/metrics")).status == 404);
  CHECK(client.ask("GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 403);
}

TEST_CASE("a message is not looked at before its agent's turn, and one that is not taken says when to come back") {
  Fixture f;
  const auto message = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"x.read"}})";
  SECTION("its turn comes") {
    f.api.holds_turns_of = "agent_1";
    RawClient client(f.port);
    client.send(http_post("/rpc", message, "Authorization: Bearer " + kKey + "\r\n"));
    // Another agent's is answered meanwhile.
    CHECK(f.post(message, kOtherKey).status == 200);
    CHECK(f.api.invoked == 1);
    f.api.give_turn();
    CHECK(client.receive().status == 200);
    CHECK(f.api.invoked == 2);
  }
  SECTION("it has too much waiting") {
    f.api.refusal = Error(ErrorCode::kRateLimited, "256 calls of this agent wait already.", true, 1500);
    const auto answer = f.post(message);
    CHECK(answer.status == 429);
    CHECK(answer.headers.at("Retry-After") == "2");
    CHECK(answer.body.find(R"("type":"RateLimited","retryable":true,"retry_after":2)") != std::string::npos);
  }
  SECTION("its turn did not come") {
    f.api.refusal = Error(ErrorCode::kTimeout, "It waited 10 s.", true, 1000);
    const auto answer = f.post(message);
    CHECK(answer.status == 503);
    CHECK(answer.body.find("It waited 10 s.") != std::string::npos);
  }
  SECTION("it began and was given up") {
    f.api.refusal = Error(ErrorCode::kTimeout, "It may have been done in part.");
    const auto answer = f.post(message);
    CHECK(answer.status == 503);
    CHECK(answer.headers.count("Retry-After") == 0);
    CHECK(answer.body.find(R"("type":"Timeout","retryable":false})") != std::string::npos);
  }
}

}  // namespace KRUXOS_TEST_FILE
