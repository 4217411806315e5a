// Records of an earlier version, and what is learned of messages.
#include <catch2/catch.hpp>

#include "read.hpp"
#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using slack::Rig;

namespace {

const std::string kA = "C0000000A";

/// As version 0.1 put it: Slack's own text, searched with its entities undone, without an order within a millisecond.
kruxos::Record earlier_record(const std::string& ts, const std::string& text) {
  kruxos::Record record;
  record.collection = slack::kMessages;
  record.id = kA + "/" + ts;
  record.json = slack::ObjectWriter()
                    .text("user_id", "U0PERSON01")
                    .text("channel_id", kA)
                    .text("id", record.id)
                    .text("ts", ts)
                    .text("text", text)
                    .text("thread_ts", "")
                    .raw("reactions", "[]")
                    .raw("edited_at", "null")
                    .done();
  record.text = text;
  record.order_ms = std::stoll(ts.substr(0, ts.find('.'))) * 1000;
  record.scope = kA;
  record.generation = 1;
  record.fields = {{"channel_id", kA}, {"user_id", "U0PERSON01"}};
  return record;
}

std::string found(Rig& rig, const std::string& params) {
  const auto out = slack::parse(slack::read_capability(rig.store.reader(), "slack.search", params));
  REQUIRE_FALSE(out.HasParseError());
  std::string texts;
  for (const auto& m : out["messages"].GetArray()) texts += std::string(m["text"].GetString()) + "|";
  return texts;
}

}  // namespace

TEST_CASE("records of an earlier version are searched and ordered as new ones, and none is lost") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.pass();
  rig.store.cursors.erase("carried");
  auto store = rig.store.store();
  // Long before what a look back asks Slack for.
  store.put(earlier_record("1500000000.000300", "third <http://x.test/plan|the plan>"));
  store.put(earlier_record("1500000000.000100", "first :smile:"));
  store.put(earlier_record("1500000000.000200", "second R&amp;D"));
  for (int i = 0; i < 450; ++i)
    store.put(earlier_record(std::to_string(1500000100 + i / 3) + ".00000" + std::to_string(2 - i % 3), "old"));
  store.commit();
  rig.restart();
  rig.next_pass();
  CHECK(rig.replica_size() == 453);
  CHECK(found(rig, R"({"to_date":"1500000000.999999"})") ==
        "third the plan (http://x.test/plan)|second R&D|first :smile:|");
  CHECK(found(rig, R"({"query":"\"third the plan\""})") == "third the plan (http://x.test/plan)|");
  CHECK(found(rig, R"({"query":"first \ud83d\ude04"})") == "first :smile:|");
  const auto carried = rig.store.cursors.at("carried");
  CHECK(carried.find(R"("form":2)") != std::string::npos);
  // Each third of a second is in order, over the ends of pages too.
  const auto out =
      slack::parse(slack::read_capability(rig.store.reader(), "slack.search", R"({"query":"old","limit":1000})"));
  std::string before = "9";
  REQUIRE(out["messages"].Size() == 450);
  for (const auto& m : out["messages"].GetArray()) {
    CHECK(std::string(m["ts"].GetString()) < before);
    before = m["ts"].GetString();
  }
  // Once is enough.
  const auto commits = rig.store.commits;
  rig.restart();
  rig.next_pass();
  CHECK(rig.store.commits - commits < 10);
}

TEST_CASE("a kill while records are carried loses none and doubles none") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.pass();
  rig.store.cursors.erase("carried");
  auto store = rig.store.store();
  for (int i = 0; i < 500; ++i) store.put(earlier_record("1500000000." + std::to_string(100'000 + i), "old"));
  store.commit();
  int refusals = 3;
  rig.store.refuse_commit = [&] { return refusals-- > 0 ? KRUX_STORAGE : KRUX_OK; };
  for (int i = 0; i < 4; ++i) {
    rig.restart();
    try {
      rig.next_pass();
    } catch (const kruxos::ProxyError&) {
    }
  }
  CHECK(rig.replica_size() == 500);
  CHECK(rig.store.cursors.at("carried").find(R"("form":2)") != std::string::npos);
}

TEST_CASE("integrations are shown and searched by the names that they post under") {
  Rig rig;
  auto& channel = rig.add_channel(kA, "general");
  rig.workspace().add_user({"U0PERSON01", "ada", "Ada", "ada"});
  const auto post = [&](const std::string& text, const std::string& user, const std::string& bot,
                        const std::string& name, const std::string& profile) {
    rig.host.clock.advance(1000);
    emu::Draft draft;
    draft.text = text;
    draft.user = user;
    draft.bot_id = bot;
    draft.username = name;
    draft.bot_name = profile;
    if (!profile.empty()) draft.app_id = "A0000000X";
    if (user.empty()) draft.subtype = "bot_message";
    rig.workspace().post(channel, draft, rig.host.clock.now_ms * 1000);
  };
  post("opened", "", "B0GITHUB01", "GitHub", "");
  post("failed", "", "B0GITHUB01", "Jenkins", "");
  post("paged", "", "B0PAGER001", "", "Pager");
  post("deployed", "U0PERSON01", "B0DEPLOY01", "Deploys", "");
  post("hello", "U0PERSON01", "", "", "");
  rig.pass();
  rig.next_pass();
  CHECK(found(rig, R"({"user":"GitHub"})") == "opened|");
  CHECK(found(rig, R"({"user":"git"})") == "opened|");
  CHECK(found(rig, R"({"user":"jenkins"})") == "failed|");
  CHECK(found(rig, R"({"user":"B0GITHUB01"})") == "failed|opened|");
  CHECK(found(rig, R"({"user":"pager"})") == "paged|");
  CHECK(found(rig, R"({"user":"deploys"})") == "deployed|");
  CHECK(found(rig, R"({"user":"U0PERSON01"})") == "hello|deployed|");
  CHECK(found(rig, R"({"user":"nobody"})").empty());
  const auto out = slack::parse(slack::read_capability(rig.store.reader(), "slack.search", "{}"));
  std::string names;
  for (const auto& m : out["messages"].GetArray()) names += std::string(m["user_name"].GetString()) + "|";
  CHECK(names == "ada|Deploys|Pager|Jenkins|GitHub|");
  // The list of users is looked at again and again, and takes no author away.
  for (int i = 0; i < 3; ++i) rig.next_pass();
  CHECK(found(rig, R"({"user":"GitHub"})") == "opened|");
  CHECK(rig.differences().empty());
}

TEST_CASE("files, blocks and mentions are read and found") {
  Rig rig;
  auto& channel = rig.add_channel(kA, "general");
  rig.workspace().add_user({"U0PERSON02", "bob", "Bob", "bobby"});
  rig.pass();  // who is mentioned is known
  emu::Draft draft;
  draft.user = "U0PERSON01";
  draft.subtype = "file_share";
  draft.text = "for <@U0PERSON02>: see <http://x.test/plan>";
  draft.files = {{"F0000000A", "budget-2026.xlsx", "The budget", "application/vnd.ms-excel", "xlsx", 12'345}};
  draft.blocks = R"([{"type":"section","text":{"type":"mrkdwn","text":"*quarterly* figures"}}])";
  rig.host.clock.advance(60'000);
  const auto ts = emu::format_ts(rig.workspace().post(channel, draft, rig.host.clock.now_ms * 1000).ts);
  rig.next_pass();
  const std::string text = "for @bob: see http://x.test/plan\n*quarterly* figures|";
  CHECK(found(rig, R"({"query":"budget-2026"})") == text);
  CHECK(found(rig, R"({"query":"\"the budget\""})") == text);
  CHECK(found(rig, R"({"query":"@bobby"})") == text);
  CHECK(found(rig, R"({"query":"\"see http://x.test/plan\""})") == text);
  CHECK(found(rig, R"({"query":"quarterly"})") == text);
  const auto out = slack::parse(
      slack::read_capability(rig.store.reader(), "slack.read", R"({"message_id":")" + kA + "/" + ts + "\"}"));
  const auto& message = out["message"];
  CHECK(message["subtype"] == "file_share");
  REQUIRE(message["files"].Size() == 1);
  const auto& file = message["files"][0];
  CHECK(file["name"] == "budget-2026.xlsx");
  CHECK(file["title"] == "The budget");
  CHECK(file["type"] == "application/vnd.ms-excel");
  CHECK(file["size"].GetInt() == 12'345);
  for (const char* own : {"markup", "mentions", "emoji", "unmarked", "username"}) CHECK_FALSE(message.HasMember(own));
  // A look back that sees the same changes nothing.
  CHECK(rig.differences().empty());
}

TEST_CASE("a broadcast with its root, a join and a me message are messages like others") {
  Rig rig;
  auto& channel = rig.add_channel(kA, "general");
  const auto first = rig.say(kA, "question");
  rig.say(kA, "answer", first, true);
  emu::Draft join;
  join.user = "U0PERSON01";
  join.subtype = "channel_join";
  join.text = "<@U0PERSON01> has joined the channel";
  rig.host.clock.advance(1000);
  rig.workspace().post(channel, join, rig.host.clock.now_ms * 1000);
  join.subtype = "me_message";
  join.text = "waves";
  rig.host.clock.advance(1000);
  rig.workspace().post(channel, join, rig.host.clock.now_ms * 1000);
  rig.pass();
  CHECK(rig.differences().empty());
  CHECK(found(rig, R"({"query":"joined"})") == "<@U0PERSON01> has joined the channel|");
  CHECK(found(rig, "{}") == "waves|<@U0PERSON01> has joined the channel|answer|question|");
}

TEST_CASE("messages of one millisecond keep Slack's order, and a timestamp is an exact end of a range") {
  Rig rig;
  auto& channel = rig.add_channel(kA, "general");
  const auto now = (rig.host.clock.now_ms + 1000) * 1000;
  const auto post = [&](int us, const std::string& text, emu::Ts thread = 0) {
    emu::Draft draft;
    draft.user = "U0PERSON01";
    draft.text = text;
    draft.thread_ts = thread;
    return rig.workspace().post(channel, draft, now + us).ts;
  };
  const auto parent = post(0, "zero");
  std::string newest_first, replies;
  for (int i = 1; i < 40; ++i) {
    post(i, std::to_string(i), i % 2 == 0 ? parent : 0);
    newest_first.insert(0, std::to_string(i) + "|");
    if (i % 2 == 0) replies += std::to_string(i) + "|";
  }
  rig.host.clock.advance(5000);
  rig.pass();
  CHECK(found(rig, R"({"limit":100})") == newest_first + "zero|");
  const auto ts = [&](int us) { return emu::format_ts(now + us); };
  CHECK(found(rig, R"({"limit":100,"from_date":")" + ts(37) + "\"}") == "39|38|37|");
  CHECK(found(rig, R"({"limit":100,"to_date":")" + ts(2) + "\"}") == "2|1|zero|");
  const auto between = [&](const std::string& more) {
    return R"({"from_date":")" + ts(10) + R"(","to_date":")" + ts(15) + "\"" + more + "}";
  };
  CHECK(found(rig, between("")) == "15|14|13|12|11|10|");
  CHECK(found(rig, between(R"(,"limit":4,"offset":1)")) == "14|13|12|11|");
  CHECK(found(rig, between(R"(,"limit":4,"offset":4)")) == "11|10|");
  const auto page = slack::parse(slack::read_capability(rig.store.reader(), "slack.search", between(R"(,"limit":4)")));
  CHECK(page["total"].GetInt() == 6);
  CHECK(page["next_offset"].GetInt() == 4);
  const auto last =
      slack::parse(slack::read_capability(rig.store.reader(), "slack.search", between(R"(,"limit":4,"offset":4)")));
  CHECK_FALSE(last.HasMember("next_offset"));
  const auto thread = slack::parse(
      slack::read_capability(rig.store.reader(), "slack.read", R"({"message_id":")" + kA + "/" + ts(0) + "\"}"));
  std::string came;
  for (const auto& reply : thread["thread_replies"].GetArray()) came += std::string(reply["text"].GetString()) + "|";
  CHECK(came == replies);
}

}  // namespace KRUXOS_TEST_FILE
