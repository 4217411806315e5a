#include "core/net/answer_parser.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct Nowhere : HttpSink {
  bool head(int, const HttpHeaders&) override { return true; }
  bool body(std::string_view) override { return true; }
};

}  // namespace

TEST_CASE("header lines that come one by one have an end too") {
  Nowhere sink;
  AnswerParser parser(false, {16 << 10, 1 << 20}, sink);
  CHECK(parser.feed("HTTP/1.1 200 OK\r\n") == AnswerParser::State::kMore);
  auto state = AnswerParser::State::kMore;
  std::size_t lines = 0;
  for (; state == AnswerParser::State::kMore && lines < 10'000; ++lines) state = parser.feed("X-Line: 0123456789\r\n");
  CHECK(state == AnswerParser::State::kTooLarge);
  CHECK(lines < 1000);
}

TEST_CASE("a head within its limit may come byte by byte, and its body be much larger") {
  Nowhere sink;
  AnswerParser parser(false, {1 << 10, 1 << 20}, sink);
  for (const char c : std::string("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"))
    CHECK(parser.feed(std::string(1, c)) == AnswerParser::State::kMore);
  CHECK(parser.feed(std::string(100'000, 'x')) == AnswerParser::State::kDone);
}

}  // namespace KRUXOS_TEST_FILE
