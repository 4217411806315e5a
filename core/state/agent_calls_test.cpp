#include "core/state/agent_calls.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/policy/rules/rule.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  std::optional<AgentCalls> calls;

  Fixture() { restart(); }
  void restart() {
    calls.reset();
    calls.emplace(store, clock);
  }
  void advance(std::int64_t ms) { clock.advance(ms); }
  std::int64_t count(std::vector<std::string> patterns, std::int64_t within_ms, const std::string& agent = "a1") {
    const auto now = clock.wall_ms();
    return calls->find(agent, {patterns, now - within_ms, now + 1}).count;
  }
  void note(const std::string& agent, const std::string& capability) {
    calls->note(agent, capability, clock.wall_ms());
  }
  std::int64_t rows() {
    return store.run([](SQLite::Database& db) {
      Statement row(db.getHandle(), "SELECT count(*) FROM agent_calls");
      row.step();
      return row.integer(0);
    });
  }
};

}  // namespace

TEST_CASE("calls are counted by agent, capability and time") {
  Fixture f;
  CHECK(f.count({"*"}, kHour) == 0);
  f.note("a1", "mail.read");
  f.advance(kMinute);
  f.note("a1", "mail.read");
  f.note("a1", "chat.post");
  f.note("a2", "mail.read");
  CHECK(f.count({"mail.read"}, kHour) == 2);
  CHECK(f.count({"mail.read"}, kMinute) == 1);
  CHECK(f.count({"mail.*", "chat.post"}, kHour) == 3);
  CHECK(f.count({"*.post"}, kHour) == 1);
  CHECK(f.count({"mail.read"}, kHour, "a2") == 1);
  CHECK(f.count({"mail.read"}, kHour, "a3") == 0);
  f.advance(kMinute);
  f.note("a1", "chat.post");
  const auto now = f.clock.wall_ms();
  const std::vector<std::string> all{"*"};
  CHECK(f.calls->find("a1", {all, 0, now + 1}).last == "chat.post");
  CHECK(f.calls->find("a1", {all, 0, now}).count == 3);  // earlier than now
  // But for one that is asked about: of this very time and name.
  f.note("a1", "chat.post");
  CHECK(f.calls->find("a1", {all, 0, now + 1}).count == 5);
  CHECK(f.calls->find("a1", {all, 0, now + 1, "chat.post", now}).count == 4);
  CHECK(f.calls->find("a1", {all, 0, now + 1, "mail.read", now}).count == 5);
  CHECK(f.calls->find("a1", {all, 0, now + 1, "chat.post", now - 1}).count == 5);
}

TEST_CASE("calls outlast the host's end, and the last hundred of each capability are kept") {
  Fixture f;
  for (int i = 0; i < 250; ++i) {
    f.advance(1);
    f.note("a1", "mail.read");
  }
  f.note("a1", "chat.post");
  CHECK(f.count({"mail.read"}, kHour) == kMostCalls);
  CHECK(f.count({"mail.read"}, 20) == 20);
  f.restart();
  CHECK(f.rows() == kMostCalls + 1);
  CHECK(f.count({"mail.read"}, kHour) == kMostCalls);
  CHECK(f.count({"mail.read"}, 20) == 20);
  f.advance(1);
  f.note("a1", "mail.read");
  CHECK(f.count({"mail.read"}, 20) == 20);
  f.restart();
  CHECK(f.count({"mail.read"}, 1) == 1);
  f.advance(kLongestHistory + 1);
  f.restart();
  CHECK(f.rows() == 0);
}

}  // namespace KRUXOS_TEST_FILE
