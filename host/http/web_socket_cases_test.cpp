// What a WebSocket's other end may send, case by case, in the order of the suite that clients and servers are commonly
// held against: payloads, pings, reserved bits, opcodes, fragments, UTF-8, closes, sizes. Each is sent at once and byte
// by byte. Text alone is served here: where that suite echoes bytes, they are refused.
#include <netinet/tcp.h>

#include <catch2/catch.hpp>
#include <thread>

#include "host/http/web_socket_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace std::string_literals;

namespace {

using Frames = std::vector<std::pair<int, std::string>>;

struct Case {
  std::string what, bytes;
  Frames answers;
  /// With which code the server closes; 0: it goes on. What it had begun to answer may be left out where it closes.
  int code = 0;
};

std::string in_parts(std::string_view message, std::size_t part) {
  std::string bytes;
  for (std::size_t at = 0; at < message.size() || at == 0; at += part)
    bytes += frame(at ? kContinuation : kText, message.substr(at, part), {.last = at + part >= message.size()});
  return bytes;
}

void check(Sockets& served, const Case& one, bool byte_by_byte) {
  INFO(one.what << (byte_by_byte ? ", byte by byte" : ""));
  served.clock.advance(2'000);  // so that none waits for what came before
  RawWebSocket socket(served.port);
  REQUIRE(socket.is_open());
  const int at_once = 1;
  ::setsockopt(socket.client.fd(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  const std::size_t piece = byte_by_byte ? 1 : one.bytes.size();
  for (std::size_t at = 0; at < one.bytes.size() && socket.client.send(one.bytes.substr(at, piece)); at += piece)
    continue;
  Frames seen;
  while (one.code != 0 || seen.size() < one.answers.size()) {
    const auto next = socket.receive();
    if (next.opcode != kClose && next.opcode >= 0) {
      seen.emplace_back(next.opcode, next.payload);
      continue;
    }
    CHECK(next.code() == one.code);
    socket.client.send(close_frame(1000));
    CHECK(socket.client.is_closed_by_server());
    break;
  }
  if (one.code != 0) {
    REQUIRE(seen.size() <= one.answers.size());
    CHECK(std::equal(seen.begin(), seen.end(), one.answers.begin()));
  } else {
    CHECK(seen == one.answers);
    CHECK(socket.ask("after") == "after");
  }
}

void check_all(const std::vector<Case>& cases) {
  Sockets served;
  for (const auto& one : cases) {
    check(served, one, false);
    if (one.bytes.size() < 1000) check(served, one, true);
  }
  CHECK(RawWebSocket(served.port).ask("alive") == "alive");
}

const std::string kHello = "Hello, world!", kOdd = "\x00\xff\xfe\xfd\xfc\xfb\x00\xff"s;

}  // namespace

TEST_CASE("1: payloads of every kind of length are answered, and bytes refused", "[websocket]") {
  std::vector<Case> cases;
  for (const std::size_t length : {125, 126, 127, 128, 65535, 65536})
    cases.push_back(
        {std::to_string(length), frame(kText, std::string(length, '*')), {{kText, std::string(length, '*')}}});
  cases.push_back({"65536 in parts", in_parts(std::string(65536, '*'), 997), {{kText, std::string(65536, '*')}}});
  cases.push_back({"nothing", frame(kText, "") + frame(kText, "x"), {{kText, "x"}}});
  for (const std::size_t length : {0, 125, 126, 65536})
    cases.push_back({"bytes", frame(kBinary, std::string(length, '\xfe')), {}, 1003});
  check_all(cases);
}

TEST_CASE("2: pings are answered as they are, and pongs are nothing", "[websocket]") {
  std::vector<Case> cases{
      {"nothing", frame(kPing, ""), {{kPong, ""}}},
      {"text", frame(kPing, kHello), {{kPong, kHello}}},
      {"bytes", frame(kPing, kOdd), {{kPong, kOdd}}},
      {"125", frame(kPing, std::string(125, '\xfe')), {{kPong, std::string(125, '\xfe')}}},
      {"126", frame(kPing, std::string(126, '\xfe')), {}, 1002},
      {"a pong", frame(kPong, ""), {}},
      {"a pong with text", frame(kPong, "unsolicited"), {}},
      {"a pong, then a ping", frame(kPong, "unsolicited") + frame(kPing, "ping"), {{kPong, "ping"}}},
      {"a long pong", frame(kPong, std::string(126, 'p')), {}, 1002},
  };
  Case ten{"ten", "", {}};
  for (int i = 0; i < 10; ++i) {
    ten.bytes += frame(kPing, "payload-" + std::to_string(i));
    ten.answers.emplace_back(kPong, "payload-" + std::to_string(i));
  }
  cases.push_back(ten);
  check_all(cases);
}

TEST_CASE("3, 4: reserved bits and opcodes end the connection, whatever stands before and behind", "[websocket]") {
  std::vector<Case> cases;
  for (int bits = 1; bits < 8; ++bits) {
    for (const int opcode : {kText, kBinary, kPing, kClose}) {
      const auto odd = frame(opcode, opcode == kBinary ? kOdd : opcode == kClose ? "" : kHello, {.reserved = bits});
      cases.push_back({"bits " + std::to_string(bits), odd, {}, 1002});
      cases.push_back({"bits " + std::to_string(bits) + " behind a message",
                       frame(kText, kHello) + odd + frame(kPing, ""),
                       {{kText, kHello}},
                       1002});
    }
  }
  for (const int opcode : {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
    for (const auto& payload : {""s, kHello}) {
      cases.push_back({"opcode " + std::to_string(opcode), frame(opcode, payload), {}, 1002});
      cases.push_back({"opcode " + std::to_string(opcode) + " behind a message",
                       frame(kText, kHello) + frame(opcode, payload) + frame(kPing, ""),
                       {{kText, kHello}},
                       1002});
    }
  }
  check_all(cases);
}

TEST_CASE("5: messages in fragments, and fragments of none", "[websocket]") {
  const Oddly more{.last = false};
  const auto part = [&](std::string_view text, bool last) { return frame(kContinuation, text, {.last = last}); };
  const auto first = frame(kText, "fragment1", more);
  const std::string two = first + part("fragment2", true);
  check_all({
      {"a ping in two", frame(kPing, "fragment1", more) + part("fragment2", true), {}, 1002},
      {"a pong in two", frame(kPong, "fragment1", more) + part("fragment2", true), {}, 1002},
      {"two fragments", two, {{kText, "fragment1fragment2"}}},
      {"a ping between",
       first + frame(kPing, "p") + part("fragment2", true),
       {{kPong, "p"}, {kText, "fragment1fragment2"}}},
      {"five, and two pings",
       first + part("2", false) + frame(kPing, "one") + part("3", false) + part("4", false) + frame(kPing, "two") +
           part("5", true),
       {{kPong, "one"}, {kPong, "two"}, {kText, "fragment12345"}}},
      {"the end of nothing", part("x", true) + frame(kText, kHello), {}, 1002},
      {"the middle of nothing", part("x", false) + frame(kText, kHello), {}, 1002},
      {"nothing behind a message", two + part("3", false) + frame(kText, "4"), {{kText, "fragment1fragment2"}}, 1002},
      {"nothing, again and again", part("1", false) + two + part("1", false) + two, {}, 1002},
      {"the same with an end", part("1", true) + two + part("1", true) + two, {}, 1002},
      {"a text in a text", first + frame(kText, "fragment2"), {}, 1002},
      {"a text in a text, in parts", first + frame(kText, "2", more) + part("3", true), {}, 1002},
  });
}

namespace {

const std::string kGreek = "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5";

/// Every length's first and last, what stands beside the surrogates, what is assigned to nothing.
std::vector<std::string> good_texts() {
  std::vector<std::string> all{"hello$world",
                               "hello\xc2\xa2world",
                               "hello\xe2\x82\xacworld",
                               "hello\xf0\xa4\xad\xa2world",
                               kGreek,
                               "\x00"s,
                               "\xc2\x80",
                               "\xe0\xa0\x80",
                               "\xf0\x90\x80\x80",
                               "\x7f",
                               "\xdf\xbf",
                               "\xef\xbf\xbf",
                               "\xf4\x8f\xbf\xbf",
                               "\xed\x9f\xbf",
                               "\xee\x80\x80",
                               "\xef\xbf\xbd"};
  for (const char c : "\xb9\xba\xbb\xbc\xbd\xbe\xbf"s) all.push_back("\xef\xbf"s + c);
  for (const char one : "\xf0\xf1\xf2\xf3\xf4"s) {
    for (const char two : "\x8f\x9f\xaf\xbf"s) {
      const bool in_reach = one == '\xf4' ? two == '\x8f' : one != '\xf0' || two != '\x8f';
      for (const char last : "\xbe\xbf"s) {
        if (in_reach) all.push_back(std::string() + one + two + '\xbf' + last);
      }
    }
  }
  for (const std::size_t whole : {2, 5, 7, 9, 11}) all.push_back(kGreek.substr(0, whole));
  return all;
}

std::vector<std::string> bad_texts() {
  std::vector<std::string> all;
  for (const std::size_t half : {1, 3, 4, 6, 8, 10}) all.push_back(kGreek.substr(0, half));
  const auto add = [&](std::initializer_list<const char*> texts) { all.insert(all.end(), texts.begin(), texts.end()); };
  // Five and six bytes, and beyond U+10FFFF.
  add({"\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80", "\xf7\xbf\xbf\xbf", "\xfb\xbf\xbf\xbf\xbf",
       "\xfd\xbf\xbf\xbf\xbf\xbf", "\xf4\x90\x80\x80"});
  // Continuations of nothing.
  std::string run;
  for (int i = 0; i < 7; ++i) all.push_back(run += i % 2 ? '\xbf' : '\x80');
  run.clear();
  for (int c = 0x80; c < 0xc0; ++c) run += static_cast<char>(c);
  all.push_back(run);
  // Beginnings of nothing.
  for (const auto& [from, to] : {std::pair{0xc0, 0xdf}, {0xe0, 0xef}, {0xf0, 0xf7}, {0xf8, 0xfb}, {0xfc, 0xfd}}) {
    run.clear();
    for (int c = from; c <= to; ++c) (run += static_cast<char>(c)) += ' ';
    all.push_back(run);
  }
  // The last byte is missing, alone and one behind the other.
  const std::vector<std::string> halves{"\xc0", "\xe0\x80", "\xf0\x80\x80", "\xf8\x80\x80\x80", "\xfc\x80\x80\x80\x80",
                                        "\xdf", "\xef\xbf", "\xf7\xbf\xbf", "\xfb\xbf\xbf\xbf", "\xfd\xbf\xbf\xbf\xbf"};
  run.clear();
  for (const auto& half : halves) run += half;
  all.insert(all.end(), halves.begin(), halves.end());
  all.push_back(run);
  add({"\xfe", "\xff", "\xfe\xfe\xff\xff"});
  // Longer than need be.
  add({"\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xf8\x80\x80\x80\xaf", "\xfc\x80\x80\x80\x80\xaf", "\xc1\xbf",
       "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf8\x87\xbf\xbf\xbf", "\xfc\x83\xbf\xbf\xbf\xbf", "\xc0\x80",
       "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf8\x80\x80\x80\x80", "\xfc\x80\x80\x80\x80\x80"});
  // Surrogates, alone and in pairs.
  add({"\xed\xa0\x80", "\xed\xad\xbf", "\xed\xae\x80", "\xed\xaf\xbf", "\xed\xb0\x80", "\xed\xbe\x80", "\xed\xbf\xbf",
       "\xed\xa0\x80\xed\xb0\x80", "\xed\xad\xbf\xed\xbf\xbf", "\xed\xae\x80\xed\xb0\x80", "\xed\xaf\xbf\xed\xbf\xbf"});
  all.push_back(kGreek + "\xed\xa0\x80" + "edited");
  return all;
}

}  // namespace

TEST_CASE("6: a text is UTF-8, over whatever fragments, and what is none ends the connection", "[websocket]") {
  std::vector<Case> cases{
      {"three empty fragments",
       frame(kText, "", {.last = false}) + frame(kContinuation, "", {.last = false}) + frame(kContinuation, "") +
           frame(kText, "x"),
       {{kText, "x"}}},
      {"the middle one is not",
       frame(kText, "", {.last = false}) + frame(kContinuation, "middle", {.last = false}) + frame(kContinuation, ""),
       {{kText, "middle"}}},
  };
  for (const auto& text : good_texts()) {
    cases.push_back({"whole", frame(kText, text), {{kText, text}}});
    cases.push_back({"in fragments of one byte", in_parts(text, 1), {{kText, text}}});
  }
  for (const auto& text : bad_texts()) {
    cases.push_back({"bad", frame(kText, text), {}, 1007});
    cases.push_back({"bad in fragments of one byte", in_parts(text, 1), {}, 1007});
  }
  check_all(cases);
}

TEST_CASE("6.4: what cannot become UTF-8 any more is refused before the rest has come", "[websocket]") {
  Sockets served;
  const std::string bad = kGreek + "\xf4\x90\x80\x80" + "edited";
  for (const std::size_t upto : {kGreek.size() + 2, kGreek.size() + 4}) {
    for (const bool in_frames : {true, false}) {
      INFO(upto << (in_frames ? " in frames" : " in one frame"));
      RawWebSocket socket(served.port);
      if (in_frames) {
        socket.send(kText, kGreek, {.last = false});
        socket.send(kContinuation, bad.substr(kGreek.size(), upto - kGreek.size()), {.last = false});
      } else {
        socket.client.send(frame(kText, bad).substr(0, 6 + upto));
      }
      CHECK(socket.closed_with() == 1007);
    }
  }
}

TEST_CASE("7: closes are answered, with their code where it may be sent", "[websocket]") {
  const auto bye = close_frame(1000);
  std::vector<Case> cases{
      {"behind a message", frame(kText, kHello) + bye, {{kText, kHello}}, 1000},
      {"twice", bye + bye, {}, 1000},
      {"and a ping", bye + frame(kPing, ""), {}, 1000},
      {"and a message", bye + frame(kText, kHello), {}, 1000},
      {"in a message", frame(kText, "fragment1", {.last = false}) + bye + frame(kContinuation, "fragment2"), {}, 1000},
      {"behind a long message",
       frame(kText, std::string(256 << 10, '*')) + bye + frame(kPing, ""),
       {{kText, std::string(256 << 10, '*')}},
       1000},
      {"no code", frame(kClose, ""), {}, 1000},
      {"half a code", frame(kClose, "a"), {}, 1002},
      {"a reason", close_frame(1000, kHello), {}, 1000},
      {"a long reason", close_frame(1000, std::string(123, '*')), {}, 1000},
      {"a reason that is too long", close_frame(1000, std::string(124, '*')), {}, 1002},
      {"a reason that is no text", close_frame(1000, kGreek + "\xed\xa0\x80" + "edited"), {}, 1002},
      {"in two", frame(kClose, std::string("\x03\xe8"), {.last = false}) + frame(kContinuation, ""), {}, 1002},
  };
  // What is beyond 4999 the protocol says nothing of.
  for (const int code : {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999, 5000, 65535})
    cases.push_back({std::to_string(code), close_frame(code), {}, code});
  for (const int code : {0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999})
    cases.push_back({std::to_string(code), close_frame(code), {}, 1002});
  check_all(cases);
}

TEST_CASE("9, 10: long messages, in frames and pieces of every size, and many short ones", "[websocket]") {
  Sockets served;
  const auto echoes = [&](const std::string& message, std::size_t part, std::size_t piece) {
    INFO(message.size() << " in frames of " << part << " and pieces of " << piece);
    RawWebSocket socket(served.port);
    const int at_once = 1;
    ::setsockopt(socket.client.fd(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    const auto bytes = in_parts(message, part);
    std::thread sender([&] {
      for (std::size_t at = 0; at < bytes.size(); at += piece)
        socket.client.send(std::string_view(bytes).substr(at, piece));
    });
    served.until([&] { return socket.client.has_news(); }, 5);  // so many frames have their price
    sender.join();
    CHECK((socket.receive_text() == message));  // which nobody would like to read
    served.clock.advance(20'000);               // so much has its price
  };
  const std::string long_one(1 << 20, '*');
  for (const std::size_t length : {64 << 10, 256 << 10, 1 << 20})
    echoes(long_one.substr(0, length), SIZE_MAX / 2, SIZE_MAX / 2);
  for (const std::size_t part : {64, 256, 1024, 4096, 16384, 65536}) echoes(long_one, part, SIZE_MAX / 2);
  for (const std::size_t piece : {64, 128, 512, 2048}) echoes(long_one, SIZE_MAX / 2, piece);
  echoes(std::string(65536, '*'), 1300, SIZE_MAX / 2);
  for (const std::size_t length : {1, 16, 64, 256, 1024, 4096, 16384, 65536}) {
    RawWebSocket socket(served.port);
    const std::string message(length, 'm');
    for (int i = 0; i < 30; ++i) REQUIRE((socket.ask(message) == message));
    served.clock.advance(20'000);
  }
  // One that has no end.
  RawWebSocket endless(served.port);
  const auto more = frame(kContinuation, std::string(4096, '*'), {.last = false});
  endless.send(kText, "", {.last = false});
  for (int i = 0; i < 10'000 && !endless.client.has_news() && endless.client.send(more); ++i) continue;
  CHECK(endless.receive().code() == 1009);
}

}  // namespace KRUXOS_TEST_FILE
