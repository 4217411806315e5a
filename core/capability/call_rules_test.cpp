#include "core/capability/call_rules.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <fstream>

#include "core/capability/handler_test_support.hpp"
#include "core/policy/rules/rule_book.hpp"
#include "core/util/durations.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

/// A directory of policies with one file of rules.
struct RuleDirectory {
  support::Scratch scratch;

  explicit RuleDirectory(const std::string& rules) {
    std::filesystem::create_directory(scratch.path() / "rules");
    for (const auto& path : {scratch.path(), scratch.path() / "rules"}) ::chmod(path.c_str(), 0755);
    write(rules);
  }
  void write(const std::string& rules) const {
    const auto file = scratch.path() / "rules/system.yaml";
    std::ofstream(file) << "policy: 1\nrules:\n" << rules;
    ::chmod(file.c_str(), 0644);
  }
};

/// Which a reload reads again.
struct Rules : RuleDirectory {
  const RuleSubjects subjects{{std::make_shared<const ServiceDefinition>(parse_definition(kDefinition, "notes.yaml"))},
                              nullptr};
  RuleBook book{scratch.path(), subjects};
  using RuleDirectory::RuleDirectory;
};

HandlerOptions with(const RuleBook& book) {
  HandlerOptions options;
  options.rules = &book;
  return options;
}

struct RuledHost {
  Rules rules;
  Host host;

  explicit RuledHost(const std::string& text) : rules(text), host(with(rules.book)) {
    host.connect();
    host.writes.ledger.ask_terms(host.handler.terms());
  }
  JsonDocument call(const std::string& capability, const std::string& arguments) {
    return host.call(capability, arguments);
  }
  void put_in_force(const std::string& text) {
    rules.write(text);
    rules.book.reload(rules.subjects);
  }
  WriteRecord when_due(const std::string& id) {
    host.clock.advance(kHour);
    host.writes.ledger.take({{"notes", "N1", 1}}, {10, 10}, {});
    return *host.writes.ledger.get(id);
  }
};

std::string context_of(const JsonDocument& answer, const char* member) {
  if (!answer.HasMember("error")) return "no error";
  return std::string(find_string(answer["error"]["context"], member).value_or("missing"));
}

}  // namespace

TEST_CASE("reads are under rules, and what is always blocked is not shown") {
  RuledHost ruled(R"(
  - {name: no secrets, capabilities: [notes.search], tier: blocked, when: [{input: query, prefix: secret}], reason: They are secret.}
  - {name: a person first, capabilities: [notes.search], tier: approval_required, when: [{input: query, equals: all}]}
  - {name: no fetching, capabilities: [notes.fetch], agents: [tester], tier: blocked}
)");
  CHECK(type_of(ruled.call("notes.search", R"({"query":"wine"})")) == "none");
  const auto denied = ruled.call("notes.search", R"({"query":"secret plans"})");
  CHECK(type_of(denied) == "PolicyDenied");
  CHECK(message_of(denied) == "notes.search is blocked by the rule \"no secrets\". They are secret.");
  CHECK(context_of(denied, "rule") == "no secrets");
  CHECK(context_of(denied, "reason") == "They are secret.");
  CHECK(context_of(denied, "layer") == "system");
  const auto asked = ruled.call("notes.search", R"({"query":"all"})");
  CHECK(type_of(asked) == "ApprovalRequired");
  CHECK(context_of(asked, "rule") == "a person first");
  CHECK(type_of(ruled.call("notes.fetch", "{}")) == "PolicyDenied");
  const auto lists = [&](const char* agent, const char* name) {
    return ruled.host.handler.list_json(agent, {"", "", name}) != "[]";
  };
  CHECK(lists("tester", "notes.search"));
  CHECK_FALSE(lists("Tester", "notes.fetch"));
  CHECK(lists("somebody", "notes.fetch"));
  CHECK_FALSE(ruled.host.handler.describe_json("tester", "notes.fetch"));
  const auto policy = to_json(ruled.call("agent.policy", R"({"category":"notes"})"));
  CHECK(
      policy.find(
          R"("rules":[{"rule":"no secrets","layer":"system","when":"query begins with secret","tier":"blocked","reason":"They are secret."})") !=
      std::string::npos);
  CHECK(policy.find("system.yaml") == std::string::npos);
}

TEST_CASE("writes are held, delayed and limited by rules") {
  RuledHost ruled(R"(
  - {name: board, capabilities: [notes.add], tier: approval_required, when: [{input: room, equals: board}], reason: Everybody reads it.}
  - {name: slow, capabilities: [notes.mark, notes.add], delay_seconds: 90}
  - {name: three, capabilities: [notes.plain, notes.add], limit: {limit: 3, window: 1 h, on_exceed: reject}, when: [{time_within: {zone: UTC, from: "00:00", to: "24:00"}}], reason: Three will do.}
)");
  auto& host = ruled.host;
  const auto asked = ruled.call("notes.add", R"({"title":"a","room":"board"})");
  CHECK(type_of(asked) == "ApprovalRequired");
  CHECK_THAT(message_of(asked),
             Catch::Contains("notes.add needs a person's approval by the rule \"board\". Everybody reads it."));
  CHECK(context_of(asked, "rule") == "board");
  CHECK(context_of(asked, "reason") == "Everybody reads it.");
  const auto id = context_of(asked, "write_id");
  CHECK(host.writes.ledger.get(id)->state == WriteState::kPendingApproval);
  CHECK(host.writes.ledger.get(id)->tier == "approval_required");
  const auto shown = parse_json(
      json_object([&](JsonWriter& out) { host.handler.put_rules(out, *host.writes.ledger.get(id)); }), "the rules");
  REQUIRE(shown["rules"].Size() == 3);
  CHECK(shown["rules"][0]["line"].GetInt() == 4);
  // At once without the rule.
  const auto slow = ruled.call("notes.mark", R"({"title":"b"})");
  CHECK(text_of(slow, "status") == "buffered");
  CHECK(host.writes.ledger.get(text_of(slow, "write_id"))->delay_ms == 90'000);
  CHECK(type_of(ruled.call("notes.plain", "{}")) == "none");
  CHECK(type_of(ruled.call("notes.add", R"({"title":"c"})")) == "none");
  const auto full = ruled.call("notes.add", R"({"title":"d"})");
  CHECK(type_of(full) == "BatchProtection");
  CHECK_THAT(message_of(full),
             Catch::Contains("The limit of 3 in 1 h for notes.add + notes.plain, of the rule \"three\", is reached"));
  CHECK(context_of(full, "rule") == "three");
  CHECK(context_of(full, "layer") == "system");
  CHECK(context_of(full, "reason") == "Three will do.");
}

TEST_CASE("a limit counts what its rule did not match") {
  RuledHost ruled(
      "  - {name: two, capabilities: [notes.add, notes.mark], limit: {limit: 2, window: 1 h, on_exceed: reject}, "
      "when: [{input: title, prefix: x}]}\n"
      "  - {name: not at once, capabilities: [notes.mark], delay_seconds: 60}\n");
  REQUIRE(ruled.rules.book.problems().empty());
  // The last one is over, and is not asked. Nothing else limits these.
  for (const char* title : {"a", "b", "c"})
    CHECK(type_of(ruled.call("notes.mark", fmt::format(R"({{"title":"{}"}})", title))) == "none");
  CHECK(type_of(ruled.call("notes.plain", "{}")) == "none");
  const auto full = ruled.call("notes.add", R"({"title":"xd"})");
  CHECK(type_of(full) == "BatchProtection");
  CHECK(context_of(full, "rule") == "two");
}

TEST_CASE("a limit's rule is named to whoever waits for a person because of it") {
  RuledHost ruled(R"(
  - {name: first, capabilities: [notes.mark, notes.add], tier: approval_required, when: [{input: title, equals: b}]}
  - {name: two, capabilities: [notes.add, notes.mark], limit: {limit: 2, window: 1 h}, reason: Two will do.}
)");
  CHECK(type_of(ruled.call("notes.add", R"({"title":"a"})")) == "none");
  CHECK(context_of(ruled.call("notes.mark", R"({"title":"b"})"), "rule") == "first");
  // Of two that match the one that has had him asked.
  for (const char* title : {"b", "c"}) {
    const auto waits = ruled.call("notes.add", fmt::format(R"({{"title":"{}"}})", title));
    CHECK(type_of(waits) == "ApprovalRequired");
    CHECK(context_of(waits, "rule") == "two");
    CHECK(context_of(waits, "layer") == "system");
    CHECK(context_of(waits, "reason") == "Two will do.");
  }
  // It is named as it was, though there is another one by now that would have had him asked for the same.
  ruled.put_in_force(
      "  - {name: lately, capabilities: [notes.add], tier: approval_required, when: [{input: title, equals: b}]}\n");
  const auto again = ruled.call("notes.add", R"({"title":"b"})");
  CHECK(context_of(again, "rule") == "two");
  CHECK(context_of(again, "reason") == "Two will do.");
}

TEST_CASE("the rule for which a person is asked about an edit, or about what is due, is kept with the write") {
  RuledHost ruled(R"(
  - {name: board, capabilities: [notes.add], tier: approval_required, when: [{input: room, equals: board}]}
)");
  auto& ledger = ruled.host.writes.ledger;
  const auto add = [&](const std::string& title) {
    return text_of(ruled.call("notes.add", fmt::format(R"({{"title":"{}","room":"attic"}})", title)), "write_id");
  };
  const auto edited = add("a");
  CHECK(ledger.get(edited)->asked_by_json.empty());
  ruled.call("proxy.edit_write", fmt::format(R"({{"write_id":"{}","arguments":{{"room":"board"}}}})", edited));
  CHECK(ledger.get(edited)->asked_by_json == R"({"rule":"board","layer":"system"})");
  const auto due = add("b");
  ruled.put_in_force("  - {name: late, capabilities: [notes.add], tier: approval_required, reason: Not so fast.}\n");
  CHECK(ruled.when_due(due).asked_by_json == R"({"rule":"late","layer":"system","reason":"Not so fast."})");
}

TEST_CASE("where the definition alone has a person asked, no rule is named") {
  RuledHost ruled(R"(
  - {name: slow, capabilities: [notes.ask], delay_seconds: 90}
)");
  const auto asked = ruled.call("notes.ask", "{}");
  CHECK(type_of(asked) == "ApprovalRequired");
  CHECK(context_of(asked, "rule") == "missing");
}

TEST_CASE("what is used of rules' limits is listed, for the operator and for the agent") {
  RuledHost ruled(R"(
  - {name: adds, capabilities: [notes.add, notes.mark], agents: [tester], limit: {limit: 3, window: 1 h, per: title}}
  - {name: marks, capabilities: [notes.mark], agents: [bob], limit: {limit: 2, window: 1 h}}
  - {name: not at once, capabilities: [notes.mark], delay_seconds: 60}
)");
  auto& host = ruled.host;
  const auto tester = host.agents.create("Tester").agent;
  host.agents.create("Bob");
  for (const char* arguments : {R"({"title":"a"})", R"({"title":"b"})", R"({"title":"a","room":"r"})"})
    host.call("notes.add", arguments, tester.agent_id);
  host.call("notes.mark", R"({"title":"b"})", tester.agent_id);
  const auto shown =
      parse_json(json_object([&](JsonWriter& out) { host.handler.put_limits(out); }), "the limits that are in use");
  std::string ruled_ones;
  for (const auto& one : shown["limits"].GetArray()) {
    if (const auto rule = find_string(one, "rule"))
      ruled_ones += fmt::format("{} {} {} {}={} {}/{} line {}; ", one["agent"].GetString(), one["service"].GetString(),
                                *rule, one["per"].GetString(), one["value"].GetString(), one["counted"].GetInt(),
                                one["limit"].GetInt(), one["line"].GetInt());
  }
  CHECK(ruled_ones == "Tester notes adds title=a 2/3 line 4; Tester notes adds title=b 2/3 line 4; ");
  CHECK(shown["limits"].Size() == 4);  // with those of the definition, by title
  const auto policy = ruled.host.call("agent.policy", R"({"category":"notes"})", tester.agent_id);
  CHECK_THAT(to_json(policy), Catch::Contains(R"("rule":"adds","layer":"system","when":"always","limit":3,)"
                                              R"("window_seconds":3600,"per":"title","used":[{"value":"a","count":2},)"
                                              R"({"value":"b","count":2}])"));
}

TEST_CASE("rules see what the adapter resolves, and what a write counts as") {
  RuledHost ruled(R"(
  - {name: by id, capabilities: [notes.add], tier: blocked, when: [{input: room, equals: R1}]}
  - {name: stamps, capabilities: [notes.stamp], tier: approval_required}
  - {name: files, capabilities: [notes.file], delay_seconds: 70}
)");
  ruled.host.adapter->on_resolve = [](const CallContextPtr&, std::string_view, std::string_view params) {
    auto text = std::string(params);
    if (const auto at = text.find("lobby"); at != std::string::npos) text.replace(at, 5, "R1");
    return Text(text);
  };
  CHECK(type_of(ruled.call("notes.add", R"({"title":"a","room":"lobby"})")) == "PolicyDenied");
  CHECK(type_of(ruled.call("notes.add", R"({"title":"a","room":"attic"})")) == "none");
  const auto counted = ruled.call("notes.file", R"({"tags":["trash"]})");
  CHECK(context_of(counted, "rule") == "stamps");
  CHECK(ruled.host.writes.ledger.get(context_of(counted, "write_id"))->delay_ms == 70'000);
  CHECK(type_of(ruled.call("notes.file", R"({"tags":["other"]})")) == "none");
}

TEST_CASE("of what a write is and what it counts as the rule is named that can be read") {
  Rules rules("  - {name: none, capabilities: [notes.wipe], tier: blocked}\n");
  std::ofstream(rules.scratch.path() / "rules/organisation.yaml")
      << "policy: 1\nrules: [{name: files, capabilities: [notes.file], tier: blocked}]\n";
  ::chmod((rules.scratch.path() / "rules/organisation.yaml").c_str(), 0644);
  rules.write("  - [\n");
  const RuleBook unread(rules.scratch.path(), rules.subjects);
  REQUIRE(unread.problems().size() == 1);
  Host host(with(unread));
  host.connect();
  CHECK(context_of(host.call("notes.stamp", R"({"title":"a"})"), "rule") == "rules that cannot be read");
  CHECK(context_of(host.call("notes.file", R"({"tags":["trash"]})"), "rule") == "files");
}

TEST_CASE("an edit is under the rules as a write is") {
  RuledHost ruled(R"(
  - {name: board, capabilities: [notes.add], tier: approval_required, when: [{input: room, equals: board}]}
  - {name: secret, capabilities: [notes.add], tier: blocked, when: [{input: room, equals: secret}]}
)");
  const auto id = text_of(ruled.call("notes.add", R"({"title":"a","room":"attic"})"), "write_id");
  const auto edit = [&](const std::string& room) {
    return ruled.call("proxy.edit_write", fmt::format(R"({{"write_id":"{}","arguments":{{"room":"{}"}}}})", id, room));
  };
  CHECK(type_of(edit("secret")) == "PolicyDenied");
  CHECK(ruled.host.writes.ledger.get(id)->state == WriteState::kBuffered);
  edit("board");
  CHECK(ruled.host.writes.ledger.get(id)->state == WriteState::kPendingApproval);
  CHECK_THAT(ruled.host.writes.ledger.get(id)->approval_reason, Catch::Contains("by the rule \"board\""));
  edit("attic");
  CHECK(ruled.host.writes.ledger.get(id)->state == WriteState::kPendingApproval);  // he is asked about it all the same
}

TEST_CASE("what is due is asked about by the rules and the time of then") {
  RuledHost ruled("  - {name: nothing, capabilities: [notes.wipe], tier: blocked}\n");
  const auto agent = ruled.host.agents.create("Amy").agent;
  const auto id = text_of(ruled.host.call("notes.add", R"({"title":"a","room":"r"})", agent.agent_id), "write_id");
  const auto [rules, state, error] = GENERATE(table<std::string, WriteState, std::string>({
      {"  - {name: late, capabilities: [notes.add], agents: [amy], tier: blocked, when: [{input: room, equals: r}], "
       "reason: Not any more.}\n",
       WriteState::kFailed, "PolicyDenied"},
      {"  - {name: late, capabilities: [notes.add], agents: [amy], tier: approval_required}\n",
       WriteState::kPendingApproval, ""},
      {"  - {name: late, capabilities: [notes.add], agents: [bob], tier: blocked}\n", WriteState::kExecuting, ""},
      {"  - {name: late, capabilities: [notes.add], tier: blocked, when: [{input: room, equals: s}]}\n",
       WriteState::kExecuting, ""},
      // It was admitted at 22:13 on a Tuesday and is due at 23:13.
      {"  - {name: late, capabilities: [notes.add], tier: approval_required, when: [{time_within: {zone: UTC, "
       "weekdays: [tue], from: \"23:00\", to: \"24:00\"}}]}\n",
       WriteState::kPendingApproval, ""},
      {"  - {name: early, capabilities: [notes.add], tier: approval_required, when: [{time_within: {zone: UTC, "
       "weekdays: [tue], from: \"22:00\", to: \"23:00\"}}]}\n",
       WriteState::kExecuting, ""},
  }));
  CAPTURE(rules);
  ruled.put_in_force(rules);
  REQUIRE(ruled.rules.book.problems().empty());
  const auto write = ruled.when_due(id);
  CHECK(write.state == state);
  CHECK(write.error_type.name() == error);
  if (state == WriteState::kFailed)
    CHECK(write.error_message == "notes.add is blocked by the rule \"late\". Not any more.");
}

TEST_CASE("a read that rules look into does not begin while names cannot be resolved") {
  RuledHost ruled(
      "  - {name: by query, capabilities: [notes.search], tier: blocked, when: [{input: query, equals: R1}]}\n");
  ruled.host.adapter->on_resolve = [](const CallContextPtr&, std::string_view, std::string_view) -> Text {
    return CallFailure{KRUX_UNAVAILABLE, true, {}, "The replica is being rebuilt.", {}};
  };
  auto text = std::string(kDefinition);
  text.insert(text.find("purpose: Search."), "target: \"{query}\", ");
  ruled.host.definition = std::make_shared<const ServiceDefinition>(parse_definition(text, "notes.yaml"));
  ruled.host.accounts.set_services({{ruled.host.definition, "1.0.0"}});
  ruled.host.connect();
  CHECK(type_of(ruled.call("notes.search", R"({"query":"lobby"})")) == "ServiceUnavailable");
  ruled.put_in_force("  - {name: other, capabilities: [notes.wipe], tier: blocked}\n");
  CHECK(type_of(ruled.call("notes.search", R"({"query":"lobby"})")) == "none");
}

TEST_CASE("what a read has asked ends with a rule that its agent may not read by") {
  RuledHost ruled("  - {name: other, capabilities: [notes.wipe], tier: blocked}\n");
  Invocation invocation{"agent_1", "tester", "sess_1", "notes.search", R"({"query":"a"})"};
  Questions questions;
  const auto why = [&] {
    const auto error = ruled.host.handler.why_not_ask(invocation, questions);
    return error ? std::string(error->type().name()) : std::string("nothing");
  };
  CHECK(why() == "nothing");
  // What the agent gave may be a name, of which the rule knows the id, or the other way round.
  ruled.put_in_force(
      "  - {name: his, capabilities: [notes.search], tier: blocked, when: [{input: query, equals: a}]}\n");
  CHECK(why() == "nothing");
  ruled.put_in_force(
      "  - {name: his, capabilities: [notes.search], tier: blocked, when: [{time_within: {zone: UTC, from: \"22:00\", "
      "to: \"23:00\"}}]}\n");
  CHECK(why() == "PolicyDenied");
  ruled.host.clock.advance(kHour);
  CHECK(why() == "nothing");
  ruled.put_in_force("  - {name: his, agents: [tester], capabilities: [notes.search], tier: blocked}\n");
  CHECK(why() == "PolicyDenied");
  ruled.put_in_force("  - {name: his, agents: [tester], capabilities: [notes.search], tier: approval_required}\n");
  CHECK(why() == "ApprovalRequired");
}

TEST_CASE("while nobody can read the rules nothing begins, and what is due waits for a person") {
  RuledHost ruled("  - {name: none, capabilities: [notes.wipe], tier: blocked}\n");
  auto& host = ruled.host;
  const auto id = text_of(ruled.call("notes.add", R"({"title":"a"})"), "write_id");
  // Another start.
  ruled.rules.write("  - [\n");
  const RuleBook unread(ruled.rules.scratch.path(), ruled.rules.subjects);
  REQUIRE(unread.problems().size() == 1);
  CapabilityHandler handler(host.accounts, host.runner, host.writes, {host.agents, host.sessions, host.alerts},
                            host.clock, with(unread));
  host.writes.ledger.ask_terms(handler.terms());
  const auto type = [&](const char* capability, const char* arguments) {
    std::promise<InvocationResult> answered;
    handler.invoke({"agent_1", "tester", "sess_1", capability, arguments},
                   [&](InvocationResult result) { answered.set_value(std::move(result)); });
    return type_of(Host::document(answered.get_future().get()));
  };
  CHECK(type("notes.add", R"({"title":"b"})") == "PolicyDenied");
  CHECK(type("notes.search", "{}") == "PolicyDenied");
  CHECK(type("proxy.list_writes", "{}") == "none");
  const auto write = ruled.when_due(id);
  CHECK(write.state == WriteState::kPendingApproval);
  CHECK_THAT(write.approval_reason, Catch::Contains("cannot be read"));
}

TEST_CASE("an agent is told how many people are asked, and by which rule, and not who") {
  RuledHost ruled(
      "  - {name: asks, capabilities: [notes.add], tier: approval_required}\n"
      "  - {name: two, capabilities: [notes.add], tier: approval_required, approvals: 2, reason: It is for all.}\n");
  const auto answer = ruled.call("notes.add", R"({"title":"a"})");
  CHECK(context_of(answer, "rule") == "two");
  CHECK(find_int(answer["error"]["context"], "approvals_needed") == 2);
  CHECK_THAT(std::string(find_string(answer["error"], "message").value()),
             Catch::Contains("waits for the approval of 2 people") && Catch::Contains("It is for all."));
  const auto id = context_of(answer, "write_id");
  const auto status = ruled.call("proxy.write_status", "{\"write_id\":\"" + id + "\"}");
  CHECK(find_int(status["data"], "approvals_needed") == 2);
  const auto write = *ruled.host.writes.ledger.get(id);
  CHECK(write.approvals_needed == 2);
  CHECK(write.approval_reason == "notes.add needs the approval of 2 people by the rule \"two\". It is for all.");
}

TEST_CASE("what is due needs as many people as the rules of then want") {
  RuledHost ruled("  - {name: nothing, capabilities: [notes.wipe], tier: blocked}\n");
  const auto id = text_of(ruled.call("notes.add", R"({"title":"a"})"), "write_id");
  ruled.put_in_force("  - {name: two, capabilities: [notes.add], tier: approval_required, approvals: 2}\n");
  const auto write = ruled.when_due(id);
  CHECK(write.state == WriteState::kPendingApproval);
  CHECK(write.approvals_needed == 2);
  CHECK_THAT(write.approval_reason, Catch::Contains("the approval of 2 people by the rule \"two\""));
}

}  // namespace KRUXOS_TEST_FILE
