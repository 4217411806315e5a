// What WebSockets are held to: time, memory, pace, places.
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "host/http/tls_client_fixture.hpp"
#include "host/http/web_socket_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

TEST_CASE("a silent client is asked whether it is there, and ended where it is not", "[websocket]") {
  Sockets served;
  const auto began_ms = served.clock.boot_ms();
  RawWebSocket there(served.port), gone(served.port);
  const auto out = served.script->take_opened();
  served.script->take_opened();
  served.until([&] { return there.client.has_news() && gone.client.has_news(); });
  CHECK(served.clock.boot_ms() >= began_ms + 30'000);
  CHECK(there.receive().opcode == kPing);
  CHECK(gone.receive().opcode == kPing);
  there.send(kPong, "");
  CHECK(there.ask("here") == "here");
  served.until([&] { return gone.client.has_news(); });
  CHECK(gone.client.is_closed_by_server());
  // Whoever is asked and answers stays.
  for (int i = 0; i < 3; ++i) {
    served.until([&] { return there.client.has_news(); });
    REQUIRE(there.receive().opcode == kPing);
    there.send(kPong, "");
    REQUIRE(there.ask("here") == "here");
  }
  CHECK(out->send("still"));
}

TEST_CASE("a client that may not go on is told so at its next message, and at the next look", "[websocket]") {
  Sockets served;
  RawWebSocket speaks(served.port);
  served.script->take_opened();
  RawWebSocket silent(served.port);
  const auto told = served.script->take_opened();
  CHECK(speaks.ask("x") == "x");
  CHECK(silent.ask("x") == "x");
  served.script->goes_on = false;
  speaks.text("y");
  CHECK(speaks.receive().code() == 1008);
  served.until([&] { return silent.client.has_news(); });
  CHECK(silent.receive().code() == 1008);
  CHECK(served.script->taken == 2);
  SECTION("it says farewell") {
    silent.client.send(close_frame(1008));
    CHECK(silent.client.is_closed_by_server());
  }
  SECTION("or it does not") {
    served.until([&] { return silent.client.has_news(); });
    CHECK(silent.client.is_closed_by_server());
  }
  served.until([&] { return !told->send("x"); });
}

TEST_CASE("the user ends a WebSocket, with what its client may no more", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  const auto out = served.script->take_opened();
  served.script->goes_on = false;
  CHECK(out->send("last"));
  out->end();
  CHECK(socket.receive_text() == "last");
  CHECK(socket.receive().code() == 1008);
}

TEST_CASE("the last message of a WebSocket's user may be larger than what may be unsent", "[websocket]") {
  HttpLimits limits;
  limits.unsent_bytes = 2'000;
  Sockets served(limits);
  RawWebSocket socket(served.port);
  const auto out = served.script->take_opened();
  out->end_with(std::string(5'000, 'x'));
  CHECK_FALSE(out->send("late"));
  CHECK(socket.receive_text() == std::string(5'000, 'x'));
  CHECK(socket.receive().code() == 1000);
}

TEST_CASE("a message comes within the time of a body, whatever stands between its parts", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  CHECK(socket.ask("x") == "x");
  const auto began_ms = served.clock.boot_ms();
  socket.send(kText, "slow", {.last = false});
  RawFrame next{kPong, {}, true};
  while (next.opcode == kPong && served.clock.boot_ms() < began_ms + 60'000) {
    served.clock.advance(900);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    socket.send(kContinuation, "er", {.last = false});
    socket.send(kPing, "");
    next = socket.receive();
  }
  CHECK(next.code() == 1008);
  CHECK(served.clock.boot_ms() >= began_ms + 30'000);
  CHECK(served.clock.boot_ms() < began_ms + 60'000);
}

TEST_CASE("answers that nobody reads end their connection in time, and what they hold with it", "[websocket]") {
  Sockets served;
  const auto began_ms = served.clock.boot_ms();
  RawWebSocket socket(served.port);
  RawWebSocket other(served.port);
  for (int i = 0; i < 3; ++i) socket.text("big");
  while (served.script->taken < 3) std::this_thread::yield();
  CHECK(other.ask("x") == "x");
  served.until(
      [&] {
        if (other.client.has_news() && other.receive().opcode == kPing) other.send(kPong, "");
        return served.script->users == 1 && served.server->connections() == 1;
      },
      1'000);
  CHECK(served.clock.boot_ms() >= began_ms + 60'000);
  CHECK(other.is_open());
}

TEST_CASE("who does not read answers is not listened to meanwhile, and loses none of them", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  RawWebSocket other(served.port);
  socket.text("big");
  const std::size_t head = 10;                                // of a frame as long as that
  REQUIRE(socket.client.receive_bytes(head).size() == head);  // its answer is on its way
  constexpr int kMessages = 400;
  for (int i = 0; i < kMessages; ++i) socket.text(std::to_string(i));
  while (served.script->taken < 128) std::this_thread::yield();
  for (int i = 0; i < 50; ++i) CHECK(other.ask("x") == "x");  // the loop has had its chance to read on
  CHECK(served.script->taken <= 128 + 50);
  CHECK(socket.client.receive_bytes(20'000'000).size() == 20'000'000);
  served.clock.advance(20'000);  // so much has its price
  std::set<std::string> answers;
  for (int i = 0; i < kMessages; ++i) answers.insert(socket.receive_text());
  CHECK(answers.size() == kMessages);
  CHECK_FALSE(answers.contains(""));
}

TEST_CASE("who reads slowly gets all of it", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  constexpr int kRoom = 64 * 1024;  // in the kernel, which would read all of it on its own
  REQUIRE(::setsockopt(socket.client.fd(), SOL_SOCKET, SO_RCVBUF, &kRoom, sizeof kRoom) == 0);
  socket.text("big");
  std::string head = socket.client.receive_bytes(10);
  std::size_t got = 0;
  while (got < 20'000'000) {
    const auto piece = socket.client.receive_bytes(std::min<std::size_t>(400'000, 20'000'000 - got));
    REQUIRE_FALSE(piece.empty());
    got += piece.size();
    served.clock.advance(2'000);  // together far more than a piece may take, or a pong
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(got == 20'000'000);
}

TEST_CASE("what nobody asked for and nobody reads ends the connection at once", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  const auto out = served.script->take_opened();
  const Signal gone;
  out->when_gone(gone.setter());
  const std::string part(100'000, 'p');
  int sent = 0;
  while (out->send(part)) ++sent;
  gone.wait();
  CHECK(sent >= 10);
  while (served.script->users > 0) std::this_thread::yield();
  while (socket.receive().opcode == kText) continue;
  CHECK(socket.client.was_reset());
}

TEST_CASE("a message for which there is no room is read and answered, and the next one taken", "[websocket]") {
  Sockets served;
  RawWebSocket socket(served.port);
  served.script->room = 1'000;
  CHECK(socket.ask(std::string(1'000, 'a')) == std::string(1'000, 'a'));
  CHECK(socket.ask(std::string(1'001, 'a')) == "no room");
  CHECK(socket.ask(std::string(300'000, 'a')) == "no room");
  socket.send(kText, std::string(900, 'a'), {.last = false});
  socket.send(kContinuation, std::string(900, 'a'), {.last = false});
  socket.send(kContinuation, "a");
  CHECK(socket.receive_text() == "no room");
  CHECK(socket.ask("next") == "next");
  CHECK(served.script->taken == 2);
}

TEST_CASE("whoever sends more than he may is listened to later, whatever he sends", "[websocket]") {
  HttpLimits limits;
  limits.pace = {10, 20, 5'000};
  Sockets served(limits);
  RawWebSocket socket(served.port, "/", "agent: a\r\n"), other(served.port, "/", "agent: b\r\n");
  const auto held_ms = [&] {
    const auto before = served.clock.boot_ms();
    socket.text("behind");
    for (;;) {
      served.until([&] { return socket.client.has_news(); }, 10);
      const auto next = socket.receive();
      REQUIRE(next.opcode >= 0);
      if (next.payload == "behind") return served.clock.boot_ms() - before;
    }
  };
  SECTION("messages") {
    for (int i = 0; i < 60; ++i) socket.text("x");
    CHECK(other.ask("y") == "y");
    CHECK(held_ms() >= 2'000);
  }
  SECTION("a long one") {
    socket.text(std::string(60 << 14, 'x'));
    CHECK(held_ms() >= 2'000);
  }
  SECTION("a long answer") {
    CHECK(socket.ask(std::string(20 << 14, 'x')).size() == 20 << 14);
    CHECK(held_ms() >= 1'000);
  }
  SECTION("pings and pongs") {
    for (int i = 0; i < 1'000; ++i) socket.send(i % 2 ? kPing : kPong, "");
    CHECK(other.ask("y") == "y");
    CHECK(held_ms() >= 2'000);
  }
  SECTION("frames of nothing") {
    socket.send(kText, "", {.last = false});
    for (int i = 0; i < 2'000; ++i) socket.send(kContinuation, "", {.last = false});
    socket.send(kContinuation, "x");
    CHECK(other.ask("y") == "y");
    CHECK(held_ms() >= 2'000);
  }
  SECTION("messages for which there is no room") {
    served.script->room = 0;
    for (int i = 0; i < 4; ++i) socket.text("x");
    for (int i = 0; i < 4; ++i) {
      served.until([&] { return socket.client.has_news(); }, 10);
      CHECK(socket.receive_text() == "no room");
    }
    served.script->room = SIZE_MAX;
    CHECK(held_ms() >= 1'000);
  }
}

TEST_CASE("an agent's oldest WebSocket makes way for its newest, and that which spoke last is the youngest",
          "[websocket]") {
  HttpLimits limits;
  limits.connections = 16;  // of which an agent may have four
  Sockets served(limits);
  const auto open = [&](const char* agent) {
    return RawWebSocket(served.port, "/", "agent: " + std::string(agent) + "\r\n");
  };
  auto other = open("b"), first = open("a"), second = open("a"), third = open("a"), fourth = open("a");
  CHECK(first.ask("x") == "x");
  auto fifth = open("a");
  REQUIRE(fifth.is_open());
  CHECK(second.closed_with() == 1001);
  CHECK(first.ask("x") == "x");
  CHECK(other.ask("x") == "x");
  // An idle connection goes before it.
  third.client.close();
  while (served.bound.figures().agents.open > 4) std::this_thread::yield();
  RawClient idle(served.port);
  CHECK(idle.ask(http_get("/x", "agent: a\r\n")).status == 200);
  auto sixth = open("a");
  REQUIRE(sixth.is_open());
  CHECK(idle.is_closed_by_server());
  CHECK(fourth.ask("x") == "x");
}

TEST_CASE("when the host ends, what is under way is answered before the end is said", "[websocket]") {
  Sockets served;
  RawWebSocket busy(served.port), idle(served.port);
  busy.text("hold");
  const auto reply = served.script->take_held("hold");
  CHECK(idle.ask("x") == "x");
  std::thread stopping([&] { served.server->stop(10'000); });
  CHECK(idle.receive().code() == 1001);
  idle.client.send(close_frame(1001));
  CHECK(idle.client.is_closed_by_server());
  idle.client.close();
  busy.text("late");  // is not taken any more
  reply({"answer", nullptr});
  CHECK(busy.receive_text() == "answer");
  CHECK(busy.receive().code() == 1001);
  busy.client.send(close_frame(1001));
  CHECK(busy.client.is_closed_by_server());
  busy.client.close();
  stopping.join();
  CHECK(served.script->users == 0);
  CHECK(served.script->taken == 2);
}

TEST_CASE("a server that stops at once lets go of its WebSockets, whatever is under way", "[websocket]") {
  auto script = std::make_shared<Script>();
  SocketReply late;
  {
    Sockets served;
    script = served.script;
    RawWebSocket socket(served.port), unread(served.port), odd(served.port);
    socket.text("hold");
    socket.text("never");
    late = script->take_held("hold");
    for (int i = 0; i < 3; ++i) unread.text("big");
    odd.send(kText, "half", {.last = false});
    while (script->taken < 5) std::this_thread::yield();
    served.server->stop(0);
  }
  late({"late", nullptr});
  late = nullptr;
  CHECK(script->users == 0);
}

TEST_CASE("a WebSocket over TLS", "[websocket]") {
  const ServerCertificate certificate;
  Sockets served({}, certificate.files());
  TlsClient client(served.port);
  client.send(http_get("/", kHandshake));
  CHECK(client.receive_to("\r\n\r\n").find("101 Switching Protocols") != std::string::npos);
  client.send(frame(kText, "x"));
  CHECK(client.receive_bytes(3) == "\x81\x01x");
  const std::string large(300'000, 'l');
  client.send(frame(kText, large, {.last = false}) + frame(kPing, "p") + frame(kContinuation, "z"));
  CHECK(client.receive_bytes(3) == "\x8a\x01p");
  CHECK(client.receive_bytes(10).substr(0, 2) == "\x81\x7f");
  CHECK(client.receive_bytes(large.size() + 1) == large + "z");
  const auto out = served.script->take_opened();
  CHECK(out->send("told"));
  CHECK(client.receive_bytes(6) == "\x81\x04told");
  SECTION("the client ends it") {
    client.send(close_frame(1000));
    CHECK(client.receive_bytes(4) == "\x88\x02\x03\xe8");
    CHECK(client.has_ended());
  }
  SECTION("or breaks the rules") {
    client.send(frame(kText, "x", {.masked = false}));
    CHECK(client.receive_bytes(4) == "\x88\x02\x03\xea");
    CHECK(client.has_ended());
  }
  SECTION("or goes") {
    const Signal gone;
    out->when_gone(gone.setter());
    client.shut_down();
    gone.wait();
  }
}

}  // namespace KRUXOS_TEST_FILE
