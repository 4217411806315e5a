#include "workspace/home.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using workspace::Homes;
using workspace::parse_path;

namespace {

struct Room {
  support::Scratch scratch;
  std::filesystem::path root = scratch.path() / "root";
  Homes homes{root.string()};
  workspace::Home home = homes.of("agent_1");
  std::filesystem::path files = root / "agent_1" / "files";

  std::string refusal(const std::string& path) {
    struct stat found {};
    try {
      workspace::open_file(home.files.get(), parse_path(path), found);
    } catch (const kruxos::ProxyError& error) {
      return error.what();
    }
    return "opened";
  }
};

}  // namespace

TEST_CASE("an agent's home is made for the host's user alone, and is no other agent's") {
  Room room;
  CHECK(std::filesystem::is_directory(room.files));
  CHECK((std::filesystem::status(room.files).permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
  for (const char* name : {"", ".", "..", "../x", "a/b", ".hidden"})
    CHECK_THROWS_WITH(room.homes.of(name), Contains("which agent calls"));
  const auto other = room.homes.of("agent_2");
  std::ofstream(room.files / "mine") << "x";
  struct stat found {};
  CHECK_FALSE(workspace::look_at(other.files.get(), "mine", found, parse_path("mine")));
}

TEST_CASE("a root that others could write, or that is none, is refused") {
  support::Scratch scratch;
  CHECK_THROWS_WITH(Homes("relative"), Contains("absolute path"));
  CHECK_THROWS_WITH(Homes((scratch.path() / "no" / "such").string()), Contains("cannot be made"));
  const auto open = scratch.path() / "open";
  std::filesystem::create_directory(open);
  std::filesystem::permissions(open, std::filesystem::perms::all);
  CHECK_THROWS_WITH(Homes(open.string()), Contains("chmod go-w"));
}

TEST_CASE("whatever is no regular file of the workspace is refused without waiting for it") {
  Room room;
  std::ofstream(room.scratch.path() / "secret") << "outside";
  std::filesystem::create_symlink(room.scratch.path() / "secret", room.files / "link");
  std::filesystem::create_symlink("plain", room.files / "inner");
  std::filesystem::create_symlink("/proc/self", room.files / "proc");
  std::filesystem::create_directory(room.files / "dir");
  std::ofstream(room.files / "plain") << "inside";
  REQUIRE(mkfifo((room.files / "fifo").c_str(), 0600) == 0);
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int here = open(room.files.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto name = "/proc/self/fd/" + std::to_string(here) + "/socket";
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(room.refusal("plain") == "opened");
  CHECK_THAT(room.refusal("link"), Contains("symlink"));
  CHECK_THAT(room.refusal("inner"), Contains("symlink"));
  CHECK_THAT(room.refusal("proc/environ"), Contains("symbolic link"));
  CHECK_THAT(room.refusal("proc/root/etc/passwd"), Contains("symbolic link"));
  CHECK_THAT(room.refusal("dir"), Contains("is a directory"));
  CHECK_THAT(room.refusal("fifo"), Contains("fifo"));
  CHECK_THAT(room.refusal("socket"), Contains("socket"));
  CHECK_THAT(room.refusal("plain/x"), Contains("is a file, and no directory"));
  CHECK_THAT(room.refusal("nothing"), Contains("There is no /workspace/nothing"));
  if (geteuid() == 0 && mknod((room.files / "zero").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0)
    CHECK_THAT(room.refusal("zero"), Contains("device"));
  ::close(server);
  ::close(here);
}

}  // namespace KRUXOS_TEST_FILE
