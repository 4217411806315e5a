// `kruxos adapter new`: what it writes, and what it refuses. That the result builds is test/package's to see.
#include "host/cli/scaffold.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>

#include "core/definition/definition_loader.hpp"
#include "core/policy/policy.hpp"
#include "host/cli/command_line.hpp"
#include "host/cli/fake_console.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

struct Author {
  support::Scratch scratch;
  test::FakeConsole console;

  fs::path target() const { return scratch.path() / "target"; }
  int run(std::vector<std::string> arguments) {
    console.out_text.str("");
    console.err_text.str("");
    arguments.insert(arguments.begin(), {"adapter", "new"});
    return cli::run_command(arguments, console, {});
  }
  int make(const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {name, "--dir", target().string()});
    return run(more);
  }
  std::string err() const { return console.err_text.str(); }
};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

mode_t mode_of(const fs::path& path) {
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  return found.st_mode & 0777;
}

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

}  // namespace

TEST_CASE("a new adapter has all its files, with its names in them", "[scaffold]") {
  Author author;
  REQUIRE(author.make("my_notes", {"--prefix", "note", "--display-name", "Ann's Notes & Co"}) == 0);
  CHECK_THAT(author.console.out_text.str(), Contains(author.target().string()));
  CHECK(names_in(author.target()) == std::set<std::string>{".gitignore", "CMakeLists.txt", "README.md",
                                                           "fake_my_notes.py", "manifest.yaml", "my_notes.policy.yaml",
                                                           "my_notes.yaml", "my_notes_adapter.cpp",
                                                           "my_notes_adapter.hpp", "my_notes_adapter_test.cpp"});
  for (const auto& name : names_in(author.target())) {
    INFO(name);
    const auto text = read(author.target() / name);
    CHECK(text.size() > 10);
    for (const auto* left : {"@NAME@", "@PREFIX@", "@DISPLAY_NAME@", "@CLASS@", "@HOST@"})
      CHECK_THAT(text, !Contains(left));
  }
  CHECK_THAT(read(author.target() / "my_notes_adapter.cpp"),
             Contains(R"(KRUXOS_PLUGIN(my_notes_adapter::MyNotesAdapter, "my_notes", "note", "1.0.0");)"));
  CHECK(read(author.target() / ".gitignore") == "build/\ndist/\ntry/\n");
}

TEST_CASE("a new adapter's definition is one that the host takes", "[scaffold]") {
  Author author;
  const auto old = ::umask(0);  // what others may write, the host refuses
  const int code = author.make("my_notes", {"--prefix", "note", "--display-name", "Ann's Notes: # 1 & Co {x}"});
  ::umask(old);
  REQUIRE(code == 0);
  CHECK(mode_of(author.target()) == 0755);
  CHECK(mode_of(author.target() / "fake_my_notes.py") == 0755);
  const auto definition = load_definition(author.target() / "my_notes.yaml");
  CHECK(definition.service == "my_notes");
  CHECK(definition.prefix == "note");
  CHECK(definition.display_name == "Ann's Notes: # 1 & Co {x}");
  CHECK(definition.hosts == std::vector<std::string>{"my-notes.example"});
  for (const auto* name : {"note.search", "note.read", "note.create", "note.delete", "note.cancel"})
    CHECK(definition.find(name));
  const auto tight =
      under_policy(definition, read(author.target() / "my_notes.policy.yaml"), "policy", PolicyOf::kAuthor);
  CHECK(tight.find("note.delete")->delay_ms == 2 * 3'600'000);
}

TEST_CASE("without options the service's name stands for everything", "[scaffold]") {
  Author author;
  REQUIRE(author.make("a1") == 0);
  const auto definition = load_definition(author.target() / "a1.yaml");
  CHECK(definition.prefix == "a1");
  CHECK(definition.display_name == "A1");
  CHECK(author.make("a1") == 5);
  CHECK_THAT(author.err(), Contains("is not empty"));
}

TEST_CASE("the command says in JSON what it has written", "[scaffold]") {
  Author author;
  REQUIRE(author.make("notes", {"--json"}) == 0);
  CHECK_THAT(author.console.out_text.str(),
             Contains(R"("service":"notes","prefix":"notes")") && Contains("\"manifest.yaml\""));
}

TEST_CASE("names that cannot be used are refused with a sentence", "[scaffold]") {
  Author author;
  for (const auto* name : {"", "Notes", "1notes", "my-notes", "_notes", "notes_", "my__notes", "../notes", "a b",
                           "notes\n", "\xff", "null", "true", "on", "abcdefghijklmnopqrstuvwxyzabcdefg"}) {
    INFO(name);
    CHECK(author.make(name) == 2);
    CHECK(author.err().size() > 30);
  }
  for (const auto* prefix : {"proxy", "state", "alerts", "agent", "A", "a__b"}) {
    INFO(prefix);
    CHECK(author.make("notes", {"--prefix", prefix}) == 2);
    CHECK_THAT(author.err(), Contains("prefix"));
  }
  CHECK(author.make("agent") == 2);  // the name would be the prefix
  CHECK_THAT(author.err(), Contains("--prefix"));
  for (const auto& text : std::vector<std::string>{"a \"b\"", "a\\b", "a@b", "a\nb", " a", "a ", "\xff", "\x1b[31m",
                                                   std::string(61, 'x')}) {
    INFO(text);
    CHECK(author.make("notes", {"--display-name", text}) == 2);
    CHECK_THAT(author.err(), Contains("display name"));
  }
  CHECK_FALSE(fs::exists(author.target()));
}

TEST_CASE("what is there already is left alone", "[scaffold]") {
  Author author;
  fs::create_directory(author.target());
  support::write_safe(author.target() / "mine", "precious");
  CHECK(author.make("notes") == 5);
  CHECK_THAT(author.err(), Contains("not empty") && Contains("--dir"));
  CHECK(names_in(author.target()) == std::set<std::string>{"mine"});
  CHECK(author.run({"notes", "--dir", (author.target() / "mine").string()}) == 5);
  CHECK(read(author.target() / "mine") == "precious");
  fs::create_symlink(author.scratch.path() / "nowhere", author.scratch.path() / "link");
  CHECK(author.run({"notes", "--dir", (author.scratch.path() / "link").string()}) == 5);
}

TEST_CASE("an empty directory is used, and missing ones are made", "[scaffold]") {
  Author author;
  fs::create_directory(author.target());
  CHECK(author.make("notes") == 0);
  CHECK(author.run({"notes", "--dir", (author.scratch.path() / "a/b/c/").string()}) == 0);
  CHECK(fs::exists(author.scratch.path() / "a/b/c/notes.yaml"));
}

TEST_CASE("where something cannot be written nothing is left behind", "[scaffold]") {
  Author author;
  support::write_safe(author.scratch.path() / "file", "");
  CHECK(author.run({"notes", "--dir", (author.scratch.path() / "file/sub").string()}) == 1);
  CHECK_THAT(author.err(), Contains("cannot be"));
  CHECK(author.run({"notes", "--dir", "/proc/kruxos-test"}) == 1);
  CHECK_THAT(author.err(), Contains("cannot be made"));
  // The directory of the second path is made first, and goes again.
  const std::string long_name(200, 'x');
  CHECK(author.run({"notes", "--dir", (author.scratch.path() / "made" / (long_name + long_name)).string()}) == 1);
  CHECK_FALSE(fs::exists(author.scratch.path() / "made"));
}

}  // namespace KRUXOS_TEST_FILE
