#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

TEST_CASE("a mistyped command, option or value is told of in one sentence, with what was meant", "[cli]") {
  CliFixture f;
  struct Row {
    std::vector<std::string> words;
    std::string sentence;
  };
  const std::string accept = "kruxos approve accept";
  const std::vector<Row> rows{
      {{}, "Name a command. See: kruxos --help"},
      {{"stauts"}, "There is no command \"stauts\" (did you mean \"status\"?). See: kruxos --help"},
      {{"zzzzzzzz"}, "There is no command \"zzzzzzzz\". See: kruxos --help"},
      {{"agent"}, "kruxos agent needs one of its commands: create, list,"},
      {{"agent", "creat", "x"},
       "kruxos agent has no command \"creat\" (did you mean \"create\"?). It has: create, list,"},
      {{"vault", "rotat"}, "(did you mean \"rotate\"?)"},
      {{"config", "sho"}, "(did you mean \"show\"?)"},
      {{"agent", "create"},
       "kruxos agent create needs NAME (What it is called from now on). See: kruxos agent create --help"},
      {{"agent", "create", "a", "b"}, "\"b\" is one word too many: kruxos agent create takes NAME, and options."},
      {{"status", "now"}, "\"now\" is one word too many: kruxos status takes options alone."},
      {{"agent", "rotate", "a", "--grce", "2h"},
       "kruxos agent rotate has no option \"--grce\" (did you mean \"--grace\"?)."},
      {{"agent", "rotate", "a", "--grace"}, "--grace needs a value: --grace TIME (The old key is good for so long too"},
      {{"agent", "rotate", "a", "--grace", "2"},
       "--grace must be a time from 1min to 7d, such as 30min or 2h, not \"2\"."},
      {{"agent", "rotate", "a", "--grace", "8d"}, "not \"8d\"."},
      {{"alerts", "--acknowledge", "abc"},
       "--acknowledge must be a whole number from 1 to 9007199254740992, not \"abc\"."},
      {{"alerts", "--acknowledge", "0"}, "not \"0\"."},
      {{"approve", "list", "--recent", "abc"}, "--recent must be a whole number from 1 to 500, not \"abc\"."},
      {{"approve", "list", "--recent", std::string(5000, '9')}, "not \"" + std::string(39, '9') + "…\"."},
      {{"approve", "accept", "w_1", "--service", "x"}, "--service goes with --all only."},
      {{"approve", "accept", "w_1", "--all"}, "do not go together: give one of them."},
      {{"--socket", "s", "--data-dir", "d", "status"}, "--socket and --data-dir do not go together"},
      {{"approve", "resolve", "w_1"}, "kruxos approve resolve needs one of --resend, --discard, --happened."},
      {{"approve", "resolve", "w_1", "--resend", "--discard"}, "takes only one of --resend, --discard."},
      {{"approve", "list", "--service", "x", "--service", "y"}, "--service may stand once only."},
      {{"status", "--json=maybe"}, "--json takes no value."},
      {{"agent", "create", ""}, "NAME must not be empty (What it is called from now on)."},
      {{"agent", "show", ""}, "AGENT must not be empty"},
      {{"approve", "show", ""}, "ID must not be empty"},
      {{"connect", ""}, "SERVICE must not be empty"},
      {{"approve", "list", "--service", ""}, "--service must not be empty"}};
  for (const auto& row : rows) {
    INFO(row.sentence);
    auto words = row.words;
    support::Scratch scratch;
    FakeConsole console;
    CHECK(cli::run_command(words, console, {}) == 2);
    CHECK_THAT(console.err_text.str(), Catch::StartsWith("kruxos: ") && Catch::Contains(row.sentence));
    CHECK(console.err_text.str().size() < 400);
    CHECK(console.out_text.str().empty());
    CHECK(console.err_text.str().find("path") == std::string::npos);
  }
}

TEST_CASE("words of strangers cannot steer the terminal in an error either", "[cli]") {
  CliFixture f;
  CHECK(f.run({"a\x1b[31mb"}) == 2);
  CHECK(has(f.err(), "\"a\\x1b[31mb\""));
}

TEST_CASE("an error about a colour is as coloured as its own stream", "[cli]") {
  CliFixture f;
  f.console.colour = true;
  CHECK(f.run({"stauts"}) == 2);
  CHECK_FALSE(has(f.err(), "\x1b["));
  f.console.error_colour = true;
  f.console.colour = false;
  CHECK(f.run({"stauts"}) == 2);
  CHECK(has(f.err(), "\x1b[31mkruxos: \x1b[0m"));
}

TEST_CASE("with --json a failure is an object on standard output as well", "[cli]") {
  FakeConsole console;
  CHECK(cli::run_command({"--json", "--socket", "/nowhere/at/all", "status"}, console, {}) == 3);
  CHECK_THAT(console.out_text.str(), Catch::StartsWith("{\"error\":{\"message\":\"The host is not running") &&
                                         Catch::Contains("\"exit_code\":3}}"));
  CHECK_THAT(console.err_text.str(), Catch::Contains("The host is not running"));
}

TEST_CASE("what cannot be written is a failure, and a key that is lost so is told of", "[cli]") {
  CliFixture f;
  f.api.answers["create_agent"] = R"({"agent":{"name":"al","agent_id":"agent_1"},"key":"K"})";
  f.console.out_problem = "No space left on device";
  CHECK(f.run({"agent", "create", "al"}) == 1);
  CHECK_THAT(f.err(),
             Catch::Contains("The key of agent al could not be written (No space left on device) and is lost") &&
                 Catch::Contains("kruxos agent rotate al"));
  CHECK(f.run({"--json", "agent", "create", "al"}) == 1);
  f.console.out_problem.clear();
  f.console.out_text.setstate(std::ios::badbit);
  CHECK(f.run({"status"}) == 1);
  CHECK_THAT(f.err(), Catch::Contains("Standard output could not be written"));
}

}  // namespace KRUXOS_TEST_FILE
