#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>
#include <vector>

#include "files_fixture.hpp"
#include "workspace/tree.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using namespace filesystem::test;

namespace {

workspace::Descriptor open_root(const Files& files) {
  return workspace::Descriptor(open((files.root / "agent_1").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::string content_params(const std::string& path, const std::string& content, const std::string& more = "") {
  return R"({"path":)" + kruxos::kit::quoted(path) + R"(,"content":)" + kruxos::kit::quoted(content) + more + "}";
}

std::string why_not(Files& files, const std::string& operation, const std::string& params) {
  auto write = files.change(operation, params);
  const auto attempt = files.run(write);
  CHECK(attempt.outcome == Outcome::kRefused);
  REQUIRE(attempt.failure);
  CHECK(attempt.failure->effect == KRUX_EFFECT_NONE);
  return attempt.failure->message;
}

}  // namespace

TEST_CASE("a file is written whole, with the directories that it needs") {
  Files files;
  auto write = files.change("write", content_params("/workspace/data/page_1.json", "{}"));
  const auto attempt = files.run(write);
  REQUIRE(attempt.outcome == Outcome::kDone);
  CHECK(files.content("data/page_1.json") == "{}");
  CHECK_THAT(attempt.result_json,
             Contains(R"("path":"/workspace/data/page_1.json","size":2)") && Contains(R"("created":true)"));
  auto again = files.change("write", content_params("data/page_1.json", "AP8=", R"(,"encoding":"base64")"));
  CHECK_THAT(files.run(again).result_json, Contains(R"("created":false)"));
  CHECK(files.content("data/page_1.json") == std::string("\x00\xFF", 2));
}

TEST_CASE("a file that is replaced keeps its mode, and links to it elsewhere keep its content") {
  Files files;
  files.put("run.sh", "old");
  fs::permissions(files.files / "run.sh", fs::perms::owner_all);
  fs::create_hard_link(files.files / "run.sh", files.scratch.path() / "elsewhere");
  auto write = files.change("write", content_params("run.sh", "new"));
  REQUIRE(files.run(write).outcome == Outcome::kDone);
  CHECK(files.content("run.sh") == "new");
  CHECK(fs::status(files.files / "run.sh").permissions() == fs::perms::owner_all);
  std::ifstream elsewhere(files.scratch.path() / "elsewhere");
  CHECK(std::string(std::istreambuf_iterator<char>(elsewhere), {}) == "old");
}

TEST_CASE("what is no file is not overwritten, and nothing is written through a link") {
  Files files;
  std::ofstream(files.scratch.path() / "outside") << "untouched";
  fs::create_symlink(files.scratch.path() / "outside", files.files / "link");
  fs::create_directory_symlink(files.scratch.path(), files.files / "out");
  fs::create_directory(files.files / "dir");
  files.put("file", "x");
  REQUIRE(mkfifo((files.files / "fifo").c_str(), 0600) == 0);
  CHECK_THAT(why_not(files, "write", content_params("link", "x")), Contains("is a symlink"));
  CHECK_THAT(why_not(files, "write", content_params("out/new", "x")), Contains("symbolic link"));
  CHECK_THAT(why_not(files, "write", content_params("dir", "x")), Contains("is a directory"));
  CHECK_THAT(why_not(files, "write", content_params("fifo", "x")), Contains("is a fifo"));
  CHECK_THAT(why_not(files, "write", content_params("file/below", "x")), Contains("no directory"));
  CHECK_THAT(why_not(files, "write", content_params("file", "x", R"(,"overwrite":false)")), Contains("there already"));
  CHECK_THAT(why_not(files, "write", content_params("/workspace", "x")), Contains("stays as it is"));
  CHECK_THAT(why_not(files, "write", content_params("a", "?", R"(,"encoding":"base64")")), Contains("not Base64"));
  CHECK_THAT(why_not(files, "delete", quoted_path("/")), Contains("not in the workspace"));
  CHECK_THAT(why_not(files, "mkdir", quoted_path("out/x/y")), Contains("symbolic link"));
  CHECK_THAT(why_not(files, "move", R"({"from":"file","to":"out/file"})"), Contains("symbolic link"));
  CHECK_THAT(why_not(files, "copy", R"({"from":"link","to":"copy"})"), Contains("symlink"));
  CHECK(files.content("file") == "x");
  CHECK_FALSE(fs::exists(files.scratch.path() / "new"));
}

TEST_CASE("a link is deleted and moved as what it is") {
  Files files;
  std::ofstream(files.scratch.path() / "outside") << "untouched";
  fs::create_symlink(files.scratch.path() / "outside", files.files / "link");
  auto move = files.change("move", R"({"from":"link","to":"moved"})");
  REQUIRE(files.run(move).outcome == Outcome::kDone);
  auto remove = files.change("delete", quoted_path("moved"));
  REQUIRE(files.run(remove).outcome == Outcome::kDone);
  CHECK(fs::exists(files.scratch.path() / "outside"));
  CHECK_FALSE(files.has("moved"));
}

TEST_CASE("directories are made, copied, moved and deleted") {
  Files files;
  auto make = files.change("mkdir", quoted_path("a/b"));
  REQUIRE(files.run(make).outcome == Outcome::kDone);
  files.put("a/b/c", "c");
  CHECK_THAT(why_not(files, "mkdir", quoted_path("a/b")), Contains("there already"));
  auto copy = files.change("copy", R"({"from":"a","to":"d/e"})");
  REQUIRE(files.run(copy).outcome == Outcome::kDone);
  CHECK(files.content("d/e/b/c") == "c");
  auto move = files.change("move", R"({"from":"a/b/c","to":"d/c"})");
  REQUIRE(files.run(move).outcome == Outcome::kDone);
  CHECK_FALSE(files.has("a/b/c"));
  CHECK(files.content("d/c") == "c");
  CHECK_THAT(why_not(files, "move", R"({"from":"d","to":"d/e/d"})"), Contains("into itself"));
  CHECK_THAT(why_not(files, "move", R"({"from":"d/c","to":"d/e"})"), Contains("there already"));
  CHECK_THAT(why_not(files, "move", R"({"from":"no","to":"n"})"), Contains("There is no /workspace/no"));
  CHECK_THAT(why_not(files, "move", R"({"from":"d/c","to":"no/such/c"})"),
             Contains("There is no /workspace/no/such in"));
  CHECK_THAT(why_not(files, "delete", quoted_path("d")), Contains("say recursive"));
  auto remove = files.change("delete", R"({"path":"d","recursive":true})");
  REQUIRE(files.run(remove).outcome == Outcome::kDone);
  CHECK_FALSE(files.has("d"));
}

TEST_CASE("a workspace holds no more than the operator permits") {
  Files files(R"(,"workspace_mib":1,"workspace_entries":10)");
  CHECK_THAT(why_not(files, "write", content_params("a", std::string((1 << 20) + 1, 'x'))), Contains("no room"));
  files.put("big", std::string(700'000, 'x'));
  CHECK_THAT(why_not(files, "copy", R"({"from":"big","to":"copy"})"), Contains("no room for so much"));
  auto write = files.change("write", content_params("b", std::string(300'000, 'x')));
  REQUIRE(files.run(write).outcome == Outcome::kDone);
  for (int i = 0; i < 10; ++i) files.put("n" + std::to_string(i), "");
  CHECK_THAT(why_not(files, "mkdir", quoted_path("d")), Contains("workspace is full"));
  auto remove = files.change("delete", quoted_path("big"));
  CHECK(files.run(remove).outcome == Outcome::kDone);
}

TEST_CASE("what undos keep is bounded, and the oldest goes first") {
  Files files(R"(,"undo_mib":1)");
  FakeWrite writes[3];
  for (int i = 0; i < 3; ++i) {
    files.put("a", std::string(600'000, static_cast<char>('a' + i)));
    writes[i] = files.change("delete", quoted_path("a"));
    REQUIRE(files.run(writes[i]).outcome == Outcome::kDone);
    files.bench.host.clock.advance(61'000);
  }
  const auto first = files.bench.rollback(writes[0], "{}");
  CHECK_THAT(first.failure->message, Contains("no longer kept"));
  const auto last = files.bench.rollback(writes[2], "{}");
  CHECK(last.outcome == Outcome::kDone);
  CHECK(files.content("a").substr(0, 1) == "c");
}

TEST_CASE("what undos keep is bounded between two prunings too, and by number") {
  Files files(R"(,"undo_mib":1)");
  const auto kept = [&] { return workspace::size_of(open_root(files).get(), "undo", 1'000'000, [] {}); };
  for (int i = 0; i < 5; ++i) {
    files.put("a", std::string(600'000, 'x'));
    auto write = files.change("delete", quoted_path("a"));
    REQUIRE(files.run(write).outcome == Outcome::kDone);
  }
  CHECK(kept().bytes < 2 << 20);
  for (int i = 0; i < 3; ++i) {
    for (int n = 0; n < 2000; ++n) files.put("d/" + std::to_string(n), "");
    auto write = files.change("delete", R"({"path":"d","recursive":true})");
    REQUIRE(files.run(write).outcome == Outcome::kDone);
  }
  CHECK(kept().entries < 4500);
}

TEST_CASE("what came of a write is known although what it kept has gone") {
  Files files(R"(,"undo_mib":1)");
  files.put("a", std::string(3 << 20, 'x'));
  auto write = files.change("delete", quoted_path("a"));
  REQUIRE(files.run(write).outcome == Outcome::kDone);
  files.bench.restart();
  auto next = files.change("mkdir", quoted_path("d"));
  REQUIRE(files.run(next).outcome == Outcome::kDone);
  files.put("a", "another one");
  CHECK(files.bench.find_effect(write).answer == KRUX_EFFECT_FOUND);
  CHECK(files.run(write).outcome == Outcome::kDone);  // is not done a second time
  CHECK(files.content("a") == "another one");
  CHECK_THAT(files.bench.rollback(write, "{}").failure->message, Contains("no longer kept"));
  CHECK(files.bench.find_rollback(write, "{}").answer == KRUX_EFFECT_DISPROVED);
}

TEST_CASE("copies at the same time do not have the same room") {
  Files files(R"(,"workspace_mib":30)");
  files.put("big", std::string(8 << 20, 'x'));
  std::vector<FakeWrite> writes;
  for (int i = 0; i < 8; ++i)
    writes.push_back(files.change("copy", R"({"from":"big","to":"copy)" + std::to_string(i) + R"("})"));
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (auto& write : writes) threads.emplace_back([&] { done += files.run(write).outcome == Outcome::kDone ? 1 : 0; });
  for (auto& thread : threads) thread.join();
  CHECK(done >= 1);
  CHECK(done <= 2);
  CHECK(workspace::size_of(open_root(files).get(), "files", 100, [] {}).bytes <= 30 << 20);
}

TEST_CASE("what nests too deeply to be counted fills the workspace") {
  Files files;
  std::string one, deep;
  for (int i = 0; i < 50; ++i) one += (i == 0 ? "" : "/") + std::string("d");
  for (int i = 0; i < 2; ++i) {
    auto make = files.change("mkdir", quoted_path("x" + std::to_string(i) + "/" + one));
    REQUIRE(files.run(make).outcome == Outcome::kDone);
  }
  auto move = files.change("move", R"({"from":"x0","to":"x1/)" + one + R"(/x"})");
  REQUIRE(files.run(move).outcome == Outcome::kDone);
  CHECK_THAT(why_not(files, "write", content_params("a", "x")), Contains("more than 96 deep"));
  auto remove = files.change("delete", R"({"path":"x1","recursive":true})");
  REQUIRE(files.run(remove).outcome == Outcome::kDone);
  auto write = files.change("write", content_params("a", "x"));
  CHECK(files.run(write).outcome == Outcome::kDone);
}

TEST_CASE("a root that is missing from the configuration is asked for by its key") {
  using Bench = kruxos::testing::Workbench<filesystem::FilesystemAdapter>;
  CHECK_THROWS_WITH(Bench("{}"), Contains("services.filesystem.adapter.root"));
}

}  // namespace KRUXOS_TEST_FILE
