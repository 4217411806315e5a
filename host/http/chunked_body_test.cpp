#include "host/http/chunked_body.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using krux::ChunkedBody;
using State = ChunkedBody::State;

namespace {

struct Decoded {
  State state = State::kMore;
  std::string body, left;
};

/// In pieces of that size.
Decoded decoded(std::string_view bytes, std::size_t piece, std::uint64_t most_bytes = 100,
                std::size_t most_extra = 20) {
  ChunkedBody chunks(most_bytes, most_extra);
  Decoded out;
  while (out.state == State::kMore && !bytes.empty()) {
    auto now = bytes.substr(0, piece);
    const auto given = now.size();
    out.state = chunks.take(now, out.body);
    bytes.remove_prefix(given - now.size());
  }
  out.left = bytes;
  return out;
}

}  // namespace

TEST_CASE("the chunked coding is taken off, in whatever pieces it comes", "[http]") {
  struct Row {
    std::string bytes, body, left;
  };
  const std::vector<Row> rows{
      {"0\r\n\r\n", "", ""},
      {"3\r\nabc\r\n0\r\n\r\nGET /", "abc", "GET /"},
      {"3\r\nabc\r\n0002\r\nde\r\n000\r\n\r\n", "abcde", ""},
      {"A\r\n0123456789\r\nc\r\n0\r\n\r\n456789A\r\n0\r\n\r\n", "01234567890\r\n\r\n456789A", ""},
      {"1;a\r\nx\r\n1 ; b=\"c\"\r\ny\r\n0;z\r\n\r\n", "xy", ""},
      {"1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n0", "x", "0"},
  };
  for (const auto& row : rows) {
    for (std::size_t piece = 1; piece <= row.bytes.size(); ++piece) {
      INFO(row.bytes << " by " << piece);
      const auto out = decoded(row.bytes, piece);
      CHECK(out.state == State::kDone);
      CHECK(out.body == row.body);
      CHECK(out.left == row.left);
    }
  }
}

TEST_CASE("what is no chunked coding is found at once", "[http]") {
  for (const std::string bytes : {"\r\n",         ";a\r\n",
                                  "x\r\n",        "-1\r\n",
                                  "+1\r\n",       " 1\r\n",
                                  "0x1\r\n",      "1\n",
                                  "1\r\r",        "1,\r\n",
                                  "1 \r\n",       "1 2\r\n",
                                  "1;\n",         "1;a\x01",
                                  "1\r\nxy",      "1\r\nx\n",
                                  "1\r\nx\rx",    "10000000000000000",
                                  "0\r\n:b\r\n",  "0\r\n A: b\r\n",
                                  "0\r\nA b\r\n", "0\r\nA: b\n",
                                  "0\r\nA: \x7f", "0\r\n\rx"}) {
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      INFO(bytes << " by " << piece);
      CHECK(decoded(bytes, piece).state == State::kBroken);
    }
  }
}

TEST_CASE("body, extensions and trailers have limits over all chunks", "[http]") {
  CHECK(decoded("65\r\n", 1).state == State::kTooLarge);
  CHECK(decoded("32\r\n" + std::string(50, 'x') + "\r\n33\r\n", 7).state == State::kTooLarge);
  CHECK(decoded("ffffffffffffffff\r\n", 1).state == State::kTooLarge);
  CHECK(decoded("64\r\n" + std::string(100, 'x') + "\r\n0\r\n\r\n", 7).state == State::kDone);
  const auto chunks = [](int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += "1;e\r\nx\r\n";
    return bytes;
  };
  CHECK(decoded(chunks(10) + "0\r\n\r\n", 3).state == State::kDone);
  CHECK(decoded(chunks(11), 3).state == State::kTooLong);
  CHECK(decoded(chunks(8) + "0\r\nA:\r\nB:\r\n\r\n", 3).state == State::kDone);
  CHECK(decoded(chunks(8) + "0\r\nA:\r\nB:\r\nC", 3).state == State::kTooLong);
  CHECK(decoded("1 " + std::string(20, '\t'), 3).state == State::kTooLong);
}

}  // namespace KRUXOS_TEST_FILE
