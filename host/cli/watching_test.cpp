#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

TEST_CASE("what is watched: --watch shows again and again what there is, until q", "[cli]") {
  CliFixture f;
  f.console.terminal = true;
  f.console.keys = "  q";
  int looks = 0;
  f.console.on_sleep = [&] {
    ++looks;
    f.api.answers["alerts"] =
        R"({"alerts":[{"id":)" + std::to_string(looks) + R"(,"message":"look )" + std::to_string(looks) + "\"}]}";
  };
  CHECK(f.run({"alerts", "--watch"}) == 0);
  CHECK(looks == 3);
  CHECK_THAT(f.out(), Catch::Contains("There are no open alerts.") && Catch::Contains("look 1") &&
                          Catch::Contains("look 2") && !Catch::Contains("look 3") && Catch::Contains("q: end"));
  CHECK_FALSE(f.console.in_keys);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"status", "--watch"}, {"approve", "list", "--watch"}, {"dlq", "list", "--watch"}}) {
    f.console.keys = "q";
    CHECK(f.run(words) == 0);
    CHECK(has(f.out(), "q: end"));
  }
}

TEST_CASE("what is watched: --watch shows no more lines than the terminal has", "[cli]") {
  CliFixture f;
  f.console.terminal = true;
  f.console.rows = 6;
  f.console.keys = "q";
  std::string all;
  for (int i = 1; i < 9; ++i)
    all += (i == 1 ? "" : ",") + (R"({"id":)" + std::to_string(i)) + R"(,"severity":"info","message":"m"})";
  f.api.answers["alerts"] = "{\"alerts\":[" + all + "]}";
  CHECK(f.run({"alerts", "--watch"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("lines more."));
  const auto shown = f.out();
  CHECK(std::count(shown.begin(), shown.end(), '\n') <= 6);
}

TEST_CASE("what is watched: a line that is wider than the terminal takes several of its rows", "[cli]") {
  CliFixture f;
  f.console.terminal = true;
  f.console.rows = 6;
  f.console.columns = 20;
  f.console.keys = "q";
  f.api.answers["alerts"] = R"({"alerts":[]})";
  CHECK(f.run({"alerts", "--watch"}) == 0);
  const auto shown = f.out();
  int rows = 0;
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) rows += std::max(1, (krux::cli::display_width(line) + 19) / 20);
  CHECK(rows <= 8);  // but for what moves the cursor
}

TEST_CASE("what is watched: --watch waits for a host that is away, once it has answered", "[cli]") {
  CliFixture f;
  f.console.terminal = true;
  f.console.keys = "  q";
  f.console.on_sleep = [&] {
    f.api.errors.clear();
    f.api.errors.emplace("status", Error(ErrorCode::kInternal, "Away for a while."));
  };
  CHECK(f.run({"status", "--watch"}) == 0);
  CHECK(has(f.out(), "Away for a while."));
  CHECK(f.run({"status", "--watch"}) == 1);
  CHECK_FALSE(f.console.in_keys);
}

TEST_CASE("what is watched: --watch is for a terminal and goes without --json", "[cli]") {
  CliFixture f;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"status", "--watch"}, {"alerts", "--watch"}, {"approve", "list", "--watch"}}) {
    f.console.terminal = false;
    CHECK(f.run(words) == 2);
    CHECK(has(f.err(), "--watch is for a terminal"));
    f.console.terminal = true;
    auto json = words;
    json.emplace_back("--json");
    CHECK(f.run(json) == 2);
  }
  CHECK(f.api.asked().empty());
}

}  // namespace KRUXOS_TEST_FILE
