// slack.search, slack.read, slack.channels, and names resolved for writes.
#include "read.hpp"

#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>

#include "model.hpp"
#include "resolve.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using namespace slack;

namespace {

const std::string kA = "C0000000A", kB = "C0000000B";

struct Replica {
  kruxos::testing::FakeClock clock;
  kruxos::testing::FakeStore store{clock, collections()};

  Replica() {
    auto to = store.store();
    for (const char* json :
         {R"({"id":"C0000000A","name":"general","is_member":true,"num_members":4,"topic":{"value":"All"}})",
          R"({"id":"C0000000B","name":"random","is_private":true,"is_member":true})",
          R"({"id":"C0000000D","name":"archive","is_archived":true})"}) {
      to.put(*channel_record(parse(json), 1));
    }
    for (const char* json : {R"({"id":"U0000000A","name":"ada","real_name":"Ada Lovelace"})",
                             R"({"id":"U0000000B","name":"bob","real_name":"Bob \"B\" Adams"})"}) {
      to.put(*user_record(parse(json), 1));
    }
    put(kA, "1700000001.000000", "U0000000A", "The R&amp;D meeting", "");
    put(kA, "1700000002.000000", "U0000000B", "lunch?", "1700000001.000000");
    put(kA, "1700000003.000000", "U0000000A", "yes", "1700000001.000000");
    put(kB, "1700000004.000000", "B0000000X", "build \"42\" is red", "");
    to.commit();
  }
  void put(const std::string& channel, const std::string& ts, const std::string& user, const std::string& text,
           const std::string& thread) {
    Message m;
    m.channel = channel;
    m.ts = ts;
    m.user = user;
    m.text = text;
    m.thread_ts = thread;
    store.store().put(message_record(m, 1));
  }
  rapidjson::Document read(const std::string& capability, const std::string& params) {
    auto out = parse(read_capability(store.reader(), capability, params));
    REQUIRE_FALSE(out.HasParseError());
    return out;
  }
  /// The texts that a search finds, newest first.
  std::string found(const std::string& params) {
    const auto out = read("slack.search", params);
    std::string texts;
    for (const auto& m : out["messages"].GetArray()) texts += std::string(m["text"].GetString()) + "\n";
    return texts;
  }
  ErrorKind refused(const std::string& capability, const std::string& params) {
    try {
      read_capability(store.reader(), capability, params);
    } catch (const kruxos::ProxyError& e) {
      CHECK(std::string(e.what()).size() > 20);
      return e.kind();
    }
    return ErrorKind::kInternal;
  }
};

}  // namespace

TEST_CASE("search filters by channel, user, text and time") {
  Replica r;
  const std::string rd = "The R&D meeting\n", lunch = "lunch?\n", yes = "yes\n", red = "build \"42\" is red\n";
  CHECK(r.found("{}") == red + yes + lunch + rd);
  CHECK(r.found(R"({"channel":"general"})") == yes + lunch + rd);
  CHECK(r.found(R"({"channel":"#General"})") == yes + lunch + rd);
  CHECK(r.found(R"({"channel":"C0000000B"})") == red);
  CHECK(r.found(R"({"user":"bob"})") == lunch);
  CHECK(r.found(R"({"user":"LOVE"})") == yes + rd);
  CHECK(r.found(R"({"user":"ada"})") == yes + lunch + rd);  // a part of both names
  CHECK(r.found(R"({"user":"U0000000B"})") == lunch);
  CHECK(r.found(R"({"user":"B0000000X"})") == red);
  CHECK(r.found(R"({"user":"nobody"})").empty());
  CHECK(r.found(R"({"query":"r&d"})") == rd);
  CHECK(r.found(R"({"query":"MEET","channel":"random"})").empty());
  CHECK(r.found(R"({"query":"meeting r&d"})") == rd);
  CHECK(r.found(R"({"query":"MEET the"})") == rd);
  CHECK(r.found(R"({"query":"meeting lunch"})").empty());
  CHECK(r.found(R"({"query":"\"r&d meet\""})") == rd);
  CHECK(r.found(R"({"query":"\"meeting r&d\""})").empty());
  CHECK(r.found(R"({"query":"red build is"})") == red);
  CHECK(r.found(R"({"query":"  "})") == red + yes + lunch + rd);
  CHECK(r.found(R"({"from_date":"1700000003.000000"})") == red + yes);
  CHECK(r.found(R"({"to_date":"2023-11-14T22:13:22Z"})") == lunch + rd);
  CHECK(r.found(R"({"to_date":"2023-11-14"})") == red + yes + lunch + rd);
  CHECK(r.found(R"({"from_date":"2023-11-15"})").empty());
  CHECK(r.found(R"({"limit":1,"offset":1})") == yes);
  CHECK(r.read("slack.search", R"({"limit":1,"offset":1})")["next_offset"].GetInt() == 2);
  CHECK_FALSE(r.read("slack.search", R"({"limit":2,"offset":2})").HasMember("next_offset"));
}

TEST_CASE("people who could not all be looked for in time are not taken for all there are") {
  Replica r;
  r.store.out_of_time = true;
  CHECK(r.refused("slack.search", R"({"user":"ada"})") == ErrorKind::kInvalid);
  CHECK(r.read("slack.search", R"({"user":"U0000000B"})")["incomplete"].IsTrue());
}

TEST_CASE("a found message has its names, its time and its id, and no more") {
  Replica r;
  const auto out = r.read("slack.search", R"({"query":"lunch"})");
  CHECK(out["total"].GetInt() == 1);
  const auto& m = out["messages"][0];
  CHECK(m["id"] == "C0000000A/1700000002.000000");
  CHECK(m["channel_id"] == "C0000000A");
  CHECK(m["channel_name"] == "general");
  CHECK(m["user_id"] == "U0000000B");
  CHECK(m["user_name"] == "bob");
  CHECK(m["thread_ts"] == "1700000001.000000");
  CHECK(m["time"] == "2023-11-14T22:13:22Z");
  CHECK(m["ts"] == "1700000002.000000");
  CHECK(m["text"] == "lunch?");
  CHECK(m.MemberCount() == 9);  // nothing that is empty, and nothing that freshness says
}

TEST_CASE("search says what is wrong with its arguments") {
  Replica r;
  for (const char* bad : {R"({"channel":"nowhere"})", R"({"query":"\"not closed"})", R"({"query":"\"\""})",
                          R"({"from_date":"soon"})", R"({"to_date":"2026"})", "[]", "{"}) {
    INFO(bad);
    CHECK(r.refused("slack.search", bad) == ErrorKind::kInvalid);
  }
  auto to = r.store.store();
  for (int i = 0; i < 250; ++i) {
    to.put(*user_record(parse(R"({"id":"U1)" + std::to_string(i) + R"(","name":"same"})"), 1));
  }
  to.commit();
  CHECK(r.refused("slack.search", R"({"user":"same"})") == ErrorKind::kInvalid);
  CHECK(r.refused("slack.nothing", "{}") == ErrorKind::kUnsupported);
}

TEST_CASE("a message is read with its thread, from either end") {
  Replica r;
  for (const char* id : {"C0000000A/1700000001.000000", "C0000000A/1700000003.000000"}) {
    const auto out = r.read("slack.read", std::string(R"({"message_id":")") + id + "\"}");
    CHECK(out["message"]["id"] == id);
    REQUIRE(out["thread_replies"].Size() == 2);
    CHECK(out["thread_replies"][0]["text"] == "lunch?");
    CHECK(out["thread_replies"][1]["text"] == "yes");
    // What all of a thread have in common the message says.
    CHECK(out["message"]["channel_name"] == "general");
    CHECK(out["thread_replies"][0]["id"] == "C0000000A/1700000002.000000");
    CHECK(out["thread_replies"][0]["user_name"] == "bob");
    for (const char* common : {"channel_id", "channel_name", "thread_ts"})
      CHECK_FALSE(out["thread_replies"][0].HasMember(common));
  }
  CHECK(r.read("slack.read", R"({"message_id":"C0000000B/1700000004.000000"})")["thread_replies"].Empty());
  CHECK(r.refused("slack.read", R"({"message_id":"C0000000A/1700000009.000000"})") == ErrorKind::kNotFound);
  for (const char* bad : {"", "C0000000A", "C0000000A/x", "/1.0"}) {
    CHECK(r.refused("slack.read", std::string(R"({"message_id":")") + bad + "\"}") == ErrorKind::kInvalid);
  }
}

TEST_CASE("channels are listed by name, page by page") {
  Replica r;
  const auto all = r.read("slack.channels", "{}");
  REQUIRE(all["channels"].Size() == 3);
  CHECK(all["total"].GetInt() == 3);
  CHECK(all["channels"][0]["name"] == "archive");
  const auto& general = all["channels"][1];
  CHECK(general["topic"] == "All");
  CHECK(general["member_count"].GetInt() == 4);
  CHECK(general["is_member"].GetBool());
  CHECK_FALSE(general["is_private"].GetBool());
  CHECK_FALSE(general.HasMember("synced_at"));
  CHECK_FALSE(all["channels"][0].HasMember("topic"));
  const auto page = r.read("slack.channels", R"({"limit":1,"offset":2})");
  REQUIRE(page["channels"].Size() == 1);
  CHECK(page["channels"][0]["name"] == "random");
  CHECK(r.read("slack.channels", R"({"name_contains":"ENER"})")["channels"].Size() == 1);
}

TEST_CASE("a list of channels has a hundred, unless more are asked for, and says how many there are") {
  Replica r;
  auto to = r.store.store();
  for (int i = 0; i < 150; ++i) {
    const auto number = std::to_string(1000 + i);
    to.put(*channel_record(parse(R"({"id":"C00000)" + number + R"(","name":"team-)" + number + "\"}"), 1));
  }
  to.commit();
  const auto page = r.read("slack.channels", "{}");
  CHECK(page["channels"].Size() == 100);
  CHECK(page["total"].GetInt() == 153);
  CHECK(r.read("slack.channels", R"({"limit":1000})")["channels"].Size() == 153);
}

TEST_CASE("names of a write's parameters are resolved to ids") {
  Replica r;
  const auto resolved = [&](const char* params) { return resolve_params(r.store.reader(), "slack.send", params); };
  CHECK(resolved(R"({"channel":"#general","text":"hi"})") == R"({"channel":"C0000000A","text":"hi"})");
  CHECK(resolved(R"({"channel":"C0000000Z","text":"hi"})") == R"({"channel":"C0000000Z","text":"hi"})");
  for (const char* bad : {R"({"channel":"nowhere"})", R"({"channel":5})", "[]", ""}) {
    INFO(bad);
    CHECK_THROWS_AS(resolved(bad), kruxos::ProxyError);
  }
  // A read's target: as it is.
  CHECK(resolve_params(r.store.reader(), "slack.read", R"({"message_id":"C0000000A/1700000002.000000"})") ==
        R"({"message_id":"C0000000A/1700000002.000000"})");
}

TEST_CASE("whichever way a message is named, the same write comes of it") {
  Replica r;
  const auto react = [&](const char* params) { return resolve_params(r.store.reader(), "slack.react", params); };
  const auto reply = [&](const char* params) { return resolve_params(r.store.reader(), "slack.reply", params); };
  const std::string reacted = R"({"channel":"C0000000A","reaction":"tada","ts":"1700000002.000000"})";
  for (
      const char* one :
      {R"({"message_id":"C0000000A/1700000002.000000","reaction":"tada"})",
       R"({"message_id":"general/1700000002.000000","reaction":":tada:"})",
       R"({"channel":"general","ts":"1700000002.000000","reaction":"tada"})",
       R"({"channel":"#general","ts":"C0000000A/1700000002.000000","reaction":"tada"})",
       R"({"ts":"C0000000A/1700000002.000000","reaction":"tada"})",
       R"({"channel":"general","message_id":"C0000000A/1700000002.000000","reaction":"tada"})",
       R"({"channel":"general","ts":"1700000002.000000","message_id":"C0000000A/1700000002.000000","reaction":"tada"})",
       R"({"ts":"1700000002.0","message_id":"C0000000A/1700000002","reaction":"tada"})",
       R"({"channel":"general","ts":"1700000002","reaction":"tada"})"}) {
    INFO(one);
    CHECK(react(one) == reacted);
    CHECK(resolve_params(r.store.reader(), "slack.remove_react", one) == reacted);
    CHECK(react(react(one).c_str()) == reacted);
  }
  // A message in a thread stands for its thread, the one that opens it too; so does one that the replica lacks.
  const std::string replied = R"({"channel":"C0000000A","text":"x","thread_ts":"1700000001.000000"})";
  for (
      const char* one :
      {R"({"message_id":"C0000000A/1700000002.000000","text":"x"})",
       R"({"message_id":"C0000000A/1700000001.000000","text":"x"})",
       R"({"channel":"general","thread_ts":"1700000002.000000","text":"x"})",
       R"({"channel":"general","thread_ts":"C0000000A/1700000003.000000","text":"x"})",
       R"({"channel":"general","thread_ts":"1700000001.000000","message_id":"C0000000A/1700000003.000000","text":"x"})",
       R"({"thread_ts":"1700000001.000000","message_id":"C0000000A/1700000003.000000","text":"x"})",
       R"({"thread_ts":"1700000003.000000","message_id":"C0000000A/1700000002.000000","text":"x"})"}) {
    INFO(one);
    CHECK(reply(one) == replied);
  }
  CHECK(reply(R"({"message_id":"C0000000Z/1700000009.000000","text":"x"})") ==
        R"({"channel":"C0000000Z","text":"x","thread_ts":"1700000009.000000"})");
}

TEST_CASE("a write that names no message, or two, is refused with what to give") {
  Replica r;
  const auto refused = [&](const char* operation, const std::string& params) {
    try {
      resolve_params(r.store.reader(), operation, params);
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.type() == "InvalidInput");
      return std::string(error.what());
    }
    return std::string("taken");
  };
  using Catch::Contains;
  for (const char* bad :
       {"", "C0000000A", "1700000001.000000", "C0000000A/", "C0000000A/x", "/1.0", "C0000000A/1.0/2"}) {
    INFO(bad);
    CHECK_THAT(refused("slack.react", R"({"reaction":"x","message_id":")" + std::string(bad) + "\"}"),
               Contains("message_id is"));
  }
  CHECK_THAT(refused("slack.reply", R"({"text":"x","message_id":"nowhere/1700000001.000000"})"),
             Contains("There is no channel \"nowhere\""));
  CHECK_THAT(refused("slack.reply", R"({"text":"x"})"), Contains("Give message_id, or channel and thread_ts."));
  CHECK_THAT(refused("slack.react", R"({"channel":"general","reaction":"x"})"),
             Contains("Give message_id, or channel and ts."));
  CHECK_THAT(refused("slack.react", R"({"ts":"1700000001.000000","reaction":"x"})"), Contains("Give message_id"));
  for (const char* bad : {"x", "", "2026-11-22T10:00:00Z"}) {
    INFO(bad);
    CHECK_THAT(refused("slack.reply", R"({"channel":"general","thread_ts":")" + std::string(bad) + "\"}"),
               Contains("goes into message_id"));
  }
  CHECK_THAT(refused("slack.reply", R"({"channel":"general","thread_ts":"C0000000A/x"})"), Contains("thread_ts is"));
  for (const char* two : {R"({"channel":"random","message_id":"C0000000A/1700000001.000000","reaction":"x"})",
                          R"({"channel":"random","ts":"C0000000A/1700000001.000000","reaction":"x"})",
                          R"({"ts":"C0000000B/1700000001.0","message_id":"C0000000A/1700000001.0","reaction":"x"})",
                          R"({"ts":"1700000001.000001","message_id":"C0000000A/1700000001.0","reaction":"x"})",
                          R"({"channel":"general","ts":"1700000002.000000","reaction":"x",
                              "message_id":"C0000000A/1700000001.000000"})"}) {
    INFO(two);
    CHECK_THAT(refused("slack.react", two), Contains("give message_id alone"));
  }
}

TEST_CASE("very long messages end a page early instead of making it unreadable") {
  Replica replica;
  const std::string text(39'000, 'x');
  for (int i = 0; i < 90; ++i) replica.put(kA, "17000001" + std::to_string(10 + i) + ".000000", "U0000000A", text, "");
  replica.put(kB, "1700000200.000000", "U0000000A", "parent", "1700000200.000000");
  for (int i = 0; i < 90; ++i) {
    replica.put(kB, "17000003" + std::to_string(10 + i) + ".000000", "U0000000A", text, "1700000200.000000");
  }
  replica.store.store().commit();
  const auto page = replica.read("slack.search", R"({"query":"xxx","limit":100})");
  CHECK(page["page_is_cut"].IsTrue());
  CHECK(page["total"].GetInt() == 180);
  const auto came = page["messages"].Size();
  CHECK(came > 50);
  CHECK(came < 60);
  const auto last = replica.read("slack.search", R"({"query":"xxx","limit":20,"offset":170})");
  CHECK_FALSE(last.HasMember("page_is_cut"));
  CHECK(last["messages"].Size() == 10);
  const auto thread = replica.read("slack.read", R"({"message_id":"C0000000B/1700000200.000000"})");
  CHECK(thread["total_replies"].GetInt() == 90);
  CHECK(thread["thread_replies"].Size() == came);
  CHECK(thread["next_offset"].GetUint() == came);
}

TEST_CASE("a long thread is read page by page, whether or not its first message is there") {
  for (const bool has_first : {true, false}) {
    Replica r;
    if (has_first) r.put(kB, "1700000100.000000", "U0000000A", "first", "1700000100.000000");
    for (int i = 1; i <= 7; ++i)
      r.put(kB, "170000010" + std::to_string(i) + ".000000", "U0000000A", std::to_string(i), "1700000100.000000");
    r.store.store().commit();
    const auto id = has_first ? "1700000100.000000" : "1700000104.000000";
    std::string texts;
    for (int offset = 0; offset < 100;) {
      const auto page = r.read("slack.read", R"({"message_id":"C0000000B/)" + std::string(id) +
                                                 R"(","limit":3,"offset":)" + std::to_string(offset) + "}");
      CHECK(page["total_replies"].GetInt() == 7);
      CHECK_FALSE(page.HasMember("thread_replies_incomplete"));
      CHECK(page["thread_replies"].Size() <= 3);
      for (const auto& reply : page["thread_replies"].GetArray()) texts += reply["text"].GetString();
      if (!page.HasMember("next_offset")) break;
      offset = page["next_offset"].GetInt();
    }
    CHECK(texts == "1234567");
    CHECK(r.read("slack.read", R"({"message_id":"C0000000B/)" + std::string(id) + R"(","offset":7})")["thread_replies"]
              .Empty());
  }
}

}  // namespace KRUXOS_TEST_FILE
