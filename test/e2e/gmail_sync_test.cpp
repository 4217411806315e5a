// The replica of a mailbox is true at the end, and no refresh token is lost, whatever is killed while it is synced.
#include "gmail_rig.hpp"
#include "kill_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr std::int64_t kMinute = 60'000, kHour = 60 * kMinute;

// Small pages, so that a dozen messages take several commits.
RigOptions small_pages() {
  RigOptions options;
  options.service = "    adapter: {page_size: 5, side_by_side: 2}\n";
  return options;
}

struct SyncKill : Killable<GmailRig> {
  SyncKill() : Killable<GmailRig>(small_pages()) {
    for (int i = 0; i < 9; ++i) more.push_back(deliver("Mail " + std::to_string(i)));
  }
  std::int64_t gets() { return gmail().calls("gmail.users.messages.get"); }
  void act(const std::string& action, const std::string& id, const std::string& labels = "") {
    gmail().act(R"({"action":")" + action + R"(","id":")" + id + "\"" + labels + "}");
  }
  // What a person does meanwhile: one message is new, one is gone, the labels of two are others.
  void change_much() {
    deliver("New since then");
    act("delete", more[0]);
    act("trash", more[1]);
    act("label", invoice, R"(,"add":["Label_7","STARRED"],"remove":["UNREAD"])");
  }
  bool comes_true() {
    return pass_time([&] { return is_true(); }, kHour, 30'000);
  }
  std::vector<std::string> more;
};

}  // namespace

TEST_CASE("killed in the first sync of a mailbox, it goes on where it was") {
  const std::string point = GENERATE("before_commit:1", "after_commit:2", "before_commit:4", "after_commit:7");
  CAPTURE(point);
  SyncKill rig;
  rig.start("sync.commit." + point);
  try {
    rig.connect_account();
  } catch (const std::runtime_error& died) {
    INFO(died.what());  // before it could say that it is connected
  }
  rig.expect_killed();
  rig.start();
  rig.key = rig.new_agent("reader");
  REQUIRE(rig.comes_true());
  CHECK(rig.replica().size() == 12);
  // What waited for the commit that was torn, a second's messages, is fetched again; what was committed is not.
  CHECK(rig.gets() <= 12 + (point.starts_with("before") ? 12 : 2));
  rig.check_contract();
}

TEST_CASE("killed while changes are taken over, the replica is true afterwards") {
  const std::string point = GENERATE("before_commit:1", "after_commit:1", "before_commit:2");
  CAPTURE(point);
  SyncKill rig;
  rig.begin();
  REQUIRE(rig.is_true());
  REQUIRE(rig.stop().ok());
  rig.change_much();
  rig.launch("sync.commit." + point);
  rig.expect_killed();
  rig.start();
  REQUIRE(rig.comes_true());
  rig.act("star", rig.bridge);
  REQUIRE(rig.comes_true());
}

TEST_CASE("killed while a mailbox is compared whose history was forgotten, the replica is true afterwards") {
  const std::string point = GENERATE("before_commit:1", "after_commit:1", "after_commit:2", "before_commit:4");
  CAPTURE(point);
  SyncKill rig;
  rig.begin();
  REQUIRE(rig.stop().ok());
  rig.change_much();
  rig.gmail().act(R"({"action":"expire_history"})");
  const auto gets = rig.gets();
  rig.launch("sync.commit." + point);
  rig.expect_killed();
  rig.start();
  REQUIRE(rig.comes_true());
  // The one that is new; again where the kill tore it out of a commit.
  CHECK(rig.gets() <= gets + 2);
  rig.deliver("And after that");
  REQUIRE(rig.comes_true());
}

TEST_CASE("killed while a token is renewed that a mail is waiting for, the mail goes out once and the grant lives") {
  const std::string point = GENERATE("oauth.refresh.before_send", "oauth.refresh.answered", "vault.renew.before_commit",
                                     "vault.renew.after_commit");
  CAPTURE(point);
  Killable<GmailRig> rig;
  rig.gmail().oauth(R"({"action":"set","rotation":true,"grace_ms":60000})");
  rig.begin(point);
  const auto sent = rig.mail(kPosted);
  rig.advance(5 * kMinute - 1'000);
  rig.gmail().oauth(R"({"action":"expire_access"})");
  rig.advance(1'000);
  rig.pass_time([&] { return !rig.alive(); }, 10 * kMinute, 30'000);
  rig.expect_killed();
  rig.start();
  const auto outcome = rig.rest_of(sent.write_id());
  row(point, outcome, rig.gmail().sent(sent.write_id()));
  CHECK(outcome == "completed");
  CHECK(rig.gmail().sent(sent.write_id()) == 1);
  CHECK(rig.gmail().drafts(sent.write_id()) == 1);
  // Answered and not stored: the old refresh token is presented again, within the moment that the service allows.
  const bool torn = point == "oauth.refresh.answered" || point == "vault.renew.before_commit";
  CHECK(rig.counted("refreshes_in_grace") == (torn ? 1 : 0));
  CHECK(rig.counted("refreshes_outdated") == 0);
  CHECK(rig.live_grants() == 1);
  // And the one that is kept now works too.
  const auto refreshes = rig.counted("refreshes");
  REQUIRE(rig.pass_time([&] { return rig.counted("refreshes") > refreshes; }, 2 * kHour, 20 * kMinute));
  rig.deliver("Much later");
  CHECK(rig.pass_time([&] { return rig.is_true(); }, 10 * kMinute, 30'000));
  CHECK(rig.gmail().effect("sends") == 1);
  rig.check_no_secret();
}

}  // namespace KRUXOS_TEST_FILE
