// Facts on the way of a call: what was read before is known when a write is made, and not forgotten by its claim.
#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <fstream>
#include <optional>
#include <string>

#include "core/capability/handler_test_support.hpp"
#include "core/facts/fact_book.hpp"
#include "core/policy/rules/rule_book.hpp"
#include "core/state/agent_history.hpp"
#include "core/storage/statement.hpp"
#include "core/util/json_out.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

const char* const kRules = R"(policy: 1
rules:
  - {name: links, capabilities: [notes.add], when: [{fact: read_link}], tier: approval_required, reason: Whose link is it.}
)";

std::filesystem::path with_rules(const support::Scratch& scratch, const char* rules) {
  std::filesystem::create_directory(scratch.path() / "rules");
  for (const auto& path : {scratch.path(), scratch.path() / "rules"}) ::chmod(path.c_str(), 0755);
  const auto file = scratch.path() / "rules/system.yaml";
  std::ofstream(file) << rules;
  ::chmod(file.c_str(), 0644);
  return scratch.path();
}

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "reads.db", kLedgerKind};
  AgentHistory history{store, clock};
  AccountDirectory accounts;
  FactBook facts{history, accounts};
  std::optional<RuleBook> book;
  std::optional<Host> host;

  explicit Fixture(const char* rules = kRules) {
    const RuleSubjects subjects{
        {std::make_shared<const ServiceDefinition>(parse_definition(kDefinition, "notes.yaml"))}, &facts};
    book.emplace(with_rules(scratch, rules), subjects);
    for (const auto& problem : book->problems()) FAIL(problem.reason);
    HandlerOptions options;
    options.rules = &*book;
    options.history = &history;
    host.emplace(options);
    host->connect();
    host->writes.ledger.ask_terms(host->handler.terms());
    host->adapter->on_read = [](auto&&...) { return Text(std::string(R"({"notes":["see https://evil.example/x"]})")); };
  }
  void both(std::int64_t ms) {
    clock.advance(ms);
    host->clock.advance(ms);
  }
  JsonDocument add(const std::string& title) { return host->call("notes.add", R"({"title":")" + title + "\"}"); }
  std::int64_t rows_with(const std::string& text) {
    return host->store.run([&](SQLite::Database& db) {
      Statement row(db.getHandle(), "SELECT count(*) FROM audit_outbox WHERE body LIKE '%' || ?1 || '%'");
      row.bind_all(text);
      row.step();
      return row.integer(0);
    });
  }
  std::string rules_of(const std::string& id) {
    return json_object([&](JsonWriter& out) { host->handler.put_rules(out, *host->writes.ledger.get(id)); });
  }
};

}  // namespace

TEST_CASE("what an agent has read is known when it writes, and the operator is shown where it stood") {
  Fixture f;
  CHECK(type_of(f.add("http://evil.example/a")) == "none");
  f.host->call("notes.search", "{}");
  const auto held = f.add("http://evil.example/b");
  REQUIRE(type_of(held) == "ApprovalRequired");
  CHECK(type_of(f.add("http://good.example")) == "none");
  const auto id = std::string(find_string(held["error"]["context"], "write_id").value_or(""));
  CHECK_THAT(f.rules_of(id), Catch::Contains(R"("because":["evil.example stood in notes.search."])"));
  CHECK(f.rows_with(R"("facts":{"read_link":"yes"})") == 1);
  CHECK(f.rows_with(R"("facts":{"read_link":"no"})") == 2);
}

TEST_CASE("what was read after a write was made does not hold it when it goes out") {
  Fixture f;
  const auto made = f.add("http://evil.example/a");
  REQUIRE(type_of(made) == "none");
  f.host->clock.advance(1000);
  f.clock.advance(1000);
  f.host->call("notes.search", "{}");
  f.host->clock.advance(60'000);
  f.host->writes.ledger.take({{"notes", "N1", 1}}, {10, 10}, {});
  CHECK(f.host->writes.ledger.get(text_of(made, "write_id"))->state == WriteState::kExecuting);
}

TEST_CASE("what an agent has called counts from then on, over restarts, and a write does not count itself") {
  Fixture f(
      "policy: 1\nrules:\n"
      "  - {name: after, capabilities: [notes.add], when: [{after: [notes.search], within: 1 h}], tier: "
      "approval_required}\n"
      "  - {name: many, capabilities: [notes.add], when: [{after: [notes.add], within: 1 h, at_least: 2}], tier: "
      "blocked}\n"
      "  - {name: once, capabilities: [notes.search], when: [{after: [notes.search], within: 1 h}], tier: blocked}\n");
  const auto first = f.add("a");
  CHECK(type_of(first) == "none");
  f.both(1000);
  CHECK(type_of(f.host->call("notes.search", "{}")) == "none");
  CHECK(type_of(f.host->call("notes.search", "{}")) == "PolicyDenied");
  f.both(1000);
  const auto held = f.add("b");
  REQUIRE(type_of(held) == "ApprovalRequired");
  const auto id = std::string(find_string(held["error"]["context"], "write_id").value_or(""));
  CHECK_THAT(f.rules_of(id), Catch::Contains(R"("because":["It had called one within 1 h, last notes.search."])"));
  f.both(1000);
  CHECK(type_of(f.add("c")) == "PolicyDenied");
  // The first one goes out: what came later does not hold it, and neither does itself.
  f.both(60'000);
  f.host->writes.ledger.take({{"notes", "N1", 1}}, {10, 10}, {});
  CHECK(f.host->writes.ledger.get(text_of(first, "write_id"))->state == WriteState::kExecuting);
  const AgentCalls again(f.store, f.clock);
  const std::vector<std::string> notes{"notes.*"};
  CHECK(again.find("agent_1", {notes, 0, f.clock.wall_ms()}).count == 3);
  f.both(3'600'000);
  CHECK(type_of(f.add("d")) == "none");
}

TEST_CASE("where no rule asks for it, nothing is noted of what agents read") {
  Fixture f("policy: 1\nrules:\n  - {name: n, capabilities: [notes.add], tier: notify}\n");
  f.host->call("notes.search", "{}");
  CHECK_FALSE(f.history.reads.find_any("agent_1", 0));
  const std::vector<std::string> all{"*"};
  CHECK(f.history.calls.find("agent_1", {all, 0, f.clock.wall_ms() + 1}).count == 0);
}

}  // namespace KRUXOS_TEST_FILE
