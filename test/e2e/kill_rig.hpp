// A host that is killed on the way and started again.
#pragma once

#include <cstdio>

#include "host_fixture.hpp"

namespace krux::test {

inline constexpr const char* kPosted = "Exactly one of me.";

// A rig whose host is killed at the armed point by what a test does next.
template <class Service>
struct Killable : Service {
  explicit Killable(const RigOptions& options = {}) : Service(options) {}

  void arm(const std::string& fault) {
    REQUIRE(this->stop().ok());
    this->start(fault);
  }
  void expect_killed() {
    const auto ended = this->await_end();
    REQUIRE(ended.signal == SIGKILL);
  }
  // The only write there is; empty when there is none.
  std::string only_write() {
    const auto list = parse(this->control("GET", "/writes").body);
    REQUIRE(size_at(list, "/writes") <= 1);
    return text_at(list, "/writes/0/write_id");
  }
  // After the kill: time passes until nothing moves any more by itself. How it ended.
  std::string come_to_rest() {
    this->start();
    const auto id = only_write();
    return id.empty() ? "none" : rest_of(id);
  }
  // The write that undoes another; empty when there is none.
  std::string undo_of(const std::string& id) {
    const auto list = parse(this->control("GET", "/writes?limit=10").body);
    for (std::size_t i = 0; i < size_at(list, "/writes"); ++i) {
      const auto at = "/writes/" + std::to_string(i);
      if (text_at(list, at + "/undoes") == id) return text_at(list, at + "/write_id");
    }
    return {};
  }
  // After the kill: how the undo of a write ended.
  std::string undo_comes_to_rest(const std::string& id) {
    this->start();
    const auto undo = undo_of(id);
    return undo.empty() ? "none" : rest_of(undo);
  }
  std::string rest_of(const std::string& id) {
    CHECK(this->pass_time([&] { return ended(this->state(id)) || this->told(id); }, 900'000, 20'000));
    return this->state(id) + (this->told(id) ? " (told)" : "");
  }
  static bool ended(const std::string& state) {
    return state == "completed" || state == "cancelled" || state == "discarded" || state == "failed";
  }
};

// With Slack, connected.
struct KillRig : Killable<Rig> {
  KillRig() { begin(); }
};

inline void row(const std::string& point, const std::string& outcome, std::int64_t effects) {
  std::printf("  %-40s %-20s %lld effect%s\n", point.c_str(), outcome.c_str(), static_cast<long long>(effects),
              effects == 1 ? "" : "s");
  std::fflush(stdout);
}

// Nothing more happens in the hour after, whatever state it is in.
inline void nothing_follows(HostRig& rig, const std::function<std::int64_t()>& counted, std::int64_t effects) {
  for (int i = 0; i < 4; ++i) rig.advance(15 * 60'000);
  CHECK(counted() == effects);
}
inline void nothing_follows(Rig& rig, std::int64_t effects) {
  nothing_follows(
      rig, [&] { return rig.posts_of(kPosted); }, effects);
}

}  // namespace krux::test
