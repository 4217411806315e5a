// A host that is killed between any two steps neither loses nor doubles: the next one is told what happened.
#include "files_fixture.hpp"
#include "steps.hpp"

namespace KRUXOS_TEST_FILE {

using namespace filesystem::test;

namespace {

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

/// Ends whoever comes to the step number `at`, as a kill would: nothing is done afterwards.
struct KillAt {
  explicit KillAt(int at) {
    left = at;
    filesystem::after_step = [](const char*) {
      if (left-- == 0) throw Killed();
    };
  }
  ~KillAt() { filesystem::after_step = nullptr; }
  static bool killed() { return left < 0; }
  inline static int left = 0;
};

struct Case {
  const char *operation, *params;
  const char* before;  ///< what "here" says at first; nullptr: it is not there
  const char* here;    ///< and afterwards
  const char* there;   ///< what "d/there" says afterwards
};

const Case kCases[] = {
    {"write", R"({"path":"here","content":"new"})", "old", "new", nullptr},
    {"write", R"({"path":"d/there","content":"new"})", "old", "old", "new"},
    {"write", R"({"path":"here","content":"new"})", nullptr, "new", nullptr},
    {"copy", R"({"from":"here","to":"d/there"})", "old", "old", "old"},
    {"delete", R"({"path":"here"})", "old", nullptr, nullptr},
    {"move", R"({"from":"here","to":"there"})", "old", nullptr, nullptr},
};

std::string said(const Files& files, const std::string& path) {
  return files.has(path) ? files.content(path) : "nothing";
}
std::string said(const char* text) {
  return text ? text : "nothing";
}

}  // namespace

TEST_CASE("a write that is killed at any step happens once, and can be undone") {
  for (const auto& one : kCases) {
    for (int at = 0;; ++at) {
      Files files;
      if (one.before) files.put("here", one.before);
      auto write = files.change(one.operation, one.params);
      bool was_killed = false;
      {
        const KillAt kill(at);
        files.run(write);
        was_killed = KillAt::killed();
      }
      INFO(one.operation << " killed at step " << at);
      files.bench.restart();
      const auto found = files.bench.find_effect(write);
      // At every moment the file says the one or the other, whole.
      if (found.answer == KRUX_EFFECT_FOUND) {
        CHECK(said(files, "here") == said(one.here));
      } else {
        REQUIRE(found.answer == KRUX_EFFECT_DISPROVED);
        CHECK(said(files, "here") == said(one.before));
        REQUIRE(files.run(write).outcome == Outcome::kDone);
      }
      CHECK(said(files, "here") == said(one.here));
      CHECK(said(files, "d/there") == said(one.there));
      REQUIRE(files.bench.rollback(write, "{}").outcome == Outcome::kDone);
      CHECK(said(files, "here") == said(one.before));
      CHECK(said(files, "d/there") == "nothing");
      if (!was_killed) break;
    }
  }
}

TEST_CASE("an undo that is killed at any step happens once") {
  for (const auto& one : kCases) {
    for (int at = 0;; ++at) {
      Files files;
      if (one.before) files.put("here", one.before);
      auto write = files.change(one.operation, one.params);
      REQUIRE(files.run(write).outcome == Outcome::kDone);
      bool was_killed = false;
      {
        const KillAt kill(at);
        files.bench.rollback(write, "{}");
        was_killed = KillAt::killed();
      }
      INFO("undo of " << one.operation << " killed at step " << at);
      files.bench.restart();
      const auto found = files.bench.find_rollback(write, "{}");
      if (found.answer != KRUX_EFFECT_FOUND) {
        REQUIRE(found.answer == KRUX_EFFECT_DISPROVED);
        CHECK(said(files, "here") == said(one.here));
        REQUIRE(files.bench.rollback(write, "{}").outcome == Outcome::kDone);
      }
      CHECK(said(files, "here") == said(one.before));
      CHECK(said(files, "d/there") == "nothing");
      if (!was_killed) break;
    }
  }
}

TEST_CASE("a write that was never begun is disproved, or absent where nothing is known of attempts") {
  Files files;
  auto write = files.change("write", R"({"path":"a","content":"x"})");
  write.attempt = 1;
  CHECK(files.bench.find_effect(write).answer == KRUX_EFFECT_DISPROVED);
  write.attempt = 0;
  CHECK(files.bench.find_effect(write).answer == KRUX_EFFECT_ABSENT);
  write.created_at_ms = files.bench.host.clock.now_ms;
  files.bench.host.clock.advance(97 * 3'600'000LL);
  CHECK(files.bench.find_effect(write).answer == KRUX_CANNOT_TELL);
}

}  // namespace KRUXOS_TEST_FILE
