#include "host/test_host/test_directory.hpp"

#include <catch2/catch.hpp>

#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

TEST_CASE("what a killed run has left is removed by a later one, and nothing else") {
  const support::Scratch scratch;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  const auto make = [&](const char* name, bool young = false) {
    auto directory = scratch.path() / name;
    fs::create_directories(directory / "data");
    if (!young) fs::last_write_time(directory, old);
    return directory;
  };
  const auto left = make("kruxos-test-host-aaaaaa"), young = make("kruxos-test-host-bbbbbb", true),
             other = make("kruxos-certify-cccccc");
  fs::create_directory_symlink(other, scratch.path() / "kruxos-test-host-dddddd");
  remove_test_directories(scratch.path());
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(young));
  CHECK(fs::exists(other / "data"));
}

TEST_CASE("the directory of a run that lives stays, and goes with it") {
  fs::path path;
  {
    const TestDirectory directory;
    path = directory.path();
    CHECK((fs::status(path).permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
    remove_test_directories(path.parent_path());
    CHECK(fs::exists(path));
  }
  CHECK_FALSE(fs::exists(path));
}

}  // namespace KRUXOS_TEST_FILE
