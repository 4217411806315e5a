#include "host/cli/table.hpp"

#include <catch2/catch.hpp>

#include "host/cli/fake_console.hpp"
#include "host/cli/session.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::cli;
using krux::test::FakeConsole;

TEST_CASE("columns are as wide as what they show", "[cli]") {
  FakeConsole console;
  Table table({{"NAME"}, {"N", true}, {"TEXT", false, true}});
  table.add({"a", "7", "x"});
  table.add({"longer", "1234", std::string(200, 'y')});
  table.print(console);
  CHECK(console.out_text.str() == "NAME       N  TEXT\na          7  x\nlonger  1234  " + std::string(200, 'y') + "\n");
}

TEST_CASE("wide, combining and cut characters keep columns aligned", "[cli]") {
  FakeConsole console;
  Table table({{"A"}, {"B"}});
  table.add({"日本", "x"});
  table.add({"e\xcc\x81", "x"});
  table.add({"😀", "x"});
  table.print(console);
  CHECK(console.out_text.str() == "A     B\n日本  x\ne\xcc\x81     x\n😀    x\n");
  CHECK(fit("日本語", 5) == "日本…");
  CHECK(fit("日本語", 4) == "日…");
  CHECK(fit("abc", 3) == "abc");
  CHECK(fit("abcd", 3) == "ab…");
}

TEST_CASE("a terminal's lines are not longer than it is wide", "[cli]") {
  FakeConsole console;
  console.terminal = true;
  console.columns = 40;
  Table table({{"ID"}, {"TEXT", false, true}, {"MORE", false, true}});
  table.add({"w_1", std::string(100, 'x'), "short"});
  table.print(console);
  std::istringstream lines(console.out_text.str());
  for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= 40);
  CHECK(console.out_text.str().find("short") != std::string::npos);
  CHECK(console.out_text.str().find("xx…") != std::string::npos);
}

TEST_CASE("ids give way first, down to what is enough to type", "[cli]") {
  const std::string one = "w_01a20595-99d5-7000-8000-000000000001", two = "w_01a20595-99d6-7000-8000-000000000002";
  FakeConsole console;
  Table table({id_column("ID"), {"AGENT"}, {"CONTENT", false, true}, {"N", true}});
  table.add({one, "al", std::string(60, 'x'), "3"});
  table.add({two, "al", "short", "4"});
  table.print(console);
  CHECK_THAT(console.out_text.str(), Catch::Contains(one) && Catch::Contains(two));  // elsewhere nothing is cut
  console.terminal = true;
  for (const int columns : {100, 60, 44, 30}) {
    console.columns = columns;
    console.out_text.str("");
    table.print(console);
    const auto text = console.out_text.str();
    INFO(text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= columns);
    CHECK_THAT(text, Catch::Contains("w_01a20595-99d5  ") && Catch::Contains("w_01a20595-99d6  "));
    CHECK_THAT(text, !Catch::Contains("99d5-") && Catch::Contains("xxxxxxxxxx") && Catch::Contains("short"));
    CHECK((text.find("N 3") != std::string::npos) == (columns < 44));  // folded: no title above
  }
  CHECK(enough_of_ids({one, "w_01a20595-99d5-7001-8000-000000000002"}) == 20);
  CHECK(enough_of_ids({"agent_01a20595-99d5-7000-8000-000000000001"}) == 19);
  CHECK(enough_of_ids({"", "w_1"}) == 3);
  CHECK(enough_of_ids({}) == 0);
}

TEST_CASE("text cannot steer the terminal, and colours are only the table's own", "[cli]") {
  FakeConsole console;
  Table table({{"TEXT"}});
  table.add({Cell("\x1b[31mred\x07\n\u202e", Style::kGood)});
  table.print(console);
  CHECK(console.out_text.str() == "TEXT\n\\x1b[31mred\\x07\\n\\u202e\n");
  FakeConsole coloured;
  coloured.colour = true;
  table.print(coloured);
  CHECK(coloured.out_text.str() == "\x1b[1mTEXT\x1b[0m\n\x1b[32m\\x1b[31mred\\x07\\n\\u202e\x1b[0m\n");
}

TEST_CASE("long values of a listing go on below themselves", "[cli]") {
  FakeConsole console;
  console.terminal = true;
  console.columns = 30;
  Listing listing;
  listing.add("Label", "some words that do not fit in one line");
  listing.add_unless_empty("Empty", "");
  listing.print(console);
  CHECK(console.out_text.str() == "Label  some words that do not\n       fit in one line\n");
  CHECK(wrap("日本語日本語", 4) == std::vector<std::string>{"日本", "語日", "本語"});
  CHECK(wrap("日", 1) == std::vector<std::string>{"日", ""});
}

TEST_CASE("times are told as people do", "[cli]") {
  const std::int64_t now = 1'700'000'000'000;
  CHECK(relative(0, now) == "-");
  CHECK(relative(now, now) == "now");
  CHECK(relative(now - 59'000, now) == "59 s ago");
  CHECK(relative(now + 25'000, now) == "in 25 s");
  CHECK(relative(now - 3'600'000, now) == "1 h ago");
  CHECK(duration(3 * 3'600'000 + 120'000) == "3 h 2 min");
  CHECK(duration(2 * 86'400'000 + 3'700'000) == "2 d 1 h");
  CHECK(moment(now, now) == "2023-11-14 22:13:20 UTC (now)");
}

}  // namespace KRUXOS_TEST_FILE
