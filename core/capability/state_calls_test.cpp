#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include "core/capability/handler_test_support.hpp"
#include "core/capability/host_capabilities.hpp"
#include "core/facts/fact_book.hpp"
#include "core/policy/rules/rule_book.hpp"
#include "core/state/agent_history.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/util/text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

std::string arguments(const std::string& key, const std::string& value_json, const std::string& more = {}) {
  return "{\"key\":" + json_string(key) + ",\"value\":" + value_json + more + "}";
}

std::string named(const std::string& key, const std::string& more = {}) {
  return "{\"key\":" + json_string(key) + more + "}";
}

std::string member(const JsonDocument& answer, const char* name) {
  if (!answer.HasMember("data")) return type_of(answer);
  const auto* found = find_member(answer["data"], name);
  return found ? to_json(*found) : "missing";
}

/// As an agent that names no session.
JsonDocument today(Host& host, const std::string& capability, const std::string& args = "{}") {
  return Host::document(host.begin(capability, args, "agent_1", "", "").get());
}

std::string begin_session(Host& host, const std::string& agent) {
  std::promise<std::string> made;
  AgentSession asked;
  asked.agent_id = agent;
  host.sessions.create(asked, [&](auto outcome) { made.set_value(std::get<AgentSession>(outcome).session_id); });
  return made.get_future().get();
}

/// A host with rules that are about what agents note, too.
struct RuledState {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "history.db", kLedgerKind};
  AgentHistory history{store, clock};
  AccountDirectory accounts;
  FactBook facts{history, accounts};
  std::optional<RuleBook> book;
  std::optional<Host> host;

  explicit RuledState(const std::string& rules) {
    std::filesystem::create_directory(scratch.path() / "rules");
    for (const auto& path : {scratch.path(), scratch.path() / "rules"}) ::chmod(path.c_str(), 0755);
    const auto file = scratch.path() / "rules/system.yaml";
    std::ofstream(file) << "policy: 1\nrules:\n" << rules;
    ::chmod(file.c_str(), 0644);
    book.emplace(scratch.path(),
                 RuleSubjects{{std::make_shared<const ServiceDefinition>(parse_definition(kDefinition, "notes.yaml")),
                               state_definition()},
                              &facts});
    HandlerOptions options;
    options.rules = &*book;
    options.history = &history;
    host.emplace(options);
    host->connect();
  }
};

}  // namespace

TEST_CASE("any JSON value is kept as it was given") {
  Host host;
  for (const char* space : {"session", "persistent", "shared"}) {
    int i = 0;
    for (const char* value : {"null", "true", "0.85", "-0.1", "9007199254740993", "\"a\\\"b\\u0001\"", "[]",
                              "[1,null,[{}]]", R"({"step":3,"b":{"a":null},"total":10})", "\"\\ud83d\\ude00\""}) {
      CAPTURE(space, value);
      const auto key = "k" + std::to_string(++i);
      const auto name = "state." + std::string(space);
      const auto set = today(host, name + ".set", arguments(key, value));
      REQUIRE(type_of(set) == "none");
      CHECK(member(set, "version") == "1");
      const auto got = today(host, name + ".get", named(key));
      CHECK(member(got, "found") == "true");
      CHECK(member(got, "value") == to_json(parse_json(value, "value")));
      CHECK(text_of(got, "updated_at") == format_time(host.clock.wall_ms()));
    }
    CHECK(member(host.call("state." + std::string(space) + ".get", named("nothing")), "found") == "false");
  }
}

TEST_CASE("what cannot be kept is refused with a sentence that says why") {
  Host host;
  const auto why = [&](const char* capability, const std::string& args) {
    return type_of(host.call(capability, args)) + ": " + message_of(host.call(capability, args));
  };
  for (const char* capability : {"state.session.set", "state.persistent.set", "state.shared.set"}) {
    CAPTURE(capability);
    CHECK_THAT(why(capability, arguments("a b", "1")),
               Catch::Contains("InvalidInput") && Catch::Contains("\"key\" may hold letters and digits"));
    CHECK_THAT(why(capability, arguments("", "1")), Catch::Contains("\"key\" must not be empty"));
    CHECK_THAT(why(capability, arguments(std::string(201, 'a'), "1")), Catch::Contains("has 201 characters"));
    CHECK_THAT(why(capability, named("a")), Catch::Contains("\"value\" is missing"));
    CHECK_THAT(why(capability, "{\"value\":1}"), Catch::Contains("\"key\" is missing"));
    CHECK_THAT(why(capability, arguments("a", "\"" + std::string(65'535, 'x') + "\"")),
               Catch::Contains("The value has 65537 bytes as JSON, at most 64 KiB are kept under one key"));
    CHECK_THAT(why(capability, arguments("a", "\"\\u0000\"")), Catch::Contains("\"value\""));
    CHECK_THAT(why(capability, arguments("a", "1", ",\"owner\":\"agent_2\"")),
               Catch::Contains("there is no parameter \"owner\""));
  }
  CHECK_THAT(why("state.persistent.get", named("a", ",\"version\":0")), Catch::Contains("must be"));
  CHECK_THAT(why("state.persistent.list", "{\"prefix\":\"%\"}"), Catch::Contains("\"prefix\" may hold letters"));
  CHECK_THAT(why("state.shared.set", arguments("a", "1", ",\"expected_version\":-1")), Catch::Contains("must be"));
  CHECK_THAT(why("state.persistent.query", "{\"since\":\"yesterday\"}"), Catch::Contains("\"since\""));
  CHECK_THAT(why("state.shared.list", "{\"limit\":1001}"), Catch::Contains("from 1 to 1000"));
}

TEST_CASE("an agent's state is its own, and its session's") {
  Host host;
  const auto call = [&](const char* capability, const std::string& args, const std::string& agent,
                        const std::string& session) {
    return Host::document(host.begin(capability, args, agent, "", session).get());
  };
  const auto first = begin_session(host, "agent_1"), second = begin_session(host, "agent_1");
  call("state.session.set", arguments("a", "1"), "agent_1", first);
  call("state.persistent.set", arguments("a", "1"), "agent_1", first);
  CHECK(member(call("state.session.get", named("a"), "agent_1", first), "found") == "true");
  CHECK(member(call("state.session.get", named("a"), "agent_1", second), "found") == "false");
  CHECK(member(call("state.persistent.get", named("a"), "agent_1", second), "found") == "true");
  for (const char* space : {"session", "persistent"}) {
    const auto name = "state." + std::string(space);
    CAPTURE(name);
    const auto theirs = [&](const char* what, const std::string& args) {
      return call((name + what).c_str(), args, "agent_2", first);
    };
    CHECK(member(theirs(".get", named("a")), "found") == "false");
    CHECK(member(theirs(".list", "{}"), "keys") == "[]");
    CHECK(member(theirs(".delete", named("a")), "deleted") == "false");
  }
  CHECK(member(call("state.persistent.history", named("a"), "agent_2", ""), "versions") == "[]");
  CHECK(member(call("state.persistent.query", "{}", "agent_2", ""), "entries") == "[]");
  CHECK(member(call("state.session.get", named("a"), "agent_1", first), "value") == "1");
}

TEST_CASE("nothing is noted for a session that ended while the call waited") {
  Host host;
  const auto session = begin_session(host, "agent_1");
  std::promise<void> ended;
  host.sessions.end(session, "agent_1", [&](const auto&) { ended.set_value(); });
  ended.get_future().get();
  const auto set = [&](const std::string& agent) {
    return type_of(Host::document(host.begin("state.session.set", arguments("a", "1"), agent, "", session).get()));
  };
  CHECK(set("agent_1") == "SessionExpired");
  const auto named = host.begin("state.session.set", arguments("a", "1"), "agent_1", "", session).get();
  CHECK(find_bool(Host::document(named)["error"], "retryable") == false);
  CHECK_FALSE(host.agent_state.of_sessions->get({"agent_1", session}, "a"));
  // Nor for somebody else's.
  const auto theirs = begin_session(host, "agent_1");
  const auto outcome = host.begin("state.session.set", arguments("a", "1"), "agent_2", "", theirs).get();
  CHECK(type_of(Host::document(outcome)) == "SessionExpired");
  CHECK_FALSE(host.agent_state.of_sessions->get({"agent_2", theirs}, "a"));
}

TEST_CASE("an agent that named no session asks again where its session of the day ended while the call waited") {
  Host host;
  // Of the sessions alone: a day goes by when it has been asked `left` times.
  struct Midnight final : Clock {
    explicit Midnight(DrivenClock& c) : driven(c) {}
    std::int64_t wall_ms() const override { return driven.wall_ms(); }
    std::int64_t boot_ms() const override {
      if (left >= 0 && left-- == 0) driven.advance(25 * 3'600'000LL);
      return driven.boot_ms();
    }
    bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& cv, std::int64_t until,
                    const std::function<bool()>& stop) override {
      return driven.wait_until(lock, cv, until, stop);
    }
    DrivenClock& driven;
    mutable std::atomic<int> left = -1;
  };
  DrivenClock driven;
  Midnight clock(driven);
  SessionStore sessions(host.store, clock);
  AgentState state(host.store, host.clock, sessions);
  HandlerOptions options;
  options.state = &state;
  CapabilityHandler handler(host.accounts, host.runner, host.writes, {host.agents, sessions, host.alerts}, host.clock,
                            options);
  const auto set = [&] {
    std::promise<InvocationResult> answered;
    handler.invoke({"agent_1", "tester", "", "state.session.set", arguments("a", "1"), ""},
                   [&](InvocationResult result) { answered.set_value(std::move(result)); });
    return Host::document(answered.get_future().get());
  };
  int refused = 0;
  for (int after = 0; after < 8; ++after) {
    CHECK(type_of(set()) == "none");
    clock.left = after;
    const auto answer = set();
    clock.left = -1;
    if (type_of(answer) == "none") continue;
    ++refused;
    CHECK(type_of(answer) == "SessionExpired");
    CHECK(find_bool(answer["error"], "retryable") == true);
    CHECK(message_of(answer) == "Your session has ended: call again for your present one.");
    CHECK(type_of(set()) == "none");
  }
  CHECK(refused > 0);
}

TEST_CASE("what is noted is answered by the thread that took the message, its commit included") {
  Host host;
  for (const std::string capability : {"state.persistent.set", "state.persistent.get", "state.session.set"}) {
    std::promise<std::thread::id> answered;
    host.handler.in_turn(
        "agent_1",
        [&] {
          host.handler.invoke({"agent_1", "tester", "", capability, arguments("a", "1"), ""},
                              [&](const InvocationResult&) { answered.set_value(std::this_thread::get_id()); });
        },
        [](const Error& error) { FAIL_CHECK(error.what()); }, RunsOn::kCaller);
    CHECK(answered.get_future().get() == std::this_thread::get_id());
  }
}

TEST_CASE("what is noted for a session is listed page by page and cleared by what keys begin with") {
  Host host;
  for (const char* key : {"task.b", "task.a", "other"}) today(host, "state.session.set", arguments(key, "1"));
  CHECK(member(today(host, "state.session.list"), "keys") == R"(["other","task.a","task.b"])");
  const auto page = today(host, "state.session.list", R"({"prefix":"task.","limit":1,"details":true})");
  CHECK(member(page, "keys") == "[\"task.a\"]");
  CHECK(member(page, "next_after") == "\"task.a\"");
  CHECK(find_int(page["data"]["entries"][0], "version") == 1);
  CHECK_FALSE(page["data"]["entries"][0].HasMember("value"));
  CHECK(member(today(host, "state.session.list", R"({"prefix":"task.","after":"task.a"})"), "keys") == "[\"task.b\"]");
  CHECK(member(today(host, "state.session.clear", R"({"prefix":"task."})"), "cleared") == "2");
  CHECK(member(today(host, "state.session.list"), "keys") == "[\"other\"]");
  CHECK(member(today(host, "state.session.clear"), "cleared") == "1");
}

TEST_CASE("notes are found by when they were set") {
  Host host;
  host.call("state.persistent.set", arguments("a", "1"));
  host.clock.advance(60'000);
  const auto between = format_time(host.clock.wall_ms());
  host.call("state.persistent.set", arguments("b", "1"));
  const auto found = [&](const std::string& asked) {
    std::string keys;
    const auto answer = host.call("state.persistent.query", asked);
    for (const auto& entry : answer["data"]["entries"].GetArray()) keys += std::string(view(entry["key"]));
    return keys;
  };
  CHECK(found("{}") == "ab");
  CHECK(found("{\"since\":\"" + between + "\"}") == "b");
  CHECK(found("{\"until\":\"" + between + "\"}") == "a");
  CHECK(found("{\"since\":\"" + between + "\",\"until\":\"" + between + "\"}").empty());
}

TEST_CASE("notes have versions, pages and searches") {
  Host host;
  for (const char* value : {"1", "2", "3"}) host.call("state.persistent.set", arguments("a.x", value));
  host.call("state.persistent.set", arguments("a.y", "{\"topic\":\"tides\"}"));
  host.call("state.persistent.set", arguments("b", "\"tides\""));
  CHECK(member(host.call("state.persistent.get", named("a.x", ",\"version\":1")), "value") == "1");
  CHECK(member(host.call("state.persistent.get", named("a.x", ",\"version\":9")), "found") == "false");
  const auto history = host.call("state.persistent.history", named("a.x", ",\"limit\":2"));
  CHECK(history["data"]["versions"].Size() == 2);
  CHECK(find_int(history["data"]["versions"][0], "version") == 3);
  CHECK(member(history, "more") == "true");
  CHECK(member(history, "next_before") == "2");
  const auto rest = host.call("state.persistent.history", named("a.x", ",\"limit\":2,\"before\":2"));
  CHECK(rest["data"]["versions"].Size() == 1);
  CHECK(member(rest, "more") == "false");

  CHECK(member(host.call("state.persistent.list", "{\"prefix\":\"a.\"}"), "keys") == "[\"a.x\",\"a.y\"]");
  const auto first = host.call("state.persistent.list", "{\"limit\":2,\"details\":true}");
  CHECK(member(first, "next_after") == "\"a.y\"");
  CHECK(find_int(first["data"]["entries"][0], "version") == 3);
  CHECK(member(host.call("state.persistent.list", "{\"after\":\"a.y\"}"), "keys") == "[\"b\"]");

  const auto found = host.call("state.persistent.query", "{\"contains\":\"tides\"}");
  REQUIRE(found["data"]["entries"].Size() == 2);
  CHECK(to_json(found["data"]["entries"][0]["value"]) == "{\"topic\":\"tides\"}");
  const auto page = host.call("state.persistent.query", "{\"contains\":\"tides\",\"limit\":1}");
  CHECK(member(page, "next_after") == "\"a.y\"");

  CHECK(member(host.call("state.persistent.set", arguments("a.x", "4", ",\"expected_version\":2")), "version") ==
        "VersionConflict");
  CHECK(member(host.call("state.persistent.delete", named("a.x")), "deleted") == "true");
  CHECK(member(host.call("state.persistent.get", named("a.x")), "found") == "false");
}

TEST_CASE("a page ends where its values are a message's worth") {
  Host host;
  const auto large = "\"" + std::string(60'000, 'x') + "\"";
  for (int i = 0; i < 6; ++i) host.call("state.persistent.set", arguments("k" + std::to_string(i), large));
  const auto page = host.call("state.persistent.query", "{}");
  CHECK(page["data"]["entries"].Size() == 4);
  CHECK(member(page, "next_after") == "\"k3\"");
  CHECK(host.call("state.persistent.query", "{\"after\":\"k3\"}")["data"]["entries"].Size() == 2);
}

TEST_CASE("agents share state by the versions that they have read") {
  Host host;
  const auto first = host.agents.create("first").agent.agent_id, second = host.agents.create("second").agent.agent_id;
  CHECK(member(host.call("state.shared.set", arguments("counter", "1"), first), "version") == "1");
  const auto refused = host.call("state.shared.set", arguments("counter", "5"), second);
  CHECK(type_of(refused) == "VersionConflict");
  CHECK(find_int(refused["error"]["context"], "version") == 1);
  CHECK(refused["error"]["recovery"].Size() == 1);
  CHECK(find_bool(refused["error"], "retryable") == false);
  CHECK(member(host.call("state.shared.set", arguments("counter", "2", ",\"expected_version\":1"), second),
               "version") == "2");
  const auto got = host.call("state.shared.get", named("counter"), first);
  CHECK(member(got, "value") == "2");
  CHECK(text_of(got, "updated_by") == "second");
  CHECK(text_of(got, "content_trust") == "untrusted");
  const auto listed = host.call("state.shared.list", "{\"details\":true}", first);
  CHECK(find_string(listed["data"]["entries"][0], "updated_by") == "second");
  CHECK(type_of(host.call("state.shared.delete", named("counter", ",\"expected_version\":1"), first)) ==
        "VersionConflict");
  CHECK(member(host.call("state.shared.delete", named("counter"), first), "deleted") == "true");
  CHECK(member(host.call("state.shared.set", arguments("counter", "1"), first), "version") == "3");
}

TEST_CASE("what other agents wrote is labelled as the text of others, and the agent's own is not") {
  Host host;
  host.call("state.shared.set", arguments("a", "1"));
  host.call("state.persistent.set", arguments("a", "1"));
  const auto label = [&](const char* capability, const std::string& args) {
    return host.begin(capability, args).get().read_of.has_value();
  };
  CHECK(label("state.shared.get", named("a")));
  CHECK(label("state.shared.list", "{}"));
  CHECK_FALSE(label("state.shared.set", arguments("a", "2", ",\"expected_version\":1")));
  CHECK_FALSE(label("state.persistent.get", named("a")));
  CHECK_FALSE(label("proxy.list_writes", "{}"));
}

TEST_CASE("the same call sent twice is one set") {
  Host host;
  const auto set = [&](const std::string& value, const std::string& receipt) {
    return host.call("state.shared.set", arguments("a", value, ",\"expected_version\":" + receipt), "agent_1",
                     "key-" + receipt);
  };
  CHECK(member(set("1", "0"), "version") == "1");
  CHECK(member(set("1", "0"), "version") == "1");
  CHECK(member(set("2", "1"), "version") == "2");
  CHECK(member(set("1", "0"), "version") == "1");
  CHECK(type_of(set("7", "1")) == "ConflictError");
  CHECK(member(host.call("state.shared.get", named("a")), "version") == "2");
}

TEST_CASE("a paused agent reads its state and changes none") {
  Host host;
  const auto agent = host.agents.create("one").agent.agent_id;
  host.call("state.persistent.set", arguments("a", "1"), agent);
  host.agents.pauses().pause(agent, "Wait.", "ann");
  CHECK(member(host.call("state.persistent.get", named("a"), agent), "value") == "1");
  for (const char* capability : {"state.persistent.set", "state.session.set", "state.shared.set"})
    CHECK(type_of(host.call(capability, arguments("a", "2"), agent)) == "PolicyDenied");
  CHECK(type_of(host.call("state.persistent.delete", named("a"), agent)) == "PolicyDenied");
}

TEST_CASE("rules are about what agents note as about services") {
  RuledState ruled(R"(
  - {name: no sharing, capabilities: [state.shared.set], when: [{input: key, prefix: secret.}], tier: blocked,
     reason: Nobody shares that.}
  - {name: no deleting, capabilities: ["*.delete"], tier: blocked}
  - {name: ask, capabilities: [state.persistent.history], tier: approval_required}
  - {name: no secrets, capabilities: [state.shared.set], when: [{fact: carries_secret}], tier: blocked}
)");
  for (const auto& problem : ruled.book->problems()) FAIL(problem.reason);
  auto& host = *ruled.host;
  const auto denied = host.call("state.shared.set", arguments("secret.a", "1"));
  CHECK(type_of(denied) == "PolicyDenied");
  CHECK_THAT(message_of(denied), Catch::Contains("by the rule \"no sharing\". Nobody shares that."));
  CHECK(member(host.call("state.shared.get", named("secret.a")), "found") == "false");
  CHECK(member(host.call("state.shared.set", arguments("open.a", "1")), "version") == "1");
  CHECK(type_of(host.call("state.shared.set", arguments("open.b", R"({"k":["AKIAIOSFODNN7EXAMPLE"]})"))) ==
        "PolicyDenied");
  for (const char* capability : {"state.session.delete", "state.persistent.delete", "state.shared.delete"}) {
    CHECK(type_of(host.call(capability, named("open.a"))) == "PolicyDenied");
    CHECK_FALSE(host.handler.describe_json("tester", capability));
  }
  const auto asked = host.call("state.persistent.history", named("a"));
  CHECK(type_of(asked) == "ApprovalRequired");
  CHECK_THAT(message_of(asked), Catch::Contains("only writes can be approved"));
  CHECK(member(host.call("state.persistent.set", arguments("a", "1")), "version") == "1");
}

TEST_CASE("a rule that cannot act on what agents note is refused") {
  RuledState ruled("  - {name: slow, capabilities: [state.shared.set], delay_seconds: 60}\n");
  REQUIRE(ruled.book->problems().size() == 1);
  CHECK_THAT(ruled.book->problems()[0].reason, Catch::Contains("\"delay_seconds\" is of writes"));
}

TEST_CASE("an agent has read what it was told of the shared state") {
  RuledState ruled(
      "  - {name: links, capabilities: [notes.add], when: [{fact: read_link}], tier: approval_required}\n");
  for (const auto& problem : ruled.book->problems()) FAIL(problem.reason);
  auto& host = *ruled.host;
  host.call("state.shared.set", arguments("a", "\"see https://evil.example/x\""), "agent_2");
  const auto add = [&](const std::string& title) {
    return type_of(host.call("notes.add", "{\"title\":\"" + title + " https://evil.example/x\"}"));
  };
  CHECK(add("first") == "none");
  host.call("state.shared.get", named("a"));
  host.clock.advance(3'600'000);
  CHECK(add("then") == "ApprovalRequired");
}

TEST_CASE("a briefing names keys of the shared state to who may read them alone") {
  for (const bool may_read : {true, false}) {
    RuledState ruled(may_read ? "  - {name: other, capabilities: [state.shared.delete], tier: blocked}\n"
                              : "  - {name: alone, capabilities: [state.shared.get], tier: blocked}\n");
    for (const auto& problem : ruled.book->problems()) FAIL(problem.reason);
    auto& host = *ruled.host;
    CHECK(type_of(host.call("state.shared.set", arguments("theirs", "1"), "agent_2")) == "none");
    const auto told = host.call("state.briefing.generate");
    const auto& shared = told["data"]["briefing"]["shared_state"];
    CHECK(find_int(shared, "changed") == (may_read ? 1 : 0));
    CHECK(shared["newest"].Size() == (may_read ? 1U : 0U));
  }
}

TEST_CASE("a host without state has no such capabilities") {
  Host host;
  CapabilityHandler bare(host.accounts, host.runner, host.writes, {host.agents, host.sessions, host.alerts},
                         host.clock);
  CHECK_FALSE(bare.knows("state.session.get"));
  CHECK(bare.knows("state.briefing.generate"));
  CHECK(bare.services() == std::vector<std::string>{"notes"});
  CHECK(host.handler.services() == std::vector<std::string>{"notes", "state"});
}

}  // namespace KRUXOS_TEST_FILE
