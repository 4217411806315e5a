// Programs as they are confined.
#include "start.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/scratch.hpp"
#include "usage.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using confined::Confinement;
using confined::Descriptor;

namespace {

/// All that a shell says to these commands, with its exit code.
std::string said(const Confinement& confinement, const std::string& commands) {
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto started =
      confined::start(confinement, nothing.get(), confined::kHome, {"/bin/sh", "-c", "exec 2>&1; " + commands});
  std::string all;
  std::array<char, 4096> piece{};
  for (const int from : {started.out.get(), started.errors.get()}) {
    while (true) {
      pollfd more{from, POLLIN, 0};
      REQUIRE(poll(&more, 1, 20'000) == 1);
      const auto got = read(from, piece.data(), piece.size());
      if (got <= 0) break;
      all.append(piece.data(), static_cast<std::size_t>(got));
    }
  }
  pollfd ended{started.ended.get(), POLLIN, 0};
  REQUIRE(poll(&ended, 1, 20'000) == 1);
  return all + "exit " + std::to_string(confined::exit_code_of(started.pid));
}

}  // namespace

TEST_CASE("a program has a home of memory, the system to read, and no network") {
  CHECK(confined::why_no_sandbox({}).empty());
  CHECK(said({}, "pwd; echo x >made && cat made; ls /").find("/workspace\nx\n") == 0);
  CHECK_THAT(said({}, "echo x >/usr/x || echo refused"), Contains("refused"));
  CHECK_THAT(said({}, "head -c 100000000 /dev/zero >big"), Contains("No space left"));
  CHECK_THAT(said({}, "cat /proc/net/dev | tail -n +3"), !Contains("eth"));
  CHECK_THAT(said({}, "ls /etc/resolv.conf /etc/ssl"), Contains("No such file"));
  CHECK_THAT(said({}, "ls /proc/self/fd | tr '\\n' ' '"), Contains("0 1 2 3 exit"));  // 3: the directory's
  CHECK_THAT(said({}, "exit 7"), Contains("exit 7"));
}

TEST_CASE("system calls that reach into the kernel are refused, and those of ordinary programs are not") {
  const auto python = [](const std::string& text) { return "/usr/bin/python3 -c '" + text + "'; "; };
  const auto call = [&](long number) {
    return python("import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(" + std::to_string(number) +
                  ", 0, 0, 0, 0, 0), ctypes.get_errno())");
  };
  for (const long number :
       {SYS_keyctl, SYS_bpf, SYS_perf_event_open, SYS_io_uring_setup, SYS_ptrace, SYS_unshare, SYS_mount})
    CHECK_THAT(said({}, call(number)), Catch::StartsWith("-1 1\n"));  // EPERM
  const auto socket = [&](int family) {
    return python("import socket; print(\"made\" if socket.socket(" + std::to_string(family) +
                  ", socket.SOCK_DGRAM) else 0)");
  };
  for (const int family : {AF_UNIX, AF_INET, AF_INET6}) CHECK_THAT(said({}, socket(family)), Contains("made"));
  for (const int family : {AF_VSOCK, AF_ALG, AF_PACKET})
    CHECK_THAT(said({}, socket(family)), Contains("not supported"));
  CHECK_THAT(said({}, python("import threading; t = threading.Thread(target=print, args=(1,)); t.start(); t.join()")),
             Contains("1"));
}

TEST_CASE("a program reads and writes what it is given, and that alone") {
  const support::Scratch scratch, other;
  std::ofstream(scratch.path() / "file") << "content\n";
  std::ofstream(other.path() / "file") << "other\n";
  const Descriptor home(open(scratch.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Confinement confinement;
  confinement.directory = home.get();
  confinement.readable = {other.path()};
  const auto there = other.path().string();
  CHECK(said(confinement, "cat file " + there + "/file; echo made >new") == "content\nother\nexit 0");
  CHECK(std::filesystem::exists(scratch.path() / "new"));
  CHECK_THAT(said(confinement, "echo x >" + there + "/file || echo refused"), Contains("refused"));
  CHECK_THAT(said(confinement, "ls " + scratch.path().string()), Contains("No such file"));
  confinement.readable = {"/no/such/path"};
  CHECK_THAT(said(confinement, "true"), Contains("/no/such/path"));
}

TEST_CASE("a program that may has the machine's network") {
  Confinement confinement;
  confinement.network = true;
  std::string mine;
  std::ifstream devices("/proc/net/dev");
  for (std::string line; std::getline(devices, line);) mine += line.substr(0, line.find(':')) + "\n";
  CHECK_THAT(said(confinement, "cut -d: -f1 /proc/net/dev"), Contains(mine));
  CHECK_THAT(said(confinement, "ls /etc/hosts"), Contains("exit 0"));
}

TEST_CASE("a file of environment reaches the program, and what is wrong in it nobody") {
  const support::Scratch scratch;
  const auto file = (scratch.path() / "env").string();
  Confinement confinement;
  confinement.environment_file = file;
  std::ofstream(file) << "A=1\n# a comment\nexport B=\"two words\"\n";
  CHECK(said(confinement, "echo $A, $B") == "1, two words\nexit 0");
  CHECK_THAT(said(confinement, "env | cut -d= -f1 | sort | tr '\\n' ' '"), Contains("A B HOME LANG "));
  std::ofstream(file) << "A= SECRET\nB=1\n";
  CHECK(said(confinement, "echo $B") == "1\nexit 0");
  std::ofstream(file) << "A='SECRET\n";
  const auto broken = said(confinement, "echo begun");
  CHECK_THAT(broken, !Contains("SECRET") && !Contains("begun") && Contains("each line is NAME=VALUE"));
  std::filesystem::remove(file);
  CHECK_THAT(said(confinement, "echo begun"), !Contains("begun") && Contains(file));
}

}  // namespace KRUXOS_TEST_FILE
