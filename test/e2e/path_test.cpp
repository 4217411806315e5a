// An agent's and an operator's ordinary day.
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

TEST_CASE("a connected workspace is read from the replica") {
  Rig rig(either_isolation());
  rig.begin();
  CHECK(rig.operate({"connect", "status"})["connections"].Size() == 1);
  const auto lists = rig.slack().calls("conversations.list");

  const auto channels = rig.invoke("slack.channels");
  INFO(text_of(channels.document));
  REQUIRE(channels.size("/channels") == 2);
  CHECK(channels.text("/channels/0/name") == "general");
  CHECK(channels.text("/channels/0/topic") == "Company-wide");
  CHECK(channels.number("/channels/0/member_count") == 2);
  CHECK_FALSE(channels.text("/freshness/synced_at").empty());

  const auto found = rig.invoke("slack.search", R"({"query":"RELEASE","channel":"#general","user":"alice"})");
  INFO(text_of(found.document));
  REQUIRE(found.size("/messages") == 1);
  CHECK(found.text("/messages/0/user_name") == "alice");
  CHECK(found.text("/messages/0/channel_name") == "general");
  CHECK(found.text("/messages/0/id") == std::string(kGeneral) + "/1699990000.000100");

  const auto thread = rig.invoke("slack.read", R"({"message_id":"C0GENERAL01/1699990000.000100"})");
  REQUIRE(thread.size("/thread_replies") == 1);
  CHECK(thread.text("/thread_replies/0/text") == "On board.");

  const auto missing = rig.invoke("slack.read", R"({"message_id":"C0GENERAL01/1699990000.999999"})");
  CHECK(missing.error() == "MessageNotFound");
  CHECK(rig.slack().calls("conversations.list") == lists);
  rig.check_contract();
}

TEST_CASE("a message waits, is posted once, and is found by the next read") {
  Rig rig(either_isolation());
  rig.begin();
  const auto sent = rig.send("Deployment complete!", "#general");
  INFO(text_of(sent.document));
  REQUIRE(sent.ok());
  CHECK(sent.text("/status") == "buffered");
  CHECK(sent.text("/buffer_id") == sent.write_id());
  CHECK(sent.text("/cancel_deadline") == sent.text("/buffer_until"));

  rig.advance(29'000);
  CHECK(rig.slack().posted(sent.write_id()) == 0);
  REQUIRE(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 10'000, 1'000));
  CHECK(rig.slack().posted(sent.write_id()) == 1);

  const auto status = rig.invoke("proxy.write_status", R"({"write_id":")" + sent.write_id() + "\"}");
  INFO(text_of(status.document));
  CHECK(status.text("/status") == "completed");
  const auto id = status.text("/result/message_id");
  const auto is_read = [&] {
    return rig.invoke("slack.read", R"({"message_id":")" + id + "\"}").text("/message/text") == "Deployment complete!";
  };
  CHECK(rig.pass_time(is_read, 130'000));

  const auto late = rig.invoke("slack.cancel", R"({"write_id":")" + sent.write_id() + "\"}");
  CHECK(late.error() == "CannotCancel");
  rig.check_contract();
}

TEST_CASE("a message that is taken back never reaches the service") {
  Rig rig(either_isolation());
  rig.begin();
  const auto sent = rig.send("Everyone is invited.");
  const auto cancelled = rig.invoke("slack.cancel", R"({"buffer_id":")" + sent.write_id() + "\"}");
  INFO(text_of(cancelled.document));
  CHECK(cancelled.text("/status") == "cancelled");
  const auto by_operator = rig.send("To be stopped by a person.");
  rig.operate({"approve", "cancel", by_operator.write_id()});
  CHECK(rig.state(by_operator.write_id()) == "cancelled");
  rig.advance(60'000);
  rig.advance(60'000);
  CHECK(rig.slack().effect("posts") == 0);
  CHECK(rig.invoke("slack.cancel", R"({"write_id":")" + sent.write_id() + "\"}").error() == "CannotCancel");
  CHECK_FALSE(rig.invoke("slack.cancel", R"({"write_id":"w_0"})").ok());
}

TEST_CASE("a reply stands in its thread") {
  Rig rig(either_isolation());
  rig.begin();
  const auto sent = rig.invoke(
      "slack.reply", R"({"channel":"C0GENERAL01","thread_ts":"1699990000.000100","text":"Wait for <me> & mine"})");
  INFO(text_of(sent.document));
  REQUIRE(sent.ok());
  REQUIRE(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 60'000));
  const auto replies = [&] {
    return rig.invoke("slack.read", R"({"message_id":"C0GENERAL01/1699990000.000100"})").size("/thread_replies");
  };
  CHECK(rig.pass_time([&] { return replies() == 2; }, 200'000));
  // What an agent writes is Slack's markup and goes out as it is.
  CHECK(rig.posts_of("Wait for <me> & mine") + rig.posts_of("Wait for &lt;me&gt; &amp; mine") == 1);
  CHECK(rig.slack().posted(sent.write_id()) == 1);
  rig.check_contract();
}

TEST_CASE("a message named by its id is the one named by channel and time: one write, one line, one limit") {
  Rig rig(either_isolation());
  rig.begin();
  const auto by_id =
      rig.invoke("slack.reply", R"({"message_id":"C0GENERAL01/1699990000.000100","text":"Found by its id"})");
  INFO(text_of(by_id.document));
  REQUIRE(by_id.ok());
  const auto by_time =
      rig.invoke("slack.reply", R"({"channel":"general","thread_ts":"1699990000.000100","text":"Found by its id"})");
  CHECK(by_time.text("/duplicate_of") == by_id.write_id());
  CHECK(by_time.text("/content_hash") == by_id.text("/content_hash"));
  const auto write = rig.write(by_id.write_id());
  CHECK(text_at(write, "/write/params/channel") == "C0GENERAL01");
  CHECK(text_at(write, "/write/params_shown/thread_ts") == "1699990000.000100");
  CHECK(text_at(write, "/write/params_shown/message_id").empty());
  const auto pending = rig.invoke("slack.read", R"({"message_id":"C0GENERAL01/1699990000.000100"})");
  CHECK(pending.text("/pending_writes/0/write_id") == by_id.write_id());
  const auto edited = rig.invoke("proxy.edit_write", R"({"write_id":")" + by_id.write_id() +
                                                         R"(","arguments":{"text":"Found by its id, edited"}})");
  CHECK(edited.ok());
  REQUIRE(rig.pass_time([&] { return rig.state(by_id.write_id()) == "completed"; }, 60'000));
  CHECK(rig.posts_of("Found by its id, edited") == 1);
  const auto nowhere = rig.invoke("slack.reply", R"({"text":"x"})");
  CHECK(nowhere.error() == "InvalidInput");
  rig.check_contract();
}

TEST_CASE("reactions happen at once") {
  Rig rig(either_isolation());
  rig.begin();
  const std::string at = R"({"channel":"general","ts":"1699990100.000100","reaction":":eyes:"})";
  const auto added = rig.invoke("slack.react", at);
  INFO(text_of(added.document));
  CHECK(added.text("/status") == "ok");
  CHECK_FALSE(added.write_id().empty());
  CHECK(rig.slack().effect("reactions_added") == 1);
  const auto reactions = [&] {
    return rig.invoke("slack.read", R"({"message_id":"C0GENERAL01/1699990100.000100"})").size("/message/reactions");
  };
  CHECK(rig.pass_time([&] { return reactions() == 1; }, 300'000));

  const auto removed =
      rig.invoke("slack.remove_react", R"({"message_id":"C0GENERAL01/1699990100.000100","reaction":"eyes"})");
  INFO(text_of(removed.document));
  CHECK(removed.text("/status") == "ok");
  CHECK(rig.slack().effect("reactions_removed") == 1);
  const auto nowhere = rig.invoke("slack.react", R"({"channel":"general","ts":"1699000000.000100","reaction":"eyes"})");
  INFO(text_of(nowhere.document));
  CHECK_FALSE(nowhere.ok());
  rig.check_contract();
}

TEST_CASE("a call that is repeated is one write") {
  Rig rig(either_isolation());
  rig.begin();
  const auto first = rig.send("Only once, please.");
  const auto by_id = rig.send("Only once, please.", kGeneral);
  INFO(text_of(by_id.document));
  CHECK(by_id.text("/duplicate_of") == first.write_id());
  CHECK(by_id.write_id() == first.write_id());
  REQUIRE(rig.pass_time([&] { return rig.state(first.write_id()) == "completed"; }, 60'000));
  CHECK(rig.send("Only once, please.").text("/duplicate_of") == first.write_id());

  const std::string twice = R"({"channel":"general","text":"Only once, please.","allow_duplicate":true})";
  const auto wanted = rig.invoke("slack.send", twice);
  CHECK(wanted.write_id() != first.write_id());
  const auto other_agent =
      rig.invoke_as(rig.new_agent("other"), "slack.send", R"({"channel":"general","text":"Only once, please."})");
  CHECK(other_agent.text("/duplicate_of").empty());
  rig.advance(60'000);
  CHECK(rig.posts_of("Only once, please.") == 3);
}

TEST_CASE("an idempotency key means one write with one content") {
  Rig rig(either_isolation());
  rig.begin();
  const std::string key = R"(,"idempotency_key":"k-1")";
  const auto first = rig.invoke("slack.send", R"({"channel":"general","text":"one"})", key);
  REQUIRE(first.ok());
  CHECK(rig.invoke("slack.send", R"({"channel":"general","text":"one"})", key).write_id() == first.write_id());
  CHECK(rig.invoke("slack.send", R"({"channel":"general","text":"one","idempotency_key":"k-1"})").write_id() ==
        first.write_id());
  const auto other = rig.invoke("slack.send", R"({"channel":"general","text":"two"})", key);
  INFO(text_of(other.document));
  CHECK(other.error() == "ConflictError");
  rig.advance(60'000);
  CHECK(rig.slack().effect("posts") == 1);
}

}  // namespace KRUXOS_TEST_FILE
