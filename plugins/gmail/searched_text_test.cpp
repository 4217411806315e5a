// Marks and hidden texts: found by their own words, and by nobody else's.
#include "searched_text.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace gmail;

namespace {

std::size_t characters(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace

TEST_CASE("a mark is four characters, different for each label") {
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) {
    const auto one = mark("Label_" + std::to_string(i));
    REQUIRE(characters(one) == 4);
    REQUIRE(seen.insert(one).second);
  }
  CHECK(mark("INBOX") == mark("INBOX"));
  CHECK(mark("INBOX") != mark(lacking("INBOX")));
}

TEST_CASE("no mark begins within marks that stand side by side") {
  std::string all;
  for (int i = 0; i < 200; ++i) all += mark("Label_" + std::to_string(i));
  for (int i = 200; i < 2'000; ++i) REQUIRE(all.find(mark("Label_" + std::to_string(i))) == std::string::npos);
}

TEST_CASE("what people write holds no marks") {
  CHECK(plain("a" + mark("INBOX") + "b") == "ab");
  CHECK(plain(std::string("a\x1f\x1b") + "c") == "a\x1b" + std::string("c"));
  CHECK(plain("Grüße 東京 😀 \xEF\xBF\xBD") == "Grüße 東京 😀 \xEF\xBF\xBD");
  CHECK(plain("\xEE\x80\x80\xEF\xA3\xBF") == "");                          // U+E000 and U+F8FF
  CHECK(plain("\xED\x9F\xBF\xEF\xA4\x80") == "\xED\x9F\xBF\xEF\xA4\x80");  // their neighbours
  CHECK(plain(hidden(Hidden::kCc, "someone")) == "");
  CHECK(plain("\xEE\x80") == "\xEE\x80");  // cut off; nothing crashes
}

TEST_CASE("a part of a hidden text is a part of it, in any case, and of no other range") {
  const auto whole = hidden(Hidden::kFilename, "Rechnung GRÖSSE.PDF");
  CHECK(whole.find(hidden(Hidden::kFilename, ".pdf")) != std::string::npos);
  CHECK(whole.find(hidden(Hidden::kFilename, "grösse")) != std::string::npos);
  CHECK(whole.find(hidden(Hidden::kCc, ".pdf")) == std::string::npos);
  CHECK(whole.find(hidden(Hidden::kFilename, "xls")) == std::string::npos);
  CHECK(whole.find("PDF") == std::string::npos);
}

TEST_CASE("folding takes case and normal form away") {
  CHECK(folded("ÄRGER Ｗｉｄｅ") == "ärger wide");
  CHECK(folded("A\xCC\x88") == folded("Ä"));
  CHECK(folded("Plain ASCII") == "plain ascii");
  CHECK(folded("\xFF\xFE") == "\xFF\xFE");
}
