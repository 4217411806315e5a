#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "host/cli/terminal.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// Standard input comes from somewhere else while this lives.
class Input {
 public:
  explicit Input(int fd) : before_(::dup(STDIN_FILENO)) { ::dup2(fd, STDIN_FILENO); }
  ~Input() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

 private:
  int before_;
};

bool echoes(int fd) {
  termios settings{};
  tcgetattr(fd, &settings);
  return (settings.c_lflag & ECHO) != 0;
}

}  // namespace

TEST_CASE("a token typed on a terminal is not shown, and the terminal is as before", "[cli]") {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(::grantpt(master) == 0);
  REQUIRE(::unlockpt(master) == 0);
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(slave >= 0);
  const Input input(slave);
  REQUIRE(echoes(slave));
  std::thread typist([&] {
    while (echoes(slave)) std::this_thread::yield();
    CHECK(::write(master, "tok-123\n", 8) == 8);
  });
  const auto secret = cli::system_console().read_secret("");
  typist.join();
  CHECK(as_view(secret) == "tok-123");
  CHECK(echoes(slave));
  pollfd shown{master, POLLIN, 0};
  std::string seen;
  char c = 0;
  while (::poll(&shown, 1, 0) == 1 && (shown.revents & POLLIN) && ::read(master, &c, 1) == 1) seen += c;
  CHECK(seen.find("tok") == std::string::npos);
  ::close(slave);
  ::close(master);
}

TEST_CASE("a token from a pipe is its first line", "[cli]") {
  const auto read_from = [](std::string_view text) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    const Input input(ends[0]);
    const auto secret = cli::system_console().read_secret("");
    ::close(ends[0]);
    return std::string(as_view(secret));
  };
  CHECK(read_from("tok-123\nmore\n") == "tok-123");
  CHECK(read_from("tok-123\r\n") == "tok-123");
  CHECK(read_from("tok-123") == "tok-123");
  CHECK(read_from("") == "");
  CHECK(read_from(std::string(40'000, 'x')).size() == 16 * 1024);
}

}  // namespace KRUXOS_TEST_FILE
