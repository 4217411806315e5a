#include "core/replica/contains.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace KRUXOS_TEST_FILE {

using krux::contains;

TEST_CASE("a part is found at either end and in the middle, and nothing that only begins or ends like it") {
  CHECK(contains("", ""));
  CHECK(contains("abc", ""));
  CHECK_FALSE(contains("", "a"));
  CHECK_FALSE(contains("ab", "abc"));
  CHECK(contains("abcdefghijklmnop", "a"));
  CHECK(contains("abcdefghijklmnop", "p"));
  CHECK(contains("abcdefghijklmnop", "abcdefghi"));
  CHECK(contains("abcdefghijklmnop", "hijklmnop"));
  CHECK(contains("abcdefghijklmnop", "abcdefghijklmnop"));
  CHECK_FALSE(contains("axcaxcaxcaxcaxcaxcaxc", "abc"));
  CHECK_FALSE(contains("abcdefghijklmnop", "nopq"));
  CHECK_FALSE(contains(std::string_view("abcdefghijklmnopq", 16), "nopq"));
}

TEST_CASE("it agrees with std::string_view::find") {
  std::mt19937 random(5);
  const auto text_of = [&](std::size_t most) {
    std::string text(random() % (most + 1), ' ');
    for (char& c : text) c = "ab\xC3\xA9\x80"[random() % 5];
    return text;
  };
  for (int i = 0; i < 200'000; ++i) {
    const auto text = text_of(40), part = text_of(12);
    const bool found = text.find(part) != std::string::npos;
    if (contains(text, part) != found) FAIL("\"" << part << "\" in \"" << text << "\"");
  }
}

}  // namespace KRUXOS_TEST_FILE
