#include "emulators/slack/methods.hpp"

#include <catch2/catch.hpp>

#include "emulators/slack/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::slack;

namespace {

// Messages m1..m5 at seconds 1..5 of C0000GENERAL; m2 has replies r1, r2, r3 at 11, 12, 13, of which r2 is broadcast.
const char* const kSeed = R"({"users": [{"id": "U0ALICE000", "name": "alice"}], "channels": [
  {"id": "C0000GENERAL", "name": "general", "messages": [
    {"user": "U0ALICE000", "text": "m1", "ts": "1600000001.000000"},
    {"user": "U0ALICE000", "text": "m2", "ts": "1600000002.000000", "replies": [
      {"user": "U0ALICE000", "text": "r1", "ts": "1600000011.000000"},
      {"user": "U0ALICE000", "text": "r2", "ts": "1600000012.000000", "broadcast": true},
      {"user": "U0KRUXBOT1", "text": "r3", "ts": "1600000013.000000"}]},
    {"user": "U0ALICE000", "text": "m3", "ts": "1600000003.000000",
     "reactions": [{"name": "eyes", "users": ["U0ALICE000"]}]},
    {"user": "U0ALICE000", "text": "m4", "ts": "1600000004.000000"},
    {"user": "U0KRUXBOT1", "text": "m5", "ts": "1600000005.000000"}]},
  {"id": "C0000SECRET0", "name": "secret", "type": "private_channel", "is_member": false},
  {"id": "C0000PRIVATE", "name": "private", "type": "private_channel"},
  {"id": "C0000OUTSIDE", "name": "outside", "is_member": false},
  {"id": "C0000OLDDAYS", "name": "old", "is_archived": true}]})";

struct Seeded : Caller {
  explicit Seeded(std::vector<std::string> tokens = {kToken}) : Caller(driven_settings(std::move(tokens))) {
    seed(kSeed);
  }
  Answered history(Parameters more = {}) {
    return more["channel"] = "C0000GENERAL", (*this)("conversations.history", more);
  }
  Answered replies(Parameters more = {}) {
    more["channel"] = "C0000GENERAL";
    more.emplace("ts", "1600000002.000000");
    return (*this)("conversations.replies", more);
  }
  Answered post(Parameters more) { return more.emplace("channel", "C0000GENERAL"), (*this)("chat.postMessage", more); }
};

const Parameters kM4 = {{"channel", "C0000GENERAL"}, {"timestamp", "1600000004.000000"}};

}  // namespace

TEST_CASE("tokens: absent, unknown, revoked, without the scope") {
  Seeded call({kToken, "xoxb-few:channels:read", "xoxp-user"});
  CHECK(call("auth.test", {}, "").error() == "not_authed");
  CHECK(call("auth.test", {}, "xoxb-other").error() == "invalid_auth");
  CHECK(call("auth.test").text("bot_id") == "B0KRUXBOT1");
  const Answered missing = call("chat.postMessage", {}, "xoxb-few");
  CHECK(missing.error() == "missing_scope");
  CHECK(missing.text("needed") == "chat:write");
  CHECK(missing.text("provided") == "channels:read");
  CHECK(call("conversations.list", {{"types", "private_channel"}}, "xoxb-few").text("needed") == "groups:read");
  CHECK(call("auth.revoke", {{"test", "1"}}).body["revoked"].IsFalse());
  CHECK(call("auth.revoke").body["revoked"].IsTrue());
  CHECK(call("auth.test").error() == "account_inactive");
  CHECK(call("auth.revoke", {}, "xoxp-user").ok());
  CHECK(call("auth.test", {}, "xoxp-user").error() == "token_revoked");
}

TEST_CASE("scopes stand in the headers, a method that does not exist in the error") {
  Seeded call;
  const auto headers = call("users.list").http.headers;
  CHECK(headers[1] == std::pair<std::string, std::string>("X-Accepted-OAuth-Scopes", "users:read"));
  CHECK(headers[0].first == "X-OAuth-Scopes");
  const Answered unknown = call("chat.shout");
  CHECK(unknown.error() == "unknown_method");
  CHECK(unknown.text("req_method") == "chat.shout");
  CHECK(unknown.status == 200);
}

TEST_CASE("history is newest first, pages backward and leaves replies out unless broadcast") {
  Seeded call;
  CHECK(call.history().column("messages", "text") == "r2 m5 m4 m3 m2 m1");
  const Answered first = call.history({{"limit", "4"}});
  CHECK(first.column("messages", "text") == "r2 m5 m4 m3");
  CHECK(first.body["has_more"].IsTrue());
  const Answered second = call.history({{"limit", "4"}, {"cursor", first.cursor()}});
  CHECK(second.column("messages", "text") == "m2 m1");
  CHECK(second.body["has_more"].IsFalse());
  CHECK(second.cursor().empty());
}

TEST_CASE("a page of a history has at most 999 messages, one of replies a thousand") {
  Seeded call;
  CHECK(call.history({{"limit", "999"}}).error().empty());
  CHECK(call.history({{"limit", "1000"}}).error() == "invalid_limit");
  CHECK(call.replies({{"limit", "1000"}}).error().empty());
  CHECK(call.replies({{"limit", "1001"}}).error() == "invalid_limit");
}

TEST_CASE("messages of integrations, with files, and of Slack's own kinds are shown as Slack shows them") {
  Seeded call;
  call.seed(R"({"channels": [{"id": "C0000GENERAL", "name": "general", "messages": [
    {"bot_id": "B0GITHUB01", "username": "GitHub", "subtype": "bot_message", "text": "opened",
     "ts": "1600000021.000000", "attachments": [{"fallback": "PR 1", "id": 1}],
     "replies": [{"bot_id": "B0GITHUB01", "subtype": "bot_message", "text": "merged", "ts": "1600000031.000000"}]},
    {"user": "U0ALICE000", "subtype": "channel_join", "ts": "1600000022.000000"},
    {"user": "U0ALICE000", "subtype": "me_message", "text": "waves", "ts": "1600000023.000000"},
    {"user": "U0ALICE000", "ts": "1600000024.000000",
     "files": [{"id": "F0000PLAN0", "name": "plan.pdf", "mimetype": "application/pdf", "size": 7}]},
    {"bot_id": "B0PAGER001", "app_id": "A0PAGER001", "bot_name": "Pager", "ts": "1600000025.000000",
     "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Alarm"}}]}]}]})");
  const Answered answered = call.history({{"oldest", "1600000020"}});
  const auto& shown = answered.body["messages"];
  REQUIRE(shown.Size() == 5);
  CHECK(text_or(shown[4], "subtype") == "bot_message");
  CHECK(text_or(shown[4], "username") == "GitHub");
  for (const char* absent : {"user", "bot_profile", "app_id"}) CHECK_FALSE(shown[4].HasMember(absent));
  CHECK(shown[4]["reply_users"][0] == "B0GITHUB01");
  CHECK(text_or(shown[4]["attachments"][0], "fallback") == "PR 1");
  CHECK(text_or(shown[3], "text") == "<@U0ALICE000> has joined the channel");
  CHECK(text_or(shown[2], "subtype") == "me_message");
  CHECK(text_or(shown[1], "subtype") == "file_share");
  CHECK(text_or(shown[1]["files"][0], "name") == "plan.pdf");
  CHECK(text_or(shown[1]["files"][0], "filetype") == "pdf");
  CHECK(text_or(shown[0]["bot_profile"], "name") == "Pager");
  CHECK_FALSE(shown[0].HasMember("user"));
}

TEST_CASE("a broadcast carries the message that opens its thread") {
  Seeded call;
  const Answered answered = call.history();
  const auto& broadcast = answered.body["messages"][0];
  CHECK(text_or(broadcast, "subtype") == "thread_broadcast");
  CHECK(text_or(broadcast["root"], "text") == "m2");
  CHECK(broadcast["root"]["reply_count"].GetInt() == 3);
}

TEST_CASE("a bare link and an emoji that are posted are kept as Slack keeps them") {
  Seeded call;
  const Answered posted = call.post({{"text", "see http://x.test/plan \xF0\x9F\x8E\x89"}});
  CHECK(text_or(posted.body["message"], "text") == "see <http://x.test/plan> :tada:");
}

TEST_CASE("a reaction that Slack does not know is refused, one of the workspace's own is not") {
  Seeded call;
  const auto react = [&](const char* name) {
    return call("reactions.add", {{"channel", "C0000GENERAL"}, {"timestamp", "1600000004.000000"}, {"name", name}})
        .error();
  };
  CHECK(react("no_such_emoji") == "invalid_name");
  CHECK(react("partyparrot") == "invalid_name");
  call.seed(R"({"emoji": ["partyparrot"]})");
  CHECK(react("partyparrot").empty());
  CHECK(react("tada").empty());
}

TEST_CASE("history's bounds are exclusive unless inclusive") {
  Seeded call;
  const Parameters bounds = {{"oldest", "1600000002.000000"}, {"latest", "1600000004.000000"}};
  CHECK(call.history(bounds).column("messages", "text") == "m3");
  Parameters inclusive = bounds;
  inclusive["inclusive"] = "true";
  CHECK(call.history(inclusive).column("messages", "text") == "m4 m3 m2");
  CHECK(call.history({{"oldest", "1600000003"}, {"latest", "1600000006"}}).column("messages", "text") == "m5 m4");
  CHECK(call.history({{"oldest", "soon"}}).error() == "invalid_ts_oldest");
  CHECK(call.history({{"latest", "1.2.3"}}).error() == "invalid_ts_latest");
  CHECK(call.history({{"limit", "-1"}}).error() == "invalid_limit");
  CHECK(call.history({{"cursor", "!!!"}}).error() == "invalid_cursor");
  CHECK(call.history({{"cursor", "dXNlcjpVMQ=="}}).error() == "invalid_cursor");
}

TEST_CASE("history with oldest alone pages forward, or backward where that behaviour is set") {
  Seeded call;
  const Parameters oldest = {{"oldest", "1600000001.000000"}, {"limit", "2"}};
  const Answered first = call.history(oldest);
  CHECK(first.column("messages", "text") == "m3 m2");
  Parameters next = oldest;
  next["cursor"] = first.cursor();
  CHECK(call.history(next).column("messages", "text") == "m5 m4");
  call.state.behaviour.history_oldest_only = "newest_first";
  CHECK(call.history(oldest).column("messages", "text") == "r2 m5");
}

TEST_CASE("replies: the parent first, then ascending") {
  Seeded call;
  const Answered all = call.replies();
  CHECK(all.column("messages", "text") == "m2 r1 r2 r3");
  const rapidjson::Value& parent = all.item("messages", 0);
  CHECK(parent["reply_count"].GetInt() == 3);
  CHECK(parent["reply_users_count"].GetInt() == 2);
  CHECK(text_or(parent, "latest_reply") == "1600000013.000000");
  CHECK(text_or(parent, "thread_ts") == "1600000002.000000");
  CHECK(text_or(all.item("messages", 1), "parent_user_id") == "U0ALICE000");
  CHECK(text_or(all.item("messages", 2), "subtype") == "thread_broadcast");
  CHECK(call.replies({{"oldest", "1600000011.000000"}}).column("messages", "text") == "m2 r2 r3");
  CHECK(call.replies({{"ts", "1600000004.000000"}}).column("messages", "text") == "m4");
  CHECK(call.replies({{"ts", "1600000011.000000"}}).column("messages", "text") == "r1");
  CHECK(call.replies({{"ts", "1600000099.000000"}}).error() == "thread_not_found");
}

TEST_CASE("replies' pages differ by behaviour") {
  Seeded call;
  const auto pages = [&](const std::string& behaviour) {
    call.state.behaviour.replies_parent = behaviour;
    const Answered first = call.replies({{"limit", "3"}});
    return first.column("messages", "text") + " | " +
           call.replies({{"limit", "3"}, {"cursor", first.cursor()}}).column("messages", "text");
  };
  CHECK(pages("first_page") == "m2 r1 r2 | r3");
  CHECK(pages("every_page") == "m2 r1 r2 | m2 r3");
  CHECK(pages("newest_chunk_first") == "m2 r2 r3 | m2 r1");
}

TEST_CASE("channels: who sees which") {
  Seeded call;
  const std::string every = "public_channel,private_channel,mpim,im";
  CHECK(call("conversations.list").column("channels", "name") == "general outside old");
  CHECK(call("conversations.list", {{"types", every}}).column("channels", "name") == "general private outside old");
  CHECK(call("conversations.list", {{"exclude_archived", "true"}}).column("channels", "name") == "general outside");
  CHECK(call("conversations.list", {{"types", "rooms"}}).error() == "invalid_types");
  CHECK(call("conversations.info", {{"channel", "C0000SECRET0"}}).error() == "channel_not_found");
  CHECK(call("conversations.history", {{"channel", "C0000SECRET0"}}).error() == "channel_not_found");
  CHECK(call("conversations.history", {{"channel", "C0000OUTSIDE"}}).error() == "not_in_channel");
  CHECK(call("conversations.history").error() == "invalid_arguments");
}

TEST_CASE("a page of channels is cut before it is filtered") {
  Seeded call;
  Answered page = call("conversations.list", {{"limit", "2"}});
  CHECK(page.column("channels", "name") == "general");
  page = call("conversations.list", {{"limit", "2"}, {"cursor", page.cursor()}});
  CHECK(page.column("channels", "name") == "outside");
  CHECK(call("conversations.list", {{"cursor", "dGVhbTpDMQ=="}}).error() == "invalid_cursor");
}

TEST_CASE("large workspaces are listed without being stored") {
  Seeded call;
  call.seed(R"({"large": {"channels": 4300, "users": 20000, "member_channels": 2}})");
  CHECK(call("users.list").error() == "limit_required");
  std::size_t users = 0, channels = 0;
  for (std::string cursor, more = "yes"; !more.empty(); more = cursor) {
    const Answered page = call("users.list", {{"limit", "1000"}, {"cursor", cursor}});
    users += page.body["members"].Size();
    cursor = page.cursor();
  }
  for (std::string cursor, more = "yes"; !more.empty(); more = cursor) {
    const Answered page = call("conversations.list", {{"limit", "1000"}, {"cursor", cursor}});
    channels += page.body["channels"].Size();
    cursor = page.cursor();
  }
  CHECK(users == 20002);
  CHECK(channels == 4303);
  CHECK(call("users.info", {{"user", "U9000019999"}}).body["user"]["name"].GetString() == std::string("user.19999"));
  CHECK(call("users.info", {{"user", "U9000020000"}}).error() == "user_not_found");
  CHECK(call("chat.postMessage", {{"channel", "C9000000001"}, {"text", "x"}}).ok());
  CHECK(call("conversations.history", {{"channel", "C9000000001"}}).column("messages", "text") == "x");
  CHECK(call("conversations.history", {{"channel", "C9000000002"}}).error() == "not_in_channel");
}

TEST_CASE("posting: what it answers, what is refused") {
  Seeded call;
  const Answered posted = call.post({{"text", "1 < 2 & <@U0ALICE000> &amp;"}});
  REQUIRE(posted.ok());
  CHECK(posted.text("ts") == "1700000000.000000");
  CHECK(text_or(posted.body["message"], "text") == "1 &lt; 2 &amp; <@U0ALICE000> &amp;");
  CHECK(text_or(posted.body["message"], "bot_id") == "B0KRUXBOT1");
  CHECK(call.post({{"text", "next"}}).text("ts") == "1700000000.000001");
  CHECK(call.post({{"channel", "#general"}, {"text", "by name"}}).text("channel") == "C0000GENERAL");
  CHECK(call.post({}).error() == "no_text");
  CHECK(call.post({{"text", std::string(40001, 'x')}}).error() == "msg_too_long");
  CHECK(call.post({{"channel", "C0000NOWHERE"}, {"text", "x"}}).error() == "channel_not_found");
  CHECK(call.post({{"channel", "C0000OUTSIDE"}, {"text", "x"}}).error() == "not_in_channel");
  CHECK(call.post({{"channel", "C0000OLDDAYS"}, {"text", "x"}}).error() == "is_archived");
  CHECK(call.post({{"text", "x"}, {"thread_ts", "1600000099.000000"}}).error() == "thread_not_found");
  CHECK(call.post({{"text", "x"}, {"metadata", "{\"event_type\":1}"}}).error() == "invalid_metadata_format");
  CHECK(call.state.workspace->effects.posts == 3);
}

TEST_CASE("metadata comes back only when it is asked for and the scope is there") {
  Seeded call({kToken, "xoxb-blind:channels:history"});
  const std::string metadata = R"({"event_type":"krux_write","event_payload":{"write_id":"w_1"}})";
  CHECK(call.post({{"text", "marked"}, {"metadata", metadata}}).ok());
  CHECK(krux::to_json(call.history({{"include_all_metadata", "true"}}).item("messages", 0)["metadata"]) == metadata);
  CHECK_FALSE(krux::find_member(call.history().item("messages", 0), "metadata"));
  const Parameters asked = {{"channel", "C0000GENERAL"}, {"include_all_metadata", "true"}};
  CHECK_FALSE(krux::find_member(call("conversations.history", asked, "xoxb-blind").item("messages", 0), "metadata"));
  CHECK(call.state.workspace->markers().at("w_1").posted == 1);
}

TEST_CASE("editing and deleting: own messages alone") {
  Seeded call;
  const Parameters m5 = {{"channel", "C0000GENERAL"}, {"ts", "1600000005.000000"}, {"text", "m5 again"}};
  CHECK(call("chat.update", m5).text("text") == "m5 again");
  CHECK(text_or(call.history().item("messages", 1)["edited"], "user") == "U0KRUXBOT1");
  Parameters m4 = m5;
  m4["ts"] = "1600000004.000000";
  CHECK(call("chat.update", m4).error() == "cant_update_message");
  CHECK(call("chat.delete", m4).error() == "cant_delete_message");
  CHECK(call("chat.delete", m5).ok());
  CHECK(call("chat.delete", m5).error() == "message_not_found");
  CHECK(call.history().column("messages", "text") == "r2 m4 m3 m2 m1");
}

TEST_CASE("a deleted parent lives on as a tombstone until its last reply is gone") {
  Seeded call;
  Workspace& workspace = *call.state.workspace;
  Channel& channel = *workspace.channel("C0000GENERAL");
  workspace.erase(channel, 1600000002000000);
  CHECK(text_or(call.replies().item("messages", 0), "subtype") == "tombstone");
  CHECK(call.replies().column("messages", "text") == "This message was deleted. r1 r2 r3");
  for (Ts reply : {1600000011000000, 1600000012000000, 1600000013000000}) workspace.erase(channel, reply);
  CHECK(call.replies().error() == "thread_not_found");
  CHECK(call.history().column("messages", "text") == "m5 m4 m3 m1");
}

TEST_CASE("reactions: added once, seen, removed once, cut in lists") {
  Seeded call;
  Parameters thumb = kM4;
  thumb["name"] = "thumbsup";
  CHECK(call("reactions.add", thumb).ok());
  CHECK(call("reactions.add", thumb).error() == "already_reacted");
  const Answered got = call("reactions.get", kM4);
  CHECK(text_or(got.body["message"]["reactions"][0], "name") == "+1");
  CHECK(call("reactions.remove", thumb).ok());
  CHECK(call("reactions.remove", thumb).error() == "no_reaction");
  thumb["name"] = "No Such";
  CHECK(call("reactions.add", thumb).error() == "invalid_name");
  CHECK(call("reactions.add", {{"name", "eyes"}}).error() == "no_item_specified");
  CHECK(call("reactions.add", {{"channel", "C0000GENERAL"}, {"timestamp", "x"}, {"name", "eyes"}}).error() ==
        "bad_timestamp");

  call.state.behaviour.reaction_users_max = 1;
  const Parameters m3 = {{"channel", "C0000GENERAL"}, {"timestamp", "1600000003.000000"}, {"name", "eyes"}};
  CHECK(call("reactions.add", m3).ok());
  CHECK(call("reactions.get", m3).body["message"]["reactions"][0]["users"].Size() == 1);
  CHECK(call("reactions.get", m3).body["message"]["reactions"][0]["count"].GetInt() == 2);
  Parameters full = m3;
  full["full"] = "true";
  CHECK(call("reactions.get", full).body["message"]["reactions"][0]["users"].Size() == 2);
}

TEST_CASE("markers count every message that ever carried one") {
  Seeded call;
  const std::string metadata = R"({"event_type":"krux_write","event_payload":{"write_id":"w_2"}})";
  const std::string first = call.post({{"text", "a"}, {"metadata", metadata}}).text("ts");
  call.post({{"text", "b"}, {"metadata", metadata}});
  CHECK(call("chat.delete", {{"channel", "C0000GENERAL"}, {"ts", first}}).ok());
  const MarkerEffects& effects = call.state.workspace->markers().at("w_2");
  CHECK(effects.posted == 2);
  CHECK(effects.deleted == 1);
}

}  // namespace KRUXOS_TEST_FILE
