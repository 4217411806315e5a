#include "files_fixture.hpp"
#include "steps.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using namespace filesystem::test;

namespace {

struct Undoing : Files {
  FakeWrite write;
  std::string result;

  void run_one(const std::string& operation, const std::string& params) {
    write = change(operation, params);
    const auto attempt = run(write);
    INFO(why(attempt));
    REQUIRE(attempt.outcome == Outcome::kDone);
    result = attempt.result_json;
  }
  std::string undo(bool force = false) {
    const auto attempt = bench.rollback(write, result, force);
    if (attempt.outcome == Outcome::kDone) {
      CHECK(bench.find_rollback(write, result).answer == KRUX_EFFECT_FOUND);
      CHECK(bench.rollback(write, result).outcome == Outcome::kDone);  // once more changes nothing
      return "undone";
    }
    CHECK(attempt.failure->effect == KRUX_EFFECT_NONE);
    return attempt.failure->message;
  }
};

}  // namespace

TEST_CASE("an undo puts back what a write replaced, with its mode") {
  Undoing files;
  files.put("a", "before");
  fs::permissions(files.files / "a", fs::perms::owner_read | fs::perms::owner_exec);
  files.run_one("write", R"({"path":"a","content":"after"})");
  CHECK(files.bench.find_rollback(files.write, files.result).answer == KRUX_EFFECT_DISPROVED);
  CHECK(files.undo() == "undone");
  CHECK(files.content("a") == "before");
  CHECK(fs::status(files.files / "a").permissions() == (fs::perms::owner_read | fs::perms::owner_exec));
}

TEST_CASE("an undo takes a new file away, and its directories as far as they are empty") {
  Undoing files;
  files.run_one("write", R"({"path":"d/e/a","content":"x"})");
  files.put("d/other", "stays");
  CHECK(files.undo() == "undone");
  CHECK_FALSE(files.has("d/e"));
  CHECK(files.content("d/other") == "stays");
}

TEST_CASE("what somebody has changed since stays, unless the operator insists") {
  Undoing files;
  files.put("a", "before");
  files.run_one("write", R"({"path":"a","content":"after"})");
  files.put("a", "changed");
  CHECK_THAT(files.undo(), Contains("has been changed since"));
  CHECK(files.content("a") == "changed");
  CHECK(files.undo(true) == "undone");
  CHECK(files.content("a") == "before");
}

TEST_CASE("a replaced file that is gone comes back only when the operator insists") {
  Undoing files;
  files.put("a", "before");
  files.run_one("write", R"({"path":"a","content":"after"})");
  fs::remove(files.files / "a");
  CHECK_THAT(files.undo(), Contains("has been changed since"));
  CHECK(files.undo(true) == "undone");
  CHECK(files.content("a") == "before");
}

TEST_CASE("what was deleted comes back with all that was in it") {
  Undoing files;
  files.put("d/a", "a");
  files.put("d/b/c", "c");
  files.run_one("delete", R"({"path":"d","recursive":true})");
  CHECK_FALSE(files.has("d"));
  files.put("d", "in its place");
  CHECK_THAT(files.undo(), Contains("Something else is at /workspace/d"));
  CHECK_THAT(files.undo(true), Contains("Something else"));
  fs::remove(files.files / "d");
  CHECK(files.undo() == "undone");
  CHECK(files.content("d/b/c") == "c");
}

TEST_CASE("what was moved is moved back") {
  Undoing files;
  files.put("d/a", "a");
  files.run_one("move", R"({"from":"d","to":"e"})");
  CHECK(files.undo() == "undone");
  CHECK(files.content("d/a") == "a");
  CHECK_FALSE(files.has("e"));
  files.run_one("move", R"({"from":"d","to":"e"})");
  files.put("e/more", "new");
  CHECK_THAT(files.undo(), Contains("has been changed since"));
  CHECK(files.undo(true) == "undone");
  CHECK(files.content("d/more") == "new");
}

TEST_CASE("copies and directories that were made go again") {
  Undoing files;
  files.put("d/a", "a");
  files.run_one("copy", R"({"from":"d","to":"e"})");
  CHECK(files.undo() == "undone");
  CHECK_FALSE(files.has("e"));
  files.run_one("mkdir", R"({"path":"x/y"})");
  files.put("x/y/z", "z");
  CHECK_THAT(files.undo(), Contains("has been changed since"));
  fs::remove(files.files / "x/y/z");
  CHECK(files.undo() == "undone");
  CHECK_FALSE(files.has("x"));
}

TEST_CASE("a file whose name is no text is not taken away with the directory that was made for it") {
  Undoing files;
  files.run_one("mkdir", R"({"path":"d"})");
  files.put("d/\xff", "theirs");
  CHECK_THAT(files.undo(), Contains("has been changed since"));
  CHECK(files.content("d/\xff") == "theirs");
}

TEST_CASE("what is changed while it is undone stays") {
  static std::filesystem::path file;
  for (const bool replaces : {true, false}) {
    Undoing files;
    file = files.files / "a";
    if (replaces) files.put("a", "before");
    files.run_one("write", R"({"path":"a","content":"after"})");
    filesystem::after_step = [](const char* step) {
      if (std::string_view(step) == "undo planned") std::ofstream(file, std::ios::app) << " and more";
    };
    const auto answer = files.undo();
    filesystem::after_step = nullptr;
    CHECK_THAT(answer, Contains("has been changed since"));
    CHECK(files.content("a") == "after and more");
    CHECK(files.undo(true) == "undone");
    CHECK((replaces ? files.content("a") == "before" : !files.has("a")));
  }
}

TEST_CASE("an undo that cannot compare what it has taken out puts it back") {
  static Undoing* undoing = nullptr;
  for (const bool replaces : {true, false}) {
    Undoing files;
    undoing = &files;
    if (replaces) files.put("a", "before");
    files.run_one("write", R"({"path":"a","content":"after"})");
    filesystem::after_step = [](const char* step) {
      if (std::string_view(step) == "taken out") undoing->bench.host.clock.advance(400'000);
    };
    const auto answer = files.undo();  // which says that it had no effect
    filesystem::after_step = nullptr;
    CHECK_THAT(answer, Contains("time for this call is over"));
    CHECK(files.content("a") == "after");
    CHECK(files.bench.find_rollback(files.write, files.result).answer == KRUX_EFFECT_DISPROVED);
    CHECK(files.undo() == "undone");
  }
}

TEST_CASE("an undo that can neither keep nor put back what was changed says where it is") {
  static std::filesystem::path file;
  Undoing files;
  file = files.files / "a";
  files.run_one("write", R"({"path":"a","content":"after"})");
  filesystem::after_step = [](const char* step) {
    if (std::string_view(step) == "undo planned") std::ofstream(file, std::ios::app) << " and more";
    if (std::string_view(step) == "taken out") std::ofstream(file) << "another one";
  };
  const auto attempt = files.bench.rollback(files.write, files.result);
  filesystem::after_step = nullptr;
  REQUIRE(attempt.failure);
  CHECK(attempt.failure->effect != KRUX_EFFECT_NONE);
  CHECK_THAT(attempt.failure->message, Contains("in the undo store, as w_1/undone"));
  const auto found = files.bench.find_rollback(files.write, files.result);
  CHECK(found.answer == KRUX_CANNOT_TELL);
  CHECK_THAT(found.why, Contains("w_1/undone"));
  CHECK(files.bench.rollback(files.write, files.result).failure->effect != KRUX_EFFECT_NONE);
  CHECK(files.content("a") == "another one");
  fs::remove(file);
  CHECK_THAT(files.undo(), Contains("has been changed since. It stays"));
  CHECK(files.content("a") == "after and more");
}

TEST_CASE("an undo that was killed before it compared compares when it is asked for again") {
  static std::filesystem::path file;
  for (const bool replaces : {true, false}) {
    Undoing files;
    file = files.files / "a";
    if (replaces) files.put("a", "before");
    files.run_one("write", R"({"path":"a","content":"after"})");
    filesystem::after_step = [](const char* step) {
      if (std::string_view(step) == "undo planned") std::ofstream(file, std::ios::app) << " and more";
      if (std::string_view(step) == "taken out") throw std::runtime_error("killed");
    };
    (void)files.bench.rollback(files.write, files.result);
    filesystem::after_step = nullptr;
    files.bench.restart();
    CHECK(files.bench.find_rollback(files.write, files.result).answer == KRUX_CANNOT_TELL);
    CHECK_THAT(files.undo(), Contains("has been changed since. It stays"));
    CHECK(files.content("a") == "after and more");
    CHECK(files.undo(true) == "undone");
  }
}

TEST_CASE("an undo whose write is another agent's finds nothing") {
  Undoing files;
  files.put("a", "before");
  files.run_one("write", R"({"path":"a","content":"after"})");
  files.bench.agent = "agent_2";
  CHECK_THAT(files.undo(), Contains("no longer kept"));
  CHECK(files.content("a") == "after");
}

}  // namespace KRUXOS_TEST_FILE
