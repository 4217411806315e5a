#include <kruxos/kit/excerpt.hpp>

#include <catch2/catch.hpp>

#include <limits>
#include <string>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;

TEST_CASE("an excerpt counts characters, and says where the text goes on") {
  const std::string text = "a\u00E4\u20AC\U0001F600z";
  const auto first = excerpt(text, 0, 3);
  CHECK(first.text == "a\u00E4\u20AC");
  CHECK(first.total == 5);
  CHECK(first.next == 3);
  const auto rest = excerpt(text, *first.next, 3);
  CHECK(rest.text == "\U0001F600z");
  CHECK(rest.total == 5);
  CHECK_FALSE(rest.next);
  CHECK(excerpt(text, 1, 1).text == "\u00E4");
  CHECK_FALSE(excerpt(text, 0, 5).next);
  CHECK(excerpt(text, 0, 4).next == 4);
}

TEST_CASE("beyond a text there is nothing, and numbers of any size are taken") {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  for (const auto offset : {std::size_t{3}, std::size_t{4}, most}) {
    const auto none = excerpt("abc", offset, 10);
    CHECK(none.text.empty());
    CHECK(none.total == 3);
    CHECK_FALSE(none.next);
  }
  CHECK(excerpt("abc", 1, most).text == "bc");
  CHECK(excerpt("abc", 1, 0).next == 1);
  CHECK(excerpt("", 0, 10).total == 0);
  CHECK_FALSE(excerpt("", 0, 10).next);
}

TEST_CASE("the parts of a text, read one after the other, are the text") {
  std::string text;
  for (int i = 0; i < 50; ++i) text += i % 3 == 0 ? "x" : i % 3 == 1 ? "\u00FC" : "\U0001F600";
  for (const std::size_t most : {1, 2, 7, 49, 50, 51}) {
    std::string joined;
    std::optional<std::size_t> at = 0;
    while (at) {
      const auto part = excerpt(text, *at, most);
      joined += part.text;
      at = part.next;
    }
    CHECK(joined == text);
  }
}

}  // namespace KRUXOS_TEST_FILE
