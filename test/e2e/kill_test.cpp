// The host is killed at every step of the write path, and started again: what was acknowledged happens exactly once, or
// the operator is told that nobody can know, or it was taken back and never happened.
#include <algorithm>
#include <set>

#include "core/util/fault_point.hpp"
#include "kill_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

TEST_CASE("killed while a write is submitted") {
  const std::string point = GENERATE("write.submit.before_commit", "write.submit.after_commit");
  KillRig rig;
  rig.arm(point);
  const auto answer = rig.send(kPosted);
  CHECK_FALSE(answer.ok());
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  const auto effects = rig.posts_of(kPosted);
  row(point, outcome, effects);
  const bool durable = point == "write.submit.after_commit";
  CHECK(outcome == (durable ? "completed" : "none"));
  CHECK(effects == (durable ? 1 : 0));
  // The agent heard nothing and asks again: all in all there is one.
  const auto again = rig.send(kPosted);
  CHECK(again.text("/duplicate_of").empty() == !durable);
  rig.pass_time([&] { return rig.state(again.write_id()) == "completed"; }, 60'000);
  CHECK(rig.posts_of(kPosted) == 1);
}

TEST_CASE("killed while a write is cancelled") {
  const std::string point = GENERATE("write.cancel.before_commit", "write.cancel.after_commit");
  KillRig rig;
  rig.arm(point);
  const auto sent = rig.send(kPosted);
  REQUIRE(sent.ok());
  CHECK_FALSE(rig.invoke("slack.cancel", R"({"write_id":")" + sent.write_id() + "\"}").ok());
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  const auto effects = rig.slack().posted(sent.write_id());
  row(point, outcome, effects);
  const bool durable = point == "write.cancel.after_commit";
  CHECK(outcome == (durable ? "cancelled" : "completed"));
  CHECK(effects == (durable ? 0 : 1));
  nothing_follows(rig, effects);
}

namespace {

struct Step {
  const char* point;
  const char* outcome;  // by itself
  int effects;
};

// Before the call into the adapter could begin nothing can have happened: tried again. Behind that a look finds
// nothing, which is no proof, so a person is asked.
const Step kExecution[] = {
    {"write.claim.before_commit", "completed", 1},          {"write.claim.after_commit", "completed", 1},
    {"write.rollback_point.before_commit", "completed", 1}, {"write.rollback_point.after_commit", "unknown (told)", 0},
    {"write.execute.before_call", "unknown (told)", 0},     {"write.execute.after_call", "completed", 1},
    {"write.outcome.before_commit", "completed", 1},        {"write.outcome.after_commit", "completed", 1},
};

}  // namespace

TEST_CASE("killed while a write is executed") {
  const auto step = GENERATE(from_range(std::begin(kExecution), std::end(kExecution)));
  KillRig rig;
  rig.arm(step.point);
  const auto sent = rig.send(kPosted);
  REQUIRE(sent.ok());
  rig.advance(30'000);
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  const auto effects = rig.slack().posted(sent.write_id());
  row(step.point, outcome, effects);
  CHECK(outcome == step.outcome);
  CHECK(effects == step.effects);
  if (outcome == "completed") return nothing_follows(rig, 1);
  CHECK(text_of(rig.operate({"alerts"})).find(sent.write_id()) != std::string::npos);
  nothing_follows(rig, 0);
  rig.resolve(sent.write_id(), "resend");
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 60'000));
  CHECK(rig.slack().posted(sent.write_id()) == 1);
  nothing_follows(rig, 1);
}

TEST_CASE("killed while a reaction is added") {
  const std::string point =
      GENERATE("write.submit.after_commit", "write.claim.after_commit", "write.execute.before_call",
               "write.execute.after_call", "write.outcome.before_commit", "write.outcome.after_commit");
  KillRig rig;
  rig.arm(point);
  CHECK_FALSE(rig.invoke("slack.react", R"({"channel":"general","ts":"1699990100.000100","reaction":"eyes"})").ok());
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  row(point + ", reaction", outcome, rig.slack().effect("reactions_added"));
  // A reaction that is sent again does no harm: it needs nobody.
  CHECK(outcome == "completed");
  CHECK(rig.slack().effect("reactions_added") == 1);
}

TEST_CASE("killed while the outcome of a write is looked for") {
  const std::string point = GENERATE("write.look.before_commit", "write.look.after_commit");
  const bool happened = GENERATE(true, false);
  KillRig rig;
  rig.arm(point);
  rig.slack().fault(std::string(R"({"method":"chat.postMessage","kind":")") + (happened ? "reset_after" : "reset") +
                    "\"}");
  const auto sent = rig.send(kPosted);
  rig.pass_time([&] { return !rig.alive(); }, 300'000);
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  const auto effects = rig.slack().posted(sent.write_id());
  row(point + (happened ? ", happened" : ", not happened"), outcome, effects);
  CHECK(outcome == (happened ? "completed" : "unknown (told)"));
  CHECK(effects == (happened ? 1 : 0));
  nothing_follows(rig, effects);
}

TEST_CASE("killed while a person decides") {
  const std::string point = GENERATE("write.resolve.before_commit", "write.resolve.after_commit");
  const std::string decision = GENERATE("resend", "discard", "happened");
  KillRig rig;
  rig.arm(point);
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset"})");
  const auto sent = rig.send(kPosted);
  REQUIRE(rig.pass_time([&] { return rig.told(sent.write_id()); }, 300'000));
  CHECK_THROWS(rig.resolve(sent.write_id(), decision));
  rig.expect_killed();
  rig.start();
  const bool durable = point == "write.resolve.after_commit";
  if (!durable) {
    CHECK(rig.told(sent.write_id()));
    nothing_follows(rig, 0);
    rig.resolve(sent.write_id(), decision);
  }
  CHECK(rig.pass_time([&] { return KillRig::ended(rig.state(sent.write_id())); }, 60'000));
  const auto effects = rig.slack().posted(sent.write_id());
  row(point + ", " + decision, rig.state(sent.write_id()), effects);
  CHECK(rig.state(sent.write_id()) == (decision == "discard" ? "discarded" : "completed"));
  CHECK(effects == (decision == "resend" ? 1 : 0));
  nothing_follows(rig, effects);
}

TEST_CASE("killed while the ledger recovers from a kill") {
  const std::string point = GENERATE("write.recover.before_commit", "write.recover.after_commit");
  KillRig rig;
  rig.arm("write.execute.after_call");
  const auto sent = rig.send(kPosted);
  rig.advance(30'000);
  rig.expect_killed();
  rig.launch(point);
  rig.expect_killed();
  rig.launch(point);  // and once more
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  row(point, outcome, rig.slack().posted(sent.write_id()));
  CHECK(outcome == "completed");
  CHECK(rig.slack().posted(sent.write_id()) == 1);
  nothing_follows(rig, 1);
}

TEST_CASE("every fault point has its kill") {
  std::set<std::string> covered{"sync.commit.before_commit", "sync.commit.after_commit"};  // sync_test.cpp
  covered.insert({"sync.finish.before_commit", "sync.finish.after_commit"});  // core/replica/versions_test.cpp
  // The Slack adapter keeps no notes; Gmail's does: gmail_kill_test.cpp.
  covered.insert({"write.remember.before_commit", "write.remember.after_commit"});
  // Passed at each start with a connected account; it moves when held writes are due, and nothing else.
  covered.insert({"write.restore.before_commit", "write.restore.after_commit"});
  for (const auto& name : krux::kFaultPoints) {
    // core/vault/vault_key_test.cpp, core/oauth, disconnect_test.cpp, host/bundles/store_test.cpp,
    // core/audit, core/write/place_test.cpp, core/write/copies_test.cpp, core/backup/backup_test.cpp, core/sign_in,
    // state_test.cpp, core/write/transaction_crash_test.cpp
    for (const char* elsewhere : {"audit.", "vault.", "disconnect.", "bundle.", "oauth.", "place.", "copies.",
                                  "backup.", "restore.", "sign_in.", "state.", "transaction."}) {
      if (name.starts_with(elsewhere)) covered.insert(std::string(name));
    }
  }
  for (const auto& step : kExecution) covered.insert(step.point);
  covered.insert({"write.approval_expire.before_commit", "write.approval_expire.after_commit"});  // standing_test.cpp
  for (const std::string name : {"accept", "reject", "edit", "rollback", "expire"}) {             // kill_chain_test.cpp
    covered.insert({"write." + name + ".before_commit", "write." + name + ".after_commit"});
  }
  for (const std::string name : {"submit", "cancel", "look", "resolve", "recover"}) {
    covered.insert({"write." + name + ".before_commit", "write." + name + ".after_commit"});
  }
  CHECK(covered == std::set<std::string>(krux::kFaultPoints.begin(), krux::kFaultPoints.end()));
}

}  // namespace KRUXOS_TEST_FILE
