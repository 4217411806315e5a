// What is shown of records, whatever stands in them.
#include "answers.hpp"

#include <catch2/catch.hpp>

#include "model.hpp"

namespace KRUXOS_TEST_FILE {

using namespace slack;

namespace {

Message message() {
  Message m;
  m.channel = "C0000000A";
  m.ts = "1700000002.000100";
  m.user = "U0000000B";
  m.text = "lunch?";
  return m;
}

std::string shown(const std::string& json, std::string_view user = "\"bob\"") {
  std::string out = "[";
  append_message(json, {user, "\"general\""}, out);
  return out.substr(1);
}
std::string shown(const Message& m) {
  return shown(message_record(m, 1).json);
}

}  // namespace

TEST_CASE("a message is shown with names and a time, without what is empty") {
  CHECK(
      shown(message()) ==
      R"({"user_name":"bob","channel_name":"general","user_id":"U0000000B","channel_id":"C0000000A",)"
      R"("id":"C0000000A/1700000002.000100","time":"2023-11-14T22:13:22Z","ts":"1700000002.000100","text":"lunch?"})");
}

TEST_CASE("what a message has is shown, without what the sync keeps for itself") {
  auto m = message();
  m.thread_ts = m.ts;
  m.reactions = {{"tada", 2, {"U1", "U2"}}, {"odd \"]},{", 1, {}}};
  m.edited_ts = "1700000009.000000";
  m.latest_reply = "1700000008.000000";
  m.reply_count = 3;
  m.bot_id = "B1";
  m.subtype = "bot_message";
  m.replies_pending = true;
  const auto json = parse(shown(m));
  REQUIRE_FALSE(json.HasParseError());
  CHECK(json.MemberCount() == 14);
  CHECK(json["reactions"].Size() == 2);
  CHECK(json["reactions"][1]["name"] == "odd \"]},{");
  CHECK(json["edited_at"] == "2023-11-14T22:13:29.000Z");
  CHECK(json["reply_count"].GetInt() == 3);
  for (const char* own : {"edited_ts", "latest_reply", "replies_pending"}) CHECK_FALSE(json.HasMember(own));
}

TEST_CASE("whatever a message says, its members are told apart") {
  for (const char* text :
       {"", "\"", "\\", "\\\"", "ends with \\", "\",\"ts\":\"", "\"thread_ts\":\"\",\"reactions\":[]", "{[}]",
        "a\nb\t\x01", "\u00e4\U0001F600", "null", "\\\\\"}", ",\"edited_ts\":\"1.0\","}) {
    INFO(text);
    auto m = message();
    m.text = text;
    m.edited_ts = "1700000009.000000";
    const auto json = parse(shown(m));
    REQUIRE_FALSE(json.HasParseError());
    CHECK(text_of(json, "text") == text);
    CHECK(json.HasMember("text") == (*text != '\0'));
    CHECK(text_of(json, "ts") == m.ts);
    CHECK(text_of(json, "time") == "2023-11-14T22:13:22Z");
    CHECK(json.MemberCount() == (*text ? 9U : 8U));
  }
}

TEST_CASE("a message of nobody, and records that are none, break nothing") {
  auto m = message();
  m.user.clear();
  CHECK_FALSE(parse(shown(message_record(m, 1).json, "\"\"")).HasMember("user_name"));
  CHECK(ids_of(message_record(m, 1).json).user.empty());
  CHECK(ids_of(message_record(m, 1).json).channel == "C0000000A");
  for (const char* odd : {"", "{", "{}", "[]", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":[\"",
                          "{\"a\":1", "{\"ts\":7}", "{\"ts\":\"x\"}"}) {
    INFO(odd);
    CHECK(ids_of(odd).channel.empty());
    CHECK_FALSE(shown(odd).empty());
  }
}

TEST_CASE("a channel is shown without what is empty") {
  const auto record =
      channel_record(parse(R"({"id":"C0000000A","name":"general","is_member":true,"num_members":4})"), 1);
  std::string out;
  append_channel(record->json, out);
  CHECK(
      out ==
      R"({"id":"C0000000A","name":"general","member_count":4,"is_private":false,"is_member":true,"is_archived":false})");
}

}  // namespace KRUXOS_TEST_FILE
