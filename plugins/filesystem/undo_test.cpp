#include "files_fixture.hpp"
#include "steps.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using namespace filesystem::test;

namespace {

struct Undoing : Files {
  using Files::Files;
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
  /// With what somebody else does after each of its steps.
  Attempt undo_beside(std::function<void(std::string_view)> after) {
    static std::function<void(std::string_view)> beside;
    beside = std::move(after);
    filesystem::after_step = [](const char* step) { beside(step); };
    auto attempt = bench.rollback(write, result);
    filesystem::after_step = nullptr;
    return attempt;
  }
  /// With what somebody else does just before something is taken out.
  void undo_killed_before_comparing(const std::function<void()>& meanwhile) {
    undo_beside([&](std::string_view step) {
      if (step == "undo planned") meanwhile();
      if (step == "taken out") throw std::runtime_error("killed");
    });
    bench.restart();
  }
  void append(const std::string& path, const char* text) const { std::ofstream(files / path, std::ios::app) << text; }
  /// Whatever may go does, for more than all of the room is taken.
  void prune_all() {
    put("large", std::string(3 << 20, 'x'));
    auto fills = change("delete", quoted_path("large"));
    REQUIRE(run(fills).outcome == Outcome::kDone);
    bench.host.clock.advance(61'000);
    auto prunes = change("mkdir", quoted_path("made_" + std::to_string(writes)));
    REQUIRE(run(prunes).outcome == Outcome::kDone);
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
  for (const bool replaces : {true, false}) {
    Undoing files;
    if (replaces) files.put("a", "before");
    files.run_one("write", R"({"path":"a","content":"after"})");
    files.put("new", "another one");
    const auto attempt = files.undo_beside([&](std::string_view step) {
      if (step == "undo planned") files.append("a", " and more");
      if (step != "taken out") return;
      if (replaces) fs::rename(files.files / "a", files.files / "aside");
      fs::rename(files.files / "new", files.files / "a");
    });
    const std::string where = replaces ? "w_1/kept" : "w_1/undone";
    REQUIRE(attempt.failure);
    CHECK(attempt.failure->effect != KRUX_EFFECT_NONE);
    CHECK_THAT(attempt.failure->message, Contains("in the undo store, as " + where));
    const auto found = files.bench.find_rollback(files.write, files.result);
    CHECK(found.answer == KRUX_CANNOT_TELL);
    CHECK_THAT(found.why, Contains(where));
    CHECK(files.bench.rollback(files.write, files.result).failure->effect != KRUX_EFFECT_NONE);
    CHECK(files.content("a") == "another one");
    CHECK(files.content("../undo/" + where) == "after and more");
    fs::remove(files.files / "a");
    if (replaces) fs::rename(files.files / "aside", files.files / "a");
    CHECK_THAT(files.undo(), Contains("has been changed since. It stays"));
    CHECK(files.content("a") == "after and more");
  }
}

TEST_CASE("what comes to its place while a changed file goes back stays") {
  Undoing files;
  files.put("a", "before");
  files.run_one("write", R"({"path":"a","content":"after"})");
  files.put("new", "another one");
  const auto attempt = files.undo_beside([&](std::string_view step) {
    if (step == "undo planned") files.append("a", " and more");
    if (step == "about to go back") fs::rename(files.files / "new", files.files / "a");
  });
  REQUIRE(attempt.failure);
  CHECK(attempt.failure->effect != KRUX_EFFECT_NONE);
  CHECK(files.content("a") == "another one");
  CHECK(files.content("../undo/w_1/kept") == "after and more");
}

TEST_CASE("what is written after an undo that was killed stays, however often that is asked for again") {
  for (const bool replaces : {true, false}) {
    Undoing files;
    if (replaces) files.put("a", "before");
    files.run_one("write", R"({"path":"a","content":"after"})");
    files.undo_killed_before_comparing([&] { files.append("a", " and more"); });
    auto second = files.change("write", R"({"path":"a","content":"second"})");
    REQUIRE(files.run(second).outcome == Outcome::kDone);
    for (int i = 0; i < 3; ++i) {
      const auto attempt = files.bench.rollback(files.write, files.result);
      REQUIRE(attempt.failure);
      CHECK(attempt.failure->effect != KRUX_EFFECT_NONE);
      CHECK_THAT(attempt.failure->message, Contains("in the undo store, as w_1/"));
      CHECK(files.content("a") == "second");
    }
    CHECK(files.bench.find_rollback(files.write, files.result).answer == KRUX_CANNOT_TELL);
    REQUIRE(files.bench.rollback(second, "{}").outcome == Outcome::kDone);
    CHECK_THAT(files.undo(), Contains("has been changed since. It stays"));
    CHECK(files.content("a") == "after and more");
  }
}

TEST_CASE("what turns out to have been changed and cannot go back is kept until it is old") {
  for (const bool replaces : {true, false}) {
    Undoing files(R"(,"undo_mib":1)");
    if (replaces) files.put("a", "before");
    files.run_one("write", R"({"path":"a","content":"after"})");
    files.undo_killed_before_comparing([&] { files.append("a", " and more"); });
    auto second = files.change("write", R"({"path":"a","content":"second"})");
    REQUIRE(files.run(second).outcome == Outcome::kDone);
    const std::string kept = replaces ? "../undo/w_1/kept" : "../undo/w_1/undone";
    files.prune_all();
    CHECK(files.content(kept) == "after and more");
    CHECK(files.bench.find_rollback(files.write, files.result).answer == KRUX_CANNOT_TELL);
    CHECK_THAT(files.bench.rollback(second, "{}").failure->message, Contains("no longer kept"));
    files.bench.host.clock.advance(97 * 3'600'000LL);
    files.prune_all();
    CHECK_FALSE(files.has("../undo/w_1"));
  }
}

TEST_CASE("what the operator insists on away is kept no longer than all else") {
  for (const bool replaces : {true, false}) {
    Undoing files(R"(,"undo_mib":1)");
    if (replaces) files.put("a", "before");
    files.run_one("write", R"({"path":"a","content":"after"})");
    files.undo_killed_before_comparing([&] { files.append("a", " and more"); });
    CHECK(files.undo(true) == "undone");
    files.prune_all();
    CHECK_FALSE(files.has(replaces ? "../undo/w_1/kept" : "../undo/w_1/undone"));
    CHECK(files.bench.find_rollback(files.write, files.result).answer == KRUX_EFFECT_FOUND);
  }
}

TEST_CASE("an undo that was killed before it compared holds no room once it was found to be done") {
  Undoing files(R"(,"undo_mib":1)");
  files.put("a", "before");
  files.run_one("write", R"({"path":"a","content":"after"})");
  files.undo_killed_before_comparing([] {});
  CHECK(files.bench.find_rollback(files.write, files.result).answer == KRUX_EFFECT_FOUND);
  files.prune_all();
  CHECK_FALSE(files.has("../undo/w_1/kept"));
  CHECK(files.bench.find_rollback(files.write, files.result).answer == KRUX_EFFECT_FOUND);
}

TEST_CASE("an undo that compares late ends as any other does") {
  Undoing files;
  files.run_one("write", R"({"path":"d/e/a","content":"x"})");
  files.undo_killed_before_comparing([] {});
  CHECK(files.has("d/e"));
  CHECK(files.undo() == "undone");
  CHECK_FALSE(files.has("d"));
}

TEST_CASE("only an undo that has something to compare notes that it did") {
  Undoing files;
  const auto is_noted = [&](const std::string& operation, const std::string& params) {
    files.run_one(operation, params);
    REQUIRE(files.undo() == "undone");
    return files.has("../undo/" + files.write.write_id + "/compared");
  };
  files.put("a", "before");
  CHECK(is_noted("write", R"({"path":"a","content":"after"})"));
  CHECK_FALSE(is_noted("delete", R"({"path":"a"})"));
  CHECK_FALSE(is_noted("move", R"({"from":"a","to":"b"})"));
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
