// WebSockets on real sockets: handshakes, messages, ends.
#include <catch2/catch.hpp>

#include <thread>

#include "core/util/text.hpp"
#include "host/http/web_socket_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

/// The headers of a handshake, without one and with another.
std::string handshake_but(std::string_view name, std::string_view instead = {}) {
  std::string all(kHandshake);
  const auto from = all.find(name);
  REQUIRE(from != std::string::npos);
  return all.erase(from, all.find("\r\n", from) + 2 - from).append(instead);
}

}  // namespace

TEST_CASE("a handshake as in RFC 6455 opens a WebSocket, whose messages are answered", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  REQUIRE(socket.is_open());
  CHECK(socket.answer.headers.at("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(equal_ignoring_case(socket.answer.headers.at("Upgrade"), "websocket"));
  CHECK(equal_ignoring_case(socket.answer.headers.at("Connection"), "upgrade"));
  CHECK(socket.answer.headers.count("Sec-WebSocket-Protocol") == 0);
  CHECK(socket.answer.headers.count("Sec-WebSocket-Extensions") == 0);
  CHECK(socket.ask("hello") == "hello");
  CHECK(socket.ask("gr\xc3\xbc\xc3\x9f") == "gr\xc3\xbc\xc3\x9f");
  socket.text("none");
  CHECK(socket.ask("on") == "on");
  CHECK(served.script->users == 1);
}

TEST_CASE("a handshake may be put in other ways", "[websocket]") {
  Sockets served;
  RawClient client(served.port);
  SECTION("lists, other letters, an extension that is not taken") {
    CHECK(client
              .ask(http_get("/",
                            "connection: keep-alive , upGrade\r\nUpgrade: h2c, WebSocket\r\n"
                            "Sec-WebSocket-Extensions: permessage-deflate\r\nsec-websocket-version: 13\r\n"
                            "SEC-WEBSOCKET-KEY: dGhlIHNhbXBsZSBub25jZQ==\r\n"))
              .headers.count("Sec-WebSocket-Extensions") == 0);
    client.send(frame(kText, "x"));
    CHECK(client.receive_bytes(3) == "\x81\x01x");
  }
  SECTION("behind other requests of the connection, and with messages right behind it") {
    client.send(http_post("/one", "1") + http_get("/two") + http_get("/", kHandshake) + frame(kText, "early") +
                frame(kPing, "p"));
    CHECK(client.receive().body == "/one1");
    CHECK(client.receive().body == "/two");
    CHECK(client.receive().status == 101);
    const auto both = client.receive_bytes(10);
    CHECK(both.find("\x81\x05"
                    "early") != std::string::npos);
    CHECK(both.find("\x8a\x01p") != std::string::npos);
  }
  SECTION("a subprotocol is chosen where it was offered, by its very name") {
    const auto chosen = [&](const std::string& offer) {
      const auto answer = RawWebSocket(served.port, "/", "Sec-WebSocket-Protocol: " + offer + "\r\n").answer;
      CHECK(answer.status == 101);
      const auto at = answer.headers.find("Sec-WebSocket-Protocol");
      return at == answer.headers.end() ? "" : at->second;
    };
    CHECK(chosen("chat") == "chat");
    CHECK(chosen("other, chat") == "chat");
    CHECK(chosen("other") == "");
    CHECK(chosen("Chat") == "");
  }
}

TEST_CASE("a handshake that is none is refused, and the connection goes on", "[websocket]") {
  Sockets served;
  RawClient client(served.port);
  const auto status = [&](const std::string& headers) { return client.ask(http_get("/", headers)).status; };
  CHECK(status(handshake_but("Connection")) == 400);
  CHECK(status(handshake_but("Connection", "Connection: keep-alive\r\n")) == 400);
  CHECK(status(handshake_but("Sec-WebSocket-Key")) == 400);
  for (const char* key : {"", "abc", "dGhlIHNhbXBsZSBub25jZQ",
                          "dGhlIHNhbXBsZSBub25jZTE2MTYxNg==", "????IHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j"}) {
    INFO(key);
    CHECK(status(handshake_but("Sec-WebSocket-Key", "Sec-WebSocket-Key: " + std::string(key) + "\r\n")) == 400);
  }
  CHECK(status(std::string(kHandshake) + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n") == 400);
  for (const char* version : {"", "8", "14", "13, 8"}) {
    const auto headers =
        handshake_but("Sec-WebSocket-Version", "Sec-WebSocket-Version: " + std::string(version) + "\r\n");
    const auto answer = client.ask(http_get("/", headers));
    CHECK(answer.status == 426);
    CHECK(answer.headers.at("Sec-WebSocket-Version") == "13");
    CHECK(answer.headers.at("Upgrade") == "websocket");
  }
  CHECK(status(handshake_but("Sec-WebSocket-Version")) == 426);
  // What does not ask for one gets an ordinary answer.
  CHECK(client.ask(http_get("/", handshake_but("Upgrade: "))).body == "/");
  CHECK(client.ask(http_get("/", handshake_but("Upgrade: ", "Upgrade: h2c\r\n"))).body == "/");
  CHECK(client.ask(http_get("/other", kHandshake)).body == "/other");
  CHECK(client.ask(http_post("/", "b", kHandshake)).body == "/b");
  CHECK(client.ask("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n" + std::string(kHandshake) + "\r\nb").status ==
        400);
  CHECK(RawClient(served.port).ask("GET / HTTP/1.0\r\nHost: h\r\n" + std::string(kHandshake) + "\r\n").body == "/");
  RawClient head(served.port);
  head.send("HEAD / HTTP/1.1\r\nHost: h\r\n" + std::string(kHandshake) + "\r\n");
  CHECK(head.receive(true).status == 200);
  CHECK(served.script->users == 0);
}

TEST_CASE("a message may come in parts, with control frames between them", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  socket.send(kText, "a\xc3", {.last = false});
  socket.send(kPing, "one");
  socket.send(kContinuation, "", {.last = false});
  socket.send(kPong, "unasked");
  socket.send(kContinuation, "\xa4", {.last = false});
  socket.send(kPing, "");
  socket.send(kContinuation, "z");
  const auto first = socket.receive(), second = socket.receive();
  CHECK(first.opcode == kPong);
  CHECK(first.payload == "one");
  CHECK(second.opcode == kPong);
  CHECK(second.payload == "");
  CHECK(socket.receive_text() == "a\xc3\xa4z");
  socket.send(kText, "x", {.last = false});
  socket.send(kContinuation, "");
  CHECK(socket.receive_text() == "x");
  // Byte by byte, also of the frame's head.
  for (const char c : frame(kText, std::string(200, 'y'))) socket.client.send(std::string_view(&c, 1));
  CHECK(socket.receive_text() == std::string(200, 'y'));
  socket.text("");  // is a message; its answer is nothing
  CHECK(socket.ask("end") == "end");
  CHECK(served.script->taken == 5);
}

TEST_CASE("a message has as many bytes as a body, and no more", "[websocket]") {
  Sockets served;
  const std::string whole(1 << 20, 'w');
  RawWebSocket socket(served.port);
  std::thread sender([&] {
    socket.text(whole);
    for (std::size_t at = 0; at < whole.size(); at += 1000)
      socket.send(at ? kContinuation : kText, whole.substr(at, 1000), {.last = at + 1000 >= whole.size()});
  });
  CHECK(socket.receive_text() == whole);
  CHECK(socket.receive_text() == whole);
  sender.join();
  SECTION("in one frame, whose head alone is enough") {
    socket.send(kText, "", {.declared = (1 << 20) + 1});
    CHECK(socket.closed_with() == 1009);
  }
  SECTION("in several") {
    socket.send(kText, whole.substr(1), {.last = false});
    socket.send(kContinuation, "12");
    CHECK(socket.closed_with() == 1009);
  }
  SECTION("more than there is in the world") {
    socket.send(kText, "", {.declared = UINT64_MAX >> 1});
    CHECK(socket.closed_with() == 1009);
  }
  CHECK(RawWebSocket(served.port).ask("x") == "x");
}

TEST_CASE("frames that break the rules end their connection, with a code", "[websocket]") {
  Sockets served;
  RawWebSocket other(served.port);
  const std::string text = frame(kText, "x");
  const struct {
    const char* what;
    std::string bytes;
    int code;
  } cases[] = {
      {"no mask", frame(kText, "x", {.masked = false}), 1002},
      {"no mask, of a ping", frame(kPing, "", {.masked = false}), 1002},
      {"a reserved bit", frame(kText, "x", {.reserved = 4}), 1002},
      {"another one", frame(kText, "x", {.reserved = 1}), 1002},
      {"one of a ping", frame(kPing, "x", {.reserved = 2}), 1002},
      {"a reserved opcode", frame(3, "x"), 1002},
      {"one of a control frame", frame(11, "x"), 1002},
      {"a continuation of nothing", frame(kContinuation, "x"), 1002},
      {"a message within another", frame(kText, "x", {.last = false}) + text, 1002},
      {"a ping in parts", frame(kPing, "x", {.last = false}), 1002},
      {"a long ping", frame(kPing, std::string(126, 'p')), 1002},
      {"a length in too many bytes", frame(kText, "x", {.length_bytes = 3}), 1002},
      {"in far too many", frame(kText, "x", {.length_bytes = 9}), 1002},
      {"a length with its first bit", frame(kText, "", {.declared = std::uint64_t(1) << 63}), 1009},
      {"half a code", frame(kClose, "\x03"), 1002},
      {"a code that is not sent", close_frame(1005), 1002},
      {"another one", close_frame(1006), 1002},
      {"a code that is none", close_frame(999), 1002},
      {"a reason that is no text", close_frame(1000, "\xff"), 1002},
      {"no text", frame(kText, "\xc0\xaf"), 1007},
      {"a surrogate", frame(kText, "\xed\xa0\x80"), 1007},
      {"half a character", frame(kText, "x\xc3"), 1007},
      {"half a character before an empty end", frame(kText, "x\xc3", {.last = false}) + frame(kContinuation, ""), 1007},
      {"bytes", frame(kBinary, "x"), 1003},
      {"bytes in parts", frame(kBinary, "x", {.last = false}), 1003},
  };
  for (const auto& one : cases) {
    INFO(one.what);
    RawWebSocket socket(served.port);
    CHECK(socket.ask("before") == "before");
    socket.client.send(one.bytes);
    CHECK(socket.closed_with() == one.code);
    CHECK(other.ask("still") == "still");
  }
  CHECK(served.script->users == 1);
}

TEST_CASE("what comes behind the end is not looked at", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  CHECK(socket.ask("one") == "one");
  socket.client.send(close_frame(1000) + frame(kText, "late") + frame(kText, "later"));
  CHECK(socket.closed_with() == 1000);
  CHECK(served.script->taken == 1);
}

TEST_CASE("the client's end is answered with its code", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  const auto out = served.script->take_opened();
  const Signal gone;
  out->when_gone(gone.setter());
  SECTION("its own") {
    socket.client.send(close_frame(4321, "enough"));
    CHECK(socket.closed_with() == 4321);
  }
  SECTION("none") {
    socket.send(kClose, "");
    CHECK(socket.closed_with() == 1000);
  }
  SECTION("while a message is under way, whose answer goes nowhere") {
    socket.text("hold");
    const auto reply = served.script->take_held("hold");
    socket.client.send(close_frame(1001));
    CHECK(socket.closed_with() == 1001);
    reply({"late", nullptr});
  }
  gone.wait();
  CHECK_FALSE(out->send("x"));
  CHECK(gone.times() == 1);
}

TEST_CASE("a client that goes without a word is let go of", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  const auto out = served.script->take_opened();
  const Signal gone;
  out->when_gone(gone.setter());
  socket.send(kText, "begun", {.last = false});
  SECTION("half") {
    socket.client.end_sending();
    CHECK(socket.client.is_closed_by_server());
  }
  SECTION("whole") {
    socket.client.close();
  }
  SECTION("at once") {
    socket.client.reset();
  }
  gone.wait();
  CHECK_FALSE(out->send("x"));
  const Signal later;
  out->when_gone(later.setter());
  CHECK(later.times() == 1);
}

TEST_CASE("many messages are under way at a time, and answered in any order, from any thread", "[websocket]") {
  const auto handlers = GENERATE(HttpServer::Handlers::kTakeTime, HttpServer::Handlers::kBrief);
  Sockets served({}, std::nullopt, handlers);
  RawWebSocket socket(served.port);
  constexpr int kMany = 100;
  for (int i = 0; i < kMany; ++i) socket.text("hold" + std::to_string(i));
  std::vector<SocketReply> replies;
  for (int i = 0; i < kMany; ++i) replies.push_back(served.script->take_held("hold" + std::to_string(i)));
  CHECK(socket.ask("between") == "between");
  for (int i = kMany - 1; i >= 0; --i) {
    std::thread([&] { replies[static_cast<std::size_t>(i)]({std::to_string(i), nullptr}); }).join();
    CHECK(socket.receive_text() == std::to_string(i));
  }
  replies[0]({"twice", nullptr});
  CHECK(socket.ask("end") == "end");
}

TEST_CASE("what nobody has asked for comes in messages of its own, from any thread", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  const auto out = served.script->take_opened();
  CHECK(out->send("one"));
  CHECK(out->send("two"));
  CHECK(socket.receive_text() == "one");
  CHECK(socket.receive_text() == "two");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) out->send("m");
    });
  for (auto& thread : threads) thread.join();
  for (int n = 0; n < 400; ++n) REQUIRE(socket.receive_text() == "m");
  CHECK(socket.ask("x") == "x");
  out->end();
  CHECK_FALSE(out->send("late"));
  CHECK(socket.receive().code() == 1000);
  socket.client.send(close_frame(1000));
  CHECK(socket.client.is_closed_by_server());
}

TEST_CASE("bytes at random end a connection at the most", "[websocket]") {
  Sockets served;
  std::uint32_t state = 20260728;
  const auto next = [&state] { return state = state * 1664525 + 1013904223, state >> 8; };
  for (int round = 0; round < 200; ++round) {
    RawWebSocket socket(served.port);
    REQUIRE(socket.is_open());
    std::string bytes;
    for (int i = 0; i < 40; ++i) {
      std::string payload(next() % 8 == 0 ? next() % 400 : next() % 8, '\0');
      for (auto& c : payload) c = static_cast<char>(next() % 3 ? 'a' + next() % 26 : next());
      bytes += frame(static_cast<int>(next() % 5 ? next() % 3 : next() % 16), payload,
                     {.last = next() % 3 != 0, .reserved = next() % 20 ? 0 : 1, .masked = next() % 20 != 0});
    }
    if (round % 4 == 0) bytes[next() % bytes.size()] ^= 0x40;
    socket.client.send(bytes);
    if (round % 2) socket.client.end_sending();
    if (round % 3 == 0) socket.client.reset();
  }
  CHECK(RawWebSocket(served.port).ask("alive") == "alive");
}

}  // namespace KRUXOS_TEST_FILE
