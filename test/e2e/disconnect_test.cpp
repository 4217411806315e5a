// Disconnecting an account: what waits is cancelled, the token is revoked and removed, the replica deleted, and all of
// it stands in a receipt, whatever is killed when.
#include <thread>

#include "core/util/fault_point.hpp"
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t replica_files(Rig& rig) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(rig.data() / "replica/slack")) {
    count += entry.path().filename().string().find(".db") != std::string::npos;
  }
  return count;
}

bool connected(Rig& rig) {
  return text_at(rig.operate({"connect", "status"}), "/connections/0/state") != "not connected";
}

// While the command runs, time passes.
Finished run_with_time(Rig& rig, const std::vector<std::string>& arguments, std::int64_t limit_ms = 300'000) {
  std::optional<Finished> done;
  std::atomic<bool> ended{false};
  std::thread operating([&] {
    done = rig.kruxos(arguments);
    ended = true;
  });
  rig.pass_time([&] { return ended.load(); }, limit_ms);
  operating.join();
  return *done;
}

std::string outcome_of(const Json& receipt, const std::string& step) {
  for (const auto& item : find_at(receipt, "/receipt/steps")->GetArray()) {
    if (text_at(item, "/step") == step) return text_at(item, "/outcome");
  }
  return "none";
}

void check_gone(Rig& rig) {
  CHECK_FALSE(connected(rig));
  CHECK(replica_files(rig) == 0);
  CHECK(number_at(rig.operate({"vault", "status"}), "/vault/tokens") == 0);
  CHECK(rig.invoke("slack.channels").error() == "NotConnected");
  CHECK(rig.send("too late").error() == "NotConnected");
}

}  // namespace

TEST_CASE("a disconnection cancels, revokes, removes, deletes, and says so in a receipt that is kept") {
  Rig rig;
  rig.begin();
  const auto one = rig.send("one"), two = rig.send("two");
  REQUIRE(two.ok());
  REQUIRE(replica_files(rig) > 0);
  const auto receipt = rig.operate({"disconnect", "slack"});
  INFO(text_of(receipt));
  CHECK(text_at(receipt, "/receipt/outcome") == "disconnected");
  for (const auto* step : {"sync", "writes", "unknown_writes", "revoke", "token", "replica"}) {
    CHECK(outcome_of(receipt, step) == "done");
  }
  CHECK(number_at(receipt, "/receipt/writes_by_state/cancelled") == 2);
  CHECK(rig.state(one.write_id()) == "cancelled");
  CHECK(rig.slack().calls("auth.revoke") == 1);
  CHECK(rig.slack().call("auth.test").body.find("account_inactive") != std::string::npos);
  check_gone(rig);
  const auto calls = rig.slack().calls("conversations.list");
  for (int i = 0; i < 5; ++i) rig.advance(60'000);
  CHECK(rig.slack().calls("conversations.list") == calls);
  CHECK(rig.slack().calls("chat.postMessage") == 0);
  REQUIRE(rig.stop().ok());
  rig.start();
  check_gone(rig);
  const auto id = text_at(receipt, "/receipt/receipt_id");
  CHECK(text_of(rig.operate({"disconnect", "--receipt", id})) == text_of(receipt));
  CHECK(text_at(rig.operate({"disconnect", "--receipts"}), "/receipts/0/receipt_id") == id);
  CHECK(rig.kruxos({"disconnect", "slack"}).status.code == 5);
  CHECK(rig.kruxos({"disconnect", "--receipt", "rcpt_none"}).status.code == 4);
  CHECK_FALSE(contains(rig.log(), kToken));
  rig.check_contract();
}

TEST_CASE("an account is named by its id or name, and another one's is refused") {
  Rig rig;
  rig.begin();
  CHECK(rig.kruxos({"disconnect", "slack", "nobody"}).status.code == 5);
  CHECK(rig.kruxos({"disconnect", "nothing"}).status.code == 4);  // no such service
  CHECK(rig.control("POST", "/connections/slack/disconnect", R"({"force":1})").status == 400);
  CHECK(rig.control("POST", "/connections/slack/disconnect", R"({"wait_seconds":-1})").status == 400);
  CHECK(rig.control("POST", "/connections/slack/disconnect", "[]").status == 400);
  CHECK(connected(rig));
  const auto account = text_at(rig.operate({"connect", "status"}), "/connections/0/account_id");
  CHECK(rig.kruxos({"disconnect", "slack", account}).status.ok());
  check_gone(rig);
}

TEST_CASE("a write of unknown outcome is looked for first, and when it is found the disconnection goes on") {
  Rig rig;
  rig.begin();
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset_after"})");
  const auto lost = rig.send("arrived after all");
  REQUIRE(rig.pass_time([&] { return rig.state(lost.write_id()) == "unknown"; }, 60'000));
  const auto done = run_with_time(rig, {"--json", "disconnect", "slack"});
  INFO(done.out << done.err);
  REQUIRE(done.status.ok());
  CHECK(rig.state(lost.write_id()) == "completed");
  CHECK(rig.posts_of("arrived after all") == 1);
  check_gone(rig);
}

TEST_CASE("writes that nobody can know of stop it, and with --force go to a person") {
  Rig rig;
  rig.begin();
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset"})");
  const auto lost = rig.send("nobody knows");
  REQUIRE(rig.pass_time([&] { return rig.told(lost.write_id()); }, 300'000));
  const auto waiting = rig.send("waiting");
  const auto stopped = run_with_time(rig, {"disconnect", "slack"});
  INFO(stopped.err);
  CHECK(stopped.status.code == 5);
  CHECK(contains(stopped.err, "the account stays connected"));
  CHECK(contains(stopped.err, "--force"));
  CHECK(rig.state(waiting.write_id()) == "cancelled");
  CHECK(rig.slack().calls("auth.revoke") == 0);
  // As before: it is synced and served.
  CHECK(rig.invoke("slack.channels").ok());
  const auto calls = rig.slack().calls("conversations.list");
  CHECK(rig.pass_time([&] { return rig.slack().calls("conversations.list") > calls; }, 200'000));
  CHECK(text_at(rig.operate({"disconnect", "--receipts"}), "/receipts/0/outcome") == "stopped");

  const auto receipt = rig.operate({"disconnect", "slack", "--force"});
  INFO(text_of(receipt));
  CHECK(outcome_of(receipt, "unknown_writes") == "left");
  CHECK(outcome_of(receipt, "revoke") == "done");
  CHECK(text_at(receipt, "/receipt/writes/0/write_id") == lost.write_id());
  CHECK(text_at(receipt, "/receipt/writes/0/state") == "unknown");
  CHECK(rig.told(lost.write_id()));
  check_gone(rig);
  for (int i = 0; i < 4; ++i) rig.advance(15 * 60'000);
  CHECK(rig.posts_of("nobody knows") == 0);
  rig.resolve(lost.write_id(), "discard");
  CHECK(rig.state(lost.write_id()) == "discarded");
}

TEST_CASE("a write under way is waited for") {
  Rig rig;
  rig.begin();
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"hang_after"})");
  const auto sent = rig.send("on its way");
  rig.advance(30'000);
  REQUIRE(eventually([&] { return rig.slack().hanging() == 1; }));
  std::optional<Finished> done;
  std::thread operating([&] { done = rig.kruxos({"--json", "disconnect", "slack"}); });
  CHECK(eventually([&] {
    return text_at(rig.operate({"connect", "status"}), "/connections/0/state") == "disconnecting";
  }));
  CHECK(rig.invoke("slack.channels").error() == "NotConnected");
  CHECK(rig.slack().calls("auth.revoke") == 0);
  rig.slack().release(true);
  operating.join();
  INFO(done->out << done->err);
  CHECK(done->status.ok());
  CHECK(rig.state(sent.write_id()) == "completed");
  CHECK(rig.posts_of("on its way") == 1);
}

TEST_CASE("a write under way that does not end goes to a person with --force, and its call ends") {
  Rig rig;
  rig.begin();
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"hang"})");
  const auto sent = rig.send("stuck");
  rig.advance(30'000);
  REQUIRE(eventually([&] { return rig.slack().hanging() == 1; }));
  const auto receipt = rig.operate({"disconnect", "slack", "--force", "--wait", "0"});
  INFO(text_of(receipt));
  CHECK(text_at(receipt, "/receipt/writes/0/was") == "executing");
  CHECK(rig.told(sent.write_id()));
  CHECK(eventually([&] { return rig.slack().hanging() == 0; }));
  check_gone(rig);
}

TEST_CASE("a token that the service does not revoke stops it, and with --force the receipt says so") {
  Rig rig;
  rig.begin();
  // invalid_auth is also what Slack says of a good token that is used from an address that may not.
  const auto* fault = GENERATE(R"({"method":"auth.revoke","kind":"http_status","status":503,"count":0})",
                               R"({"method":"auth.revoke","kind":"error","error":"invalid_auth","count":0})");
  rig.slack().fault(fault);
  const auto stopped = rig.kruxos({"disconnect", "slack"});
  CHECK(stopped.status.code == 5);
  CHECK(contains(stopped.err, "was not revoked"));
  CHECK(rig.invoke("slack.channels").ok());
  const auto sent = rig.send("still here");
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 60'000));
  const auto receipt = rig.operate({"disconnect", "slack", "--force"});
  INFO(text_of(receipt));
  CHECK(outcome_of(receipt, "revoke") == "failed");
  CHECK(contains(text_of(receipt), "may still know the token"));
  check_gone(rig);
}

TEST_CASE("a token that the service has forgotten already counts as revoked") {
  Rig rig;
  rig.begin();
  rig.slack().act(std::string(R"({"action":"revoke_token","token":")") + kToken + "\"}");
  const auto receipt = rig.operate({"disconnect", "slack"});
  CHECK(outcome_of(receipt, "revoke") == "done");
  check_gone(rig);
}

TEST_CASE("a locked vault's account can be removed by force alone") {
  RigOptions options;
  options.config = "vault: {protection: passphrase, argon2_passes: 1, argon2_memory_mib: 16}\n";
  Rig rig(options);
  rig.start();
  REQUIRE(rig.kruxos({"vault", "unlock"}, "long enough for all\n").status.ok());
  rig.connect();
  rig.key = rig.new_agent("assistant");
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(contains(rig.kruxos({"disconnect", "slack"}).err, "kruxos vault unlock"));
  CHECK(connected(rig));
  const auto receipt = rig.operate({"disconnect", "slack", "--force"});
  CHECK(outcome_of(receipt, "revoke") == "failed");
  check_gone(rig);
  // The passphrase of the empty vault may be forgotten.
  rig.operate({"vault", "passphrase"}, "quite another one\n");
  rig.connect();
  CHECK(rig.invoke("slack.channels").ok());
}

TEST_CASE("the host stops while a disconnection waits, and the same command finishes after the start") {
  Rig rig;
  rig.begin();
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset_after"})");
  const auto lost = rig.send("not known yet");
  REQUIRE(rig.pass_time([&] { return rig.state(lost.write_id()) == "unknown"; }, 60'000));
  std::optional<Finished> done;
  std::thread operating([&] { done = rig.kruxos({"disconnect", "slack"}); });
  CHECK(eventually([&] {
    return text_at(rig.operate({"connect", "status"}), "/connections/0/state") == "disconnecting";
  }));
  CHECK(rig.stop().ok());
  operating.join();
  CHECK_FALSE(done->status.ok());
  rig.start();
  CHECK(rig.send("no more").error() == "NotConnected");
  CHECK(contains(text_of(rig.operate({"alerts"})), "disconnect_unfinished"));
  CHECK(contains(rig.kruxos({"connect", "slack"}, std::string(kToken) + "\n").err, "Finish it with"));
  const auto finished = run_with_time(rig, {"disconnect", "slack"});
  INFO(finished.err);
  CHECK(finished.status.ok());
  check_gone(rig);
  CHECK(eventually([&] { return !contains(text_of(rig.operate({"alerts"})), "disconnect_unfinished"); }));
}

TEST_CASE("killed at any step of a disconnection, the same command finishes it, and nothing is sent") {
  std::vector<std::string> points;
  for (const auto& name : krux::kFaultPoints) {
    if (name.starts_with("disconnect.")) points.emplace_back(name);
  }
  const auto point = GENERATE_COPY(from_range(points));
  CAPTURE(point);
  Rig rig;
  rig.begin();
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset"})");
  const auto lost = rig.send("nobody knows");
  REQUIRE(rig.pass_time([&] { return rig.told(lost.write_id()); }, 300'000));
  const auto waiting = rig.send("waiting");
  REQUIRE(waiting.ok());
  REQUIRE(rig.stop().ok());
  rig.start(point);
  CHECK_FALSE(rig.kruxos({"disconnect", "slack", "--force"}).status.ok());
  REQUIRE(rig.await_end().signal == SIGKILL);
  rig.start();
  const auto posted = rig.slack().calls("chat.postMessage");
  CHECK(rig.send("after the kill").error() == "NotConnected");
  for (int i = 0; i < 3; ++i) rig.advance(20'000);
  CHECK(rig.slack().calls("chat.postMessage") == posted);
  if (point != "disconnect.end.after_commit") {
    const auto done = run_with_time(rig, {"--json", "disconnect", "slack", "--force"});
    INFO(done.out << done.err);
    REQUIRE(done.status.ok());
  }
  check_gone(rig);
  const auto receipts = rig.operate({"disconnect", "--receipts"});
  REQUIRE(size_at(receipts, "/receipts") == 1);
  CHECK(text_at(receipts, "/receipts/0/outcome") == "disconnected");
  const auto receipt = rig.operate({"disconnect", "--receipt", text_at(receipts, "/receipts/0/receipt_id")});
  CHECK(outcome_of(receipt, "revoke") == "done");
  CHECK(number_at(receipt, "/receipt/writes_by_state/cancelled") == 1);
  CHECK(rig.state(waiting.write_id()) == "cancelled");
  CHECK(rig.told(lost.write_id()));
  CHECK(rig.slack().call("auth.test").body.find("account_inactive") != std::string::npos);
  CHECK(rig.slack().calls("chat.postMessage") == posted);
}

}  // namespace KRUXOS_TEST_FILE
