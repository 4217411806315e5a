#include "core/util/text.hpp"

#include <utf8proc.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "core/util/error.hpp"
#include "core/util/ids.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("folding makes what looks alike equal") {
  CHECK(fold("Straße") == "strasse");
  CHECK(fold("e\xCC\x81") == fold("\xC3\x89"));     // NFD e + acute, and E with acute
  CHECK(fold("\xC4\xB0") == "i\xCC\x87");           // dotted capital I
  CHECK(fold("\xEF\xBC\xA1\xEF\xBC\xA2") == "ab");  // full width
  CHECK(fold(fold("ŒUVRE ǅ ﬁ")) == fold("ŒUVRE ǅ ﬁ"));
  CHECK(fold(std::string_view("a\0b\x1f"
                              "c",
                              5)) == "abc");
  CHECK(fold(std::string_view("a\0b\x1f"
                              "C",
                              5),
             true) ==
        "ab\x1f"
        "c");
  CHECK(fold("\xff\xfe"
             "A") ==
        "\xEF\xBF\xBD\xEF\xBF\xBD"
        "a");
}

TEST_CASE("accents are left out of Latin and Greek letters, and no other letter is made of one") {
  const auto plain = [](std::string_view text) { return without_accents(fold(text)); };
  CHECK(plain("Z\u00fcrich \u00c5ngstr\u00f6m \u0141\u00f3d\u017a \u00c6r\u00f8 \u0130stanbul \u0131") ==
        "zurich angstrom lodz aero istanbul i");
  CHECK(plain("Vi\u1ec7t \u0110\u1ee9c \u00f0\u00fe") == "viet duc dth");
  CHECK(plain("\u0386\u03bd\u03b8\u03c1\u03c9\u03c0\u03bf\u03c2") ==
        "\u03b1\u03bd\u03b8\u03c1\u03c9\u03c0\u03bf\u03c3");
  CHECK(plain("\u0401\u043b\u043a\u0430 \u0439\u0457") == "\u0435\u043b\u043a\u0430 \u0439\u0457");
  CHECK(plain("\u304c \ud55c\uad6d \u0915\u093f \u0e01\u0e34") == "\u304c \ud55c\uad6d \u0915\u093f \u0e01\u0e34");
  CHECK(plain("\u2764\ufe0f") == "\u2764");
  CHECK(without_accents("\u0301x\x1f\u0301") == "\u0301x\x1f\u0301");
  CHECK(without_accents("plain \uE000") == "plain \uE000");
  for (const char* text : {"Z\u00fcrich", "\u1e69\u0323", "\u00e9\u0327", "\u0439"})
    CHECK(without_accents(plain(text)) == plain(text));
}

TEST_CASE("folding takes each part by itself, plain or not") {
  const std::string mark = "\xEE\xA0\x80\xEF\xA3\xBF";  // U+E800 and U+F8FF, private ones
  CHECK(fold(mark + "AbC") == mark + "abc");
  CHECK(fold("STRASSE\x1fStra\xC3\x9F"
             "e\x1f" +
                 mark + "\x1f",
             true) == "strasse\x1fstrasse\x1f" + mark + "\x1f");
  CHECK(fold("\x1f\x1f", true) == "\x1f\x1f");
  CHECK(fold("e\x1f\xCC\x81", true) == "e\x1f\xCC\x81");  // an accent at a part's beginning stays there
  // Beside the private area: a compatibility ideograph, a full-width letter, and sequences that end too soon.
  CHECK(fold("\xEF\xA4\x80") == "\xE8\xB1\x88");
  CHECK(fold("\xEF\xBC\xA1") == "a");
  CHECK(fold("\xEE\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(fold("\xEE\x80\x1f\x80", true) == "\xEF\xBF\xBD\xEF\xBF\xBD\x1f\xEF\xBF\xBD");
  CHECK(fold("\xEEzz") == "\xEF\xBF\xBDzz");
}

TEST_CASE("what steers a terminal is shown, not obeyed") {
  CHECK(printable("a\x1b[31mb\r\n\t\x07") == "a\\x1b[31mb\\x0d\\n\\t\\x07");
  CHECK(printable("x\xE2\x80\xAEy") == "x\\u202ey");
  CHECK(printable("\xC2\x9B"
                  "31m") == "\\x9b31m");
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("grün 日本 😀") == "grün 日本 😀");
}

TEST_CASE("what nobody would see is shown") {
  for (const char* escape :
       {"\\u00ad", "\\u034f", "\\u061c",     "\\u115f",     "\\u1160",     "\\u17b4",     "\\u180b",
        "\\u180e", "\\u200b", "\\u200c",     "\\u200d",     "\\u200e",     "\\u200f",     "\\u2028",
        "\\u2060", "\\u2064", "\\u2065",     "\\u206a",     "\\u206f",     "\\u3164",     "\\ufeff",
        "\\uffa0", "\\ufff9", "\\U0001d173", "\\U000e0001", "\\U000e0041", "\\U000e0100", "\\U000e0fff"}) {
    const auto code = static_cast<std::int32_t>(std::strtol(escape + 2, nullptr, 16));
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto size = utf8proc_encode_char(code, bytes.data());
    const std::string character(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
    CAPTURE(escape);
    CHECK(printable("pay" + character + "pal") == "pay" + (code == 0xad ? "\\xad" : std::string(escape)) + "pal");
  }
  CHECK(printable("x\u00a0y\u2014\u2026 \u2764\ufe0f") == "x\u00a0y\u2014\u2026 \u2764\ufe0f");
}

TEST_CASE("what somebody calls himself becomes one line that ends where it ends") {
  CHECK(plain_line("A name") == "A name");
  CHECK(plain_line("  a\t\r\n b\xc2\xa0\xe2\x80\x83\xe3\x80\x80"
                   "c \xe2\xa0\x80") == "a b c");
  CHECK(plain_line("\x1b[2Ja\x07\xe2\x80\xae"
                   "b\xff\xe2\x80\x8b"
                   "c") == "[2Jabc");
  CHECK(plain_line("\"a\" \xe2\x80\x9c"
                   "b\xe2\x80\x9d \xc2\xab"
                   "c\xc2\xbb \xef\xbc\x82") == "'a' 'b' 'c' '");
  CHECK(plain_line("caf\xc3\xa9 \xf0\x9f\x98\x80 O'Neil\\") == "caf\xc3\xa9 \xf0\x9f\x98\x80 O'Neil\\");
  CHECK(plain_line(" \x01\xe2\x80\xa8 ").empty());
  CHECK(plain_line("").empty());
}

TEST_CASE("times are read and written") {
  CHECK(format_time(0) == "1970-01-01T00:00:00.000Z");
  CHECK(format_time(1'700'000'000'123) == "2023-11-14T22:13:20.123Z");
  CHECK(parse_time("2023-11-14T22:13:20.123Z", "x") == 1'700'000'000'123);
  CHECK(parse_time("2023-11-15T00:13:20+02:00", "x") == 1'700'000'000'000);
  CHECK(parse_time("2024-02-29", "x") == 1'709'164'800'000);
  for (const char* bad : {"", "2023", "2023-02-29", "2023-13-01", "2023-11-14T25:00:00Z", "2023-11-14T22:13:20",
                          "yesterday", "2023-11-14T22:13:20Zx", "2023-11-14T22:13:20.Z"}) {
    INFO(bad);
    CHECK_THROWS_WITH(parse_time(bad, "from_date"), Catch::Contains("from_date"));
  }
}

TEST_CASE("ids sort by time and are recognized") {
  const auto a = make_id("w_", 1'700'000'000'000), b = make_id("w_", 1'700'000'000'001);
  CHECK(a < b);
  CHECK(a.substr(2, 13) == "018bcfe5-6800");
  CHECK(is_id("w_", a));
  constexpr std::int64_t order = 1'700'000'000'000 * 4096 + 0xabc;
  const auto ordered = make_ordered_id("w_", order);
  CHECK(is_id("w_", ordered));
  CHECK(ordered.starts_with("w_018bcfe5-6800-7abc-"));
  CHECK(order_of_id("w_", ordered) == order);
  CHECK(ordered != make_ordered_id("w_", order));
  CHECK_FALSE(order_of_id("w_", "w_1"));
  CHECK_FALSE(order_of_id("appr_", ordered));
  CHECK_FALSE(is_id("rb_", a));
  CHECK_FALSE(is_id("w_", a + "x"));
  CHECK_FALSE(is_id("w_", "w_018BCFE5-6800-7000-8000-000000000000"));
  CHECK(random_hex(32).size() == 64);
  CHECK(random_hex(32) != random_hex(32));
}

TEST_CASE("hashes and comparison") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(equal_constant_time("", ""));
  CHECK(equal_constant_time("abc", "abc"));
  CHECK_FALSE(equal_constant_time("abc", "abd"));
  CHECK_FALSE(equal_constant_time("abc", "ab"));
}

}  // namespace KRUXOS_TEST_FILE
