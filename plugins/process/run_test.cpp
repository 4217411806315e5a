// Programs in their sandbox: what they can do, and how what goes too far is ended.
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <kruxos/kit/json.hpp>
#include <kruxos/testing.hpp>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "adapter.hpp"
#include "confined/usage.hpp"
#include "records.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using kruxos::kit::parse;
using kruxos::kit::text_of;
using kruxos::testing::Attempt;
using kruxos::testing::FakeWrite;
using kruxos::testing::Outcome;

namespace {

struct Programs {
  support::Scratch scratch;
  std::string root = (scratch.path() / "root").string();
  kruxos::testing::Workbench<process::ProcessAdapter> bench;
  std::filesystem::path files = scratch.path() / "root" / "agent_1" / "files";
  FakeWrite last;
  int writes = 0;

  explicit Programs(const std::string& more = R"(,"allow_root":true)")
      : bench(R"({"root":")" + (scratch.path() / "root").string() + "\"" + more + "}") {}

  Attempt run(const std::string& command, const std::string& more = "") {
    last = {"process.run", R"({"command":)" + kruxos::kit::quoted(command) + more + "}"};
    last.write_id = "w_" + std::to_string(++writes);
    return bench.execute(last);
  }
  Attempt shell(const std::string& command, const std::string& more = "") {
    return run(command, R"(,"shell":true)" + more);
  }
  std::string kill(const std::string& id) {
    FakeWrite write{"process.kill", R"({"process_id":")" + id + "\"}"};
    write.write_id = "w_kill_" + std::to_string(++writes);
    const auto attempt = bench.execute(write);
    return attempt.failure ? attempt.failure->message : attempt.result_json;
  }
  std::string output(const std::string& id) { return bench.read("process.output", R"({"process_id":")" + id + "\"}"); }
};

std::string said(const Attempt& attempt, const char* name = "stdout") {
  INFO((attempt.failure ? attempt.failure->message : attempt.result_json));
  REQUIRE(attempt.outcome == Outcome::kDone);
  return text_of(parse(attempt.result_json), name);
}

/// From here on, so that the kernel's limits hold as they do for a host.
void be_an_ordinary_user() {
  constexpr unsigned nobody = 65534;
  if (geteuid() != 0) return;
  REQUIRE((setgroups(0, nullptr) == 0 && setgid(nobody) == 0 && setuid(nobody) == 0));
  prctl(PR_SET_DUMPABLE, 1);  // the sanitizers look into their own process
}

bool without_end(const std::function<bool()>& ready) {
  for (int i = 0; i < 2000; ++i) {
    if (ready()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

TEST_CASE("a program runs in the workspace, and says what it has to say") {
  Programs programs;
  const auto first = programs.run("echo hello 'to you'");
  CHECK(said(first) == "hello to you\n");
  CHECK_THAT(first.result_json, Contains(R"("exit_code":0)") && Contains(R"("ended":"exited")"));
  std::ofstream(programs.files / "a.txt") << "content";
  CHECK(said(programs.run("cat /workspace/a.txt")) == "content");
  CHECK(said(programs.run("ls -la /workspace")).find("a.txt") != std::string::npos);
  CHECK(said(programs.shell("echo $HOME; pwd", R"(,"working_directory":"/workspace")")) == "/workspace\n/workspace\n");
  CHECK(said(programs.run("cat", R"(,"stdin":"given")")) == "given");
  const auto failing = programs.shell("echo no >&2; exit 3");
  CHECK(said(failing, "stderr") == "no\n");
  CHECK_THAT(failing.result_json, Contains(R"("exit_code":3)"));
  CHECK_THAT(programs.run("no-such-program").result_json, Contains(R"("exit_code":127)"));
  CHECK(said(programs.shell("printf 'a\\000b\\377'")) ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD");
  REQUIRE(programs.shell("echo made > made.txt").outcome == Outcome::kDone);
  CHECK(std::filesystem::exists(programs.files / "made.txt"));
}

TEST_CASE("a program sees its workspace and the system's programs, and nothing else") {
  Programs programs;
  std::ofstream(programs.scratch.path() / "secret") << "SECRET";
  const auto secret = (programs.scratch.path() / "secret").string();
  CHECK_THAT(said(programs.run("cat " + secret), "stderr"), Contains("No such file"));
  CHECK_THAT(said(programs.run("ls /root /home /etc/shadow"), "stderr"), Contains("No such file"));
  CHECK_THAT(said(programs.run("ls /workspace/..")), !Contains("undo"));
  CHECK_THAT(said(programs.shell("echo x > /usr/x || echo refused")), Contains("refused"));
  CHECK_THAT(said(programs.shell("ls /sys/class/net 2>&1; cat /proc/net/dev | tail -n +3")), !Contains("eth"));
  CHECK_THAT(said(programs.shell("for p in /proc/[0-9]*; do cat $p/comm; done")), !Contains("process_tests"));
  CHECK_THAT(said(programs.shell("unshare -U true && echo made || echo refused")), Contains("refused"));
  CHECK(said(programs.shell("env | sort | cut -d= -f1 | tr '\\n' ' '")) == "HOME LANG PATH PWD TMPDIR ");
  CHECK(said(programs.shell("ls -l /proc/self/fd | wc -l")) != "0\n");
  CHECK_THAT(said(programs.shell("ls /proc/self/fd | tr '\\n' ' '")), Contains("0 1 2 3 "));  // 3: the directory's
  programs.bench.agent = "agent_2";
  CHECK_THAT(said(programs.run("ls -A /workspace")), !Contains("made"));
  CHECK_THROWS_WITH(programs.output("w_1"), Contains("no such program"));
}

TEST_CASE("what runs too long, says too much or takes too much is ended with all that it has started") {
  be_an_ordinary_user();
  Programs programs(R"(,"output_kib":64,"memory_mib":64,"processes":20,"file_mib":1)");
  const auto long_one = programs.shell("sleep 1000 & sleep 1000", R"(,"timeout_seconds":1)");
  CHECK_THAT(long_one.result_json, Contains(R"("ended":"timeout")") && Contains(R"("exit_code":137)"));
  const auto endless = programs.run("yes");
  CHECK_THAT(endless.result_json, Contains(R"("ended":"output_limit")"));
  CHECK(said(endless).size() == 65536);
  CHECK(said(programs.shell("yes >&2"), "stderr").size() == 65536);
  const auto memory = programs.shell("head -c 500000000 /dev/zero | tail; echo ended $?");
  CHECK((memory.result_json.find("memory_limit") != std::string::npos ||
         memory.result_json.find("memory exhausted") != std::string::npos));
  // Room for all that is begun at once: on a busy machine none has ended before the last begins.
  Programs roomy(R"(,"memory_mib":64,"processes":60)");
  const auto together =
      roomy.shell("for i in 1 2 3 4 5; do (x=$(head -c 20000000 /dev/zero | tr '\\0' a); sleep 1000) & done; wait",
                  R"(,"timeout_seconds":30)");
  CHECK_THAT(together.result_json, Contains(R"("ended":"memory_limit")"));
  const auto huge = programs.shell("head -c 5000000 /dev/zero > huge; ls -l huge");
  CHECK(std::filesystem::file_size(programs.files / "huge") <= 1 << 20);
  // In shells alone, so that nothing but the sandbox ends it.
  const auto bomb = programs.shell("bomb() { bomb | bomb & }; bomb; sleep 1000", R"(,"timeout_seconds":2)");
  INFO(bomb.result_json.substr(0, 500));
  CHECK((bomb.result_json.find("process_limit") != std::string::npos ||
         bomb.result_json.find("fork") != std::string::npos));
  CHECK(without_end([] { return confined::ProcessTable().below(getpid(), 0).processes == 0; }));
}

TEST_CASE("a program has no memory but what it is given") {
  be_an_ordinary_user();
  Programs programs(R"(,"memory_mib":64)");
  CHECK_THAT(
      said(programs.shell("for at in / /dev /usr /proc; do touch $at/x 2>/dev/null && echo made; done; echo end")),
      !Contains("made") && Contains("end"));
  CHECK(said(programs.shell("echo x > /dev/null && echo x > /dev/shm/x && cat /dev/shm/x")) == "x\n");
  CHECK_THAT(said(programs.shell("head -c 100000000 /dev/zero > /dev/shm/x"), "stderr"), Contains("No space left"));
  // Standard input is a file of memory, which no directory shows.
  const auto hidden = programs.shell("head -c 100000000 /dev/zero > /proc/self/fd/0; sleep 1000");
  CHECK_THAT(hidden.result_json, Contains(R"("ended":"memory_limit")"));
}

TEST_CASE("a program cannot hide from the limit of the workspace") {
  be_an_ordinary_user();
  Programs programs(R"(,"workspace_mib":4)");
  const auto ended = [&](const std::string& command) {
    return text_of(parse(programs.shell(command + "; sleep 1000", R"(,"timeout_seconds":20)").result_json), "ended");
  };
  CHECK(ended("exec 3>f; rm f; head -c 8000000 /dev/zero >&3") == "workspace_limit");
  CHECK(ended("touch f; fallocate -n -l 8M f") == "workspace_limit");
  CHECK(ended("rm f; mkdir d; head -c 8000000 /dev/zero > d/f; chmod 0 d") == "workspace_limit");
  CHECK(ended("rm -r d; for i in $(seq 110); do mkdir d; cd d; done") == "workspace_limit");
}

TEST_CASE("what a program does to its directories ends no host") {
  be_an_ordinary_user();
  Programs programs;
  const auto closed = programs.shell("mkdir a b; chmod 400 a; chmod 0 b; sleep 2; echo end");
  CHECK(said(closed) == "end\n");
  CHECK(programs.run("true").outcome == Outcome::kDone);
}

TEST_CASE("output that is no text is read to its end") {
  Programs programs;
  REQUIRE(programs.shell("head -c 1000 /dev/zero | tr '\\000' '\\200'").outcome == Outcome::kDone);
  const auto page = programs.bench.read("process.output", R"({"process_id":"w_1","max_bytes":100})");
  CHECK_THAT(page, Contains(R"("next_stdout_offset":100)"));
}

TEST_CASE("a program can run on after its call, be looked at, and be ended") {
  Programs programs;
  const auto started = programs.shell("echo begun; sleep 1000", R"(,"background":true)");
  CHECK(said(started, "state") == "running");
  CHECK(without_end([&] { return programs.output("w_1").find("begun") != std::string::npos; }));
  CHECK_THAT(programs.bench.read("process.list", "{}"), Contains(R"("process_id":"w_1")") && Contains("running"));
  CHECK_THAT(programs.kill("w_1"), Contains(R"("state":"ended")"));
  CHECK_THAT(programs.output("w_1"), Contains(R"("ended":"killed")") && Contains("begun"));
  CHECK_THAT(programs.kill("w_1"), Contains(R"("state":"ended")"));
  CHECK_THAT(programs.kill("w_99"), Contains("no such program"));
  CHECK_THAT(programs.kill("../agent_2/processes/w_1"), Contains("no such program"));
  CHECK_THROWS_WITH(programs.output("../x"), Contains("no such program"));
}

TEST_CASE("an agent has only so many programs at once") {
  Programs programs(R"(,"running":2,"allow_root":true)");
  for (int i = 0; i < 2; ++i) REQUIRE(said(programs.run("sleep 1000", R"(,"background":true)"), "state") == "running");
  const auto third = programs.run("true");
  CHECK(third.outcome == Outcome::kRefused);
  CHECK_THAT(third.failure->message, Contains("Too many"));
  programs.bench.agent = "agent_2";
  CHECK(programs.run("true").outcome == Outcome::kDone);
}

TEST_CASE("programs end with the host, and nobody can tell what they had done") {
  Programs programs;
  REQUIRE(said(programs.shell("sleep 1000", R"(,"background":true)"), "state") == "running");
  CHECK(programs.bench.find_effect(programs.last).answer == KRUX_EFFECT_FOUND);
  programs.bench.restart();
  CHECK(confined::ProcessTable().below(getpid(), 0).processes == 0);
  const auto found = programs.bench.find_effect(programs.last);
  CHECK(found.answer == KRUX_CANNOT_TELL);
  CHECK_THAT(found.why, Contains("look at the workspace"));
  CHECK(programs.bench.execute(programs.last).outcome != Outcome::kDone);  // never twice
  REQUIRE(programs.run("true").outcome == Outcome::kDone);
  programs.bench.restart();
  CHECK(programs.bench.find_effect(programs.last).answer == KRUX_EFFECT_FOUND);
  FakeWrite never{"process.run", R"({"command":"true"})"};
  never.write_id = "w_never";
  never.attempt = 1;
  CHECK(programs.bench.find_effect(never).answer == KRUX_EFFECT_DISPROVED);
}

TEST_CASE("nobody says of a run whose record is gone that it was never begun") {
  Programs programs;
  REQUIRE(programs.run("true").outcome == Outcome::kDone);
  auto first = programs.last;
  first.created_at_ms = programs.bench.host.clock.now_ms;
  const auto home = workspace::Homes(programs.root).of("agent_1");
  for (int i = 0; i < 200; ++i) {
    process::View later;
    later.id = "w_later_" + std::to_string(i);
    process::end_record(home.processes.get(), later);
  }
  REQUIRE(programs.run("true").outcome == Outcome::kDone);
  CHECK(programs.bench.find_effect(first).answer == KRUX_CANNOT_TELL);
  CHECK(programs.bench.execute(first).outcome != Outcome::kDone);
  programs.bench.host.clock.advance(97 * 3'600'000LL);
  REQUIRE(programs.run("true").outcome == Outcome::kDone);
  const auto found = programs.bench.find_effect(first);
  CHECK(found.answer == KRUX_CANNOT_TELL);
  CHECK_THAT(found.why, Contains("programs of that time"));
}

TEST_CASE("however much programs say, they are looked at by the clock, and a workspace once for all of them") {
  static std::atomic<int> looks, counts;
  looks = counts = 0;
  Programs programs(R"(,"allow_root":true,"output_kib":2048)");
  process::before_look = [](const char* at) { ++(std::string_view(at) == "workspace" ? counts : looks); };
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 2; ++i) REQUIRE(said(programs.run("sleep 1000", R"(,"background":true)"), "state") == "running");
  const auto talking = programs.shell("while :; do echo; done", R"(,"timeout_seconds":2)");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  for (const char* id : {"w_1", "w_2"}) (void)programs.kill(id);
  process::before_look = nullptr;
  CHECK_THAT(talking.result_json, Contains("_limit") || Contains("timeout"));
  CHECK(looks > 0);
  CHECK(looks <= took.count() * 10 + 5);
  CHECK(counts > 0);
  CHECK(counts <= took.count() + 3);
}

TEST_CASE("a workspace of more entries than the operator permits ends the run") {
  Programs programs(R"(,"allow_root":true,"workspace_entries":10)");
  const auto many = programs.shell("touch 1 2 3 4 5 6 7 8 9 10 11; sleep 1000", R"(,"timeout_seconds":20)");
  CHECK_THAT(many.result_json, Contains(R"("ended":"workspace_limit")"));
  REQUIRE(programs.shell("rm 11").outcome == Outcome::kDone);
  CHECK(said(programs.shell("sleep 1.5; echo end")) == "end\n");
}

TEST_CASE("without a sandbox nothing is run") {
  Programs missing(R"(,"allow_root":true,"sandbox":"/no/such/bwrap")"),
      broken(R"(,"allow_root":true,"sandbox":"/usr/bin/false")"), plain("");
  const auto none = missing.run("touch made");
  CHECK(none.outcome == Outcome::kRefused);
  CHECK_THAT(none.failure->message, Contains("bubblewrap is not installed"));
  CHECK(missing.bench.find_effect(missing.last).answer == KRUX_EFFECT_DISPROVED);
  const auto other = broken.run("touch made");
  CHECK(other.outcome == Outcome::kRefused);
  CHECK_THAT(other.failure->message, Contains("cannot be confined"));
  CHECK_FALSE(std::filesystem::exists(broken.files / "made"));
  const auto as_is = plain.run("true");
  if (geteuid() != 0) {
    CHECK(as_is.outcome == Outcome::kDone);
  } else {
    CHECK_THAT(as_is.failure->message, Contains("services.process.adapter.allow_root"));
  }
}

TEST_CASE("a command that could not be started is refused before anybody is asked") {
  Programs programs;
  const auto refused = [&](const std::string& params) {
    CHECK_THROWS_AS(programs.bench.resolve("process.run", params), kruxos::ProxyError);
  };
  refused(R"({"command":"a | b"})");
  refused(R"({"command":"ls","working_directory":"/etc"})");
  refused(R"({"command":"ls\u0000 -la"})");
  refused(R"({"command":"ls\u0000; echo","shell":true})");
  CHECK_NOTHROW(programs.bench.resolve("process.run", R"({"command":"a | b","shell":true})"));
}

}  // namespace KRUXOS_TEST_FILE
