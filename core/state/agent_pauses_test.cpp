#include "core/state/agent_pauses.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/audit/outbox.hpp"
#include "core/state/agents.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct PauseFixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};

  /// "kind agent body" of what the audit log is to be told.
  std::vector<std::string> told() {
    return store.run([](SQLite::Database& db) {
      StatementCache sql(db.getHandle());
      std::vector<std::string> rows;
      for (const auto& entry : read_outbox(sql, 0, 100))
        rows.push_back(entry.kind + " " + entry.agent_id + " " + entry.body);
      return rows;
    });
  }
};

}  // namespace

TEST_CASE("a pause says who, when and why, and outlasts the host") {
  PauseFixture f;
  const auto at = f.clock.wall_ms();
  {
    AgentStore agents(f.store, f.clock);
    const auto id = agents.create("al").agent.agent_id;
    CHECK_FALSE(agents.pauses().holding(id));
    const auto pause = agents.pauses().pause(id, "Too many posts.", "operator:ann");
    CHECK(pause.paused_at_ms == at);
    CHECK(agents.pauses().holding(id));
    CHECK_FALSE(agents.pauses().holding(agents.create("bo").agent.agent_id));
  }
  f.clock.advance(1000);
  AgentStore agents(f.store, f.clock);
  const auto pause = agents.pauses().holding(agents.find("al")->agent_id);
  REQUIRE(pause);
  CHECK(pause->paused_at_ms == at);
  CHECK(pause->paused_by == "operator:ann");
  CHECK(pause->reason == "Too many posts.");
  CHECK(agents.pauses().resume(pause->agent_id, "operator:bob"));
  CHECK_FALSE(agents.pauses().holding(pause->agent_id));
  CHECK_FALSE(AgentStore(f.store, f.clock).pauses().holding(pause->agent_id));
}

TEST_CASE("a pause that is ordered again stays as it is, and the audit log is told of changes alone") {
  PauseFixture f;
  AgentPauses pauses(f.store, f.clock);
  pauses.pause("agent_1", "First.", "operator:ann");
  f.clock.advance(1000);
  const auto again = pauses.pause("agent_1", "Second.", "operator:bob");
  CHECK(again.reason == "First.");
  CHECK(again.paused_by == "operator:ann");
  CHECK(pauses.resume("agent_1", "operator:bob"));
  CHECK_FALSE(pauses.resume("agent_1", "operator:bob"));
  pauses.pause({}, "", "operator:ann");
  CHECK(f.told() == std::vector<std::string>{R"(agent.paused agent_1 {"who":"operator:ann","reason":"First."})",
                                             R"(agent.resumed agent_1 {"who":"operator:bob"})",
                                             R"(agent.paused  {"who":"operator:ann","all":true})"});
}

TEST_CASE("the pause of all holds agents that are made later, and is apart from an agent's own") {
  PauseFixture f;
  AgentStore agents(f.store, f.clock);
  auto& pauses = agents.pauses();
  const auto al = agents.create("al").agent.agent_id;
  pauses.pause(al, "", "operator:ann");
  pauses.pause({}, "Everything stops.", "operator:ann");
  const auto later = agents.create("later").agent.agent_id;
  REQUIRE(pauses.holding(later));
  CHECK(pauses.holding(later)->reason == "Everything stops.");
  CHECK_FALSE(pauses.of(later));
  pauses.resume(later, "operator:ann");
  CHECK(pauses.holding(later));
  pauses.resume({}, "operator:ann");
  CHECK_FALSE(pauses.holding(later));
  CHECK(pauses.holding(al));
}

TEST_CASE("a paused agent is told that an operator has paused it, why, and what to do") {
  const auto own = paused_error({"agent_1", 1'700'000'000'000, "operator:ann", "Too many posts"});
  CHECK(own.type() == ErrorCode::kPolicyDenied);
  CHECK_THAT(own.what(),
             Catch::StartsWith("An operator has paused you since 2023-11-14T22:13:20.000Z, and says why: Too "
                               "many posts. Do not call again before he resumes you."));
  CHECK(own.context_json() == R"({"paused":true,"since":"2023-11-14T22:13:20.000Z","reason":"Too many posts"})");
  const auto all = paused_error({"", 1'700'000'000'000, "operator:ann", ""});
  CHECK_THAT(all.what(), Catch::StartsWith("An operator has paused all agents since 2023-11-14T22:13:20.000Z. Do not"));
}

TEST_CASE("a reason has its bounds, and somebody hears of each change") {
  PauseFixture f;
  AgentPauses pauses(f.store, f.clock);
  int told = 0;
  pauses.when_changed([&] { ++told; });
  CHECK_THROWS_AS(pauses.pause("agent_1", std::string(501, 'x'), "operator:ann"), Error);
  CHECK_FALSE(pauses.of("agent_1"));
  CHECK(told == 0);
  pauses.pause("agent_1", std::string(500, 'x'), "operator:ann");
  pauses.resume("agent_1", "operator:ann");
  CHECK(told == 2);
}

}  // namespace KRUXOS_TEST_FILE
