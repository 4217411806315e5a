#include "core/net/quota.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

QuotaRule rule(std::string match, double per_minute, double burst = 0, std::string key = {}) {
  QuotaRule r;
  r.match = std::move(match);
  r.per_minute = per_minute;
  r.burst = burst;
  r.key = std::move(key);
  return r;
}

Quota::Parameters channel(std::string value) {
  return [value = std::move(value)](const std::string& name) -> std::optional<std::string> {
    if (name != "channel") return std::nullopt;
    return value;
  };
}

/// Asks as fast as it is allowed until `until`, advancing the clock by what the quota says; the times of what went.
std::vector<std::int64_t> run_until(Quota& quota, DrivenClock& clock, std::int64_t until,
                                    const std::string& path = "x") {
  std::vector<std::int64_t> times;
  while (clock.boot_ms() < until) {
    const auto wait = quota.try_acquire(path, {});
    if (wait == 0) {
      times.push_back(clock.boot_ms());
    } else {
      clock.advance(wait);
    }
  }
  return times;
}

/// The most that any 60 s hold, both ends included.
std::size_t busiest_minute(const std::vector<std::int64_t>& times) {
  std::size_t most = 0;
  for (std::size_t first = 0, last = 0; last < times.size(); ++last) {
    while (times[last] - times[first] > 60'000) ++first;
    most = std::max(most, last - first + 1);
  }
  return most;
}

}  // namespace

TEST_CASE("what is left of a quota is that of the fullest bucket") {
  DrivenClock clock;
  auto per_channel = rule("post", 4, 4, "channel");
  Quota quota({rule("list", 10, 10), per_channel, rule("post", 100, 100), rule("never", 1)}, clock);
  CHECK(quota.left().empty());
  for (int i = 0; i < 4; ++i) CHECK(quota.try_acquire("list", {}) == 0);
  CHECK(quota.left() == std::map<std::string, double>{{"list", 0.6}});
  CHECK(quota.try_acquire("post", channel("A")) == 0);
  CHECK(quota.try_acquire("post", channel("A")) == 0);
  CHECK(quota.try_acquire("post", channel("A")) == 0);
  CHECK(quota.try_acquire("post", channel("B")) == 0);
  CHECK(quota.left().at("post per channel") == 0.25);
  CHECK(quota.left().at("post") == 0.96);
  quota.block("list", {}, 5'000);
  CHECK(quota.left().at("list") == 0);
  clock.advance(5'000);
  CHECK(quota.left().at("list") == 0.6);
  clock.advance(61'000);
  CHECK(quota.left().at("list") == 1);
  CHECK(quota.left().at("post per channel") == 1);
}

TEST_CASE("globs") {
  CHECK(glob_match("*", ""));
  CHECK(glob_match("chat.*", "chat.postMessage"));
  CHECK(glob_match("users/*/send", "users/me/messages/send"));
  CHECK(glob_match("a?c", "abc"));
  CHECK(glob_match("*a*b*", "xxaxxbxx"));
  CHECK_FALSE(glob_match("chat.*", "chat"));
  CHECK_FALSE(glob_match("", "x"));
  CHECK_FALSE(glob_match("a?c", "ac"));
  CHECK_FALSE(glob_match("*a*b", "ba"));
}

TEST_CASE("no minute ever holds more than allowed, and the allowance is used") {
  const auto per_minute = GENERATE(1.0, 2.0, 20.0, 50.0, 60.0, 600.0);
  const auto burst = GENERATE(0.0, 1.0, 1000.0);
  DrivenClock clock;
  Quota quota({rule("*", per_minute, burst)}, clock);
  const auto start = clock.boot_ms();
  const auto times = run_until(quota, clock, start + 600'000);
  CHECK(busiest_minute(times) <= per_minute);
  CHECK(static_cast<double>(times.size()) >= 0.95 * per_minute * 10);
}

TEST_CASE("no minute holds more either when requests come in fits and starts") {
  std::mt19937 random(7);
  DrivenClock clock;
  Quota quota({rule("*", 30, 10)}, clock);
  std::vector<std::int64_t> times;
  for (int i = 0; i < 5000; ++i) {
    if (quota.try_acquire("x", {}) == 0) times.push_back(clock.boot_ms());
    const auto pause = random() % 10 == 0 ? random() % 40'000 : random() % 300;
    clock.advance(static_cast<std::int64_t>(pause));
  }
  CHECK(times.size() > 100);
  CHECK(busiest_minute(times) <= 30);
}

TEST_CASE("requests come in a small burst and then evenly") {
  DrivenClock clock;
  Quota quota({rule("*", 60, 3)}, clock);
  for (int i = 0; i < 3; ++i) CHECK(quota.try_acquire("x", {}) == 0);
  const auto wait = quota.try_acquire("x", {});
  CHECK(wait > 900);
  CHECK(wait <= 1100);
  clock.advance(wait - 1);
  CHECK(quota.try_acquire("x", {}) == 1);
  clock.advance(1);
  CHECK(quota.try_acquire("x", {}) == 0);
  CHECK(quota.try_acquire("x", {}) > 900);
}

TEST_CASE("less than one a minute is spread over longer") {
  DrivenClock clock;
  Quota quota({rule("*", 0.5)}, clock);
  CHECK(quota.try_acquire("x", {}) == 0);
  CHECK(quota.try_acquire("x", {}) >= 120'000);
}

TEST_CASE("the first pattern that fits counts, with all its rules") {
  DrivenClock clock;
  Quota quota({rule("chat.post*", 60, 1, "channel"), rule("chat.post*", 120, 2), rule("*", 1)}, clock);
  CHECK(quota.try_acquire("chat.postMessage", channel("A")) == 0);
  CHECK(quota.try_acquire("chat.postMessage", channel("A")) > 900);  // the channel's
  CHECK(quota.try_acquire("chat.postMessage", channel("B")) == 0);
  const auto third = quota.try_acquire("chat.postMessage", channel("C"));  // the account's
  CHECK(third > 0);
  CHECK(third < 900);
  CHECK(quota.try_acquire("other", {}) == 0);
  CHECK(quota.try_acquire("another", {}) >= 60'000);
}

TEST_CASE("an attempt that must wait takes no place in any rule") {
  DrivenClock clock;
  Quota quota({rule("x", 60, 1, "channel"), rule("x", 60, 2)}, clock);
  CHECK(quota.try_acquire("x", channel("A")) == 0);
  for (int i = 0; i < 10; ++i) CHECK(quota.try_acquire("x", channel("A")) > 0);
  CHECK(quota.try_acquire("x", channel("B")) == 0);
}

TEST_CASE("rules of one bucket share it, each at its cost") {
  DrivenClock clock;
  auto send = rule("send", 200, 200), list = rule("*", 200, 200);
  send.cost = 100;
  list.cost = 5;
  send.bucket = list.bucket = "units";
  Quota quota({send, list}, clock);
  CHECK(quota.try_acquire("send", {}) == 0);
  for (int i = 0; i < 20; ++i) CHECK(quota.try_acquire("list", {}) == 0);
  CHECK(quota.try_acquire("list", {}) > 0);
  CHECK(quota.try_acquire("send", {}) > 0);
}

TEST_CASE("a request dearer than the whole allowance still gets through, alone") {
  DrivenClock clock;
  auto dear = rule("*", 10, 10);
  dear.cost = 25;
  Quota quota({dear}, clock);
  CHECK(quota.try_acquire("x", {}) == 0);
  const auto wait = quota.try_acquire("x", {});
  CHECK(wait >= 150'000);
  clock.advance(wait);
  CHECK(quota.try_acquire("x", {}) == 0);
}

TEST_CASE("a request that costs nothing is held up by a Retry-After alone") {
  DrivenClock clock;
  auto free = rule("*", 1);
  free.cost = 0;
  Quota quota({free}, clock);
  for (int i = 0; i < 100; ++i) REQUIRE(quota.try_acquire("x", {}) == 0);
  quota.block("x", {}, 500);
  CHECK(quota.try_acquire("x", {}) == 500);
}

TEST_CASE("only the latest keys are remembered") {
  DrivenClock clock;
  Quota quota({rule("*", 1, 1, "channel")}, clock);
  CHECK(quota.try_acquire("x", channel("first")) == 0);
  for (int i = 0; i < 9'998; ++i) REQUIRE(quota.try_acquire("x", channel(std::to_string(i))) == 0);
  CHECK(quota.try_acquire("x", channel("first")) > 0);
  CHECK(quota.try_acquire("x", channel("0")) > 0);
  for (int i = 0; i < 9'999; ++i) REQUIRE(quota.try_acquire("x", channel("n" + std::to_string(i))) == 0);
  CHECK(quota.try_acquire("x", channel("0")) > 0);       // used last before the others came
  CHECK(quota.try_acquire("x", channel("first")) == 0);  // forgotten
}

TEST_CASE("a Retry-After stops what is like the request, and only that") {
  DrivenClock clock;
  Quota quota({rule("history", 600, 600), rule("post", 600, 600, "channel")}, clock);
  quota.block("history", {}, 30'000);
  CHECK(quota.try_acquire("history", {}) == 30'000);
  CHECK(quota.try_acquire("unknown", {}) == 0);
  quota.block("post", channel("A"), 5'000);
  CHECK(quota.try_acquire("post", channel("A")) == 5'000);
  CHECK(quota.try_acquire("post", channel("B")) == 0);
  quota.block("unknown", {}, 7'000);
  CHECK(quota.try_acquire("whatever", {}) == 7'000);
  CHECK(quota.try_acquire("post", channel("B")) == 0);
  quota.block("history", {}, 10);  // a shorter one takes nothing back
  clock.advance(29'999);
  CHECK(quota.try_acquire("history", {}) == 1);
  clock.advance(1);
  CHECK(quota.try_acquire("history", {}) == 0);
  CHECK(quota.try_acquire("whatever", {}) == 0);
}

TEST_CASE("a wall clock that jumps changes nothing") {
  DrivenClock clock;
  Quota quota({rule("*", 1)}, clock);
  CHECK(quota.try_acquire("x", {}) == 0);
  const auto wait = quota.try_acquire("x", {});
  clock.jump_wall(3'600'000);
  CHECK(quota.try_acquire("x", {}) == wait);
}

TEST_CASE("rules that allow nothing are refused") {
  DrivenClock clock;
  CHECK_THROWS_AS(Quota({rule("", 1)}, clock), ConfigError);
  CHECK_THROWS_AS(Quota({rule("x", 0)}, clock), ConfigError);
  CHECK_THROWS_AS(Quota({rule("x", -1)}, clock), ConfigError);
  CHECK_THROWS_AS(Quota({rule("x", 1, -1)}, clock), ConfigError);
  CHECK_THROWS_AS(Quota({rule("x", std::numeric_limits<double>::infinity())}, clock), ConfigError);
  auto paid_back = rule("x", 1);
  paid_back.cost = -1;
  CHECK_THROWS_AS(Quota({paid_back}, clock), ConfigError);
}

}  // namespace KRUXOS_TEST_FILE
