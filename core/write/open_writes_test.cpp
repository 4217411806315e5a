#include "core/write/open_writes.hpp"

#include <catch2/catch.hpp>

#include "core/write/executor_test_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

NewWrite about(const std::string& target, const std::string& text, const std::string& agent = "agent_1") {
  auto w = new_write(text);
  w.agent_id = agent;
  w.target = target;
  return w;
}

std::vector<std::string> summaries(const OpenWritesFound& found) {
  std::vector<std::string> all;
  for (const auto& write : found.writes) all.push_back(write.summary);
  return all;
}

struct Fixture : ExecutorFixture {
  Host host{scratch.path(), clock};
  std::vector<std::string> seen(const std::string& target = {}, std::int64_t through_ms = 0,
                                const std::string& agent = "agent_1") {
    return summaries(host.buffer.open.of(agent, kAccount, target, through_ms));
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("an agent's own open writes are found by what they are about") {
  Fixture f;
  f.host.submit(about("C1", "before the first read"));
  CHECK(f.host.buffer.open.any("agent_1"));
  CHECK_FALSE(f.host.buffer.open.any("agent_2"));
  f.host.submit(about("C1/1.5", "reply"));
  f.host.submit(about("C10", "elsewhere"));
  f.host.submit(about("C1", "another's", "agent_2"));
  CHECK(f.seen() == Texts{"elsewhere", "reply", "before the first read"});
  CHECK(f.seen("C1") == Texts{"reply", "before the first read"});
  CHECK(f.seen("C1/1.5") == Texts{"reply"});
  CHECK(f.seen("C2").empty());
  CHECK(summaries(f.host.buffer.open.of("agent_1", {"notes", "N1", 2}, "", 0)).empty());
}

TEST_CASE("a write stays until the replica has everything from after its end") {
  Fixture f;
  f.host.serve(f.adapter);
  const auto id = f.host.submit(about("C1", "sent")).write_id;
  CHECK(f.seen() == Texts{"sent"});
  f.clock.advance(30'000);
  f.host.until(id, WriteState::kCompleted);
  const auto ended = f.host.buffer.ledger.get(id)->ended_at_ms;
  CHECK(f.seen("C1", ended - 1) == Texts{"sent"});
  CHECK(f.seen("C1", ended).empty());
  CHECK(f.seen().empty());
}

TEST_CASE("what was cancelled is not shown, what was undone is until the replica knows") {
  Fixture f;
  f.host.serve(f.adapter);
  const auto cancelled = f.host.submit(about("C1", "cancelled")).write_id;
  CHECK(f.seen() == Texts{"cancelled"});
  f.host.cancel(cancelled);
  CHECK(f.seen().empty());
  auto asked = at_once("moved", "notes.move");
  asked.target = "C1";
  const auto moved = f.host.until(f.host.submit(asked).write_id, WriteState::kCompleted);
  CHECK(f.seen("C1", moved.ended_at_ms).empty());
  f.clock.advance(1000);
  const auto undo = std::get<Submitted>(f.host.roll_back(moved.write_id)).write.write_id;
  f.host.until(undo, WriteState::kCompleted);
  CHECK(f.seen("C1", moved.ended_at_ms) == Texts{"undo notes.move: moved", "moved"});
  CHECK(f.seen("C1/1.5", moved.ended_at_ms) == Texts{"undo notes.move: moved", "moved"});  // it may be what was undone
  CHECK(f.seen("C10/1.5", moved.ended_at_ms).empty());
}

TEST_CASE("what waits is not hidden by what has ended since, and a cut is told") {
  Fixture f;
  f.host.serve(f.adapter);
  const bool known_before = GENERATE(true, false);
  if (known_before) f.seen();
  f.host.submit(about("C1", "waits"));
  std::string last;
  for (std::size_t i = 0; i < OpenWrites::kMostEnded + 20; ++i) {
    auto asked = at_once("e" + std::to_string(i), "notes.move");
    asked.target = "C1";
    last = f.host.submit(asked).write_id;
    f.host.until(last, WriteState::kCompleted);
  }
  const auto found = f.host.buffer.open.of("agent_1", kAccount, "C1", 0);
  CHECK(found.cut);
  REQUIRE(found.writes.size() == OpenWrites::kMostShown);
  CHECK(found.writes.front().write_id == last);
  CHECK(found.writes.back().summary == "waits");
}

TEST_CASE("of each agent the newest are kept, of many agents those that read last") {
  Fixture f;
  f.seen();
  for (std::size_t i = 0; i < OpenWrites::kMostOpen + 20; ++i) f.host.submit(about("C1", std::to_string(i)));
  CHECK(f.host.buffer.open.of("agent_1", kAccount, "C1", 0).cut);
  auto seen = f.seen();
  REQUIRE(seen.size() == OpenWrites::kMostShown);
  CHECK(seen.front() == std::to_string(OpenWrites::kMostOpen + 19));
  for (std::size_t i = 0; i < OpenWrites::kMostAgents + 1; ++i) f.seen({}, 0, "agent_x" + std::to_string(i));
  CHECK(f.seen() == seen);  // asked from the ledger again
  CHECK(f.host.buffer.open.of("agent_1", kAccount, "C1", 0).cut);
}

}  // namespace KRUXOS_TEST_FILE
