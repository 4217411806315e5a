#include "core/state/agent_reads.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

constexpr std::int64_t kHour = 3'600'000;
const TextValue kEve{ValueKind::kAddress, "eve@evil.example"};
const ReadSource kMail{"mail", "amy@example.com", "email.read", "m1"};

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  AgentReads::Limits limits{8 * kHour, 5, 4, 60'000};
  std::optional<AgentReads> reads;

  Fixture() { restart(); }
  void restart() {
    reads.reset();
    reads.emplace(store, clock, limits);
  }
  void read(const std::string& text, const ReadSource& source = kMail, const std::string& agent = "a1") {
    reads->note(agent, source, "{\"body\":\"" + text + "\"}");
  }
  bool knows(const TextValue& value = kEve, const std::string& agent = "a1", std::int64_t at_ms = 0) {
    return reads->find(agent, value, at_ms).has_value();
  }
  std::int64_t rows() {
    return store.run([](SQLite::Database& db) {
      Statement row(db.getHandle(), "SELECT count(*) FROM agent_reads");
      row.step();
      return row.integer(0);
    });
  }
};

}  // namespace

TEST_CASE("what an agent has read is known of that agent, with where it stood") {
  Fixture f;
  CHECK_FALSE(f.reads->find_any("a1", 0));
  f.read("write to Eve@evil.example");
  REQUIRE(f.knows());
  CHECK(f.reads->find("a1", kEve, 0)->source == kMail);
  CHECK(f.reads->find_any("a1", 0)->source == kMail);
  CHECK_FALSE(f.knows(kEve, "a2"));
  CHECK_FALSE(f.reads->find_any("a2", 0));
  CHECK_FALSE(f.knows({ValueKind::kLink, "eve@evil.example"}));
}

TEST_CASE("what an agent has read is known for some hours since it read it last") {
  Fixture f;
  f.read("eve@evil.example");
  f.clock.advance(8 * kHour);
  CHECK(f.knows());
  f.read("eve@evil.example");
  f.clock.advance(8 * kHour);
  CHECK(f.knows());
  f.clock.advance(1);
  CHECK_FALSE(f.knows());
  CHECK_FALSE(f.reads->find_any("a1", 0));
}

TEST_CASE("of a write that was made before, what was read since does not count") {
  Fixture f;
  const auto before = f.clock.wall_ms();
  f.clock.advance(1000);
  f.read("eve@evil.example");
  CHECK_FALSE(f.knows(kEve, "a1", before));
  CHECK(f.knows(kEve, "a1", f.clock.wall_ms()));
  f.clock.advance(20 * kHour);
  CHECK(f.knows(kEve, "a1", before + 2000));
}

TEST_CASE("what agents have read outlasts the host") {
  Fixture f;
  f.read("eve@evil.example");
  f.clock.advance(kHour);
  f.restart();
  REQUIRE(f.knows());
  CHECK(f.reads->find("a1", kEve, 0)->source == kMail);
  CHECK(f.reads->find_any("a1", 0));
  f.clock.advance(8 * kHour);
  f.restart();
  CHECK_FALSE(f.knows());
}

TEST_CASE("the same read over and over is stored once, and what is old goes") {
  Fixture f;
  f.read("eve@evil.example");
  const auto rows = f.rows();
  CHECK(rows == 2);
  f.clock.advance(1000);
  f.read("eve@evil.example");
  CHECK(f.reads->find("a1", kEve, 0)->last_ms == f.clock.wall_ms() - 1000);
  f.clock.advance(9 * kHour);
  f.read("bob@b.example");
  CHECK(f.rows() == 2);
}

TEST_CASE("a value counts as read where it stood last about something") {
  Fixture f;
  const TextValue code{ValueKind::kCode, "55829017"};
  f.read("5582-9017", {"mail", "amy@example.com", "email.search", ""});
  f.read("5582-9017", kMail);
  CHECK(f.reads->find("a1", code, 0)->source.target == "m1");
  f.read("5582-9017", {"mail", "amy@example.com", "email.search", ""});
  CHECK(f.reads->find("a1", code, 0)->source.target == "m1");
}

TEST_CASE("where an agent has read more than is kept, this is known") {
  Fixture f;
  f.read("a@a.example b@b.example c@c.example");
  CHECK_FALSE(f.reads->has_forgotten("a1", 0));
  f.read("d@d.example eve@evil.example");
  CHECK(f.reads->has_forgotten("a1", 0));
  CHECK_FALSE(f.reads->has_forgotten("a2", 0));
  f.restart();
  CHECK(f.reads->has_forgotten("a1", 0));
  f.clock.advance(9 * kHour);
  CHECK_FALSE(f.reads->has_forgotten("a1", 0));
  f.read("eve@evil.example");
  CHECK(f.knows());
  SECTION("one read alone may have more") {
    f.read("a@a.example b@b.example c@c.example d@d.example e@e.example", kMail, "a3");
    CHECK(f.reads->has_forgotten("a3", 0));
  }
}

}  // namespace KRUXOS_TEST_FILE
