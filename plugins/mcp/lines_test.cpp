// Lines out of pieces.
#include "lines.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace KRUXOS_TEST_FILE {

TEST_CASE("lines come whole, however the pieces are cut") {
  const std::string text = "one\n\ntwo and more\nthree\nrest";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    mcp::Lines lines(100);
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size(); at += size)
      REQUIRE(lines.add(std::string_view(text).substr(at, size), [&](std::string_view one) { all.emplace_back(one); }));
    CHECK(all == std::vector<std::string>{"one", "", "two and more", "three"});
  }
}

TEST_CASE("a line that is too long is noticed before it has ended") {
  const auto none = [](std::string_view) {};
  mcp::Lines lines(10);
  CHECK(lines.add("0123456789\n0123", none));
  CHECK(lines.add("456789", none));
  CHECK_FALSE(lines.add("x", none));
  mcp::Lines at_once(10);
  CHECK_FALSE(at_once.add("0123456789x\n", none));
}

TEST_CASE("the last thing that was said is kept, short and clean") {
  mcp::LastLine said;
  CHECK(said.text().empty());
  said.add("first\nsecond, in ");
  CHECK(said.text() == "second, in");
  said.add("two pieces\n \n\n");
  CHECK(said.text() == "second, in two pieces");
  said.add("red \x1b[31m\xff\n");
  CHECK(said.text() == "red [31m\xEF\xBF\xBD");
  for (int i = 0; i < 1000; ++i) said.add(std::string(1000, 'x'));
  CHECK(said.text() == std::string(300, 'x'));
}

}  // namespace KRUXOS_TEST_FILE
