#include "workspace/tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using workspace::Descriptor;

namespace {

const workspace::MayGoOn kGoOn = [] {};

struct Room {
  support::Scratch scratch;
  std::filesystem::path at = scratch.path();
  Descriptor here{open(at.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((at / path).parent_path());
    std::ofstream(at / path) << text;
  }
};

}  // namespace

TEST_CASE("what a directory is printed as changes with what is in it") {
  Room room;
  CHECK(workspace::print_of(room.here.get(), "tree", kGoOn).empty());
  room.put("tree/a/b", "one");
  const auto before = workspace::print_of(room.here.get(), "tree", kGoOn);
  std::filesystem::rename(room.at / "tree", room.at / "moved");
  CHECK(workspace::print_of(room.here.get(), "moved", kGoOn) == before);
  room.put("moved/a/c", "");
  CHECK(workspace::print_of(room.here.get(), "moved", kGoOn) != before);
  room.put("file", "one");
  const auto file = workspace::print_of(room.here.get(), "file", kGoOn);
  room.put("file", "two");
  CHECK(workspace::print_of(room.here.get(), "file", kGoOn) != file);
  room.put("file", "one");
  CHECK(workspace::print_of(room.here.get(), "file", kGoOn) == file);
  std::filesystem::permissions(room.at / "file", std::filesystem::perms::owner_read);
  CHECK(workspace::print_of(room.here.get(), "file", kGoOn) != file);
}

TEST_CASE("what a directory is printed as counts names that are no text") {
  Room room;
  room.put("tree/a", "one");
  const auto before = workspace::print_of(room.here.get(), "tree", kGoOn);
  room.put("tree/\xff", "two");
  CHECK(workspace::print_of(room.here.get(), "tree", kGoOn) != before);
}

TEST_CASE("nothing hides from a size") {
  Room room;
  room.put("tree/a", "12");
  CHECK(workspace::size_of(room.here.get(), "tree", 100, kGoOn).bytes == 2);
  const Descriptor reserved(open((room.at / "tree/a").c_str(), O_WRONLY | O_CLOEXEC));
  if (fallocate(reserved.get(), FALLOC_FL_KEEP_SIZE, 0, 1 << 20) == 0)
    CHECK(workspace::size_of(room.here.get(), "tree", 100, kGoOn).bytes >= 1 << 20);
  std::string deep = "deep";
  for (int i = 0; i < 100; ++i) deep += "/d";
  room.put(deep + "/file", "x");
  CHECK_FALSE(workspace::size_of(room.here.get(), "deep", 1000, kGoOn).is_whole);
  CHECK(workspace::size_of(room.here.get(), "tree", 1000, kGoOn).is_whole);
}

TEST_CASE("a directory that is closed to its owner is counted all the same") {
  constexpr uid_t nobody = 65534;
  for (const mode_t mode : {0000, 0300, 0400, 0600}) {
    Room room;
    room.put("tree/closed/file", "1234");
    const auto closed = (room.at / "tree/closed").string();
    const bool is_root = geteuid() == 0;
    if (is_root) {
      for (const auto& path : {room.at.string(), (room.at / "tree").string(), closed})
        REQUIRE(chown(path.c_str(), nobody, nobody) == 0);
    }
    REQUIRE(chmod(closed.c_str(), mode) == 0);
    if (is_root) REQUIRE(seteuid(nobody) == 0);
    const auto size = workspace::size_of(room.here.get(), "tree", 100, kGoOn);
    if (is_root) REQUIRE(seteuid(0) == 0);
    CHECK(size.bytes == 4);
    CHECK(size.is_whole);
  }
}

TEST_CASE("a copy has what the original has, and refuses links and what is too large") {
  Room room;
  room.put("tree/a/b", std::string(200'000, 'x'));
  room.put("tree/c", "c");
  std::filesystem::permissions(room.at / "tree/c", std::filesystem::perms::owner_all);
  const auto path = workspace::parse_path("tree");
  workspace::copy_tree(room.here.get(), "tree", room.here.get(), "copy", path, {1 << 20, 10}, kGoOn);
  CHECK(std::filesystem::file_size(room.at / "copy/a/b") == 200'000);
  CHECK((std::filesystem::status(room.at / "copy/c").permissions() & std::filesystem::perms::owner_exec) !=
        std::filesystem::perms::none);
  const auto size = workspace::size_of(room.here.get(), "copy", 100, kGoOn);
  CHECK(size.bytes == 200'001);
  CHECK(size.entries == 4);
  const auto copy = [&](const std::string& as, workspace::Size most) {
    workspace::copy_tree(room.here.get(), "tree", room.here.get(), as, path, most, kGoOn);
  };
  CHECK_THROWS_WITH(copy("bytes", {1000, 10}), Contains("too large"));
  CHECK_THROWS_WITH(copy("entries", {1 << 20, 3}), Contains("too large"));
  std::filesystem::create_symlink("/etc", room.at / "tree/link");
  CHECK_THROWS_WITH(copy("links", {1 << 20, 10}), Contains("symlink"));
}

TEST_CASE("a tree goes whatever it has in it, and nothing that a link names goes with it") {
  Room room;
  room.put("outside/kept", "x");
  room.put("tree/a/b", "x");
  std::filesystem::create_directory_symlink(room.at / "outside", room.at / "tree/link");
  REQUIRE(mkfifo((room.at / "tree/fifo").c_str(), 0600) == 0);
  std::filesystem::permissions(room.at / "tree/a", std::filesystem::perms::none);
  CHECK(workspace::remove_tree(room.here.get(), "tree"));
  CHECK_FALSE(std::filesystem::exists(room.at / "tree"));
  CHECK(std::filesystem::exists(room.at / "outside/kept"));
  CHECK(workspace::remove_tree(room.here.get(), "tree"));
}

TEST_CASE("a small file is put in the place of another, whatever a killed host has left beside it") {
  Room room;
  room.put("plan", "old");
  room.put("plan.new", "half");
  workspace::put_durably(room.here.get(), "plan", "new");
  CHECK(workspace::small_file(room.here.get(), "plan") == "new");
  CHECK_FALSE(std::filesystem::exists(room.at / "plan.new"));
  CHECK_THROWS_AS(workspace::put_durably(room.here.get(), "no/plan", "x"), kruxos::ProxyError);
}

TEST_CASE("names that are no text are counted and not listed") {
  Room room;
  room.put("dir/b", "");
  room.put("dir/a", "");
  room.put("dir/\xFF", "");
  room.put("dir/x\ny", "");
  const Descriptor dir(open((room.at / "dir").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto all = workspace::names_in(dir.get(), 10, kGoOn);
  CHECK(all.names == std::vector<std::string>{"a", "b"});
  CHECK(all.unreadable == 2);
  CHECK_FALSE(all.is_cut);
  CHECK(workspace::names_in(dir.get(), 1, kGoOn).is_cut);
}

}  // namespace KRUXOS_TEST_FILE
