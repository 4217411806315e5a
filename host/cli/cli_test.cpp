#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <thread>

#include "host/cli/cli_fixture.hpp"
#include "host/cli/commands.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

using Fixture = CliFixture;

const std::string kWrite =
    R"({"write":{"write_id":"w_1","agent":"al","service":"x","account_id":"A1","operation":"x.send","state":"unknown",)"
    R"("needs_operator":true,"params":{"text":"hello\u001b[2J world","n":3},"content_hash":"abc","created_at_ms":1000,)"
    R"("due_at_ms":2000,"error":{"type":"OutcomeUnknown","message":"no answer"},)"
    R"("history":[{"kind":"attempt","attempt":1,"started_at_ms":1500,"outcome":"may_be_done","message":"time-out"}]}})";

}  // namespace

TEST_CASE("usage errors exit with 2 and say what is wrong", "[cli]") {
  Fixture f;
  const std::vector<std::vector<std::string>> rows{{},
                                                   {"nonsense"},
                                                   {"agent"},
                                                   {"agent", "create"},
                                                   {"agent", "create", "a", "b"},
                                                   {"approve", "resolve", "w_1"},
                                                   {"approve", "resolve", "w_1", "--resend", "--discard"},
                                                   {"approve", "list", "--recent", "0"},
                                                   {"alerts", "--acknowledge", "x"},
                                                   {"sync"},
                                                   {"--socket", "s", "status"},
                                                   {"status", "--nonsense"}};
  for (const auto& row : rows) {
    CHECK(f.run(row) == 2);
    CHECK_FALSE(f.err().empty());
  }
  CHECK(f.run({"--help"}) == 0);
  CHECK(has(f.out(), "approve"));
  CHECK(f.run({"approve", "resolve", "--help"}) == 0);
  CHECK(has(f.out(), "--happened"));
  CHECK(f.api.asked().empty());
}

TEST_CASE("without a host there is a clear sentence and exit code 3", "[cli]") {
  support::Scratch scratch;
  FakeConsole console;
  const auto run = [&](const std::string& socket) {
    return cli::run_command({"status", "--socket", socket}, console, {});
  };
  CHECK(run(scratch.path() / "control.sock") == 3);
  CHECK(has(console.err_text.str(), "The host is not running"));
  CHECK(run(scratch.path() / "no" / "control.sock") == 3);
  const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE((scratch.path() / "dead").string().copy(address.sun_path, sizeof address.sun_path - 1) > 0);
  REQUIRE(::bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(run(scratch.path() / "dead") == 3);
  ::close(dead);
  CHECK(run(std::string(200, 'x')) == 1);
}

TEST_CASE("the host's errors have their exit codes, and their words with --json", "[cli]") {
  Fixture f;
  const auto code_for = [&](const Error& error) {
    f.api.errors.clear();
    f.api.errors.emplace("status", error);
    return f.run({"status"});
  };
  CHECK(code_for(invalid_input("Bad \x1b[31m thing.")) == 1);
  CHECK(has(f.err(), "Bad \\x1b[31m thing."));
  CHECK(code_for(not_found("No such thing.")) == 4);
  CHECK(code_for(conflict("Not now.")) == 5);
  CHECK(code_for({ErrorCode::kCannotCancel, "Too late."}) == 5);
  CHECK(code_for(database_error("The disk is full.")) == 1);
  CHECK(f.out().empty());
  CHECK(f.run({"--json", "status"}) == 1);
  CHECK(has(f.out(), R"({"error":{"type":"DatabaseError")"));
}

TEST_CASE("an answer that is no JSON is an error", "[cli]") {
  Fixture f;
  for (const std::string text : {"", "nonsense", "{\"a\":\"\xff\"}"}) {
    f.api.answers["status"] = text;
    CHECK(f.run({"status"}) == 1);
    CHECK(has(f.err(), "The host's answer"));
  }
  f.api.answers["status"] = R"({"services":[{"service":7}],"writes":[],"alerts":null,"gateway":"x","health":3})";
  CHECK(f.run({"status"}) == 0);
}

TEST_CASE("status", "[cli]") {
  Fixture f;
  f.api.answers["status"] =
      R"({"status":"degraded","ready":true,"version":"0.1.0","pid":42,"uptime_ms":65000,"agents":2,)"
      R"("gateway":{"host":"127.0.0.1","port":7700,"tls":false},"health":{"host":"127.0.0.1","port":7704},)"
      R"("writes":{"pending_approval":1,"buffered":3,"executing":0,"unknown":1,"needs_operator":2},"alerts":{"open":2},)"
      R"("services":[{"service":"x","adapter_version":"1.2.3","account_name":"Acme","state":"connected","synced_at_ms":1,)"
      R"("phase":"syncing","parts_done":3,"parts_total":45,"problems":2,"left_out":1}]})";
  CHECK(f.run({"status"}) == 0);
  for (const auto* part :
       {"degraded, ready", "0.1.0 (pid 42, up 1 min)", "http://127.0.0.1:7700",
        "1 waiting for approval, 3 buffered, 1 unknown", "2 wait for you: kruxos approve list", "2 open", "Acme",
        "1.2.3", "syncing 3/45", "2 parts could not be synced, 1 record left out: kruxos sync x"}) {
    INFO(part);
    CHECK(has(f.out(), part));
  }
  CHECK_FALSE(has(f.out(), "executing"));
  CHECK_FALSE(has(f.out(), "not whole yet"));
  CHECK(f.run({"status", "--json"}) == 0);
  CHECK(f.out() == f.api.answers["status"] + "\n");
}

TEST_CASE("an account whose collections are filled anew has no time of its last sync", "[cli]") {
  Fixture f;
  for (const bool whole : {false, true}) {
    const std::string account =
        std::string(R"({"service":"x","account_name":"Acme","phase":"syncing","synced_at_ms":1,)") +
        "\"whole\":" + (whole ? "true" : "false") + "}";
    f.api.answers["status"] = "{\"services\":[" + account + "]}";
    CHECK(f.run({"status"}) == 0);
    CHECK(has(f.out(), "not whole yet") == !whole);
    CHECK(has(f.out(), " ago") == whole);
    f.api.answers["sync_now"] = "{\"sync\":{\"accounts\":[" + account + "]}}";
    CHECK(f.run({"sync", "x"}) == 0);
    CHECK(has(f.out(), "not whole yet") == !whole);
    CHECK(has(f.out(), " ago") == whole);
  }
}

TEST_CASE("agents", "[cli]") {
  Fixture f;
  const std::string key(64, 'a');
  f.api.answers["create_agent"] = R"({"agent":{"name":"al","agent_id":"agent_1"},"key":")" + key + "\"}";
  CHECK(f.run({"agent", "create", "al"}) == 0);
  CHECK(f.out() == key + "\n");
  CHECK(has(f.err(), "shown this once only"));
  f.api.asked();
  f.run({"agent", "show", "a/b ?é"});
  CHECK(f.api.asked() == std::vector<std::string>{"agent a/b ?é"});
  f.api.answers["agents"] = R"({"agents":[{"name":"al","agent_id":"agent_1","revoked":true}]})";
  CHECK(f.run({"agent", "list"}) == 0);
  CHECK(has(f.out(), "revoked"));
  f.api.answers["agents"] = R"({"agents":[]})";
  CHECK(f.run({"agent", "list"}) == 0);
  CHECK(has(f.out(), "kruxos agent create"));
}

TEST_CASE("agents lose their keys only after a yes on a terminal", "[cli]") {
  Fixture f;
  f.console.terminal = true;
  f.api.answers["agent"] = R"({"agent":{"name":"al","agent_id":"agent_1"}})";
  for (const auto* command : {"rotate", "revoke"}) {
    f.console.lines = {"n"};
    CHECK(f.run({"agent", command, "agent_1"}) == 1);
    CHECK(f.api.asked() == std::vector<std::string>{"agents", "agent agent_1"});
    CHECK(has(f.console.prompts, "al "));
    f.console.lines = {"y"};
    CHECK(f.run({"agent", command, "al"}) == 0);
    CHECK(f.api.asked().size() == 3);
    CHECK(f.run({"agent", command, "al", "--yes"}) == 0);
    CHECK(f.api.asked().size() == 3);
  }
}

TEST_CASE("agents are paused and resumed, one or all", "[cli]") {
  Fixture f;
  const std::string pause = R"({"paused_at_ms":1,"paused_by":"operator:ann","reason":"Too \u001b many."})";
  f.api.answers["pause_agent"] = R"({"agent":{"name":"al","paused":)" + pause + "}}";
  CHECK(f.run({"agent", "pause", "al", "--reason", "Too many."}) == 0);
  CHECK(has(f.api.asked().at(0), "pause_agent al Too many. operator:"));
  CHECK(has(f.out(), "Agent al is paused since 1970-01-01"));
  CHECK(has(f.out(), "by operator:ann: Too \\x1b many."));
  f.api.answers["resume_agent"] = R"({"agent":{"name":"al"},"all_paused":)" + pause + "}";
  CHECK(f.run({"agent", "resume", "al"}) == 0);
  CHECK(has(f.out(), "Agent al is no longer paused by itself.\nAll agents are paused since"));
  f.api.answers["pause_all"] = R"({"agents_paused":0,"all_paused":)" + pause + "}";
  CHECK(f.run({"agent", "pause", "--all"}) == 0);
  CHECK(has(f.out(), "All agents are paused since"));
  f.api.answers["resume_all"] = R"({"agents_paused":2})";
  CHECK(f.run({"agent", "resume", "--all"}) == 0);
  CHECK(has(f.out(), "2 agents are paused by themselves and stay so"));
  f.api.asked();
  for (const auto* command : {"pause", "resume"}) {
    CHECK(f.run({"agent", command}) == 2);
    CHECK(f.run({"agent", command, "al", "--all"}) == 2);
  }
  CHECK(f.api.asked().empty());
}

TEST_CASE("lists and the status say who is paused", "[cli]") {
  Fixture f;
  const std::string pause = R"({"paused_at_ms":1,"paused_by":"operator:ann","reason":""})";
  f.api.answers["agents"] = R"({"agents":[{"name":"al","paused":)" + pause + R"(},{"name":"bo"}]})";
  CHECK(f.run({"agent", "list"}) == 0);
  CHECK(has(f.out(), "paused"));
  CHECK(has(f.out(), "active"));
  f.api.answers["agents"] = R"({"agents":[{"name":"bo"}],"all_paused":)" + pause + "}";
  CHECK(f.run({"agent", "list"}) == 0);
  CHECK_FALSE(has(f.out(), "active"));
  CHECK(has(f.out(), "kruxos agent resume --all"));
  f.api.answers["agent"] = R"({"agent":{"name":"al","paused":)" + pause + "}}";
  CHECK(f.run({"agent", "show", "al"}) == 0);
  CHECK(has(f.out(), "since 1970-01-01"));
  f.api.answers["status"] = R"({"agents":2,"agents_paused":1})";
  CHECK(f.run({"status"}) == 0);
  CHECK(has(f.out(), "1 agent: kruxos agent list"));
  f.api.answers["status"] = R"({"agents":2,"agents_paused":0,"all_paused":)" + pause + "}";
  CHECK(f.run({"status"}) == 0);
  CHECK(has(f.out(), "all agents: kruxos agent resume --all"));
}

TEST_CASE("revoking tells what became of the agent's writes", "[cli]") {
  Fixture f;
  const auto said = [&](const std::string& writes) {
    f.api.answers["agent"] = R"({"agent":{"name":"al","agent_id":"agent_1"}})";
    f.api.answers["revoke_agent"] = R"({"agent":{"name":"al"},)" + writes + "}";
    CHECK(f.run({"agent", "revoke", "al"}) == 0);
    return f.out();
  };
  CHECK(said(R"("cancelled_writes":0,"writes_left":0)") == "Agent al is revoked.\n");
  CHECK(has(said(R"("cancelled_writes":1,"writes_left":0)"), "1 waiting write is cancelled."));
  const auto both = said(R"("cancelled_writes":3,"writes_left":2)");
  CHECK(has(both, "3 waiting writes are cancelled."));
  CHECK(has(both, "2 writes can no longer be cancelled: kruxos approve list"));
}

TEST_CASE("connecting reads the token and shows what is missing", "[cli]") {
  Fixture f;
  f.api.answers["connection"] = R"({"connection":{"help":"Make a token\nat \u001b[1mhome."}})";
  f.api.answers["connect"] =
      R"({"connection":{"service":"x","account_id":"A1","account_name":"Acme","scopes":["r","w"],)"
      R"("missing_scopes":["m"]}})";
  f.console.lines = {" tok-1\t"};
  CHECK(f.run({"connect", "x"}) == 0);
  auto asked = f.api.asked();
  REQUIRE(asked.size() == 2);  // whether there is such a service, before anything is read
  CHECK(has(asked[1], "connect x tok-1 operator:"));
  for (const auto* part : {"Acme (A1)", "r, w", "Missing"}) CHECK(has(f.out(), part));
  CHECK_FALSE(has(f.out() + f.err(), "tok-1"));
  f.console.terminal = true;
  f.console.lines = {""};
  CHECK(f.run({"connect", "x"}) == 2);
  CHECK(has(f.err(), "Make a token\nat \\x1b[1mhome.\n"));
  for (const std::string token : {"a b", "a\"b", "a\\b", "a\x01", "caf\xc3\xa9"}) {
    f.console.lines = {token};
    f.api.asked();
    CHECK(f.run({"connect", "x"}) == 1);
    CHECK(f.api.asked().size() == 1);  // its help, not the token
    CHECK_FALSE(has(f.err(), token));
  }
  f.api.answers["connections"] =
      R"({"connections":[{"service":"x","state":"needs attention","problem":"token refused",)"
      R"("expires_at_ms":1,"refreshes":true}]})";
  f.console.columns = 200;
  CHECK(f.run({"connect", "status"}) == 0);
  CHECK(has(f.out(), "token refused"));
  CHECK(has(f.out(), "then connect it again"));
  CHECK_FALSE(has(f.out(), "refreshes by itself"));
}

TEST_CASE("sync returns at once, or waits for the pass with its progress", "[cli]") {
  Fixture f;
  const auto state = [](const char* rest) {
    return std::string(R"({"sync":{"service":"x","accounts":[{"account_id":"A1","account_name":"Acme",)") + rest +
           "}]}}";
  };
  f.api.answers["sync_now"] = state(R"("phase":"syncing","passes":4,"failures_in_a_row":0)");
  CHECK(f.run({"sync", "x"}) == 0);
  CHECK(has(f.out(), "syncing"));
  f.api.answers["sync_now"] = state(
      R"("phase":"idle","passes":4,"records":{"messages":40,"users":2},"problems":[{"part":"#a","message":"No access."}],)"
      R"("left_out":2,"left_out_last":[{"collection":"messages","id":"C1/7","reason":"its id contains a NUL"}])");
  CHECK(f.run({"sync", "x"}) == 0);
  CHECK(has(f.out(), "40 messages, 2 users"));
  CHECK(has(f.out(), "No access."));
  CHECK(has(f.out(), "2 records are left out"));
  CHECK(has(f.out(), "messages C1/7"));
  CHECK(has(f.out(), "its id contains a NUL"));
  f.console.terminal = true;
  int slept = 0;
  f.api.answers["sync_status"] = state(R"("phase":"syncing","full":true,"passes":4,"parts_done":1,"parts_total":3)");
  SECTION("until it passed") {
    f.console.on_sleep = [&] {
      if (++slept == 2) f.api.answers["sync_status"] = state(R"("phase":"idle","passes":5)");
    };
    CHECK(f.run({"sync", "x", "--wait"}) == 0);
    CHECK(has(f.console.progress_text, "Acme: syncing, full sync, 1 of 3"));
    CHECK(slept == 2);
  }
  SECTION("until it failed") {
    f.console.on_sleep = [&] {
      f.api.answers["sync_status"] =
          state(R"("phase":"backing_off","passes":4,"failures_in_a_row":1,"last_error":"The service is down.")");
    };
    CHECK(f.run({"sync", "x", "--wait"}) == 1);
    CHECK(has(f.err(), "The service is down."));
  }
  SECTION("until the account is gone") {
    f.console.on_sleep = [&] { f.api.answers["sync_status"] = R"({"sync":{"accounts":[]}})"; };
    CHECK(f.run({"sync", "x", "--wait"}) == 1);
  }
}

TEST_CASE("writes are listed by what they need", "[cli]") {
  Fixture f;
  const auto row = [](const char* id, const char* state, const char* more) {
    return std::string(R"({"write_id":")") + id +
           R"(","agent":"al","operation":"x.send","summary":"#general: hi","state":")" + state + "\"" + more + "}";
  };
  const auto needy = row("w_1", "unknown", R"(,"needs_operator":true)") + "," +
                     row("w_4", "pending_approval", R"(,"needs_operator":true,"send_at_ms":1800000000000)") + "," +
                     row("w_5", "pending_approval", R"(,"needs_operator":true,"held_as_copy":true)");
  f.api.answers["writes person"] = R"({"writes":[)" + needy + "]}";
  f.api.answers["writes"] =
      R"({"writes":[)" + needy + "," + row("w_2", "buffered", R"(,"due_at_ms":99999999999999)") + "]}";
  f.api.answers["writes completed,failed,cancelled,rejected,rolled_back,discarded"] =
      R"({"writes":[)" + row("w_3", "completed", R"(,"ended_at_ms":1000,"send_at_ms":1700000000000)") + "]}";
  f.api.answers["limits"] = R"({"limits":[{"agent":"al","service":"other","operations":["o.a"],"counted":1,"limit":2},
    {"agent":"al","service":"","operations":["x.send","o.a"],"counted":1,"limit":7,"rule":"few","window_ms":60000},
    {"agent":"al","service":"x y","operations":["x.send"],"counted":1,"limit":9,"window_ms":60000}]})";
  CHECK(f.run({"approve", "list", "--service", "x y"}) == 0);
  CHECK((has(f.out(), "x.send, o.a (rule few)") && has(f.out(), "9 in ") && !has(f.out(), "2 in ")));
  const auto asked = f.api.asked();
  REQUIRE(asked.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(has(asked[i], "service=x y"));
  CHECK(asked[3] == "limits");
  const auto waiting = f.out().find("Waiting for your decision"), pending = f.out().find("Buffered and under way"),
             recent = f.out().find("Recent");
  REQUIRE(recent != std::string::npos);
  CHECK((f.out().find("w_1") > waiting && f.out().find("w_1") < pending));
  CHECK((f.out().find("w_2") > pending && f.out().find("w_2") < recent));
  CHECK((f.out().find("w_4") > f.out().find("Waiting for your approval") && f.out().find("w_4") < waiting));
  CHECK(f.out().find("w_4") == f.out().rfind("w_4"));
  const auto scheduled = f.out().find("2027-01-15 08:00:00 UTC");
  CHECK((scheduled > f.out().find("w_4") && scheduled < waiting));
  CHECK(f.out().find("SCHEDULED FOR") == f.out().rfind("SCHEDULED FOR"));  // nowhere but where one is
  CHECK_FALSE(has(f.out(), "2023-11-14"));
  CHECK((f.out().find("w_5") > f.out().find("Held, because") && f.out().find("w_5") < pending));
  CHECK(f.out().find("w_5") == f.out().rfind("w_5"));
  CHECK(f.out().find("w_3") > recent);
  CHECK(f.out().find("w_1", pending) == std::string::npos);
  CHECK(f.run({"approve", "list", "--json"}) == 0);
  const auto listed = parse_json(f.out(), "it");
  for (const auto* key : {"needs_operator", "needs_person", "pending", "recent"}) CHECK(listed.HasMember(key));
  f.api.answers.clear();
  CHECK(f.run({"approve", "list"}) == 0);
  CHECK(has(f.out(), "There are no writes."));
}

TEST_CASE("a write is shown whole", "[cli]") {
  Fixture f;
  f.api.answers["write"] = kWrite;
  CHECK(f.run({"approve", "show", "w_1"}) == 0);
  for (const auto* part :
       {"unknown, waits for your decision", "hello\\x1b[2J world", "OutcomeUnknown: no answer", "may_be_done"})
    CHECK(has(f.out(), part));
}

TEST_CASE("a decision about an unknown write is a person's", "[cli]") {
  Fixture f;
  f.api.answers["write"] = f.api.answers["decide_outcome"] = kWrite;
  CHECK(f.run({"approve", "resolve", "w_1", "--resend"}) == 2);
  CHECK(has(f.err(), "--yes"));
  CHECK(f.api.asked().empty());
  const std::vector<std::pair<std::string, std::string>> decisions{
      {"--resend", "operator_resend"}, {"--discard", "operator_discard"}, {"--happened", "operator_happened"}};
  for (const auto& [option, event] : decisions) {
    CHECK(f.run({"approve", "resolve", "w_1", option, "--yes"}) == 0);
    const auto asked = f.api.asked();
    REQUIRE(asked.size() == 1);
    CHECK(has(asked[0], "decide_outcome w_1 " + event));
  }
  f.console.terminal = true;
  f.console.lines = {"no"};
  CHECK(f.run({"approve", "resolve", "w_1", "--resend"}) == 1);
  CHECK(f.api.asked() == std::vector<std::string>{"write w_1"});
  CHECK(has(f.out(), "hello"));
  CHECK(has(f.console.prompts, "twice"));
  f.console.lines = {"y"};
  CHECK(f.run({"approve", "resolve", "w_1", "--resend"}) == 0);
  CHECK(f.api.asked().size() == 2);
  f.console.lines = {"y"};
  CHECK(f.run({"approve", "cancel", "w_1"}) == 0);
}

TEST_CASE("a write is edited and undone", "[cli]") {
  Fixture f;
  f.api.answers["write"] = R"({"write":{"write_id":"w_1","content_hash":"abc","params_shown":{"text":"hello","n":3},)"
                           R"("params":{"text":"hello","n":3},"state":"buffered"}})";
  f.api.answers["edit_write"] = R"({"write":{"write_id":"w_1","state":"buffered"}})";
  f.console.terminal = true;
  f.console.lines = {"y"};
  CHECK(f.run({"approve", "edit", "w_1", "text=good bye", "n:=4"}) == 0);
  CHECK((has(f.out(), "- text: hello") && has(f.out(), "+ text: good bye") && has(f.out(), "+ n: 4")));
  CHECK(has(f.api.asked().back(), R"(edit_write w_1 abc {"text":"good bye","n":4})"));
  for (const auto* bad : {"text", "=x", "n:=nonsense"}) CHECK(f.run({"approve", "edit", "w_1", bad}) == 2);

  f.console.terminal = false;
  f.api.answers["rollback_write"] = R"({"write":{"write_id":"rb_1","state":"completed"}})";
  CHECK(f.run({"approve", "rollback", "w_1"}) == 0);
  CHECK(has(f.out(), "Write w_1 is undone (rb_1)."));
  f.api.answers["rollback_write"] =
      R"({"write":{"write_id":"rb_1","state":"failed","error":{"type":"RollbackConflict","message":"Changed."}}})";
  CHECK(f.run({"approve", "rollback", "w_1"}) == 5);
  CHECK(has(f.err(), "is not undone: rb_1 is failed. Changed."));
  f.api.answers["rollback_write"] = R"({"write":{"write_id":"rb_1","state":"unknown"}})";
  CHECK(f.run({"approve", "rollback", "w_1", "--force"}) == 1);
  CHECK(has(f.api.asked().back(), "rollback_write w_1 force"));
}

TEST_CASE("plugins, configuration, alerts", "[cli]") {
  Fixture f;
  f.api.answers["plugins"] =
      R"({"directory":"/p","plugins":[{"file":"/p/a.so","service":"x","version":"1","state":"loaded"},)"
      R"({"file":"/p/b.so","state":"refused","reason":"It is no ELF file."},)"
      R"({"file":"/p/c.so","service":"y","state":"loaded","isolation":"process",)"
      R"("process":{"state":"waiting","pid":0,"restarts":2,"last_end":"It crashed (Killed)."}},)"
      R"({"file":"/p/d.so","service":"z","state":"loaded","isolation":"process",)"
      R"("process":{"state":"running","pid":4711,"restarts":1,"last_end":""}}]})";
  CHECK(f.run({"plugin", "list"}) == 0);
  for (const auto* words : {"in the host", "waiting, 2 restarts", "It crashed (Killed).", "pid 4711, 1 restart"}) {
    CAPTURE(words);
    CHECK(has(f.out(), words));
  }
  CHECK(has(f.out(), "It is no ELF file."));
  f.api.asked();
  CHECK(f.run({"plugin", "release", "x"}) == 0);
  CHECK(has(f.out(), "The adapter of x is called again."));
  const auto released = f.api.asked();
  REQUIRE(released.size() == 1);
  CHECK(has(released.front(), "release_plugin x operator:"));
  CHECK(f.run({"plugin", "verify", "good.so"}) == 0);
  CHECK(f.out() == "report of good.so\n");
  CHECK(f.run({"plugin", "verify", "bad.so", "--definitions", "d", "--json"}) == 1);
  CHECK(f.out() == "{\"definitions\":\"d\"}\n");
  f.api.answers["config"] =
      R"({"server.port":{"value":7700,"origin":"default"},"log.level":{"value":"info","origin":"file"}})";
  CHECK(f.run({"config", "show"}) == 0);
  CHECK(has(f.out(), "server.port  7700   default"));
  f.api.answers["alerts"] =
      R"({"alerts":[{"id":3,"severity":"critical","message":"Decide.","raised_at_ms":1000,"write_id":"w_1"}]})";
  CHECK(f.run({"alerts"}) == 0);
  CHECK(has(f.out(), "Decide."));
  f.api.asked();
  CHECK(f.run({"alerts", "--acknowledge", "3"}) == 0);
  CHECK(has(f.api.asked().at(0), "acknowledge_alert 3"));
  f.api.answers.clear();
  CHECK(f.run({"alerts"}) == 0);
  CHECK(has(f.out(), "no open alerts"));
}

}  // namespace KRUXOS_TEST_FILE
