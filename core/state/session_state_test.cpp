#include "core/state/session_state.hpp"

#include <catch2/catch.hpp>

#include "core/state/agent_state.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const SessionState::Of kMine{"agent_1", "sess_1"};

StateLimits few() {
  StateLimits limits;
  limits.value_bytes = 20;
  limits.session_keys = 3;
  limits.session_bytes = 40;
  return limits;
}

std::vector<std::string> keys_of(const std::vector<StateEntry>& entries) {
  std::vector<std::string> keys;
  for (const auto& entry : entries) keys.push_back(entry.key);
  return keys;
}

}  // namespace

TEST_CASE("what an agent notes for its session is its session's alone") {
  DrivenClock clock;
  SessionState state(clock, few());
  CHECK(state.set(kMine, "a", "1").version == 1);
  CHECK(state.set(kMine, "a", "2").version == 2);
  CHECK(state.get(kMine, "a")->value_json == "2");
  for (const auto& other : {SessionState::Of{"agent_1", "sess_2"}, SessionState::Of{"agent_2", "sess_1"}}) {
    CHECK_FALSE(state.get(other, "a"));
    CHECK_FALSE(state.remove(other, "a"));
    CHECK(state.list(other, {}).empty());
    CHECK(state.clear(other, "") == 0);
  }
  CHECK(state.remove(kMine, "a"));
  CHECK_FALSE(state.remove(kMine, "a"));
  CHECK_FALSE(state.get(kMine, "a"));
}

TEST_CASE("notes of a session are listed and cleared by what their keys begin with") {
  DrivenClock clock;
  SessionState state(clock, few());
  for (const char* key : {"task.b", "task.a", "tasks"}) state.set(kMine, key, "0");
  CHECK(keys_of(state.list(kMine, {"task."})) == std::vector<std::string>{"task.a", "task.b"});
  CHECK(keys_of(state.list(kMine, {"", "task.a", 1})) == std::vector<std::string>{"task.b"});
  CHECK(keys_of(state.list(kMine, {"", "", 2})) == std::vector<std::string>{"task.a", "task.b"});
  CHECK(state.clear(kMine, "task.") == 2);
  CHECK(keys_of(state.list(kMine, {})) == std::vector<std::string>{"tasks"});
}

TEST_CASE("notes of a session are listed with their values only where these are asked for") {
  DrivenClock clock;
  SessionState state(clock, few());
  state.set(kMine, "a", "\"apple\"");
  clock.advance(1'000);
  const auto later = clock.wall_ms();
  state.set(kMine, "b", "\"pear\"");
  const auto keys = state.list(kMine, {});
  REQUIRE(keys_of(keys) == std::vector<std::string>{"a", "b"});
  CHECK(keys[0].value_json.empty());
  CHECK(keys[0].bytes == 8);
  CHECK(keys[1].updated_at_ms == later);
  CHECK(state.list(kMine, {"", "", 100, true})[0].value_json == "\"apple\"");
  CHECK(keys_of(state.list(kMine, {"", "", 100, true, "pear"})) == std::vector<std::string>{"b"});
  CHECK(keys_of(state.list(kMine, {"", "", 100, true, "", later})) == std::vector<std::string>{"b"});
  CHECK(keys_of(state.list(kMine, {"", "", 100, true, "", 0, later})) == std::vector<std::string>{"a"});
}

TEST_CASE("an agent's sessions have room for so much together") {
  DrivenClock clock;
  SessionState state(clock, few());
  const SessionState::Of second{"agent_1", "sess_2"};
  CHECK_THROWS_WITH(state.set(kMine, "a", std::string(21, '1')), Catch::Contains("has 21 bytes as JSON, at most 20"));
  state.set(kMine, "a", std::string(19, '1'));
  state.set(second, "b", std::string(19, '1'));
  CHECK_THROWS_WITH(state.set(second, "c", "1"), Catch::Contains("has 40 bytes, which is the limit"));
  CHECK_FALSE(state.get(second, "c"));
  state.set(second, "b", "1");
  state.set(second, "c", "1");
  CHECK_THROWS_WITH(state.set(kMine, "d", "1"), Catch::Contains("has 3 keys, which is the limit"));
  state.session_ended("agent_1", "sess_2");
  state.set(kMine, "d", "1");
  CHECK_NOTHROW(state.set({"agent_2", "sess_1"}, "a", "1"));
}

TEST_CASE("what was noted for a session goes with it") {
  const support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  SessionStore sessions(store, clock, {3'600'000, 256, 90 * 86'400'000LL, 2'000});
  AgentState state(store, clock, sessions);
  const auto today = sessions.of_the_day("agent_1", "one");
  state.of_sessions->set({"agent_1", today}, "a", "1");
  CHECK(sessions.of_the_day("agent_1", "one") == today);
  CHECK(state.of_sessions->get({"agent_1", today}, "a"));
  clock.advance(3'600'000);
  const auto next = sessions.of_the_day("agent_1", "one");
  CHECK(next != today);
  CHECK_FALSE(state.of_sessions->get({"agent_1", today}, "a"));
}

}  // namespace KRUXOS_TEST_FILE
