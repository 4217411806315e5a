// Files that agents send before the writes that carry them.
#include <filesystem>

#include "host/gateway/gateway_fixture.hpp"

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
