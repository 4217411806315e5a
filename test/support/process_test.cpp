#include "support/process.hpp"

#include <signal.h>

#include <catch2/catch.hpp>
#include <system_error>

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {
Command shell(const std::string& script) {
  Command command;
  command.argv = {"sh", "-c", script};
  return command;
}
}  // namespace

TEST_CASE("a child's output, error output and exit status arrive") {
  const Finished finished = run(shell("echo one; echo two >&2; exit 3"));
  CHECK(finished.out == "one\n");
  CHECK(finished.err == "two\n");
  CHECK(finished.status.code == 3);
  CHECK(finished.status.signal == 0);
  CHECK_FALSE(finished.status.ok());
}

TEST_CASE("a program that does not exist is reported by name") {
  Command command;
  command.argv = {"/no/such/program"};
  CHECK_THROWS_WITH(Process(command), Catch::Contains("/no/such/program"));
}

TEST_CASE("lines are waited for in order, and passed over when they do not fit") {
  Process process(shell("echo a1; echo b; echo a2; exec sleep 100"));
  CHECK(process.wait_for_line("a") == "a1");
  CHECK(process.wait_for_line("a") == "a2");
  CHECK(process.wait_for_line("b", milliseconds(20)) == std::nullopt);
  CHECK(process.running());
}

TEST_CASE("a last line without a newline counts, and the end of the output ends the wait") {
  Process process(shell("printf 'no newline'"));
  CHECK(process.wait_for_line("newline") == "no newline");
  CHECK(process.wait_for_line("more") == std::nullopt);
}

TEST_CASE("stdin is given, empty, or kept open") {
  Command all = shell("cat");
  all.stdin_text = std::string(300000, 'x');
  CHECK(run(all).out.size() == 300000);
  CHECK(run(shell("cat")).out.empty());

  Command open = shell("while read line; do echo \"got $line\"; done");
  open.stdin_text = std::nullopt;
  Process process(open);
  CHECK(process.write_stdin("first\n"));
  CHECK(process.wait_for_line("got") == "got first");
  process.close_stdin();
  CHECK(process.wait()->ok());
  CHECK_FALSE(process.write_stdin("too late\n"));
}

TEST_CASE("signals reach the child by its id and the status says so") {
  Process process(shell("exec sleep 100"));
  CHECK(process.wait(milliseconds(10)) == std::nullopt);
  process.signal(SIGKILL);
  const auto status = process.wait();
  REQUIRE(status);
  CHECK(status->signal == SIGKILL);
  CHECK(status->code == -1);
  CHECK_FALSE(process.running());
}

TEST_CASE("stop ends a child that listens, and one that does not") {
  Process polite(shell("trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done"));
  REQUIRE(polite.wait_for_line("up"));
  CHECK(polite.stop().code == 7);

  Process deaf(shell("trap '' TERM; echo up; while :; do sleep 0.01; done"));
  REQUIRE(deaf.wait_for_line("up"));
  CHECK(deaf.stop(milliseconds(50)).signal == SIGKILL);
}

TEST_CASE("destroying a process ends it") {
  pid_t pid = 0;
  {
    Process process(shell("exec sleep 100"));
    pid = process.pid();
    CHECK(kill(pid, 0) == 0);
  }
  CHECK(kill(pid, 0) == -1);
}

TEST_CASE("environment and working directory are the child's own") {
  Command command = shell("echo $KRUX_TEST_VALUE; pwd; echo ${HOME:-none}");
  command.env["KRUX_TEST_VALUE"] = "set";
  command.working_directory = "/";
  CHECK(run(command).out.rfind("set\n/\n", 0) == 0);
  command.inherit_env = false;
  CHECK(run(command).out == "set\n/\nnone\n");
}

TEST_CASE("a command that takes too long is ended with what it printed") {
  CHECK_THROWS_WITH(run(shell("echo so far; exec sleep 100"), milliseconds(100)), Catch::Contains("so far"));
}

}  // namespace KRUXOS_TEST_FILE
