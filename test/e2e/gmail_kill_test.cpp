// The host is killed at every step of the write path with Gmail: a mail that was acknowledged is sent once and no draft
// of it is left, whoever asks; nobody has to decide, for a draft that is still there was not sent.
#include <algorithm>
#include <set>

#include "core/util/fault_point.hpp"
#include "gmail_rig.hpp"
#include "kill_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr std::int64_t kMinute = 60'000, kHour = 60 * kMinute, kDay = 24 * kHour;

const char* const kExecution[] = {
    "write.claim.before_commit",    "write.claim.after_commit",    "write.execute.before_call",
    "write.remember.before_commit", "write.remember.after_commit", "write.execute.after_call",
    "write.outcome.before_commit",  "write.outcome.after_commit",
};
const char* const kPoints[] = {"write.rollback_point.before_commit", "write.rollback_point.after_commit"};

struct MailKill : Killable<GmailRig> {
  std::int64_t drafts() { return gmail().effect("drafts_created"); }
  // One mail was sent, of one draft, and in the hour after nothing else is.
  void check_sent_once(const std::string& id) {
    CHECK(gmail().sent(id) == 1);
    CHECK(gmail().drafts(id) == 1);
    CHECK(gmail().drafts_live(id) == 0);
    nothing_follows(
        *this, [&] { return gmail().effect("sends"); }, 1);
  }
};

}  // namespace

TEST_CASE("killed while a mail is sent") {
  const std::string point = GENERATE(from_range(std::begin(kExecution), std::end(kExecution)));
  CAPTURE(point);
  MailKill rig;
  rig.begin(point);
  const auto sent = rig.mail(kPosted);
  REQUIRE(sent.ok());
  rig.advance(5 * kMinute);
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  row(point, outcome, rig.gmail().effect("sends"));
  CHECK(outcome == "completed");
  rig.check_sent_once(sent.write_id());
  CHECK(rig.is_true());
}

TEST_CASE("killed while a mail is submitted, taken back or edited") {
  const std::string what = GENERATE("submit", "cancel", "edit");
  const std::string at = GENERATE(".before_commit", ".after_commit");
  CAPTURE(what, at);
  const bool durable = at == ".after_commit";
  MailKill rig;
  rig.begin("write." + what + at);
  const auto id = rig.mail(kPosted).write_id();
  if (what == "cancel") CHECK_FALSE(rig.invoke("email.cancel", R"({"write_id":")" + id + "\"}").ok());
  if (what == "edit") {
    const auto edit = R"({"write_id":")" + id + R"(","arguments":{"subject":"Edited."}})";
    CHECK_FALSE(rig.invoke("proxy.edit_write", edit).ok());
  }
  rig.expect_killed();
  rig.start();
  // The agent of a submission heard nothing and asks again: all in all there is one.
  if (what == "submit") CHECK(rig.mail(kPosted).text("/duplicate_of").empty() == !durable);
  const auto outcome = rig.rest_of(rig.only_write());
  row("write." + what + at, outcome, rig.gmail().effect("sends"));
  const bool taken_back = what == "cancel" && durable;
  CHECK(outcome == (taken_back ? "cancelled" : "completed"));
  nothing_follows(
      rig, [&] { return rig.gmail().effect("sends"); }, taken_back ? 0 : 1);
  CHECK(rig.sent_of(what == "edit" && durable ? "Edited." : kPosted) == (taken_back ? 0 : 1));
}

TEST_CASE("killed while a person accepts a mail") {
  const std::string at = GENERATE(".before_commit", ".after_commit");
  CAPTURE(at);
  MailKill rig;
  rig.begin("write.accept" + at);
  for (int i = 0; i < 5; ++i) REQUIRE(rig.mail("news " + std::to_string(i)).ok());
  rig.mail(kPosted);
  const auto pending = parse(rig.control("GET", "/writes?state=pending_approval").body);
  const auto id = text_at(pending, "/writes/0/write_id");
  REQUIRE_FALSE(id.empty());
  rig.kruxos({"approve", "accept", id, "--yes"});
  rig.expect_killed();
  rig.start();
  const bool durable = at == ".after_commit";
  CHECK((rig.state(id) == "pending_approval") == !durable);
  if (!durable) CHECK(rig.kruxos({"approve", "accept", id, "--yes"}).status.code == 0);
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }, 10 * kMinute, 30'000));
  nothing_follows(
      rig, [&] { return rig.gmail().effect("sends"); }, 6);
}

TEST_CASE("killed while it is looked whether a mail was sent") {
  const std::string point = GENERATE("write.look.before_commit", "write.look.after_commit");
  const bool happened = GENERATE(true, false);
  CAPTURE(point, happened);
  MailKill rig;
  rig.begin(point);
  rig.gmail().fault(std::string(R"({"method":"gmail.users.drafts.send","kind":")") +
                    (happened ? "reset_after" : "reset") + "\"}");
  const auto sent = rig.mail(kPosted);
  rig.pass_time([&] { return !rig.alive(); }, 10 * kMinute, 30'000);
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  row(point + (happened ? ", sent" : ", not sent"), outcome, rig.gmail().effect("sends"));
  CHECK(outcome == "completed");
  rig.check_sent_once(sent.write_id());
}

TEST_CASE("killed while a person decides about a mail of which nobody can know") {
  const std::string point = GENERATE("write.resolve.before_commit", "write.resolve.after_commit");
  CAPTURE(point);
  MailKill rig;
  rig.begin(point);
  rig.gmail().fault(R"({"method":"gmail.users.drafts.send","kind":"reset"})");
  const auto id = rig.mail(kPosted).write_id();
  rig.advance(5 * kMinute);
  // Somebody throws the draft away: gone, and not among what was sent.
  const auto drafts = parse(rig.gmail().call("GET", "drafts").body);
  REQUIRE(rig.gmail().call("DELETE", "drafts/" + text_at(drafts, "/drafts/0/id")).status == 204);
  REQUIRE(rig.pass_time([&] { return rig.told(id); }, 10 * kMinute));
  CHECK_THROWS(rig.resolve(id, "resend"));
  rig.expect_killed();
  rig.start();
  if (point == "write.resolve.before_commit") {
    CHECK(rig.told(id));
    rig.resolve(id, "resend");
  }
  CHECK(rig.pass_time([&] { return MailKill::ended(rig.state(id)); }, 10 * kMinute));
  // What somebody has thrown away is not written again.
  row(point + ", decided", rig.state(id), rig.gmail().sent(id));
  CHECK(rig.state(id) == "failed");
  nothing_follows(
      rig, [&] { return rig.gmail().effect("sends"); }, 0);
}

TEST_CASE("killed while the ledger recovers from a kill between a draft and its sending") {
  const std::string point = GENERATE("write.recover.before_commit", "write.recover.after_commit");
  CAPTURE(point);
  MailKill rig;
  rig.begin("write.remember.after_commit");
  const auto sent = rig.mail(kPosted);
  rig.advance(5 * kMinute);
  rig.expect_killed();
  for (int i = 0; i < 2; ++i) {
    rig.launch(point);
    rig.expect_killed();
  }
  CHECK(rig.come_to_rest() == "completed");
  rig.check_sent_once(sent.write_id());
}

TEST_CASE("killed while a draft is written for a person") {
  const std::string point = GENERATE("write.execute.before_call", "write.execute.after_call",
                                     "write.outcome.before_commit", "write.outcome.after_commit");
  CAPTURE(point);
  MailKill rig;
  rig.begin(point);
  CHECK_FALSE(rig.invoke("email.draft", R"({"to":"bob@example.com","subject":"For a person"})").ok());
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  row(point + ", draft", outcome, rig.drafts());
  CHECK(outcome == "completed");
  nothing_follows(
      rig, [&] { return rig.drafts(); }, 1);
  CHECK(rig.gmail().effect("sends") == 0);
}

TEST_CASE("killed while a mail is deleted, its undo brings the labels back that it had at first") {
  std::vector<std::string> points(std::begin(kPoints), std::end(kPoints));
  for (const char* point :
       {"claim.after_commit", "execute.before_call", "execute.after_call", "outcome.before_commit"}) {
    points.push_back(std::string("write.") + point);
  }
  const std::string point = GENERATE_COPY(from_range(points));
  CAPTURE(point);
  MailKill rig;
  rig.begin(point);
  const auto before = rig.labels_of(rig.news);
  const auto id = rig.on("email.delete", rig.news).write_id();
  rig.advance(kDay);
  rig.expect_killed();
  const auto outcome = rig.come_to_rest();
  row(point + ", deletion", outcome, rig.gmail().effect("trashes"));
  CHECK(outcome == "completed");
  CHECK(rig.labels_of(rig.news).find("TRASH") != std::string::npos);
  CHECK(rig.gmail().effect("trashes") == 1);
  CHECK(rig.roll_back(id).ok());
  CHECK(rig.pass_time([&] { return rig.state(id) == "rolled_back"; }, 5 * kMinute));
  CHECK(rig.labels_of(rig.news) == before);
}

TEST_CASE("killed while a deletion is undone") {
  const std::string point =
      GENERATE("write.rollback.before_commit", "write.rollback.after_commit", "write.claim.before_commit",
               "write.claim.after_commit", "write.execute.before_call", "write.execute.after_call",
               "write.outcome.before_commit", "write.outcome.after_commit");
  CAPTURE(point);
  MailKill rig;
  // The deletion passes the other points too.
  rig.begin(point + (point.starts_with("write.rollback") ? ":1" : ":2"));
  const auto before = rig.labels_of(rig.news);
  const auto id = rig.on("email.delete", rig.news).write_id();
  rig.advance(kDay);
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }, 5 * kMinute));
  CHECK_FALSE(rig.roll_back(id).ok());
  rig.expect_killed();
  const auto outcome = rig.undo_comes_to_rest(id);
  row(point + ", undo", outcome, rig.labels_of(rig.news) == before);
  // To put labels back twice does no harm: nobody is asked.
  CHECK(outcome == (point == "write.rollback.before_commit" ? "none" : "completed"));
  if (outcome == "none") CHECK(rig.roll_back(id).ok());
  CHECK(rig.pass_time([&] { return rig.state(id) == "rolled_back"; }, 5 * kMinute));
  CHECK(rig.labels_of(rig.news) == before);
  CHECK(rig.pass_time([&] { return rig.is_true(); }, 5 * kMinute));
}

TEST_CASE("every fault point of the write path that an adapter has to do with has its kill with Gmail") {
  std::set<std::string> covered(std::begin(kExecution), std::end(kExecution));
  covered.insert(std::begin(kPoints), std::end(kPoints));
  for (const std::string name : {"submit", "cancel", "edit", "accept", "look", "resolve", "recover", "rollback"}) {
    covered.insert({"write." + name + ".before_commit", "write." + name + ".after_commit"});
  }
  for (const std::string name :
       {"reject", "expire", "approval_expire", "restore"}) {  // the ledger's alone: kill_test.cpp
    covered.insert({"write." + name + ".before_commit", "write." + name + ".after_commit"});
  }
  for (const auto& name : krux::kFaultPoints) {
    INFO(name);
    CHECK((!name.starts_with("write.") || covered.count(std::string(name)) == 1));
  }
}

}  // namespace KRUXOS_TEST_FILE
