#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"
#include "host/cli/command_text.hpp"
#include "host/cli/documents.hpp"
#include "host/cli/help_page.hpp"
#include "host/cli/parsed.hpp"
#include "host/cli/word_walk.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

void leaves(const CLI::App& command, std::vector<const CLI::App*>& into) {
  const auto all = cli::commands_of(command);
  if (all.empty()) into.push_back(&command);
  for (const auto* one : all) leaves(*one, into);
}

}  // namespace

TEST_CASE("help shows the usage, the options, those of every command, and examples", "[cli]") {
  CliFixture f;
  f.console.columns = 70;
  f.console.terminal = true;
  CHECK(f.run({"agent", "rotate", "--help"}) == 0);
  for (const auto* part : {"kruxos agent rotate AGENT [--yes] [--grace TIME]", "Arguments", "--grace TIME", "-y, --yes",
                           "Options of every command", "--data-dir DIR", "--json", "Examples",
                           "kruxos agent rotate assistant --grace 2h > assistant.key"}) {
    INFO(part);
    CHECK(has(f.out(), part));
  }
  for (const auto* gone : {"Excludes", "Option Group", "TEXT ...", "REQUIRED"}) CHECK_FALSE(has(f.out(), gone));
  std::istringstream lines(f.out());
  for (std::string line; std::getline(lines, line);) CHECK(cli::display_width(line) <= 70);
  const auto shown = f.out();
  CHECK(f.run({"help", "agent", "rotate"}) == 0);
  CHECK(f.out() == shown);
  CHECK(f.run({"help"}) == 0);
  CHECK(has(f.out(), "completion"));
  CHECK(f.run({"help", "agent"}) == 0);
  CHECK(has(f.out(), "rotate"));
  CHECK(f.run({"help", "agnt"}) == 2);
  CHECK(has(f.err(), "There is no command") + has(f.err(), "(did you mean \"agent\"?)") >= 1);
  CHECK(f.api.asked().empty());
}

TEST_CASE("the version is told in every form", "[cli]") {
  CliFixture f;
  for (const auto* words : {"version", "--version"}) {
    CHECK(f.run({words}) == 0);
    CHECK_THAT(f.out(), Catch::StartsWith("kruxos ") && Catch::Contains("."));
  }
  CHECK(f.run({"version", "--json"}) == 0);
  CHECK_THAT(f.out(), Catch::StartsWith("{\"version\":\""));
}

TEST_CASE("what stands about commands is about commands that there are, and its examples are ones", "[cli]") {
  cli::Parsed parsed;
  CLI::App app;
  cli::build_tree(app, parsed);
  std::vector<const CLI::App*> all;
  leaves(app, all);
  std::vector<std::string> paths;
  for (const auto* one : all) paths.push_back(cli::path_of(*one).substr(7));
  auto told = cli::commands_with_text();
  for (const auto& command : told) {
    INFO(command);
    CHECK(std::count(paths.begin(), paths.end(), command) == 1);
    CHECK(std::count(told.begin(), told.end(), command) == 1);
    for (const auto& example : cli::text_of(command).examples) {
      INFO(example);
      const auto at = example.rfind("kruxos ");
      REQUIRE(at != std::string::npos);
      auto words = words_in(example.substr(at + 7, example.find_first_of("|<>", at) - at - 7));
      const auto walk = cli::walk_words(app, words);
      CHECK(walk.unknown_command.empty());
      CHECK(walk.unknown_option.empty());
    }
  }
  for (const auto* one : all) {
    for (const auto* option : cli::options_of(*one)) {
      INFO(cli::path_of(*one) << " " << cli::name_of(*option));
      CHECK_FALSE(option->get_description().empty());
      CHECK(option->get_type_name() != "TEXT:TEXT");
    }
  }
}

TEST_CASE("the documents have every command, and troff reads nothing of them as its own", "[cli]") {
  const auto document = cli::command_document(), manual = cli::command_manual();
  for (const auto* part :
       {"### `agent create NAME`", "### `approve resolve ID [--yes] (--resend | --discard | --happened)`",
        "## Exit codes", "kruxos approve list --json | jq -r"})
    CHECK(has(document, part));
  for (const auto* part : {".TH KRUXOS 1", ".SS \"kruxos agent create NAME\"", ".SH \"EXIT CODES\"", "\\-\\-json"})
    CHECK(has(manual, part));
  std::istringstream lines(manual);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('.')) continue;
    const auto request = line.substr(0, line.find(' '));
    INFO(line);
    CHECK(std::set<std::string>{".\\\"", ".TH", ".SH", ".SS", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi", ".nh", ".ad"}
              .contains(request));
  }
}

}  // namespace KRUXOS_TEST_FILE
