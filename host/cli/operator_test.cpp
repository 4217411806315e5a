#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/storage/group_commit.hpp"
#include "host/cli/cli_fixture.hpp"
#include "host/cli/command_line.hpp"
#include "host/cli/fake_console.hpp"
#include "host/http/http_server.hpp"
#include "host/operator/control_server.hpp"
#include "host/operator/fake_operator.hpp"
#include "host/operator/operator_gate.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

using Asked = std::vector<std::string>;

/// A host that asks for the operator's passphrase, and the command run against it.
struct GuardedFixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  AlertStore alerts{store, clock};
  OperatorSecret secret{store, clock, {1, 8192}};
  OperatorGate gate{secret, alerts, clock, {}};
  FakeOperator api;
  ControlServer control{api, {4, 64, ::geteuid(), &gate}};
  HttpServer server;
  FakeConsole console;

  GuardedFixture() { server.listen_unix(scratch.path() / "control.sock", control.handler()); }
  ~GuardedFixture() { server.stop(0); }
  int run(std::vector<std::string> arguments) {
    console.out_text.str("");
    console.err_text.str("");
    console.prompts.clear();
    arguments.insert(arguments.begin(), {"--data-dir", scratch.path()});
    return cli::run_command(arguments, console, {});
  }
  std::string out() const { return console.out_text.str(); }
  std::string err() const { return console.err_text.str(); }
  std::string file(const std::string& text, int mode = 0600) {
    const auto path = scratch.path() / "passphrase";
    std::ofstream(path, std::ios::trunc) << text;
    std::filesystem::permissions(path, std::filesystem::perms(mode));
    return path;
  }
};

const std::string kWaiting = R"({"write":{"write_id":"w_1","state":"pending_approval","content_hash":"h"}})";

}  // namespace

TEST_CASE(
    "the operator's passphrase is set once, typed twice, and then asked by each command that lets things happen") {
  GuardedFixture f;
  f.api.answers["create_agent"] = R"({"agent":{"name":"al"},"key":"k"})";
  CHECK(f.run({"agent", "create", "al"}) == 5);
  CHECK_THAT(f.err(), Catch::Contains("kruxos operator set-passphrase"));
  CHECK(f.run({"operator", "status"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("not set"));
  f.console.terminal = true;
  f.console.lines = {"one passphrase", "another one"};
  CHECK(f.run({"operator", "set-passphrase"}) == 1);
  f.console.lines = {"one passphrase", "one passphrase"};
  CHECK(f.run({"operator", "set-passphrase"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("the passphrase, each command anew"));
  CHECK(f.api.asked().empty());

  f.console.lines = {"one passphrase"};
  CHECK(f.run({"agent", "create", "al"}) == 0);
  CHECK_THAT(f.console.prompts, Catch::Contains("Operator's passphrase"));
  f.console.lines = {"a wrong one"};
  CHECK(f.run({"agent", "create", "al"}) == 1);
  CHECK_THAT(f.err(), Catch::Contains("passphrase is wrong"));
  f.console.lines = {""};
  f.clock.advance(60'000);
  CHECK(f.run({"agent", "create", "al"}) == 1);
  CHECK_THAT(f.err(), Catch::Contains("No passphrase was given"));
  CHECK(f.api.asked().size() == 1);
  // Looking and stopping ask for nothing.
  f.api.answers["write"] = kWaiting;
  f.console.lines = {"y"};
  CHECK(f.run({"approve", "cancel", "w_1"}) == 0);
  CHECK(f.console.prompts.find("passphrase") == std::string::npos);
  f.console.lines = {"one passphrase", "a third one", "a third one"};
  CHECK(f.run({"operator", "set-passphrase"}) == 0);
  f.secret.check(Secret("a third one"), OperatorSecret::Place::kSocket);
  f.console.lines = {"a fourth one", "a fourth one"};
  CHECK(f.run({"operator", "set-passphrase", "--forgotten"}) != 0);
}

TEST_CASE("one passphrase is good for all that a command decides, and comes behind what it shows") {
  GuardedFixture f;
  f.secret.set(Secret(), Secret("one passphrase"), OperatorSecret::Present::kNeeded);
  f.console.terminal = true;
  f.api.answers["write"] = kWaiting;
  f.api.answers["decide"] = R"({"results":[{"write_id":"w_1","state":"buffered"}]})";
  std::vector<std::string> many{"approve", "accept"};
  for (int i = 0; i < 41; ++i) many.push_back("w_" + std::to_string(i));
  f.console.lines = {"y", "one passphrase", "y", "y"};
  CHECK(f.run(many) == 0);
  CHECK(f.console.lines.empty());
  const auto first = f.console.prompts.find("Accept these"), then = f.console.prompts.find("passphrase");
  CHECK(first < then);
  CHECK(then != std::string::npos);
}

TEST_CASE("without a terminal the operator's passphrase comes from a file that others cannot read, or a pipe") {
  GuardedFixture f;
  f.secret.set(Secret(), Secret("one passphrase"), OperatorSecret::Present::kNeeded);
  f.api.answers["create_agent"] = R"({"agent":{"name":"al"},"key":"k"})";
  CHECK(f.run({"agent", "create", "al"}) == 2);
  CHECK_THAT(f.err(), Catch::Contains("--passphrase-file"));
  CHECK(f.run({"--passphrase-file", f.file("one passphrase\n", 0644), "agent", "create", "al"}) == 2);
  CHECK_THAT(f.err(), Catch::Contains("chmod 600"));
  CHECK(f.run({"--passphrase-file", f.file(""), "agent", "create", "al"}) == 2);
  CHECK(f.run({"--passphrase-file", (f.scratch.path() / "none").string(), "agent", "create", "al"}) == 2);
  CHECK_THAT(f.err(), Catch::Contains("cannot be read"));
  CHECK(f.api.asked().empty());
  CHECK(f.run({"agent", "create", "al", "--passphrase-file", f.file("one passphrase\r\nmore\n")}) == 0);
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  REQUIRE(::write(ends[1], "one passphrase\n", 15) == 15);
  CHECK(f.run({"agent", "create", "al", "--passphrase-file", "/dev/fd/" + std::to_string(ends[0])}) == 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("the webhook is shown as it works, and as it fails", "[cli]") {
  CliFixture f;
  f.api.answers["webhook"] = R"({"configured":false})";
  CHECK(f.run({"webhook", "show"}) == 0);
  CHECK(has(f.err(), "There is no webhook. Set webhook.url"));
  f.api.answers["webhook"] =
      R"({"configured":true,"origin":"https://hooks.example","secret_file":"/k/webhook.secret","details":false,)"
      R"("delivered":2,"delivered_at_ms":1000})";
  CHECK(f.run({"webhook", "show"}) == 0);
  CHECK(has(f.out(), "https://hooks.example"));
  CHECK(has(f.out(), "ids and names alone"));
  CHECK_FALSE(has(f.out(), "Fails"));
  f.api.answers["webhook"] =
      R"({"configured":true,"origin":"https://hooks.example","secret_file":"/k","details":true,"delivered":0,)"
      R"("delivered_at_ms":0,"failures":7,"failing_since_ms":1000,"problem":"It answered with status 503."})";
  CHECK(f.run({"webhook", "show"}) == 0);
  CHECK(has(f.out(), "summaries and reasons too"));
  CHECK(has(f.out(), "7 times since"));
  CHECK(has(f.out(), "It answered with status 503."));
  f.api.answers["test_webhook"] = R"({"delivered_to":"https://hooks.example"})";
  CHECK(f.run({"webhook", "test"}) == 0);
  CHECK(has(f.out(), "Delivered to https://hooks.example."));
}

TEST_CASE("an agent's old key may be good for a while", "[cli]") {
  CliFixture f;
  f.api.answers["agent"] = R"({"agent":{"name":"al","agent_id":"agent_1"}})";
  f.api.answers["rotate_agent"] = R"({"agent":{"name":"al","agent_id":"agent_1"},"key":"ab"})";
  CHECK(f.run({"agent", "rotate", "al", "--grace", "2h", "--yes"}) == 0);
  CHECK(has(f.api.asked().back(), "rotate_agent agent_1 grace 7200 s operator:"));
  CHECK(f.run({"agent", "rotate", "al", "--grace", "7d", "--yes"}) == 0);
  CHECK(has(f.api.asked().back(), "grace 604800 s"));
  for (const auto* bad : {"8d", "2", "0min", "-1h", "soon"}) {
    CHECK(f.run({"agent", "rotate", "al", "--grace", bad, "--yes"}) == 2);
    CHECK(f.api.asked().empty());
  }
  f.console.terminal = true;
  f.console.lines = {"n"};
  CHECK(f.run({"agent", "rotate", "al", "--grace", "30min"}) == 1);
  CHECK(has(f.console.prompts, "The present key of al ends in 30 min;"));
}

TEST_CASE("operators are added, listed and removed, and the command knows which of them asks") {
  GuardedFixture f;
  f.console.terminal = true;
  f.api.answers["create_agent"] = R"({"agent":{"name":"al"},"key":"k"})";
  CHECK(f.run({"operator", "list"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("kruxos operator set-passphrase"));
  CHECK(f.run({"operator", "add", "bob"}) != 0);
  f.console.lines = {"one passphrase", "one passphrase"};
  CHECK(f.run({"operator", "set-passphrase", "--operator", "ann"}) == 0);
  // First hers, then his, twice.
  f.console.lines = {"one passphrase", "bob has one too", "bob has one too"};
  CHECK(f.run({"operator", "add", "bob"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("ann") && Catch::Contains("bob") && Catch::Contains("operator:ann"));
  CHECK(f.run({"operator", "list"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("ann") && Catch::Contains("bob"));
  // With two of them, of whom none is called as the user.
  f.console.lines = {"one passphrase"};
  CHECK(f.run({"agent", "create", "al"}) == 2);
  CHECK_THAT(f.err(), Catch::Contains("ann, bob") && Catch::Contains("--operator NAME"));
  CHECK(f.console.lines.size() == 1);
  CHECK(f.run({"agent", "create", "al", "--operator", "cleo"}) == 4);
  CHECK_THAT(f.err(), Catch::Contains("There are: ann, bob."));
  CHECK(f.run({"agent", "create", "al", "--operator", "ann"}) == 0);
  CHECK_THAT(f.console.prompts, Catch::Contains("Passphrase of operator ann"));
  ::setenv("KRUXOS_OPERATOR", "bob", 1);
  f.console.lines = {"bob has one too"};
  CHECK(f.run({"agent", "create", "al"}) == 0);
  ::unsetenv("KRUXOS_OPERATOR");
  CHECK(f.api.asked() == Asked{"create_agent al operator:ann", "create_agent al operator:bob"});
  f.console.lines = {"n"};
  CHECK(f.run({"operator", "remove", "bob", "--operator", "ann"}) == 1);
  f.console.lines = {"y", "one passphrase"};
  CHECK(f.run({"operator", "remove", "bob", "--operator", "ann"}) == 0);
  CHECK(f.secret.list().size() == 1);
  f.console.lines = {"one passphrase"};
  CHECK(f.run({"operator", "remove", "ann", "--yes"}) == 5);
  CHECK_THAT(f.err(), Catch::Contains("only operator"));
}

TEST_CASE("for a write that several must accept the passphrase is asked for, also where the socket is enough") {
  GuardedFixture f;
  OperatorGate open(f.secret, f.alerts, f.clock, {false, {}, ::geteuid()});
  ControlServer control(f.api, {4, 64, ::geteuid(), &open});
  HttpServer server;
  server.listen_unix(f.scratch.path() / "open.sock", control.handler());
  f.secret.set(Secret(), Secret("one passphrase"), OperatorSecret::Present::kNeeded);
  f.console.terminal = true;
  const auto accept = [&] {
    f.console.prompts.clear();
    f.console.out_text.str("");
    return cli::run_command({"--socket", f.scratch.path() / "open.sock", "approve", "accept", "w_1", "--yes"},
                            f.console, {});
  };
  f.api.answers["write"] = kWaiting;
  f.api.answers["decide"] = R"({"results":[{"write_id":"w_1","state":"buffered"}]})";
  CHECK(accept() == 0);
  CHECK(f.console.prompts.empty());
  f.api.answers["write"] =
      R"({"write":{"write_id":"w_1","state":"pending_approval","content_hash":"h","approvals":{"needed":2,"given":[]}}})";
  f.api.answers["decide"] =
      R"({"results":[{"write_id":"w_1","state":"pending_approval","approvals":{"needed":2,"given":[)"
      R"({"who":"operator:operator","accepted_at_ms":1}]}}]})";
  f.console.lines = {"one passphrase"};
  CHECK(accept() == 0);
  CHECK_THAT(f.console.prompts, Catch::Contains("passphrase"));
  CHECK_THAT(f.out(), Catch::Contains("is now pending_approval. Accepted by operator; one more person is needed."));
  server.stop(0);
}

}  // namespace KRUXOS_TEST_FILE
