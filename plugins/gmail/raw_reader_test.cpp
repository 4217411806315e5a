// A mail out of an answer that comes in parts.
#include "raw_reader.hpp"

#include <catch2/catch.hpp>

#include <optional>

#include "emulators/gmail/codec.hpp"

namespace KRUXOS_TEST_FILE {

using gmail::RawReader;

namespace {

std::optional<std::string> read(const std::string& answer, std::size_t part = 1 << 20, std::size_t most = 1 << 20) {
  RawReader reader(most);
  for (std::size_t at = 0; at < answer.size(); at += part) reader.take(std::string_view(answer).substr(at, part));
  if (!reader.is_whole()) return std::nullopt;
  return reader.take_mail();
}

}  // namespace

TEST_CASE("the member raw is decoded, however the answer is cut") {
  const std::string answer = R"({"id": "x\"y", "n": 1, "list": [{"raw": "AAAA"}, "raw"], "raw": "SGVsbG8_-w=="} )";
  for (std::size_t part = 1; part < 12; ++part) CHECK(read(answer, part) == "Hello?\xfb");
  CHECK(read(R"({"raw":"SGVsbG8"})") == "Hello");
  CHECK(read(R"({"raw":""})") == "");
}

TEST_CASE("a header alone is kept, with the conversation's id") {
  const auto head = [](const std::string& mail, std::size_t most) {
    RawReader reader(most, RawReader::Keeps::kHead);
    reader.take(R"({"threadId":"18cf","raw":")" + krux::test::gmail::encode_base64url(mail) +
                R"(","x":{"threadId":"no"}})");
    CHECK(reader.is_whole());
    CHECK(reader.thread_id() == "18cf");
    return reader.take_mail();
  };
  CHECK(head("A: b\r\nC: d\r\n\r\nbody\r\n\r\n", 100) == "A: b\r\nC: d\r\n\r\n");
  CHECK(head("A: b\n\nbody", 100) == "A: b\n\n");
  CHECK(head("\r\nbody", 100) == "\r\n");
  CHECK(head("A: b", 100) == "A: b");
  CHECK(head("A: bcdef\r\n\r\nbody", 4) == "A: b");
}

TEST_CASE("escapes within it are read") {
  CHECK(read(R"({"raw":"SGVsbG8\u003d"})") == "Hello");
  CHECK(read(R"({"r\u0061w":"SGVs\/w\n=="})") == "Hel\xff");
}

TEST_CASE("what is no such answer gives nothing") {
  for (const char* text :
       {"", "{", "{}", "[]", "null", R"({"raw":null})", R"({"raw":"SGVs)", R"({"raw":"SGVs"})x", R"({"raw":"S GVs"})",
        R"({"raw":"SGVsb"})", R"({"raw":"a","raw":"b"})", R"({"raw":"AA==AA"})", R"({"raw":"\u12G4"})",
        R"({"raw":"\u00ffAAA"})", R"({"other":"SGVs"})", R"({"x":{"raw":"SGVs"}})"}) {
    INFO(text);
    CHECK_FALSE(read(text));
  }
}

TEST_CASE("a mail that is too large is said to be") {
  RawReader reader(4);
  reader.take(R"({"raw":"SGVsbG8"})");
  CHECK_FALSE(reader.is_whole());
  CHECK(reader.is_too_large());
}

}  // namespace KRUXOS_TEST_FILE
