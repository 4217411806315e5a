// The host is killed while something is edited, approved, undone or retried.
#include "kill_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

/// A completed write; its undo may be under way, or not asked for yet.
struct UndoRig : KillRig {
  std::string id;
  UndoRig() {
    id = send(kPosted).write_id();
    REQUIRE(pass_time([&] { return state(id) == "completed"; }, 60'000));
  }
  Answer roll_back() { return invoke("proxy.rollback", R"({"write_id":")" + id + "\"}"); }
};

struct Step {
  const char* point;
  const char* outcome;
};

// A look sees whether the message is gone; where it still stands, a person is asked.
const Step kUndo[] = {
    {"write.rollback.before_commit", "none"},        {"write.rollback.after_commit", "completed"},
    {"write.claim.before_commit", "completed"},      {"write.claim.after_commit", "unknown (told)"},
    {"write.execute.before_call", "unknown (told)"}, {"write.execute.after_call", "completed"},
    {"write.outcome.before_commit", "completed"},    {"write.outcome.after_commit", "completed"},
};

constexpr const char* kOther = "Edited.";

}  // namespace

TEST_CASE("killed while a message is undone") {
  const auto step = GENERATE(from_range(std::begin(kUndo), std::end(kUndo)));
  UndoRig rig;
  rig.arm(step.point);
  CHECK_FALSE(rig.roll_back().ok());
  rig.expect_killed();
  const auto outcome = rig.undo_comes_to_rest(rig.id);
  row(std::string(step.point) + ", undo", outcome, rig.posts_of(kPosted));
  CHECK(outcome == step.outcome);
  if (outcome == "completed") {
    CHECK(rig.state(rig.id) == "rolled_back");
    CHECK(rig.posts_of(kPosted) == 0);
  } else {
    CHECK(rig.state(rig.id) == "completed");
    CHECK(rig.posts_of(kPosted) == 1);
  }
  if (outcome == "unknown (told)") rig.resolve(rig.undo_of(rig.id), "resend");
  if (outcome == "none") CHECK(rig.roll_back().ok());
  CHECK(rig.pass_time([&] { return rig.state(rig.id) == "rolled_back"; }, 120'000));
  CHECK(rig.posts_of(kPosted) == 0);
  CHECK(rig.slack().calls("chat.delete") == 1);
}

TEST_CASE("killed while a message is edited: it goes out as one or the other, never both") {
  const std::string point = GENERATE("write.edit.before_commit", "write.edit.after_commit");
  KillRig rig;
  rig.arm(point);
  const auto id = rig.send(kPosted).write_id();
  CHECK_FALSE(
      rig.invoke("proxy.edit_write", R"({"write_id":")" + id + R"(","arguments":{"text":")" + kOther + "\"}}").ok());
  rig.expect_killed();
  CHECK(rig.come_to_rest() == "completed");
  const bool durable = point == "write.edit.after_commit";
  row(point, "completed", rig.slack().effect("posts"));
  CHECK(rig.posts_of(kOther) == (durable ? 1 : 0));
  CHECK(rig.posts_of(kPosted) == (durable ? 0 : 1));
  CHECK(rig.slack().effect("posts") == 1);
}

TEST_CASE("killed while a person approves or rejects") {
  const std::string what = GENERATE("accept", "reject");
  const std::string at = GENERATE(".before_commit", ".after_commit");
  KillRig rig;
  for (int i = 0; i < 10; ++i) REQUIRE(rig.send("news " + std::to_string(i)).ok());
  rig.send(kPosted);
  const auto pending = parse(rig.control("GET", "/writes?state=pending_approval").body);
  const auto id = text_at(pending, "/writes/0/write_id");
  rig.arm("write." + what + at);
  rig.kruxos({"approve", what, id, "--yes"});
  rig.expect_killed();
  rig.start();
  const bool durable = at == ".after_commit";
  row("write." + what + at, rig.state(id), rig.posts_of(kPosted));
  CHECK((rig.state(id) == "pending_approval") == !durable);
  if (!durable) CHECK(rig.kruxos({"approve", what, id, "--yes"}).status.code == 0);
  const bool accepted = what == "accept";
  CHECK(rig.pass_time([&] { return rig.state(id) == (accepted ? "completed" : "rejected"); }, 120'000));
  nothing_follows(rig, accepted ? 1 : 0);
}

TEST_CASE("killed while a dead letter is retried") {
  const std::string point = GENERATE("write.resolve.before_commit", "write.resolve.after_commit",
                                     "write.claim.after_commit", "write.outcome.before_commit");
  KillRig rig;
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"rate_limited","retry_after":60})");
  const auto id = rig.send(kPosted).write_id();
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "dead_letter"; }, 60'000, 1'000));
  rig.arm(point);
  rig.kruxos({"dlq", "retry", id, "--yes"});
  rig.pass_time([&] { return !rig.alive(); }, 120'000);
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  const auto effects = rig.posts_of(kPosted);
  row(point + ", retry", outcome, effects);
  CHECK(outcome == (point == "write.claim.after_commit" ? "unknown (told)" : "completed"));
  CHECK(effects == (outcome == "completed" ? 1 : 0));
  nothing_follows(rig, effects);
}

TEST_CASE("killed while expired points are deleted") {
  const std::string point = GENERATE("write.expire.before_commit", "write.expire.after_commit");
  UndoRig rig;
  for (int i = 0; i < 24; ++i) rig.advance(3'600'000);
  REQUIRE(rig.stop().ok());
  rig.launch(point);
  rig.expect_killed();
  rig.start();
  CHECK(rig.roll_back().error() == "RollbackExpired");
  CHECK(rig.state(rig.id) == "completed");
  CHECK(rig.posts_of(kPosted) == 1);
}

}  // namespace KRUXOS_TEST_FILE
