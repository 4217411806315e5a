#include "core/storage/data_directory.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/util/error.hpp"
#include "core/util/write_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using krux::DataDirectory;
using support::Scratch;

namespace {

mode_t mode_of(const std::filesystem::path& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

std::string refusal(const std::filesystem::path& path) {
  try {
    DataDirectory directory(path);
  } catch (const krux::ConfigError& e) {
    return e.what();
  }
  return {};
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a data directory is created for its owner alone") {
  Scratch scratch;
  const auto path = scratch.path() / "a" / "b";
  DataDirectory directory(path);
  CHECK(mode_of(path) == 0700);
  CHECK(directory.path() == path);
  CHECK(directory.ledger() == path / "kruxos.db");
  CHECK(content(path / "lock") == std::to_string(::getpid()) + "\n");
}

TEST_CASE("a data directory that others can reach is refused with the command to run") {
  Scratch scratch;
  const auto path = scratch.path() / "open";
  std::filesystem::create_directory(path);
  for (const mode_t mode : {0750, 0705, 0722}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    CHECK_THAT(refusal(path), Catch::Contains("chmod 700 '" + path.string() + "'"));
  }
  REQUIRE(::chmod(path.c_str(), 0700) == 0);
  CHECK(refusal(path).empty());
}

TEST_CASE("a data directory of another user is refused") {
  if (::geteuid() != 0) return;
  Scratch scratch;
  const auto path = scratch.path() / "theirs";
  std::filesystem::create_directory(path);
  REQUIRE(::chmod(path.c_str(), 0700) == 0);
  REQUIRE(::chown(path.c_str(), 12345, 12345) == 0);
  CHECK_THAT(refusal(path), Catch::Contains("another user (uid 12345)") && Catch::Contains("chown -R"));
}

TEST_CASE("a file or an unreachable place is no data directory") {
  Scratch scratch;
  const auto file = scratch.path() / "file";
  krux::write_file_atomically(file, "x");
  CHECK_THAT(refusal(file), Catch::Contains("is not a directory"));
  CHECK_THAT(refusal(file / "below"), Catch::Contains("cannot be created"));
}

TEST_CASE("one host a data directory") {
  Scratch scratch;
  const auto path = scratch.path() / "d";
  int ready[2], end[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(end) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(end[1]);
    DataDirectory directory(path);
    char c = 'r';
    if (::write(ready[1], &c, 1) != 1) ::_exit(1);
    ::_exit(::read(end[0], &c, 1) == 0 ? 0 : 1);
  }
  char c = 0;
  REQUIRE(::read(ready[0], &c, 1) == 1);
  CHECK_THAT(refusal(path), Catch::Contains("Another kruxosd (pid " + std::to_string(child) + ")"));
  ::close(end[1]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(refusal(path).empty());
  for (const int fd : {ready[0], ready[1], end[0]}) ::close(fd);
}

TEST_CASE("account ids become file names that stay inside their directory") {
  using krux::safe_file_name;
  CHECK(safe_file_name("T0001") == "T0001");
  CHECK(safe_file_name("ann@example.com") == "ann@example.com");
  CHECK(safe_file_name("../../etc/passwd") == "%2E.%2F..%2Fetc%2Fpasswd");
  CHECK(safe_file_name("..") == "%2E%2E");
  CHECK(safe_file_name("") == "%");
  CHECK(safe_file_name("a%b") == "a%25b");
  CHECK(safe_file_name(std::string_view("a\0b", 3)) == "a%00b");
  const auto long_one = safe_file_name(std::string(500, 'x')), other = safe_file_name(std::string(501, 'x'));
  CHECK(long_one.size() <= 200);
  CHECK(long_one != other);

  Scratch scratch;
  DataDirectory directory(scratch.path() / "d");
  CHECK(directory.replica("notes", "../x").parent_path() == directory.path() / "replica" / "notes");
  CHECK(mode_of(directory.path() / "replica" / "notes") == 0700);
}

TEST_CASE("a file is replaced whole or not at all") {
  Scratch scratch;
  const auto file = scratch.path() / "ports.json";
  krux::write_file_atomically(file, "one");
  krux::write_file_atomically(file, "two");
  CHECK(content(file) == "two");
  CHECK(mode_of(file) == 0600);
  CHECK_THROWS_WITH(krux::write_file_atomically(scratch.path() / "none" / "f", "x"),
                    Catch::Contains("could not be written"));
  std::filesystem::create_directory(scratch.path() / "taken");
  CHECK_THROWS_AS(krux::write_file_atomically(scratch.path() / "taken", "x"), krux::Error);
  CHECK_FALSE(std::filesystem::exists(scratch.path() / "taken.new"));
}

}  // namespace KRUXOS_TEST_FILE
