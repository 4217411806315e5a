// What a server's program can do wrong, and what it costs.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "stdio_fixture.hpp"
#include "stdio_link.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using kruxos::ErrorKind;
using mcp::testing::be_an_ordinary_user;
using mcp::testing::came_of;
using mcp::testing::DrivenCall;
using mcp::testing::Failed;
using mcp::testing::Served;

namespace {

std::string fault(const std::string& more) {
  return R"({"faults":[{)" + more + "}]}";
}

/// What the server's program was ended for, or ended with.
std::string why_ended(Served& served, const std::string& method = "tools/list") {
  const auto came = served.try_to(method);
  if (!came.failed) return "it answered " + came.result;
  CHECK(came.failed->kind == ErrorKind::kUnavailable);
  return came.failed->message;
}

/// Asks, and lets the deadline pass once `ready`.
Failed time_out(Served& served, const std::string& tool, const std::string& arguments,
                const std::function<void()>& ready) {
  DrivenCall call;
  auto& link = served.link();
  auto asking = std::async(std::launch::async, [&] {
    return came_of([&] { return link.ask(call.call(), {"tools/call", Served::params_of(tool, arguments)}); });
  });
  ready();
  REQUIRE(mcp::testing::soon([&] { return call.looks > 3; }));
  call.pass_deadline();
  const auto came = asking.get();
  REQUIRE(came.failed);
  CHECK(came.failed->kind == ErrorKind::kTimeout);
  return *came.failed;
}

}  // namespace

TEST_CASE("what is no message is passed over") {
  Served garbage(fault(R"("method":"tools/list","kind":"garbage","text":"Listening on ... {\"id\":")"));
  CHECK_THAT(garbage.ask("tools/list"), Contains("echo"));
  Served told(fault(R"("method":"tools/list","kind":"flood","number":9000)"));
  CHECK_THAT(told.ask("tools/list"), Contains("echo"));
  Served said(fault(R"("method":"tools/list","kind":"say","text":"a line of its log\n")"));
  CHECK_THAT(said.ask("tools/list"), Contains("echo"));
}

TEST_CASE("a server that says more than ten thousand things that nobody asked for is ended") {
  Served served(fault(R"("method":"tools/list","kind":"flood","number":11000)"));
  CHECK_THAT(why_ended(served), Contains("more than 10,000 messages"));
  Served loud(Served::Shell{"yes"});
  CHECK_THAT(why_ended(loud), Contains("more than 10,000 messages"));
}

TEST_CASE("a server that says more than 64 MiB that nobody asked for is ended") {
  Served served(Served::Shell{"while :; do head -c 1000000 /dev/zero | tr '\\0' x; echo; done"});
  CHECK_THAT(why_ended(served), Contains("64 MiB"));
}

TEST_CASE("a server whose line has no end is ended") {
  Served served(fault(R"("method":"tools/list","kind":"endless_line")"));
  CHECK_THAT(why_ended(served), Contains("a line of more than 8 MiB"));
}

TEST_CASE("an answer to something else answers nobody") {
  Served served(fault(R"("tool":"echo","kind":"wrong_id")"));
  const auto failed = time_out(served, "echo", "{}", [&] { REQUIRE(served.hears(R"("name":"echo")")); });
  CHECK_FALSE(failed.no_effect);
  CHECK_THAT(served.use("echo", R"({"text":"a"})"), Contains("\"a\""));
}

TEST_CASE("an answer that is none is said to be none") {
  for (const char* kind : {"no_result", "wrong_type"}) {
    Served served(fault(R"("tool":"add_note","kind":")" + std::string(kind) + "\""));
    const auto came = served.try_to_use("add_note");
    REQUIRE(came.failed);
    CHECK(came.failed->kind == ErrorKind::kUnavailable);
    CHECK_FALSE(came.failed->no_effect);
    CHECK_THAT(came.failed->message, Contains("no answer of the protocol"));
    CHECK(served.effects().size() == 1);
  }
  Served served(fault(R"("tool":"add_note","kind":"error","number":-32000,"text":"no \u001b room")"));
  const auto came = served.try_to_use("add_note");
  CHECK(came.code == -32000);
  CHECK(came.result == "no room");
}

TEST_CASE("a program that ends takes what it was asked along, and says why") {
  Served before(fault(R"("tool":"add_note","kind":"exit","number":3,"text":"first\nlast words\n")"));
  const auto lost = before.try_to_use("add_note");
  REQUIRE(lost.failed);
  CHECK(lost.failed->kind == ErrorKind::kUnavailable);
  CHECK_FALSE(lost.failed->no_effect);
  CHECK(lost.failed->message == "The server's program has ended (exit code 3): last words");
  CHECK(before.effects().empty());
  Served after(fault(R"("tool":"add_note","kind":"exit_after","number":1)"));
  const auto unsure = after.try_to_use("add_note");
  CHECK_FALSE(unsure.failed->no_effect);
  CHECK(unsure.failed->message == "The server's program has ended (exit code 1).");
  CHECK(after.effects().size() == 1);
  const auto version = after.link().tools_version();
  CHECK_THAT(after.use("echo", R"({"text":"again"})"), Contains("again"));
  CHECK(after.link().tools_version() > version);
}

TEST_CASE("what was never written had no effect when the program ends") {
  Served served(fault(R"("method":"initialize","kind":"exit","number":4,"text":"no license")"));
  const auto came = served.try_to_use("add_note");
  REQUIRE(came.failed);
  CHECK(came.failed->no_effect);
  CHECK_THAT(came.failed->message, Contains("(exit code 4): no license"));
  Served none(Served::Shell{"exec /no/such/server"});
  CHECK_THAT(why_ended(none), Contains("(exit code 127)") && Contains("/no/such/server"));
  Served missing(Served::Shell{""});
  missing.options.command = {"no-such-server"};
  CHECK_THAT(why_ended(missing), Contains("no-such-server"));
}

TEST_CASE("a program that ends again and again is started at growing distances") {
  Served served(fault(R"("method":"initialize","kind":"exit","number":1,"text":"boom")"));
  for (int i = 0; i < 2; ++i) CHECK_THAT(why_ended(served), Contains("(exit code 1)"));
  for (const std::int64_t gap : {1, 2, 4}) {
    const auto early = served.try_to("tools/list");
    REQUIRE(early.failed);
    CHECK(early.failed->kind == ErrorKind::kUnavailable);
    CHECK(early.failed->no_effect);
    CHECK(early.failed->retry_after_ms == gap * 1000);
    CHECK_THAT(early.failed->message, Contains("again in " + std::to_string(gap) + " s") && Contains("boom"));
    served.call.now_ms += gap * 1000;
    CHECK_THAT(why_ended(served), Contains("(exit code 1)"));
  }
  CHECK(served.heard(R"("initialize")").size() == 5);
}

TEST_CASE("a server that refuses to begin is ended, and what it said told") {
  Served served(fault(R"("method":"initialize","kind":"error","number":-32603,"text":"not licensed")"));
  const auto came = served.try_to_use("add_note");
  REQUIRE(came.failed);
  CHECK(came.failed->no_effect);
  CHECK_THAT(came.failed->message, Contains("does not begin: not licensed"));
  Served odd(fault(R"("method":"initialize","kind":"no_result")"));
  CHECK_THAT(why_ended(odd), Contains("no answer of the protocol"));
}

TEST_CASE("three deadlines in a row end a server, and the next ask starts it again") {
  Served served(fault(R"("method":"initialize","kind":"hang")"));
  for (int i = 0; i < 3; ++i) {
    const auto failed = time_out(served, "add_note", "{}", [&] { REQUIRE(served.hears(R"("initialize")")); });
    CHECK(failed.no_effect);
  }
  // Whoever asks before it has ended hears why, and the next one starts it.
  auto asking = std::async(std::launch::async, [&] { return served.try_to("tools/list"); });
  CHECK(mcp::testing::soon([&] {
    return served.heard(R"("initialize")").size() == 2 ||
           asking.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }));
  served.call.cancelled = true;
  const auto came = asking.get();
  REQUIRE(came.failed);
  CHECK((came.failed->kind == ErrorKind::kCancelled ||
         came.failed->message.find("three deadlines") != std::string::npos));
}

TEST_CASE("deadlines with an answer between them end nothing") {
  Served served;
  for (std::size_t times = 1; times <= 4; ++times) {
    (void)time_out(served, "slow", "{}", [&] { REQUIRE(served.hears(R"("name":"slow")", times)); });
    CHECK_THAT(served.use("echo", R"({"text":"a"})"), Contains("\"a\""));
  }
  CHECK(served.heard(R"("initialize")").size() == 1);
}

TEST_CASE("a server that does not read holds nobody up, and does nothing of what was given up meanwhile") {
  Served served(fault(R"("tool":"echo","kind":"deaf","text":"/workspace/go")"));
  (void)served.use("echo");
  const auto large = R"({"text":")" + std::string(1'000'000, 'x') + "\"}";
  // Neither fits into the pipe. The first one is begun by then, as a rule.
  for (int i = 0; i < 2; ++i) CHECK(time_out(served, "add_note", large, [] {}).no_effect);
  std::ofstream(served.path("go")) << "\n";
  CHECK_THAT(served.use("list_notes"), Contains(R"("text":"")"));
  CHECK(served.effects().empty());
  CHECK(served.heard("add_note").empty());
  CHECK(served.heard(R"("initialize")").size() == 1);
}

TEST_CASE("a server that reads no more is ended, and does nothing that it has not read") {
  Served served(fault(R"("tool":"echo","kind":"deaf")"));
  (void)served.use("echo");
  const auto large = R"({"text":")" + std::string(1'000'000, 'x') + "\"}";
  for (int i = 0; i < 3; ++i) CHECK(time_out(served, "add_note", large, [] {}).no_effect);
  CHECK(mcp::testing::soon([&] { return !served.try_to_use("list_notes").failed; }));
  CHECK(served.effects().empty());
}

TEST_CASE("a server that answers before it ends is started again at once") {
  Served served(fault(R"("tool":"add_note","kind":"exit","number":1,"count":0)"));
  for (int i = 0; i < 4; ++i) {
    CHECK_THAT(served.use("echo", R"({"text":"a"})"), Contains("\"a\""));
    CHECK_THAT(served.try_to_use("add_note").failed->message, Contains("(exit code 1)"));
  }
}

TEST_CASE("a server that asks and does not read is ended") {
  Served served(Served::Shell{
      "id=$(head -c 200 /dev/zero | tr '\\0' x); while :; do echo '{\"id\":\"'$id'\",\"method\":\"ping\"}'; done"});
  CHECK_THAT(why_ended(served), Contains("does not read"));
}

TEST_CASE("a server that starts more processes than it may is ended") {
  Served many(Served::Shell{"for i in $(seq 40); do sleep 1000 & done; wait"});
  many.options.confinement.processes = 20;
  const auto why = why_ended(many);
  // The kernel holds an ordinary user's to it, and nobody but the link root's.
  if (geteuid() == 0) {
    CHECK_THAT(why, Contains("more than 20 processes"));
  } else {
    CHECK_THAT(why, Contains("more than 20 processes") || Contains("fork"));
  }
}

TEST_CASE("a server that takes more memory than it may is ended") {
  be_an_ordinary_user();
  Served memory(
      Served::Shell{"for i in 1 2 3 4 5; do (x=$(head -c 20000000 /dev/zero | tr '\\0' a); sleep 1000) & done; wait"});
  memory.options.confinement.memory_mib = 64;
  CHECK_THAT(why_ended(memory), Contains("more than 64 MiB of memory"));
}

TEST_CASE("a server whose output is at its end is ended, and its exit waited for") {
  // Bubblewrap keeps the pipes open for as long as it is there: another sandbox need not.
  const auto ended = [](const std::string& commands) {
    Served served(Served::Shell{""});
    const auto sandbox = served.path("sandbox");
    std::ofstream(sandbox) << "#!/bin/sh\ncase \"$*\" in */usr/bin/true) exit 0;; esac\nexec >&-\n" << commands << "\n";
    std::filesystem::permissions(sandbox, std::filesystem::perms::owner_all);
    served.options.confinement.sandbox = sandbox;
    return why_ended(served);
  };
  CHECK_THAT(ended("echo bye >&2; cat >/dev/null; exit 5"), Contains("(exit code 5): bye"));
  CHECK_THAT(ended("exec sleep 1000"), Contains("(exit code 137)"));
  CHECK_THAT(ended("exec <&-; exec sleep 1000"), Contains("(exit code 137)"));
}

}  // namespace KRUXOS_TEST_FILE
