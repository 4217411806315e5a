// docs/testing.md, followed word for word on a machine where a host of the tester's own has its data.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "package/machine.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;
namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& file) {
  std::ifstream in(file);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// All that the page's section gives in that language, in order.
std::string code_of(const std::string& page, const std::string& section, const std::string& language) {
  const auto begin = page.find("\n## " + section + "\n");
  REQUIRE(begin != std::string::npos);
  const auto end = page.find("\n## ", begin + 1);
  std::string commands;
  const auto fence = "\n```" + language + "\n";
  for (auto at = page.find(fence, begin); at < end; at = page.find(fence, at)) {
    at += fence.size();
    const auto close = page.find("\n```", at);
    REQUIRE(close < end);
    commands += page.substr(at, close - at) + "\n";
    at = close + 1;
  }
  return commands;
}

/// Every file below, with its content.
std::map<std::string, std::string> files_below(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const auto name = entry.path().lexically_relative(directory).string();
    files[name] = entry.is_regular_file() ? content_of(entry.path()) : "";
  }
  return files;
}

}  // namespace

TEST_CASE("the page on testing, followed word for word, touches nothing of the tester's own host") {
  const support::Scratch scratch;
  const auto root = fs::canonical(scratch.path());
  const auto prefix = root / "prefix", home = root / "home", work = root / "work";
  for (const char* component : {"Unspecified", "testing"})
    must({KRUXOS_CMAKE, "--install", KRUXOS_BUILD_DIR, "--prefix", prefix, "--component", component});
  for (const char* directory : {".local/share/kruxos", ".config/kruxos"}) {
    fs::create_directories(home / directory);
    fs::permissions(home / directory, fs::perms::owner_all);
  }
  std::ofstream(home / ".local/share/kruxos/kruxos.db") << "the tester's own";
  std::ofstream(home / ".config/kruxos/vault.key") << "the tester's own";
  fs::create_directory(work);
  const auto before = files_below(home);
  const auto installed = files_below(prefix / "lib");

  // Whatever fails, the host does not stay behind.
  const std::string commands =
      "trap 'kill ${HOST:-} 2>/dev/null || true' EXIT\n" + code_of(content_of(KRUXOS_TESTING_PAGE), "By hand", "sh");
  Command shell{{"/bin/sh", "-eu", "-c", commands}, {}};
  shell.working_directory = work;
  shell.inherit_env = false;
  shell.env = {
      {"PREFIX", prefix.string()}, {"HOME", home.string()}, {"PATH", (prefix / "bin").string() + ":/usr/bin:/bin"}};
  const auto done = run(shell, milliseconds(60'000));
  std::ifstream log(work / "agent-test/host.log");
  INFO(done.out << done.err << std::string(std::istreambuf_iterator<char>(log), {}));
  REQUIRE(done.status.ok());
  CHECK_THAT(done.out, Catch::Contains("\"success\":true"));
  CHECK_THAT(content_of(work / "agent-test/adapters/slack.mock.json.journal"), Catch::Contains("hello"));
  CHECK(fs::exists(work / "agent-test/data/kruxos.db"));
  CHECK(fs::exists(work / "agent-test/keys/vault.key"));
  CHECK(files_below(home) == before);
  CHECK(files_below(prefix / "lib") == installed);
}

TEST_CASE("a host for tests is one command, in a shell and in Python as the page has it") {
  const support::Scratch scratch;
  const auto root = fs::canonical(scratch.path());
  const auto prefix = root / "prefix", temporary = root / "tmp";
  fs::create_directory(temporary);
  for (const char* component : {"Unspecified", "testing"})
    must({KRUXOS_CMAKE, "--install", KRUXOS_BUILD_DIR, "--prefix", prefix, "--component", component});
  const auto page = content_of(KRUXOS_TESTING_PAGE);
  const auto play = [&](const std::vector<std::string>& argv) {
    Command command{argv, {}};
    command.working_directory = root;
    command.inherit_env = false;
    command.env = {{"TMPDIR", temporary.string()}, {"PATH", (prefix / "bin").string() + ":/usr/bin:/bin"}};
    const auto done = run(command, milliseconds(60'000));
    INFO(argv.back() << done.out << done.err);
    CHECK(done.status.ok());
    CHECK(fs::is_empty(temporary));
    return done.out;
  };
  const auto said = play({"/bin/sh", "-eu", "-c",
                          "trap 'kill ${HOST:-} 2>/dev/null || true' EXIT\n" + code_of(page, "One command", "sh")});
  CHECK_THAT(said, Catch::Contains("\"success\":true"));
  play({KRUXOS_PYTHON, "-c", code_of(page, "One command", "python")});
}

}  // namespace KRUXOS_TEST_FILE
