#include "core/state/state_store.hpp"

#include <catch2/catch.hpp>
#include <future>
#include <optional>
#include <thread>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/json.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const StateSpace kMine{"agent_1"}, kShared{};
using Expected = std::optional<std::int64_t>;

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  std::optional<GroupCommit> store;
  std::optional<StateStore> state;
  StateLimits limits;
  std::vector<StateChange> changes;

  explicit Fixture(const StateLimits& l = {}) : limits(l) { restart(); }
  void restart() {
    state.reset();
    store.emplace(scratch.path() / "kruxos.db", kLedgerKind);
    state.emplace(*store, clock, limits);
    state->when_shared_changed([this](const StateChange& change) { changes.push_back(change); });
  }
  std::variant<StateWritten, Error> write(StateWrite write) {
    std::promise<std::variant<StateWritten, Error>> done;
    state->write(std::move(write), [&](auto outcome) { done.set_value(std::move(outcome)); });
    return done.get_future().get();
  }
  std::int64_t set(const StateSpace& space, const std::string& key, const std::string& value, Expected expected = {},
                   const std::string& receipt = {}, const std::string& agent = "agent_1") {
    auto outcome = write({space, agent, key, value, expected, receipt});
    if (const auto* error = std::get_if<Error>(&outcome)) throw *error;
    return std::get<StateWritten>(outcome).version;
  }
  std::int64_t remove(const StateSpace& space, const std::string& key, Expected expected = {},
                      const std::string& receipt = {}) {
    auto outcome = write({space, "agent_1", key, std::nullopt, expected, receipt});
    if (const auto* error = std::get_if<Error>(&outcome)) throw *error;
    return std::get<StateWritten>(outcome).version;
  }
  std::string value(const StateSpace& space, const std::string& key, std::int64_t version = 0) {
    const auto found = state->get(space, key, version);
    return found ? found->value_json : "none";
  }
  std::string versions(const std::string& key, std::int64_t limit = 100, std::int64_t before = 0) {
    std::string all;
    for (const auto& entry : state->history(kMine, key, limit, before))
      all += (all.empty() ? "" : " ") + std::to_string(entry.version) + "=" + entry.value_json;
    return all;
  }
  std::int64_t number(const std::string& sql) {
    return store->run([&](SQLite::Database& db) {
      Statement row(db.getHandle(), sql);
      return row.step() ? row.integer(0) : -1;
    });
  }
  /// What is counted is what is there.
  void check_counts() {
    CHECK(number("SELECT count(*) FROM state_spaces s WHERE s.entries <> (SELECT count(*) FROM state_entries e WHERE "
                 "e.owner = s.owner) OR s.bytes <> (SELECT coalesce(sum(bytes), 0) FROM (SELECT owner, bytes FROM "
                 "state_entries UNION ALL SELECT owner, bytes FROM state_versions) a WHERE a.owner = s.owner)") == 0);
    CHECK(number("SELECT count(*) FROM state_entries WHERE bytes <> length(name) + length(value)") == 0);
  }
};

std::string keys_of(const std::vector<StateEntry>& entries) {
  std::string keys;
  for (const auto& entry : entries) keys += (keys.empty() ? "" : " ") + entry.key;
  return keys;
}

std::string text(std::size_t bytes) {
  return "\"" + std::string(bytes - 2, 'x') + "\"";
}

}  // namespace

TEST_CASE("each set of a key is a version of it, which outlasts the host") {
  Fixture f;
  CHECK(f.set(kMine, "config.threshold", "0.8") == 1);
  f.clock.advance(1'000);
  CHECK(f.set(kMine, "config.threshold", "0.85") == 2);
  f.restart();
  const auto found = f.state->get(kMine, "config.threshold");
  REQUIRE(found);
  CHECK(found->value_json == "0.85");
  CHECK(found->version == 2);
  CHECK(found->updated_at_ms == f.clock.wall_ms());
  CHECK(found->updated_by == "agent_1");
  CHECK(f.value(kMine, "config.threshold", 1) == "0.8");
  CHECK(f.value(kMine, "config.threshold", 2) == "0.85");
  CHECK(f.value(kMine, "config.threshold", 3) == "none");
  CHECK(f.versions("config.threshold") == "2=0.85 1=0.8");
  CHECK(f.set(kMine, "config.threshold", "0.9") == 3);
  CHECK(f.versions("config.threshold", 2) == "3=0.9 2=0.85");
  CHECK(f.versions("config.threshold", 2, 2) == "1=0.8");
  f.check_counts();
}

TEST_CASE("no agent sees or changes what another one notes for itself") {
  Fixture f;
  const StateSpace theirs{"agent_2"};
  f.set(kMine, "a", "1");
  f.set(kShared, "a", "2", 0);
  CHECK(f.value(theirs, "a") == "none");
  CHECK(f.state->list(theirs, {}).empty());
  CHECK(f.state->history(theirs, "a", 10).empty());
  CHECK(f.remove(theirs, "a") == 0);
  f.set(theirs, "a", "3");
  CHECK(f.value(kMine, "a") == "1");
  CHECK(f.value(kShared, "a") == "2");
}

TEST_CASE("only so many versions of a key are kept") {
  StateLimits limits;
  limits.versions = 3;
  Fixture f(limits);
  for (int i = 1; i <= 5; ++i) f.set(kMine, "a", std::to_string(i));
  CHECK(f.versions("a") == "5=5 4=4 3=3");
  CHECK(f.value(kMine, "a", 2) == "none");
  f.check_counts();
  f.limits.versions = 1;
  f.restart();
  f.set(kMine, "a", "6");
  CHECK(f.versions("a") == "6=6");
  f.check_counts();
}

TEST_CASE("a key that is deleted takes its versions along, and no version comes twice") {
  Fixture f;
  f.set(kMine, "a", "1");
  f.set(kMine, "a", "2");
  CHECK(f.remove(kMine, "a") == 2);
  CHECK(f.remove(kMine, "a") == 0);
  CHECK(f.value(kMine, "a", 1) == "none");
  CHECK(f.versions("a").empty());
  f.check_counts();
  CHECK(f.set(kMine, "a", "3") == 3);
  CHECK(f.versions("a") == "3=3");
}

TEST_CASE("a shared key is set by whoever knows its version") {
  Fixture f;
  CHECK(f.set(kShared, "counter", "1", 0) == 1);
  CHECK(f.set(kShared, "counter", "2", 1, {}, "agent_2") == 2);
  const auto refused = f.write({kShared, "agent_1", "counter", "9", 1, {}});
  const auto* error = std::get_if<Error>(&refused);
  REQUIRE(error);
  CHECK(error->type() == ErrorCode::kVersionConflict);
  CHECK_THAT(error->what(), Catch::Contains("\"counter\" has version 2, and not version 1"));
  CHECK(find_int(parse_json(error->context_json(), "context"), "version") == 2);
  CHECK_THROWS_WITH(f.set(kShared, "counter", "9", 0), Catch::Contains("has version 2"));
  CHECK_THROWS_WITH(f.set(kShared, "new", "9", 4), Catch::Contains("is not there, and not version 4"));
  CHECK_THROWS_WITH(f.remove(kShared, "counter", 1), Catch::Contains("has version 2"));
  CHECK(f.value(kShared, "counter") == "2");
  CHECK(f.state->history(kShared, "counter", 10).size() == 1);
  CHECK(f.remove(kShared, "counter", 2) == 2);
  // Whoever knows a version from before must not hit what came after.
  CHECK(f.set(kShared, "counter", "1", 0) == 3);
  f.check_counts();
}

TEST_CASE("of several that set one version of a shared key one wins") {
  Fixture f;
  f.set(kShared, "a", "0", 0);
  std::vector<std::thread> threads;
  std::atomic<int> won{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        const auto present = f.state->get(kShared, "a");
        std::promise<bool> done;
        f.state->write(
            {kShared, "agent_1", "a", std::to_string(std::stoi(present->value_json) + 1), present->version, {}},
            [&](const auto& outcome) { done.set_value(std::holds_alternative<StateWritten>(outcome)); });
        if (done.get_future().get()) ++won;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(f.value(kShared, "a") == std::to_string(won.load()));
}

TEST_CASE("changes of the shared state are told once each") {
  Fixture f;
  f.set(kMine, "a", "1");
  f.set(kShared, "a", "1", 0);
  f.set(kShared, "a", "2", 1, "once");
  f.set(kShared, "a", "2", 1, "once");
  f.remove(kShared, "nothing");
  f.remove(kShared, "a");
  CHECK_THROWS(f.set(kShared, "a", "2", 7));
  REQUIRE(f.changes.size() == 3);
  CHECK(f.changes[1].version == 2);
  CHECK_FALSE(f.changes[1].deleted);
  CHECK(f.changes[2].deleted);
  CHECK(f.changes[2].version == 2);
  CHECK(f.changes[2].agent_id == "agent_1");
}

TEST_CASE("the same call again is answered as the first was, for an hour") {
  Fixture f;
  f.set(kShared, "a", "1", 0);
  CHECK(f.set(kShared, "a", "2", 1, "k") == 2);
  f.set(kShared, "a", "3", 2);
  f.restart();
  CHECK(f.set(kShared, "a", "2", 1, "k") == 2);
  CHECK(f.value(kShared, "a") == "3");
  CHECK_THROWS_WITH(f.set(kShared, "a", "4", 3, "k"), Catch::Contains("was given with another call"));
  CHECK_THROWS(f.set(kMine, "a", "2", 1, "k"));
  CHECK_THROWS(f.remove(kShared, "a", 1, "k"));
  CHECK_NOTHROW(f.set(kShared, "b", "2", 0, "k", "agent_2"));
  CHECK(f.remove(kShared, "a", 3, "gone") == 3);
  CHECK(f.remove(kShared, "a", 3, "gone") == 3);
  CHECK(f.remove(kShared, "a", {}, "not there") == 0);
  f.clock.advance(StateStore::kReceiptMs);
  CHECK_THROWS_WITH(f.set(kShared, "a", "2", 1, "k"), Catch::Contains("is not there"));
}

TEST_CASE("receipts are forgotten") {
  Fixture f;
  for (int i = 0; i < 300; ++i) {
    if (i == 200) f.clock.advance(StateStore::kReceiptMs);
    f.set(kMine, "a", "1", {}, std::to_string(i));
  }
  CHECK(f.number("SELECT count(*) FROM state_receipts") == 100);
}

TEST_CASE("receipts are forgotten whoever's they are, and by the writes that leave one") {
  Fixture f;
  f.set({"agent_2"}, "a", "1", {}, "theirs", "agent_2");
  f.clock.advance(StateStore::kReceiptMs);
  for (int i = 0; i < 255; ++i) {
    f.set(kMine, "a", "1");
    f.set(kMine, "a", "1", {}, std::to_string(i));
  }
  CHECK(f.number("SELECT count(*) FROM state_receipts WHERE agent_id = 'agent_2'") == 0);
  CHECK(f.number("SELECT count(*) FROM state_receipts") == 255);
}

TEST_CASE("of one agent only so many receipts are kept, the newest") {
  Fixture f;
  const auto count = [&](const std::string& agent) {
    return f.number("SELECT count(*) FROM state_receipts WHERE agent_id = '" + agent + "'");
  };
  f.set({"agent_2"}, "a", "1", {}, "theirs", "agent_2");
  f.clock.advance(20'000);
  const auto first = f.clock.wall_ms();
  f.store->run([&](SQLite::Database& db) {
    Statement(db.getHandle(),
              "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) INSERT INTO state_receipts "
              "(agent_id, idempotency_key, request_hash, version, at_ms) SELECT 'agent_1', 'k' || i, '', 1, ?2 + i "
              "FROM n")
        .bind_all(StateStore::kReceiptsPerAgent - 1, first)
        .run();
  });
  REQUIRE(count("agent_1") == StateStore::kReceiptsPerAgent);
  f.clock.advance(StateStore::kReceiptsPerAgent);
  for (int i = 0; i < 255; ++i) {
    f.clock.advance(1);
    f.set(kMine, "a", "1", {}, std::to_string(i));
  }
  CHECK(count("agent_1") == StateStore::kReceiptsPerAgent);
  CHECK(f.number("SELECT min(at_ms) FROM state_receipts WHERE agent_id = 'agent_1'") == first + 255);
  CHECK(count("agent_2") == 1);
}

TEST_CASE("a space has room for so many keys") {
  StateLimits limits;
  limits.agent_keys = 2;
  limits.shared_keys = 1;
  Fixture f(limits);
  f.set(kMine, "a", "1");
  f.set(kMine, "b", "1");
  CHECK_THROWS_WITH(f.set(kMine, "c", "1"),
                    "Your persistent state has 2 keys, which is the limit. Nothing was set: "
                    "delete keys that are not needed.");
  f.set(kMine, "a", "2");
  f.remove(kMine, "b");
  f.set(kMine, "c", "1");
  CHECK_NOTHROW(f.set({"agent_2"}, "a", "1"));
  f.set(kShared, "a", "1", 0);
  CHECK_THROWS_WITH(f.set(kShared, "b", "1", 0), Catch::Contains("The shared state has 1 keys"));
  f.check_counts();
}

TEST_CASE("versions of before give way to what is new, and present values do not") {
  StateLimits limits;
  limits.agent_bytes = 100;
  limits.shared_bytes = 100;
  Fixture f(limits);
  f.set(kMine, "a", text(29));
  f.clock.advance(1);
  f.set(kMine, "b", text(29));
  f.clock.advance(1);
  f.set(kMine, "a", text(29));
  CHECK(f.state->history(kMine, "a", 10).size() == 2);
  f.clock.advance(1);
  f.set(kMine, "b", text(29));
  CHECK(f.state->history(kMine, "a", 10).size() == 1);
  CHECK(f.state->history(kMine, "b", 10).size() == 2);
  f.check_counts();
  f.set(kMine, "c", text(29));
  CHECK(f.state->history(kMine, "b", 10).size() == 1);
  CHECK_THROWS_WITH(f.set(kMine, "d", text(29)), Catch::Contains("has 100 bytes, which is the limit"));
  f.set(kMine, "c", text(39));
  CHECK_THROWS(f.set(kMine, "c", text(40)));
  CHECK(f.value(kMine, "c") == text(39));
  f.set(kShared, "a", text(99), 0);
  CHECK_THROWS_WITH(f.set(kShared, "a", text(100), 1), Catch::Contains("The shared state has 100 bytes"));
  f.check_counts();
}

TEST_CASE("keys are listed in their order, page by page") {
  Fixture f;
  for (const char* key : {"b.2", "b.10", "a", "b", "B.1", "c"}) f.set(kMine, key, json_string(key));
  CHECK(keys_of(f.state->list(kMine, {})) == "B.1 a b b.10 b.2 c");
  CHECK(keys_of(f.state->list(kMine, {"b."})) == "b.10 b.2");
  CHECK(keys_of(f.state->list(kMine, {"b", "b", 1})) == "b.10");
  CHECK(keys_of(f.state->list(kMine, {"b", "a"})) == "b b.10 b.2");
  CHECK(keys_of(f.state->list(kMine, {"b.", "b.2"})).empty());
  CHECK(keys_of(f.state->list(kMine, {"b", "c"})).empty());
  CHECK(keys_of(f.state->list(kMine, {"x"})).empty());
  CHECK(f.state->list(kMine, {})[0].value_json.empty());
  CHECK(f.state->list(kMine, {"a", "", 1, true})[0].value_json == "\"a\"");
}

TEST_CASE("entries are found by what stands in them and by when they were set") {
  Fixture f;
  const auto begin = f.clock.wall_ms();
  for (int i = 0; i < 450; ++i) {
    f.clock.advance(1);
    f.set(kMine, "k" + std::to_string(1000 + i), i % 100 == 0 ? "\"apple\"" : "\"pear\"");
  }
  StateListing listing{"", "", 100, true, "apple"};
  CHECK(keys_of(f.state->list(kMine, listing)) == "k1000 k1100 k1200 k1300 k1400");
  listing.limit = 2;
  listing.after = "k1100";
  CHECK(keys_of(f.state->list(kMine, listing)) == "k1200 k1300");
  CHECK(keys_of(f.state->list(kMine, {"", "", 100, true, "1449"})) == "k1449");
  CHECK(keys_of(f.state->list(kMine, {"", "", 100, true, "", begin + 449})) == "k1448 k1449");
  CHECK(keys_of(f.state->list(kMine, {"", "", 100, true, "", 0, begin + 2})) == "k1000");
}

TEST_CASE("what others have set in the shared state is told newest first") {
  Fixture f;
  f.set(kShared, "mine", "1", 0);
  f.clock.advance(1'000);
  const auto since = f.clock.wall_ms();
  f.set(kShared, "old", "1", 0, {}, "agent_2");
  f.clock.advance(1'000);
  f.set(kShared, "new", "1", 0, {}, "agent_3");
  f.set(kShared, "mine", "2", 1);
  CHECK(keys_of(f.state->set_by_others("agent_1", since, 10)) == "new old");
  CHECK(keys_of(f.state->set_by_others("agent_1", since + 1, 10)) == "new");
  CHECK(keys_of(f.state->set_by_others("agent_2", 0, 1)) == "mine");
}

TEST_CASE("a key is a short plain text") {
  for (const char* good : {"a", "config.threshold", "A-b_c/d:e@f+g", "0"}) CHECK(why_not_state_key(good).empty());
  CHECK(why_not_state_key(std::string(200, 'a')).empty());
  CHECK(why_not_state_key("") == "must not be empty");
  CHECK(why_not_state_key(std::string(201, 'a')) == "has 201 bytes, at most 200 are accepted");
  for (const char* bad : {"a b", "a\n", "\xc3\xa9", "a%", "a*", "\"", "a\\"})
    CHECK_THAT(why_not_state_key(bad), Catch::Contains("may hold letters and digits"));
  CHECK(why_not_state_prefix("").empty());
  CHECK(bytes_in_words(64 << 10) == "64 KiB");
  CHECK(bytes_in_words(16 << 20) == "16 MiB");
  CHECK(bytes_in_words(1'025) == "1025 bytes");
}

}  // namespace KRUXOS_TEST_FILE
