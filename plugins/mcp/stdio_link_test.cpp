// A server that is a program, as long as it does what it should.
#include "stdio_link.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "confined/usage.hpp"
#include "stdio_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using kruxos::ErrorKind;
using mcp::testing::Came;
using mcp::testing::came_of;
using mcp::testing::DrivenCall;
using mcp::testing::Served;
using mcp::testing::soon;

namespace {

std::int64_t programs_of_this_test() {
  return confined::ProcessTable().below(getpid(), 0).processes;
}

}  // namespace

TEST_CASE("a program's tools are listed and called, and one program serves all asks") {
  Served served(R"({"page_size":4})");
  CHECK(served.link().tools_version() == 1);
  const auto first = served.ask("tools/list");
  CHECK_THAT(first, Contains(R"("name":"echo")") && Contains(R"("nextCursor":"4")"));
  CHECK_THAT(served.ask("tools/list", R"({"cursor":"4"})"), Contains(R"("name":"slow")"));
  CHECK(served.link().tools_version() == 2);
  CHECK_THAT(served.use("echo", R"({"text":"hello"})"), Contains(R"("structuredContent":{"text":"hello"})"));
  (void)served.use("add_note", R"({"text":"a"})");
  CHECK_THAT(served.use("list_notes"), Contains(R"("text":"a")"));
  CHECK(served.effects().size() == 1);
  CHECK_THAT(served.use("fail"), Contains(R"("isError":true)"));
  const auto unknown = served.try_to_use("no_such_tool");
  CHECK(unknown.code == -32602);
  CHECK_THAT(unknown.result, Contains("no tool no_such_tool"));
  CHECK(served.try_to("prompts/list").code == -32601);
  CHECK(served.heard(R"("initialize")").size() == 1);
  CHECK(served.heard("notifications/initialized").size() == 1);
}

TEST_CASE("many ask at once, and each gets its own answer") {
  Served served;
  served.link();
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 16; ++i) {
    all.push_back(std::async(std::launch::async, [&served, i] {
      DrivenCall call;
      std::string wrong;
      for (int j = 0; j < 20; ++j) {
        const auto text = std::to_string(i) + "/" + std::to_string(j);
        const auto got = served.link().ask(
            call.call(), {"tools/call", Served::params_of("echo", R"({"text":")" + text + "\"}"), true});
        if (got.find(R"({"text":")" + text + "\"}") == std::string::npos) wrong += text + ": " + got;
      }
      return wrong;
    }));
  }
  for (auto& one : all) CHECK(one.get().empty());
  CHECK(served.heard(R"("initialize")").size() == 1);
}

TEST_CASE("a slow answer holds nobody else up") {
  Served served;
  auto slow = std::async(std::launch::async, [&] { return served.use("slow"); });
  REQUIRE(served.hears(R"("name":"slow")"));
  CHECK_THAT(served.use("echo", R"({"text":"meanwhile"})"), Contains("meanwhile"));
  CHECK(slow.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  (void)served.use("release");
  CHECK_THAT(slow.get(), Contains("done"));
}

TEST_CASE("long messages pass both ways") {
  Served served;
  const std::string long_one(3'000'000, 'x');
  CHECK(served.use("echo", R"({"text":")" + long_one + "\"}").size() > 2 * long_one.size());
}

TEST_CASE("servers of older versions are spoken to, and others refused by their version") {
  Served old("{}", {"--speaks", "2024-11-05"});
  CHECK_THAT(old.use("echo", R"({"text":"a"})"), Contains("structuredContent"));
  Served other("{}", {"--speaks", "1999-01-01"});
  const auto refused = other.try_to("tools/list");
  REQUIRE(refused.failed);
  CHECK(refused.failed->kind == ErrorKind::kRefused);
  CHECK(refused.failed->type == "ServerNotUnderstood");
  CHECK(refused.failed->no_effect);
  CHECK_THAT(refused.failed->message, Contains("1999-01-01"));
}

TEST_CASE("a stateless server is told all with each request") {
  Served served("{}", {"--revision", "2026-07-28"});
  CHECK_THAT(served.ask("tools/list"), Contains(R"("resultType":"complete")"));
  (void)served.ask("tools/call", R"({"name":"add_note","arguments":{"text":"a"},"_meta":{"key":"w_1"}})");
  CHECK(served.heard("initialize").size() == 1);
  REQUIRE(served.effects().size() == 1);
  CHECK_THAT(served.effects()[0], Contains(R"("key":"w_1")") && Contains("clientCapabilities"));
  Served newer("{}", {"--revision", "2026-07-28", "--speaks", "2027-01-01"});
  CHECK_THAT(newer.try_to("tools/list").failed->message, Contains("2027-01-01"));
}

TEST_CASE("at its deadline an ask ends, and the server is told") {
  Served served;
  auto slow = std::async(std::launch::async, [&] { return served.try_to_use("slow"); });
  REQUIRE(served.hears(R"("name":"slow")"));
  served.call.pass_deadline();
  const auto came = slow.get();
  REQUIRE(came.failed);
  CHECK(came.failed->kind == ErrorKind::kTimeout);
  CHECK_FALSE(came.failed->no_effect);
  CHECK(served.hears("notifications/cancelled"));
  DrivenCall next;
  CHECK_THAT(served.link().ask(next.call(), {"tools/call", Served::params_of("echo", R"({"text":"b"})")}),
             Contains("\"b\""));
  CHECK(served.heard(R"("initialize")").size() == 1);
}

TEST_CASE("a call that is cancelled ends, and the server is told") {
  Served served;
  auto slow = std::async(std::launch::async, [&] { return served.try_to_use("slow"); });
  REQUIRE(served.hears(R"("name":"slow")"));
  served.call.cancelled = true;
  const auto came = slow.get();
  REQUIRE(came.failed);
  CHECK(came.failed->kind == ErrorKind::kCancelled);
  CHECK_FALSE(came.failed->no_effect);
  CHECK(served.hears("notifications/cancelled"));
  CHECK(served.try_to_use("echo").failed->no_effect);  // it does not begin
}

TEST_CASE("a server that says that its tools have changed changes their version") {
  Served served(R"({"faults":[{"tool":"echo","kind":"list_changed"}]})");
  (void)served.ask("tools/list");
  const auto before = served.link().tools_version();
  (void)served.use("echo");
  CHECK(served.link().tools_version() == before + 1);
}

TEST_CASE("a server's ping is answered, and nothing else that it asks") {
  Served served(R"({"faults":[{"tool":"echo","kind":"ask","text":"ping"},
                             {"tool":"echo","kind":"ask","text":"sampling/createMessage"}]})");
  (void)served.use("echo");
  (void)served.use("echo");
  REQUIRE(served.hears(R"("id":"asked")", 2));
  const auto answers = served.heard(R"("id":"asked")");
  CHECK(answers[0] == R"({"jsonrpc":"2.0","id":"asked","result":{}})");
  CHECK_THAT(answers[1], Contains("-32601"));
}

TEST_CASE("nothing but an object is asked with") {
  Served served;
  for (const char* params : {"[]", "", "{", "7"}) {
    const auto came = served.try_to("tools/list", params);
    REQUIRE(came.failed);
    CHECK(came.failed->kind == ErrorKind::kInvalid);
    CHECK(came.failed->no_effect);
  }
}

TEST_CASE("a link ends its program, and who still waits, within two seconds") {
  for (const char* fault : {"say", "deaf"}) {
    Served served(R"({"faults":[{"tool":"echo","kind":")" + std::string(fault) + R"("}]})");
    (void)served.use("echo");
    std::vector<std::future<Came>> all;
    auto& link = served.link();
    DrivenCall call;
    for (int i = 0; i < 3; ++i)
      all.push_back(std::async(std::launch::async, [&] {
        return came_of([&] { return link.ask(call.call(), {"tools/call", Served::params_of("slow")}); });
      }));
    if (fault == std::string("say")) REQUIRE(served.hears(R"("name":"slow")", 3));
    const auto begin = std::chrono::steady_clock::now();
    served.end();
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
    for (auto& one : all) {
      const auto came = one.get();
      REQUIRE(came.failed);
      CHECK(came.failed->kind == ErrorKind::kUnavailable);
      CHECK_THAT(came.failed->message, Contains("stopping"));
    }
    CHECK(programs_of_this_test() == 0);
  }
}

TEST_CASE("a link that nobody asks starts nothing") {
  Served served;
  CHECK(served.link().tools_version() == 1);
  CHECK(programs_of_this_test() == 0);
}

TEST_CASE("a server has its credentials from a file that nobody else reads") {
  Served served(Served::Shell{"echo \"token $TOKEN, $(ls -d /run/environment)\" >&2; exit 3"});
  std::ofstream(served.path("env")) << "# for the server\nTOKEN='a b'\n";
  served.options.confinement.environment_file = served.path("env");
  CHECK_THAT(served.try_to("tools/list").failed->message, Contains("(exit code 3): token a b, /run/environment"));
}

TEST_CASE("a server is not started by root without the operator's word") {
  Served served;
  served.options.allow_root = false;
  const auto came = served.try_to("tools/list");
  if (geteuid() != 0) {
    CHECK_FALSE(came.failed);
  } else {
    REQUIRE(came.failed);
    CHECK(came.failed->type == "SandboxMissing");
    CHECK_THAT(came.failed->message, Contains("services.notes.adapter.allow_root"));
    for (int i = 0; i < 5; ++i) CHECK(served.try_to("tools/list").failed->type == "SandboxMissing");
  }
}

TEST_CASE("without a sandbox no server is started") {
  Served missing, broken;
  missing.options.confinement.sandbox = "/no/such/bwrap";
  broken.options.confinement.sandbox = "/usr/bin/false";
  for (int i = 0; i < 4; ++i) {
    const auto failed = missing.try_to("tools/list").failed;
    CHECK(failed->type == "SandboxMissing");
    CHECK_THAT(failed->message, Contains("bubblewrap is not installed"));
  }
  const auto none = broken.try_to("tools/list");
  CHECK_THAT(none.failed->message, Contains("cannot be confined"));
  CHECK(none.failed->no_effect);
}

}  // namespace KRUXOS_TEST_FILE
