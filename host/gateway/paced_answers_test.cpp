// Whoever sends more than he may is answered later; nobody else is.
#include "host/gateway/gateway_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

const std::string kList = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.list"})";

std::string message(const std::string& key, const std::string& body = kList) {
  return http_post("/rpc", body, "Authorization: Bearer " + key + "\r\n");
}

/// Ten messages a second, of which ten may come at once.
HttpLimits slow_pace() {
  HttpLimits limits;
  limits.pace = {10, 10, 5'000};
  return limits;
}

struct Paced : Fixture {
  explicit Paced(HttpLimits limits = slow_pace(), GatewayLimits of_gateway = {})
      : Fixture(of_gateway, limits, Time::kDriven) {}

  /// Lets the time go by until that is so.
  void until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      server_clock.advance(10);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  /// For how long the answer to what was sent is held.
  std::int64_t held_ms(const RawClient& client) {
    const auto before = server_clock.boot_ms();
    until([&] { return client.has_news(); });
    return server_clock.boot_ms() - before;
  }
};

}  // namespace

TEST_CASE("answers to an agent that sends more than it may wait, over however many connections it sends", "[gateway]") {
  Paced f;
  RawClient first(f.port), second(f.port), other(f.port);
  for (int i = 0; i < 5; ++i) {
    CHECK(first.ask(message(kKey)).status == 200);
    CHECK(second.ask(message(kKey)).status == 200);
  }
  first.send(message(kKey) + message(kKey));
  for (int i = 0; i < 10; ++i) CHECK(other.ask(message(kOtherKey)).status == 200);
  CHECK_FALSE(first.has_news());
  CHECK(f.held_ms(first) >= 100);
  CHECK(first.receive().status == 200);
  f.held_ms(first);  // the message behind it waits with it
  CHECK(first.receive().status == 200);
  f.server_clock.advance(10'000);
  CHECK(second.ask(message(kKey)).status == 200);
}

TEST_CASE("a long message, and a long answer, count as many", "[gateway]") {
  Paced f;
  f.api.big_bytes = 32 << 14;
  const bool answer = GENERATE(false, true);
  RawClient client(f.port);
  client.send(
      answer ? message(kKey, R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"big"}})")
             : message(kKey, kList + std::string(32 << 14, ' ')));
  CHECK(f.held_ms(client) >= 2'300);
  CHECK(client.receive().status == 200);
}

TEST_CASE("those without a key wait for each other, and no agent for them", "[gateway]") {
  Paced f;
  RawClient stranger(f.port), guess(f.port), agent(f.port);
  const auto began_ms = f.server_clock.boot_ms();
  stranger.send(http_get("/nothing"));
  CHECK(f.held_ms(stranger) >= 700);  // a refusal counts as 16 messages besides itself
  CHECK(stranger.receive().status == 404);
  for (int i = 0; i < 10; ++i) CHECK(agent.ask(message(kKey)).status == 200);
  guess.send(http_post("/rpc", "", "Authorization: Bearer " + kWrongKey + "\r\n"));
  f.held_ms(guess);
  CHECK(f.server_clock.boot_ms() - began_ms >= 2'400);  // two refusals, of which ten messages are free
  CHECK(guess.receive().status == 401);
}

TEST_CASE("an agent's refusal is its own account's, though its request was not taken in", "[gateway]") {
  HttpLimits limits;
  limits.pace = {10, 20, 5'000};  // of which one refusal may come at once
  GatewayLimits none;
  none.memory.of_agent = 0;
  none.uploads_per_agent = 0;
  Paced f(limits, none);
  const std::string path = GENERATE("/rpc", "/uploads");
  const auto refused = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kKey + "\r\n\r\n";
  CHECK(RawClient(f.port).ask(refused).status == 429);
  CHECK(RawClient(f.port).ask(http_get("/nothing")).status == 404);  // at once: nobody else has asked without a key
  RawClient again(f.port);
  again.send(refused);
  CHECK(f.held_ms(again) >= 1'300);
  CHECK(again.receive().status == 429);
}

TEST_CASE("a refusal that is held goes out as it is, whatever still comes of the request, and if it ends",
          "[gateway]") {
  Paced f;
  const bool ends = GENERATE(false, true);
  RawClient client(f.port);
  client.send("POST /uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\nAuthorization: Bearer " + kKey +
              "\r\n\r\nthe first half");
  const auto file = f.api.scratch.path() / "1";
  while (!std::filesystem::exists(file)) std::this_thread::yield();
  f.server_clock.advance(20'000);
  f.until([&] { return !std::filesystem::exists(file); });  // its time is over, and the answer to that is held
  if (ends)
    client.end_sending();
  else
    client.send(message(kKey));
  CHECK_FALSE(client.has_news());
  CHECK(f.held_ms(client) >= 600);
  CHECK(client.receive().status == 408);
  CHECK(client.is_closed_by_server());
  CHECK(f.api.turns_asked == 0);
}

TEST_CASE("an answer that is held goes out when the server stops", "[gateway]") {
  Paced f;
  RawClient client(f.port);
  client.send(message(kKey, kList + std::string(1 << 19, ' ')));
  while (f.api.turns_asked < 1) std::this_thread::yield();
  std::thread stopping([&] { f.server.stop(10'000); });
  CHECK(client.receive().status == 200);
  client.close();
  stopping.join();
}

TEST_CASE("a client that goes while its answer is held is let go of", "[gateway]") {
  Paced f;
  {
    RawClient client(f.port);
    client.send(message(kKey, kList + std::string(1 << 19, ' ')));
    while (f.api.turns_asked < 1) std::this_thread::yield();
  }
  for (int i = 0; i < 400 && f.server.connections() > 0; ++i) {
    f.server_clock.advance(100);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(f.server.connections() == 0);
}

}  // namespace KRUXOS_TEST_FILE
