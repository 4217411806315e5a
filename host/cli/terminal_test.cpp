// The command as a program: on a terminal, with a full disk, and beside a browser.
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct ProgramFixture : CliFixture {
  /// By a shell; the exit code.
  int shell(const std::string& line) const {
    const auto status = std::system((line + " <" + (scratch.path() / "input").string()).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string command(const std::string& words) const {
    return std::string(KRUXOS_COMMAND) + " --data-dir " + scratch.path().string() + " " + words;
  }
  ProgramFixture() { std::ofstream(scratch.path() / "input") << "token\n"; }
};

/// The command behind a terminal of its own.
class OnTerminal {
 public:
  explicit OnTerminal(std::vector<std::string> words) {
    const winsize size{20, 80, 0, 0};
    child_ = ::forkpty(&fd_, nullptr, nullptr, &size);
    if (child_ == 0) {
      std::vector<char*> arguments;
      for (auto& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
  }
  ~OnTerminal() {
    ::close(fd_);
    if (!ended_) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  bool shows(std::string_view text) {
    std::array<char, 4096> chunk{};
    while (seen_.find(text) == std::string::npos) {
      const auto n = ::read(fd_, chunk.data(), chunk.size());
      if (n <= 0) return false;
      seen_.append(chunk.data(), static_cast<std::size_t>(n));
    }
    return true;
  }
  tcflag_t settings() const {
    termios now{};
    ::tcgetattr(fd_, &now);
    return now.c_lflag;
  }
  void press(char key) { CHECK(::write(fd_, &key, 1) == 1); }
  /// How it ended, as waitpid() says it.
  int end() {
    int status = 0;
    shows("\xff");  // all that there is
    ::waitpid(child_, &status, 0);
    ended_ = true;
    return status;
  }
  const std::string& seen() const { return seen_; }

 private:
  int fd_ = -1;
  pid_t child_ = 0;
  bool ended_ = false;
  std::string seen_;
};

}  // namespace

TEST_CASE("watching ends by Ctrl-C and by q, and leaves the terminal as it was", "[cli]") {
  ProgramFixture f;
  for (const char key : {'\x03', 'q'}) {
    OnTerminal terminal({KRUXOS_COMMAND, "--data-dir", f.scratch.path(), "alerts", "--watch"});
    const auto before = terminal.settings();
    REQUIRE(terminal.shows("q: end"));
    CHECK((terminal.settings() & ICANON) == 0);
    CHECK((before & ICANON) != 0);
    terminal.press(key);
    const auto status = terminal.end();
    if (key == 'q') {
      CHECK(WIFEXITED(status));
    } else {
      CHECK(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == SIGINT);
    }
    CHECK(terminal.settings() == before);
    CHECK(terminal.seen().find("There are no open alerts.") != std::string::npos);
  }
}

TEST_CASE("a stream that is a file has no colours, whatever the other one is", "[cli]") {
  ProgramFixture f;
  f.api.errors.emplace("status", not_found("Nothing."));
  const auto errors = f.scratch.path() / "errors";
  OnTerminal terminal({"/bin/sh", "-c", "TERM=xterm " + f.command("status") + " 2>" + errors.string()});
  CHECK(WEXITSTATUS(terminal.end()) == 4);
  CHECK(bytes_of(errors) == "kruxos: Nothing.\n");
}

TEST_CASE("a full disk and a reader that is gone are failures, and a lost key is told of", "[cli]") {
  ProgramFixture f;
  f.api.answers["create_agent"] = R"({"agent":{"name":"al","agent_id":"agent_1"},"key":"K"})";
  const auto errors = f.scratch.path() / "errors";
  for (const auto* words : {"status", "status --json", "help", "agent --help", "version", "completion bash"}) {
    INFO(words);
    CHECK(f.shell(f.command(words) + " >/dev/full 2>" + errors.string()) == 1);
    CHECK_THAT(bytes_of(errors), Catch::Contains("Standard output could not be written: No space left on device."));
  }
  CHECK(f.shell(f.command("agent create al") + " >/dev/full 2>" + errors.string()) == 1);
  CHECK_THAT(bytes_of(errors), Catch::Contains("could not be written (No space left on device) and is lost"));
  CHECK(f.shell("(sleep 0.2; " + f.command("agent create al") + " 2>" + errors.string() + ") | true") == 0);
  for (int i = 0; i < 200 && bytes_of(errors).find("lost") == std::string::npos; ++i) ::usleep(20'000);
  CHECK_THAT(bytes_of(errors), Catch::Contains("could not be written (Broken pipe) and is lost"));
}

TEST_CASE("a browser gets no secret with its environment", "[cli]") {
  ProgramFixture f;
  f.api.answers["connection"] =
      R"({"connection":{"service":"x","oauth":{"flows":[{"name":"web","client_secret":"required"}]}}})";
  const std::string attempt = R"({"attempt":{"attempt_id":"a1","authorize_url":"https://x/","state":"connected"}})";
  f.api.answers["begin_oauth"] = attempt;
  f.api.answers["oauth_attempt"] = attempt;
  const auto bin = f.scratch.path() / "bin", seen = f.scratch.path() / "seen";
  std::filesystem::create_directory(bin);
  std::ofstream(bin / "xdg-open") << "#!/bin/sh\nenv > " << seen.string() << ".part\nmv " << seen.string() << ".part "
                                  << seen.string() << "\n";
  std::filesystem::permissions(bin / "xdg-open", std::filesystem::perms::owner_all);
  CHECK(f.shell("PATH=" + bin.string() +
                ":$PATH DISPLAY=:9 KRUXOS_API_KEY=agents-key KRUXOS_CLIENT_SECRET=apps-secret " +
                f.command("connect x --client-id ID >/dev/null 2>&1")) == 0);
  for (int i = 0; i < 500 && !std::filesystem::exists(seen); ++i) ::usleep(20'000);
  const auto environment = bytes_of(seen);
  CHECK_THAT(environment, Catch::Contains("DISPLAY=:9"));
  CHECK_THAT(environment, !Catch::Contains("apps-secret") && !Catch::Contains("agents-key"));
  CHECK_THAT(f.api.asked().at(1), Catch::Contains("apps-secret"));  // the host has got it
}

}  // namespace KRUXOS_TEST_FILE
