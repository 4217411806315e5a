#include <kruxos/kit/text.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;

TEST_CASE("what misleads a reader is left out, and what is no UTF-8 is shown as such") {
  CHECK(clean_text("plain \U000E0041\u202Etext\U000E0001") == "plain text");
  CHECK(clean_text("a\xff\xc3") == "a\uFFFD\uFFFD");
  CHECK(clean_text("two\nlines") == "two\nlines");
  CHECK(clean_line(std::string("a\0b\nc\u2028d", 9)) == "ab c d");
  CHECK(with_nuls_shown(std::string("a\0b", 3)) == "a\uFFFDb");
  CHECK(printable("a\tb\xff~", 4) == "a?b?");
}

TEST_CASE("characters are whole") {
  CHECK(is_utf8("\u00E4\U0001F600"));
  for (const char* bad : {"\x80", "\xC0\x80", "\xC2", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) CHECK_FALSE(is_utf8(bad));
  std::string text = "a\u00E4\U0001F600";
  CHECK_FALSE(cut_text(text, 7));
  CHECK(cut_text(text, 6));
  CHECK(text == "a\u00E4");
  std::string no_text(100, '\x80');
  CHECK(cut_text(no_text, 60));
  CHECK(no_text.size() == 60);
  std::string all;
  for (const char32_t c : {U'a', U'\u00E4', U'\uFFFD', U'\U0001F600'}) append_utf8(all, c);
  CHECK(all == "a\u00E4\uFFFD\U0001F600");
}

TEST_CASE("the case of ASCII alone is put aside") {
  CHECK(lower_ascii("Name\u00C4 1") == "name\u00C4 1");
  CHECK(same_ascii("Content-Type", "content-TYPE"));
  CHECK_FALSE(same_ascii("a", "ab"));
}

}  // namespace KRUXOS_TEST_FILE
