#include "core/adapter/turn_queue.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

CallTurn turn_for(const std::string& agent, const std::string& account = {}) {
  return {Lane::kFetch, agent, account};
}

/// All that can begin now, in that order.
std::vector<int> pop_all(TurnQueue<int>& queue) {
  std::vector<int> all;
  while (const auto item = queue.pop()) all.push_back(*item);
  return all;
}

}  // namespace

TEST_CASE("turns: queues are served in turn, each in order of arrival") {
  TurnQueue<int> queue(LaneLimits{1});
  for (int i = 1; i <= 4; ++i) CHECK(queue.push(turn_for("a"), i));
  CHECK(queue.push(turn_for("b"), 11));
  CHECK(queue.push(turn_for("b"), 12));
  CHECK(queue.push(turn_for("c"), 21));
  CHECK(queue.waiting() == 7);
  CHECK(pop_all(queue) == std::vector{1, 11, 21, 2, 12, 3, 4});
  CHECK(queue.waiting() == 0);
  CHECK_FALSE(queue.ready());
}

TEST_CASE("turns: within a queue the accounts are served in turn") {
  TurnQueue<int> queue(LaneLimits{1});
  for (int i = 1; i <= 3; ++i) queue.push(turn_for("a", "x"), i);
  queue.push(turn_for("a", "y"), 11);
  CHECK(pop_all(queue) == std::vector{1, 11, 2, 3});
}

TEST_CASE("turns: who has as much running as it may is passed over") {
  TurnQueue<int> queue(LaneLimits{8, 2, 3});
  for (int i = 1; i <= 4; ++i) queue.push(turn_for("a", "x"), i);
  for (int i = 11; i <= 13; ++i) queue.push(turn_for("b", "x"), i);
  queue.push(turn_for("b", "y"), 21);
  // Two of each agent, three of the account.
  CHECK(pop_all(queue) == std::vector{1, 11, 2, 21});
  CHECK_FALSE(queue.ready());
  queue.end(turn_for("a", "x"));
  CHECK(queue.ready());
  CHECK(pop_all(queue) == std::vector{3});
  queue.end(turn_for("b", "y"));
  CHECK_FALSE(queue.ready());  // the account has three
  queue.end(turn_for("b", "x"));
  CHECK(pop_all(queue) == std::vector{12});
  CHECK(queue.running_of("x") == 3);
  CHECK(queue.load_of("a").running == 2);
  CHECK(queue.load_of("a").waiting == 1);
}

TEST_CASE("turns: who is there at the same time divides what one alone may have running") {
  LaneLimits limits{8, 4};
  limits.divided = true;
  TurnQueue<int> queue(limits);
  for (int i = 1; i <= 9; ++i) queue.push(turn_for("a"), i);
  CHECK(pop_all(queue) == std::vector{1, 2, 3, 4});
  for (int i = 11; i <= 14; ++i) queue.push(turn_for("b"), i);
  CHECK(pop_all(queue) == std::vector{11, 12});
  CHECK_FALSE(queue.may_begin(turn_for("b")));
  queue.end(turn_for("a"));
  queue.end(turn_for("a"));
  CHECK_FALSE(queue.ready());  // two of each
  queue.end(turn_for("a"));
  CHECK(pop_all(queue) == std::vector{5});
  // More of them than there are places: each has one.
  for (const auto* agent : {"c", "d", "e", "f"}) {
    for (int i = 21; i <= 22; ++i) queue.push(turn_for(agent), i);
  }
  CHECK(pop_all(queue) == std::vector{21, 21, 21, 21});
  // Who has none any more leaves his part to the others.
  for (const auto* agent : {"c", "d", "e", "f"}) {
    queue.erase(turn_for(agent), 22);
    queue.end(turn_for(agent));
  }
  for (int i = 13; i <= 14; ++i) queue.erase(turn_for("b"), i);
  for (int i = 0; i < 2; ++i) queue.end(turn_for("b"));
  CHECK(pop_all(queue) == std::vector{6, 7});
}

TEST_CASE("turns: one that waits for quota leaves its place to its queue, not to its account") {
  TurnQueue<int> queue(LaneLimits{8, 1, 1});
  for (int i = 1; i <= 2; ++i) queue.push(turn_for("a", "x"), i);
  queue.push(turn_for("a", "y"), 11);
  CHECK(pop_all(queue) == std::vector{1});
  queue.change(turn_for("a", "x"), {}, CallAway::kAwaitsQuota);
  CHECK(pop_all(queue) == std::vector{11});
  queue.end(turn_for("a", "y"));
  CHECK_FALSE(queue.ready());
  SECTION("and goes on") {
    queue.change(turn_for("a", "x"), CallAway::kAwaitsQuota, {});
    queue.end(turn_for("a", "x"));
  }
  SECTION("and is ended meanwhile") {
    queue.end(turn_for("a", "x"), CallAway::kAwaitsQuota);
  }
  CHECK(pop_all(queue) == std::vector{2});
}

TEST_CASE("turns: of what a queue has running no more computes than it may, and the rest is at its service") {
  LaneLimits limits{8, 3};
  limits.computing_of_queue = 2;
  TurnQueue<int> queue(limits);
  const auto turn = turn_for("a", "x");
  for (int i = 1; i <= 5; ++i) queue.push(turn, i);
  CHECK(pop_all(queue) == std::vector{1, 2});
  queue.change(turn, {}, CallAway::kAtService);
  CHECK(pop_all(queue) == std::vector{3});
  queue.change(turn, {}, CallAway::kAtService);
  CHECK_FALSE(queue.ready());  // three run
  queue.change(turn, CallAway::kAtService, {});
  queue.end(turn, CallAway::kAtService);
  CHECK_FALSE(queue.ready());  // two compute, one of which has come back
  queue.end(turn);
  CHECK(pop_all(queue) == std::vector{4});
  CHECK(queue.load_of("a").running == 2);
  CHECK(queue.running_of("x") == 2);
}

TEST_CASE("turns: queues of several lanes divide what may compute") {
  const auto there = std::make_shared<QueuesThere>();
  LaneLimits fetching{8, 3}, local{8, 2};
  fetching.computing_of_queue = 2;
  local.divided = true;
  TurnQueue<int> fetches(fetching, there), reads(local, there), syncs(LaneLimits{8}, there);
  for (int i = 1; i <= 3; ++i) fetches.push(turn_for("a"), i);
  reads.push(turn_for("b"), 11);
  CHECK(syncs.push(turn_for("b"), 21));  // a lane that divides nothing
  CHECK(pop_all(fetches) == std::vector{1});
  CHECK(pop_all(reads) == std::vector{11});
  CHECK(pop_all(syncs) == std::vector{21});
  syncs.end(turn_for("b"));
  CHECK_FALSE(fetches.ready());
  reads.end(turn_for("b"));
  CHECK(pop_all(fetches) == std::vector{2});
  // What its own account keeps from computing leaves the rest of the places as it is.
  fetches.change(turn_for("a"), {}, CallAway::kAwaitsQuota);
  CHECK(pop_all(fetches) == std::vector{3});
  fetches.end(turn_for("a"), CallAway::kAwaitsQuota);
  fetches.end(turn_for("a"));
  fetches.end(turn_for("a"));
  CHECK(there->empty());
}

TEST_CASE("turns: a full queue takes no more, and is none of the others' business") {
  TurnQueue<int> queue(LaneLimits{1, LaneLimits::kNone, LaneLimits::kNone, 2});
  CHECK(queue.push(turn_for("a"), 1));
  CHECK(queue.push(turn_for("a", "x"), 2));
  CHECK_FALSE(queue.push(turn_for("a"), 3));
  CHECK(queue.push(turn_for("b"), 11));
  CHECK(queue.pop() == 1);
  CHECK(queue.push(turn_for("a"), 4));
  // Without a name there are no bounds.
  for (int i = 0; i < 100; ++i) CHECK(queue.push({}, i));
}

TEST_CASE("turns: what is taken out is gone") {
  TurnQueue<int> queue(LaneLimits{1});
  for (int i = 1; i <= 3; ++i) queue.push(turn_for("a", "x"), i);
  queue.push(turn_for("b"), 11);
  queue.erase(turn_for("a", "x"), 2);
  queue.erase(turn_for("a", "y"), 3);
  queue.erase(turn_for("c"), 3);
  CHECK(queue.waiting() == 3);
  queue.erase(turn_for("b"), 11);
  CHECK(queue.load_of("b").waiting == 0);
  queue.push_front(turn_for("a", "x"), 0);
  CHECK(queue.drain() == std::vector{0, 1, 3});
  CHECK(queue.waiting() == 0);
  CHECK_FALSE(queue.ready());
}

}  // namespace KRUXOS_TEST_FILE
