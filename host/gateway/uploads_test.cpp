// Files that agents send before the writes that carry them.
#include <filesystem>

#include "host/gateway/gateway_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

std::string head(const std::string& target, const std::string& more, const std::string& key = kKey) {
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key + "\r\n" + more + "\r\n";
}

std::string length(std::size_t bytes) {
  return "Content-Length: " + std::to_string(bytes) + "\r\n";
}

std::size_t files(const Fixture& f) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(f.api.scratch.path()), {}));
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a file larger than any message is taken in, byte for byte", "[gateway]") {
  Fixture f;
  std::string bytes(3'000'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + i / 256);
  RawClient client(f.port);
  const auto request =
      head("/uploads?filename=r%C3%A9port.pdf", "Content-Type: application/pdf\r\n" + length(bytes.size()));
  const auto answer = client.ask(request + bytes);
  CHECK(answer.status == 201);
  CHECK(answer.body ==
        R"({"of":"agent_1","name":"réport.pdf","type":"application/pdf","sha256":")" + sha256_hex(bytes) + "\"}");
  CHECK(files(f) == 0);  // nobody took it over
  const auto again = client.ask(head("/uploads?filename=x", length(3)) + "abc");
  CHECK(has(again.body, sha256_hex("abc")));
  CHECK(f.api.invoked == 0);
}

TEST_CASE("an upload comes in chunks, after a question, empty, and in single bytes", "[gateway]") {
  Fixture f;
  RawClient client(f.port);
  auto answer =
      client.ask(head("/uploads?filename=x", "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  CHECK(has(answer.body, sha256_hex("abcde")));
  client.send(head("/uploads?filename=x", "Expect: 100-continue\r\n" + length(2)));
  CHECK(client.receive().status == 100);
  client.send("ab");
  CHECK(has(client.receive().body, sha256_hex("ab")));
  answer = client.ask(head("/uploads?filename=x", length(0)));
  CHECK(has(answer.body, sha256_hex("")));
  for (const char c : head("/uploads?filename=x", length(3)) + "xyz") client.send(std::string(1, c));
  CHECK(has(client.receive().body, sha256_hex("xyz")));
}

TEST_CASE("who has no key is refused before the first byte of the body", "[gateway]") {
  Fixture f;
  RawClient client(f.port);
  const auto answer = client.ask(head("/uploads?filename=x", length(1'000'000), kWrongKey));  // and no body
  CHECK(answer.status == 401);
  CHECK(f.api.targets == 0);
  RawClient foreign(f.port);
  const auto refused = foreign.ask("POST /uploads HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer " + kKey +
                                   "\r\n" + length(1'000'000) + "\r\n");
  CHECK(refused.status == 403);
  CHECK(f.api.targets == 0);
}

TEST_CASE("an upload that is too large or breaks off leaves nothing", "[gateway]") {
  Fixture f;
  {
    RawClient client(f.port);
    const auto answer = client.ask(head("/uploads?filename=x", length(5'000'000)));
    CHECK(answer.status == 413);
    CHECK(has(answer.body, "larger than 4194304 bytes"));
  }
  {
    RawClient client(f.port);
    client.send(head("/uploads?filename=x", "Transfer-Encoding: chunked\r\n"));
    const std::string chunk = "100000\r\n" + std::string(1 << 20, 'x') + "\r\n";
    for (int i = 0; i < 5; ++i) client.send(chunk);
    CHECK(client.receive().status == 413);
  }
  {
    RawClient client(f.port);
    client.send(head("/uploads?filename=x", length(1000)) + "only this");
    while (files(f) == 0) std::this_thread::yield();
  }
  while (files(f) != 0) std::this_thread::yield();
  f.api.scratch.path();
  RawClient client(f.port);
  const auto answer = client.ask(head("/uploads?filename=bad", length(1)) + "x");
  CHECK(answer.status == 400);
  CHECK(has(answer.body, "No such name."));
  CHECK(client.ask("GET /uploads HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 405);
}

TEST_CASE("a few uploads of an agent arrive at a time, and the others are told to come back", "[gateway]") {
  Fixture f;
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<RawClient>(f.port));
    slow.back()->send(head("/uploads?filename=slow", length(1000)) + "x");
    while (files(f) != slow.size()) std::this_thread::yield();
  }
  RawClient fifth(f.port);
  const auto refused = fifth.ask(head("/uploads?filename=x", length(1'000'000)) + "x");
  CHECK(refused.status == 429);
  CHECK(has(refused.body, "4 uploads of this agent are under way"));
  CHECK(has(refused.body, "Try again"));
  CHECK(refused.headers.at("Connection") == "close");
  CHECK(refused.headers.at("Retry-After") == "1");
  CHECK(files(f) == 4);
  RawClient other(f.port);
  CHECK(other.ask(head("/uploads?filename=x", length(1), kOtherKey) + "x").status == 201);
  CHECK(f.post(R"({"jsonrpc":"2.0","id":1,"method":"tools.list"})").status == 200);
  slow[1].reset();  // breaks off
  slow[0]->send(std::string(999, 'y'));
  CHECK(slow[0]->receive().status == 201);
  while (files(f) != 2) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) {  // who has its answer can send the next one at once
    RawClient next(f.port);
    CHECK(next.ask(head("/uploads?filename=x", length(3)) + "abc").status == 201);
    CHECK(next.ask(head("/uploads?filename=bad", length(3)) + "abc").status == 400);
  }
  for (int i = 0; i < 5; ++i) {  // and what is refused on its way holds no place
    RawClient large(f.port);
    CHECK(large.ask(head("/uploads?filename=x", length(5'000'000))).status == 413);
  }
}

TEST_CASE("uploads of all agents that arrive at a time have a limit as well", "[gateway]") {
  GatewayLimits limits;
  limits.uploads = 2;
  Fixture f(limits);
  RawClient first(f.port), second(f.port), third(f.port);
  first.send(head("/uploads?filename=x", length(10)));
  second.send(head("/uploads?filename=x", length(10), kOtherKey));
  while (files(f) != 2) std::this_thread::yield();
  const auto refused = third.ask(head("/uploads?filename=x", length(1), kOtherKey) + "x");
  CHECK(refused.status == 429);
  CHECK(has(refused.body, "2 uploads are under way"));
}

TEST_CASE("what arrives of an agent takes its room before the bytes are there", "[gateway]") {
  Fixture f;
  f.api.room = 5'000'000;
  RawClient first(f.port), second(f.port), third(f.port), chunks(f.port);
  first.send(head("/uploads?filename=x", length(3'000'000)) + "x");
  while (files(f) != 1) std::this_thread::yield();
  const auto refused = second.ask(head("/uploads?filename=x", length(2'000'001)) + "x");
  CHECK(refused.status == 429);
  CHECK(has(refused.body, "more than it may keep"));
  CHECK(chunks.ask(head("/uploads?filename=x", "Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n0\r\n\r\n").status ==
        429);  // it may become the largest
  CHECK(third.ask(head("/uploads?filename=x", length(3)) + "abc").status == 201);
  f.api.room = 0;
  CHECK(third.ask(head("/uploads?filename=x", length(3)) + "abc").status == 429);
  first.send(std::string(2'999'999, 'y'));
  CHECK(first.receive().status == 201);
  // One alone is looked at when it is there: it may be one that the agent has.
  RawClient again(f.port);
  CHECK(again.ask(head("/uploads?filename=x", length(3)) + "abc").status == 201);
}

TEST_CASE("who sends nothing is cut off soon, and who sends gets more time", "[gateway]") {
  support::Scratch scratch;
  HttpLimits limits;
  limits.body_ms = 50;  // how often the server looks
  std::atomic<int> targets{0};
  const Admission admission = [&](const ServerRequest&) {
    return Admitted{{}, nullptr, BodyToFile{scratch.path() / std::to_string(++targets), 1 << 20, 300, 1}};
  };
  HttpServer server;
  const auto port =
      server
          .listen_tcp(
              "127.0.0.1", 0, [](const ServerRequest&, const Respond& respond) { respond(ServerResponse{}); }, limits,
              std::nullopt, admission)
          .port;
  RawClient sends(port);
  sends.send(head("/uploads", length(10'000)) + std::string(5'000, 'x'));
  std::error_code missing;
  while (std::filesystem::file_size(scratch.path() / "1", missing) != 5'000) std::this_thread::yield();
  for (int i = 0; i < 2; ++i) {
    RawClient hangs(port);
    CHECK(hangs.ask(head("/uploads", length(10'000))).status == 408);
  }
  sends.send(std::string(5'000, 'x'));
  CHECK(sends.receive().status == 200);
}

TEST_CASE("other requests keep to the ordinary limit, and a disk that takes nothing is told", "[gateway]") {
  Fixture f;
  RawClient client(f.port);
  CHECK(client.ask(head("/rpc", length((1 << 20) + 1))).status == 413);
  RawClient chunks(f.port);
  chunks.send(head("/rpc", "Transfer-Encoding: chunked\r\n") + "100001\r\n");
  CHECK(chunks.receive().status == 413);
  RawClient message(f.port);
  CHECK(message.ask(head("/uploads-not", length(2)) + "{}").status == 404);
  std::filesystem::remove_all(f.api.scratch.path());
  RawClient unlucky(f.port);
  const auto answer = unlucky.ask(head("/uploads?filename=x", length(1)) + "x");
  CHECK(answer.status == 503);
  CHECK(has(answer.body, "space left"));
}

}  // namespace KRUXOS_TEST_FILE
