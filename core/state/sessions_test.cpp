#include "core/state/sessions.hpp"

#include <catch2/catch.hpp>
#include <future>
#include <optional>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/ids.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  SessionStore::Limits limits{1'000'000, 3, 10'000'000, 2};
  std::optional<SessionStore> sessions;

  Fixture() { restart(); }
  void restart() {
    sessions.reset();
    sessions.emplace(store, clock, limits);
  }
  std::string create(const std::string& agent, const std::string& name = "n", const std::string& purpose = "p",
                     AgentSession::Origin origin = AgentSession::Origin::kAgent) {
    AgentSession asked;
    asked.agent_id = agent;
    asked.origin = origin;
    asked.name = name;
    asked.purpose = purpose;
    asked.session_id = "sess_of_my_own";  // which nobody can choose
    std::promise<std::variant<AgentSession, Error>> made;
    sessions->create(asked, [&](auto outcome) { made.set_value(std::move(outcome)); });
    const auto outcome = made.get_future().get();
    REQUIRE(std::holds_alternative<AgentSession>(outcome));
    return std::get<AgentSession>(outcome).session_id;
  }
  bool end(const std::string& id, const std::string& agent) {
    std::promise<std::variant<bool, Error>> ended;
    sessions->end(id, agent, [&](auto outcome) { ended.set_value(std::move(outcome)); });
    return std::get<bool>(ended.get_future().get());
  }
  std::int64_t number(const std::string& sql, const std::string& id = {}) {
    return store.run([&](SQLite::Database& db) {
      Statement row(db.getHandle(), sql);
      if (!id.empty()) row.bind_all(id);
      return row.step() ? row.integer(0) : -1;
    });
  }
  std::int64_t stored_use(const std::string& id) {
    return number("SELECT used_at_ms FROM sessions WHERE session_id = ?1", id);
  }
};

}  // namespace

TEST_CASE("a session is its agent's, and ends when it is idle") {
  Fixture f;
  const auto id = f.create("a");
  CHECK(is_id("sess_", id));
  CHECK(f.sessions->use(id, "a"));
  CHECK_FALSE(f.sessions->use(id, "b"));
  CHECK_FALSE(f.sessions->use("sess_of_my_own", "a"));
  CHECK_FALSE(f.sessions->use("", "a"));
  CHECK_FALSE(f.sessions->use(id, "a", AgentSession::Origin::kMcp));
  CHECK_FALSE(f.end(id, "b"));
  f.clock.advance(999'999);
  CHECK(f.sessions->use(id, "a"));
  f.clock.advance(1'000'000);
  CHECK_FALSE(f.sessions->use(id, "a"));
  CHECK_FALSE(f.end(id, "a"));
  CHECK(f.sessions->live() == 0);
  CHECK(f.sessions->find(id)->ended_at_ms > 0);
}

TEST_CASE("a session goes on after a restart, with its name and purpose") {
  Fixture f;
  const auto id = f.create("a", "helper", "sort the mail"), over = f.create("a");
  CHECK(f.end(over, "a"));
  CHECK_FALSE(f.sessions->use(over, "a"));
  f.restart();
  CHECK(f.sessions->use(id, "a"));
  CHECK_FALSE(f.sessions->use(id, "b"));
  CHECK_FALSE(f.sessions->use(over, "a"));
  const auto found = f.sessions->find(id).value();
  CHECK(found.name == "helper");
  CHECK(found.purpose == "sort the mail");
  CHECK(found.agent_id == "a");
  CHECK(found.ended_at_ms == 0);
  CHECK(f.sessions->find(over)->ended_at_ms > 0);
  CHECK_FALSE(f.sessions->find("sess_of_my_own"));
  SECTION("not when it was idle for long enough") {
    f.clock.advance(1'000'000);
    f.restart();
    CHECK_FALSE(f.sessions->use(id, "a"));
    CHECK(f.sessions->find(id)->ended_at_ms > 0);
  }
}

TEST_CASE("the wall clock alone ends no session while the host runs") {
  Fixture f;
  const auto id = f.create("a");
  f.clock.jump_wall(100'000'000);
  CHECK(f.sessions->use(id, "a"));
  f.clock.jump_wall(-200'000'000);
  CHECK(f.sessions->use(id, "a"));
  f.restart();
  CHECK(f.sessions->use(id, "a"));
}

TEST_CASE("use is noted once a minute, without a wait") {
  Fixture f;
  const auto id = f.create("a");
  const auto begun = f.stored_use(id);
  f.clock.advance(59'999);
  CHECK(f.sessions->use(id, "a"));
  CHECK(f.stored_use(id) == begun);
  f.clock.advance(1);
  CHECK(f.sessions->use(id, "a"));
  CHECK(f.stored_use(id) == begun + 60'000);
}

TEST_CASE("an agent's sessions are counted, and one too many ends the one that was idle longest") {
  Fixture f;
  const auto first = f.create("a");
  f.clock.advance(1);
  const auto second = f.create("a");
  f.clock.advance(1);
  f.create("a");
  f.clock.advance(1);
  CHECK(f.sessions->use(first, "a"));
  const auto others = f.create("b");
  const auto day = f.sessions->of_the_day("a", "alice");  // which is not counted
  f.create("a");
  CHECK(f.sessions->use(first, "a"));
  CHECK_FALSE(f.sessions->use(second, "a"));
  CHECK(f.sessions->use(others, "b"));
  CHECK(f.sessions->use(day, "a"));
  f.restart();
  CHECK(f.sessions->use(first, "a"));
  CHECK_FALSE(f.sessions->use(second, "a"));
}

TEST_CASE("what is done without a session belongs to one of the agent's day") {
  Fixture f;
  f.limits.idle_ms = 86'400'000;
  f.clock.jump_wall(1'700'006'400'000 - f.clock.wall_ms() - 60'000);  // a minute before midnight (UTC)
  f.restart();
  const auto first = f.sessions->of_the_day("a", "alice");
  CHECK(f.sessions->of_the_day("a", "alice") == first);
  CHECK(f.sessions->of_the_day("b", "bob") != first);
  f.store.run([](SQLite::Database&) {});
  CHECK(f.sessions->find(first)->name == "alice");
  CHECK_THAT(f.sessions->find(first)->purpose, Catch::Contains("2023-11-14"));
  f.restart();
  CHECK(f.sessions->of_the_day("a", "alice") == first);
  f.clock.advance(60'000);
  const auto second = f.sessions->of_the_day("a", "alice");
  CHECK(second != first);
  CHECK_FALSE(f.sessions->use(first, "a"));
  CHECK(f.sessions->use(second, "a"));
  CHECK(f.sessions->before(*f.sessions->find(second))->session_id == first);
  CHECK_FALSE(f.sessions->before(*f.sessions->find(first)));
}

TEST_CASE("sessions that have ended are kept for a while, and so many of an agent") {
  Fixture f;
  const auto old = f.create("a");
  CHECK(f.end(old, "a"));
  f.clock.advance(10'000'001);
  f.restart();
  CHECK_FALSE(f.sessions->find(old));
  const auto others = f.create("b");
  for (int i = 0; i < 200; ++i) {
    f.clock.advance(1);
    f.create("a");
  }
  const auto kept = f.number("SELECT count(*) FROM sessions WHERE agent_id = 'a'");
  CHECK(kept >= 3 + 2);
  CHECK(kept <= 3 + 2 + 64);
  CHECK(f.sessions->use(others, "b"));
}

TEST_CASE("what cannot be stored is said, and is no session") {
  Fixture f;
  f.store.run([](SQLite::Database& db) { db.exec("ALTER TABLE sessions RENAME TO hidden"); });
  std::promise<std::variant<AgentSession, Error>> made;
  AgentSession asked;
  asked.agent_id = "a";
  f.sessions->create(asked, [&](auto outcome) { made.set_value(std::move(outcome)); });
  const auto outcome = made.get_future().get();
  REQUIRE(std::holds_alternative<Error>(outcome));
  CHECK(std::get<Error>(outcome).type() == ErrorCode::kDatabaseError);
  CHECK(f.sessions->live() == 0);
  const auto day = f.sessions->of_the_day("a", "alice");
  f.store.run([](SQLite::Database& db) { db.exec("ALTER TABLE hidden RENAME TO sessions"); });
  const auto next = f.sessions->of_the_day("a", "alice");
  CHECK(next != day);
  f.store.run([](SQLite::Database&) {});
  f.restart();
  CHECK(f.sessions->use(next, "a"));
}

}  // namespace KRUXOS_TEST_FILE
