// What messages and answers take up of the host's memory, and who pays for it.
#include "host/gateway/gateway_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

std::string key_header(const std::string& key) {
  return "Authorization: Bearer " + key + "\r\n";
}

std::string rpc_head(std::size_t length, const std::string& key) {
  return "POST /rpc HTTP/1.1\r\nHost: localhost\r\n" + key_header(key) + "Content-Length: " + std::to_string(length) +
         "\r\n\r\n";
}

std::string calls_of_big(int count) {
  std::string items;
  for (int i = 0; i < count; ++i) {
    items += std::string(i ? "," : "[") +
             R"({"jsonrpc":"2.0","method":"capabilities.invoke","params":{"capability":"big"},"id":)" +
             std::to_string(i) + "}";
  }
  return items + "]";
}

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

GatewayLimits memory_limits(std::size_t of_agent, std::size_t of_all) {
  GatewayLimits limits;
  limits.memory = {of_agent, of_all, 1 << 20};
  return limits;
}

}  // namespace

TEST_CASE("no byte of a body is waited for from one without a valid key", "[gateway]") {
  Fixture f;
  const auto status = [&](const std::string& head) { return RawClient(f.port).ask(head).status; };
  const std::string rest = " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n";
  CHECK(status("POST /rpc" + rest + "\r\n") == 401);
  CHECK(status("POST /rpc" + rest + key_header(kWrongKey) + "\r\n") == 401);
  CHECK(status("POST /rpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n") == 401);
  CHECK(status("POST /rpc HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n" + key_header(kKey) + "\r\n") == 403);
  CHECK(status("POST /rpc" + rest + "Origin: http://localhost\r\n" + key_header(kKey) + "\r\n") == 403);
  CHECK(status("POST /else" + rest + key_header(kKey) + "\r\n") == 404);
  CHECK(status("PUT /rpc" + rest + key_header(kKey) + "\r\n") == 405);
  RawClient client(f.port);
  client.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  CHECK(client.receive().status == 401);  // and not 100
}

TEST_CASE("messages that arrive take up their agent's memory, and no other's", "[gateway]") {
  Fixture f(memory_limits(3'500'000, 100 << 20));
  const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.list"})";
  const auto padded = body + std::string((1 << 20) - body.size(), ' ');
  std::vector<RawClient> slow;
  for (int i = 0; i < 2; ++i) {
    slow.emplace_back(f.port);
    slow.back().send("POST /rpc HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1048576\r\n" +
                     key_header(kKey) + "\r\n");
    REQUIRE(slow.back().receive().status == 100);  // it was let in
    slow.back().send(padded.substr(0, 1000));
  }
  const auto refused = RawClient(f.port).ask(rpc_head(1 << 20, kKey));
  CHECK(refused.status == 429);
  CHECK(refused.body.find("Read the answers") != std::string::npos);
  CHECK(refused.headers.at("Retry-After") == "1");
  CHECK(f.post(body, kOtherKey).status == 200);
  slow.back().close();
  CHECK(slow[0].ask(padded.substr(1000)).status == 200);
  while (f.post(padded).status == 429) std::this_thread::yield();
}

TEST_CASE("a batch has no larger answer than its agent may have, and the rest is told so", "[gateway]") {
  Fixture f(memory_limits(4 << 20, 100 << 20));
  const auto answer = f.post(calls_of_big(20));
  CHECK(answer.status == 200);
  CHECK(answer.body.size() < (4 << 20));
  CHECK(times(answer.body, R"("success":true)") == 3);
  CHECK(times(answer.body, "its answer is left out") == 17);
  CHECK(times(answer.body, R"("code":-32000)") == 17);
  for (int i = 0; i < 20; ++i) {  // what was sent is paid
    RawClient client(f.port);
    while (client.ask(http_post("/rpc", calls_of_big(1), key_header(kKey))).body.size() < (1 << 20))
      std::this_thread::yield();
  }
}

TEST_CASE("answers that are not read are counted until they are, and hold nobody else up", "[gateway]") {
  GatewayLimits limits = memory_limits(70 << 20, 100 << 20);
  Fixture f(limits);
  f.api.big_bytes = 32 << 20;  // more than the kernel takes
  RawClient first(f.port), second(f.port);
  for (auto* client : {&first, &second}) client->send(http_post("/rpc", calls_of_big(1), key_header(kKey)));
  while (f.api.invoked < 2) std::this_thread::yield();
  RawClient third(f.port);
  const auto left_out = third.ask(http_post("/rpc", calls_of_big(1), key_header(kKey))).body;
  CHECK(left_out.find("its answer is left out") != std::string::npos);
  CHECK(f.call("capabilities.invoke", R"({"capability":"x"})").find("true") != std::string::npos);  // short ones pass
  f.api.big_bytes = 1 << 20;
  CHECK(f.call("capabilities.invoke", R"({"capability":"big"})", kOtherKey).size() > (1 << 20));
  CHECK(first.receive().body.size() > (32 << 20));
  f.api.big_bytes = 32 << 20;
  while (third.ask(http_post("/rpc", calls_of_big(1), key_header(kKey))).body.size() < (32 << 20))
    std::this_thread::yield();
  second.close();  // and what nobody will read is given back
  while (f.call("capabilities.invoke", R"({"capability":"big"})").size() < (32 << 20)) std::this_thread::yield();
}

}  // namespace KRUXOS_TEST_FILE
