// A host that is killed on the way and started again.
#pragma once

#include <cstdio>

#include "host_fixture.hpp"

namespace krux::test {

inline constexpr const char* kText = "Exactly one of me.";

// A connected host that is killed at the armed point by what a test does next.
struct KillRig : Rig {
  KillRig() { begin(); }
  void arm(const std::string& fault) {
    REQUIRE(stop().ok());
    start(fault);
  }
  void expect_killed() {
    const auto ended = await_end();
    REQUIRE(ended.signal == SIGKILL);
  }
  // The only write there is; empty when there is none.
  std::string only_write() {
    const auto list = parse(control("GET", "/writes").body);
    REQUIRE(size_at(list, "/writes") <= 1);
    return text_at(list, "/writes/0/write_id");
  }
  // After the kill: time passes until nothing moves any more by itself. How it ended.
  std::string come_to_rest() {
    start();
    const auto id = only_write();
    if (id.empty()) return "none";
    CHECK(pass_time([&] { return ended(state(id)) || told(id); }, 300'000));
    return state(id) + (told(id) ? " (told)" : "");
  }
  static bool ended(const std::string& state) {
    return state == "completed" || state == "cancelled" || state == "discarded" || state == "failed";
  }
};

inline void row(const std::string& point, const std::string& outcome, std::int64_t effects) {
  std::printf("  %-30s %-20s %lld effect%s\n", point.c_str(), outcome.c_str(), static_cast<long long>(effects),
              effects == 1 ? "" : "s");
  std::fflush(stdout);
}

// Nothing more happens in the hour after, whatever state it is in.
inline void nothing_follows(KillRig& rig, std::int64_t effects) {
  for (int i = 0; i < 4; ++i) rig.advance(15 * 60'000);
  CHECK(rig.posts_of(kText) == effects);
}

}  // namespace krux::test
