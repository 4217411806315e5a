#include "core/state/agents.hpp"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};

  std::int64_t stored_last_seen(const std::string& id) {
    return store.run([&](SQLite::Database& db) {
      Statement row(db.getHandle(), "SELECT last_seen_ms FROM agents WHERE agent_id = ?");
      row.bind_all(id).step();
      return row.integer(0);
    });
  }
};

template <class F>
std::string error_type(F f) {
  try {
    f();
    return "none";
  } catch (const Error& e) {
    return std::string(e.type().name());
  }
}

}  // namespace

TEST_CASE("an agent is known by its key, of which only the hash is stored") {
  Fixture f;
  AgentStore agents(f.store, f.clock);
  const auto made = agents.create("reporter");
  CHECK(is_id("agent_", made.agent.agent_id));
  CHECK(made.key.size() == 64);
  REQUIRE(agents.authenticate(made.key));
  CHECK(agents.authenticate(made.key)->name == "reporter");
  f.store.run([](SQLite::Database&) {});
  for (const char* file : {"kruxos.db", "kruxos.db-wal"}) {
    std::ifstream stream(f.scratch.path() / file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    CHECK(bytes.find(made.key) == std::string::npos);
    if (bytes.size() > 0 && std::string(file) == "kruxos.db-wal")
      CHECK(bytes.find(sha256_hex(made.key)) != std::string::npos);
  }
}

TEST_CASE("other keys are nobody's") {
  Fixture f;
  AgentStore agents(f.store, f.clock);
  auto key = agents.create("a").key;
  CHECK_FALSE(agents.authenticate(""));
  CHECK_FALSE(agents.authenticate(std::string(64, '0')));
  CHECK_FALSE(agents.authenticate(key + "0"));
  CHECK_FALSE(agents.authenticate(std::string_view(key).substr(1)));
  CHECK_FALSE(agents.authenticate(std::string(64, '\0')));
  CHECK_FALSE(agents.authenticate(sha256_hex(key)));
  key[63] = key[63] == '0' ? '1' : '0';
  CHECK_FALSE(agents.authenticate(key));
}

TEST_CASE("a rotated key ends at once, a revoked agent too, and both stay so after a restart") {
  Fixture f;
  std::string first, second, third;
  {
    AgentStore agents(f.store, f.clock);
    first = agents.create("a").key;
    second = agents.rotate("a").key;
    CHECK_FALSE(agents.authenticate(first));
    CHECK(agents.authenticate(second));
    third = agents.create("b").key;
    f.clock.advance(5);
    CHECK(agents.revoke("b").revoked_at_ms == f.clock.wall_ms());
    CHECK(agents.revoke("b").revoked);
    CHECK_FALSE(agents.authenticate(third));
  }
  AgentStore agents(f.store, f.clock);
  CHECK_FALSE(agents.authenticate(first));
  REQUIRE(agents.authenticate(second));
  CHECK_FALSE(agents.authenticate(third));
  CHECK(agents.list().size() == 2);
  CHECK(agents.find("b")->revoked);
  CHECK(error_type([&] { agents.rotate("b"); }) == "ConflictError");
}

TEST_CASE("a key that is replaced with a grace is good until that is over, also after a restart") {
  Fixture f;
  std::string first, second;
  {
    AgentStore agents(f.store, f.clock);
    first = agents.create("a").key;
    second = agents.rotate("a", kHour).key;
    CHECK(agents.find("a")->old_key_until_ms == f.clock.wall_ms() + kHour);
    REQUIRE(agents.authenticate(first));
    CHECK(agents.authenticate(first)->agent_id == agents.authenticate(second)->agent_id);
    f.clock.advance(kHour / 2);
  }
  {
    AgentStore agents(f.store, f.clock);
    CHECK(agents.authenticate(first));
    f.clock.advance(kHour / 2 - 1);
    CHECK(agents.authenticate(first));
    f.clock.advance(1);
    CHECK_FALSE(agents.authenticate(first));
    CHECK(agents.find("a")->old_key_until_ms == 0);
    CHECK(agents.authenticate(second));
    f.clock.jump_wall(-kHour);  // a clock that is set back prolongs nothing
    CHECK_FALSE(agents.authenticate(first));
    f.clock.jump_wall(kHour);
  }
  AgentStore agents(f.store, f.clock);
  CHECK_FALSE(agents.authenticate(first));
  CHECK(agents.authenticate(second));
}

TEST_CASE("one old key is good at a time, and none of a revoked agent") {
  Fixture f;
  AgentStore agents(f.store, f.clock);
  const auto first = agents.create("a").key, second = agents.rotate("a", kHour).key;
  const auto third = agents.rotate("a", kHour).key;
  CHECK_FALSE(agents.authenticate(first));
  CHECK(agents.authenticate(second));
  const auto fourth = agents.rotate("a").key;
  CHECK_FALSE(agents.authenticate(second));
  CHECK_FALSE(agents.authenticate(third));
  const auto fifth = agents.rotate("a", AgentStore::kLongestGrace).key;
  CHECK(agents.authenticate(fourth));
  CHECK(error_type([&] { agents.rotate("a", AgentStore::kLongestGrace + 1); }) == "InvalidInput");
  CHECK(error_type([&] { agents.rotate("a", -1); }) == "InvalidInput");
  CHECK(agents.authenticate(fifth));
  agents.revoke("a");
  CHECK_FALSE(agents.authenticate(fourth));
  CHECK_FALSE(agents.authenticate(fifth));
}

TEST_CASE("names are unique and plain") {
  Fixture f;
  AgentStore agents(f.store, f.clock);
  const auto made = agents.create("Build-Bot_1.2");
  CHECK(error_type([&] { agents.create("build-bot_1.2"); }) == "ConflictError");
  agents.revoke(made.agent.agent_id);
  CHECK(error_type([&] { agents.create("Build-Bot_1.2"); }) == "ConflictError");
  for (const std::string& bad :
       {std::string(), std::string("a b"), std::string("a\n"), std::string("a\0b", 3), std::string(65, 'a'),
        std::string("\xc3\xa4"), std::string("../x"), std::string("'; DROP TABLE agents; --"), std::string("-"),
        std::string("-y"), std::string("--yes"), made.agent.agent_id}) {
    INFO(printable(bad));
    CHECK(error_type([&] { agents.create(bad); }) == "InvalidInput");
  }
  CHECK(agents.create(std::string(64, 'a')).agent.name.size() == 64);
  CHECK_THROWS_WITH(agents.create("--yes"), Catch::Contains("must not begin with '-'"));
  CHECK(error_type([&] { agents.rotate("nobody"); }) == "InvalidInput");
  CHECK(error_type([&] { agents.revoke("nobody"); }) == "InvalidInput");
  CHECK_FALSE(agents.find("nobody"));
  CHECK(agents.find(made.agent.agent_id)->name == "Build-Bot_1.2");
  CHECK(agents.find("BUILD-BOT_1.2"));
}

TEST_CASE("last_seen is noted at most once a minute, and when the clock was set back") {
  Fixture f;
  AgentStore agents(f.store, f.clock);
  const auto made = agents.create("a");
  const auto& id = made.agent.agent_id;
  agents.authenticate(made.key);
  const auto first = f.clock.wall_ms();
  CHECK(f.stored_last_seen(id) == first);
  f.clock.advance(59'999);
  CHECK(agents.authenticate(made.key)->last_seen_ms == first);
  CHECK(f.stored_last_seen(id) == first);
  f.clock.advance(1);
  CHECK(agents.authenticate(made.key)->last_seen_ms == first + 60'000);
  CHECK(f.stored_last_seen(id) == first + 60'000);
  f.clock.jump_wall(-3'600'000);
  agents.authenticate(made.key);
  CHECK(f.stored_last_seen(id) == f.clock.wall_ms());
}

TEST_CASE("an agent is found by its id while it is not revoked, and seen by it") {
  Fixture f;
  AgentStore agents(f.store, f.clock);
  const auto id = agents.create("al").agent.agent_id;
  f.clock.advance(1000);
  const auto found = agents.active(id);
  REQUIRE(found);
  CHECK(found->name == "al");
  CHECK(found->last_seen_ms == f.clock.wall_ms());
  CHECK_FALSE(agents.active("al"));
  CHECK_FALSE(agents.active(""));
  agents.rotate("al");
  CHECK(agents.active(id));
  agents.revoke("al");
  CHECK_FALSE(agents.active(id));
}

TEST_CASE("agents come and go while others are served") {
  Fixture f;
  AgentStore agents(f.store, f.clock);
  const auto stays = agents.create("stays").key;
  std::atomic<bool> stop{false};
  std::atomic<int> missed{0}, served{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        if (agents.authenticate(stays)) {
          ++served;
        } else {
          ++missed;
        }
        f.clock.advance(1000);
        agents.list();
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const auto name = "agent" + std::to_string(i);
    const auto old = agents.create(name).key;
    const auto key = agents.rotate(name).key;
    CHECK_FALSE(agents.authenticate(old));
    CHECK(agents.authenticate(key));
    agents.revoke(name);
    CHECK_FALSE(agents.authenticate(key));
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  CHECK(missed == 0);
  CHECK(served > 0);
}

TEST_CASE("somebody hears of it when a key ends") {
  Fixture f;
  AgentStore agents(f.store, f.clock);
  int told = 0;
  std::string key;
  agents.when_key_ends([&] {
    ++told;
    CHECK_FALSE(agents.authenticate(key));
  });
  key = agents.create("a").key;
  CHECK(told == 0);
  const auto rotated = agents.rotate("a").key;
  CHECK(told == 1);
  key = rotated;
  agents.revoke("a");
  CHECK(told == 2);
}

}  // namespace KRUXOS_TEST_FILE
