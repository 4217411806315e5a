#include "host/plugins/plugin_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "host/plugins/testdata/plugin_dir.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

TEST_CASE("A file of ours is opened, hashed and identified") {
  const test::PluginDir dir;
  const auto file = dir.write("a.so", "abc");
  const auto opened = open_plugin_file(file);
  CHECK(opened.problem.empty());
  CHECK(opened.bytes == "abc");
  CHECK(opened.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(opened.identity == identify(file));
  dir.write("b.so", "abc");
  fs::rename(dir.path() / "b.so", file);
  CHECK_FALSE(opened.identity == identify(file));
}

TEST_CASE("Files that others can write, or that are no files, are refused") {
  const test::PluginDir dir;
  const auto file = dir.write("a.so", "abc");
  fs::permissions(file, fs::perms(0646));
  CHECK(open_plugin_file(file).problem.find("chmod go-w") != std::string::npos);
  fs::permissions(file, fs::perms(0644));
  fs::create_symlink(file, dir.path() / "link.so");
  CHECK(open_plugin_file(dir.path() / "link.so").problem.find("symbolic link") != std::string::npos);
  CHECK(open_plugin_file(dir.path() / "missing.so").problem.find("cannot be opened") != std::string::npos);
  fs::create_directory(dir.path() / "dir.so");
  CHECK(open_plugin_file(dir.path() / "dir.so").problem == "It is not a regular file.");
  REQUIRE(mkfifo((dir.path() / "fifo.so").c_str(), 0600) == 0);
  CHECK(open_plugin_file(dir.path() / "fifo.so").problem == "It is not a regular file.");
  fs::resize_file(file, (std::uintmax_t{256} << 20) + 1);
  CHECK(open_plugin_file(file).problem == "It is larger than 256 MiB.");
}

TEST_CASE("Owners and groups count where the test may change them") {
  if (geteuid() != 0) {
    WARN("left out: only root can give files away");
    return;
  }
  const test::PluginDir dir;
  const auto file = dir.write("a.so", "abc");
  REQUIRE(chown(file.c_str(), 12345, 0) == 0);
  CHECK(open_plugin_file(file).problem.find("belongs to user 12345") != std::string::npos);
  REQUIRE(chown(file.c_str(), 0, 12345) == 0);
  CHECK(open_plugin_file(file).problem.empty());
  fs::permissions(file, fs::perms(0664));
  CHECK(open_plugin_file(file).problem.find("chmod go-w") != std::string::npos);
  REQUIRE(chown(dir.path().c_str(), 12345, 0) == 0);
  CHECK(directory_problem(dir.path()).find("belongs to user 12345") != std::string::npos);
}

TEST_CASE("A directory, or one above it, that others can write is refused") {
  const test::PluginDir dir;
  CHECK(directory_problem(dir.path()).empty());
  const auto inner = dir.path() / "inner";
  fs::create_directory(inner);
  fs::permissions(inner, fs::perms(0755));
  CHECK(directory_problem(inner).empty());
  fs::permissions(inner, fs::perms(0757));
  CHECK(directory_problem(inner).find("chmod go-w") != std::string::npos);
  fs::permissions(inner, fs::perms(01777));  // sticky is enough above a directory, not for itself
  CHECK(directory_problem(inner).find("chmod go-w") != std::string::npos);
  fs::permissions(inner, fs::perms(0755));
  fs::permissions(dir.path(), fs::perms(0777));
  CHECK(directory_problem(inner).find(dir.path().string()) != std::string::npos);
  fs::permissions(dir.path(), fs::perms(01777));
  CHECK(directory_problem(inner).empty());
  CHECK_FALSE(directory_problem(dir.path() / "missing").empty());
}

}  // namespace KRUXOS_TEST_FILE
