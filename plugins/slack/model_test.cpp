// Slack's JSON as it should be, and as it should not.
#include "model.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace slack;

namespace {

std::optional<Message> message_of(const std::string& json) {
  const auto document = parse(json);
  REQUIRE_FALSE(document.HasParseError());
  return message_from_slack(document, "C0000000A");
}

const kruxos::Value* field(const kruxos::Record& record, const std::string& name) {
  for (const auto& [key, value] : record.fields) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a message goes through its record and back") {
  const auto m =
      message_of(R"({"type":"message","user":"U1","text":"R&amp;D &lt;b&gt; \"quoted\" \u00e9","ts":"1700000001.000100",
    "thread_ts":"1700000001.000100","reply_count":2,"latest_reply":"1700000009.000000",
    "edited":{"user":"U1","ts":"1700000002.000000"},"reactions":[{"name":"tada","users":["U1","U2"],"count":3}]})");
  REQUIRE(m);
  auto pending = *m;
  pending.replies_pending = pending.thread_active = true;
  const auto record = message_record(pending, 7);
  CHECK(record.id == "C0000000A/1700000001.000100");
  CHECK(record.scope == "C0000000A");
  CHECK(record.order_ms == 1'700'000'001'000);
  CHECK(record.generation == 7);
  CHECK(record.text == "R&D <b> \"quoted\" \u00e9");
  CHECK(std::get<std::string>(*field(record, "active_thread")) == "C0000000A");
  CHECK(field(record, "replies_pending"));
  const auto back = message_from_record(record.json);
  REQUIRE(back);
  CHECK(back->text == m->text);
  CHECK(back->user == "U1");
  CHECK(back->channel == "C0000000A");
  CHECK(back->edited_ts == "1700000002.000000");
  CHECK(back->latest_reply == m->latest_reply);
  CHECK(back->reply_count == 2);
  CHECK(back->replies_pending);
  REQUIRE(back->reactions.size() == 1);
  CHECK(back->reactions[0].count == 3);
  CHECK(back->reactions[0].users == std::vector<std::string>{"U1", "U2"});
  CHECK(message_record(*back, 7).json == record.json);
}

TEST_CASE("replies belong to their thread, broadcasts to the channel where the thread is unknown") {
  auto reply = *message_of(R"({"ts":"2.000000","thread_ts":"1.000000","text":"x"})");
  CHECK(reply.is_reply());
  CHECK(message_record(reply, 1).scope == "C0000000A/1.000000");
  reply.subtype = "thread_broadcast";
  CHECK(message_record(reply, 1).scope == "C0000000A/1.000000");
  reply.thread_unknown = true;
  CHECK(message_record(reply, 1).scope == "C0000000A");
  const auto parent = *message_of(R"({"ts":"1.000000","thread_ts":"1.000000","reply_count":1})");
  CHECK_FALSE(parent.is_reply());
  CHECK(parent.has_replies());
}

TEST_CASE("malformed messages never become nonsense") {
  for (const char* none : {"{}", R"({"ts":5})", R"({"ts":"x"})", R"({"ts":null,"text":"x"})", "[]", "5", "null"}) {
    INFO(none);
    CHECK_FALSE(message_of(none));
  }
  const auto odd = message_of(R"({"ts":"1.000000","thread_ts":[],"user":{},"text":7,"edited":[],"reactions":{"a":1},
    "reply_count":"3","latest_reply":1,"subtype":false})");
  REQUIRE(odd);
  CHECK(odd->text.empty());
  CHECK(odd->reply_count == 0);
  CHECK(odd->reactions.empty());
  const auto reactions = message_of(R"({"ts":"1.000000","reactions":[5,{"count":1},{"name":"x","users":[1,"U1",null]},
    {"name":"y","users":"U1","count":99999999999999999999}]})");
  REQUIRE(reactions);
  REQUIRE(reactions->reactions.size() == 2);
  CHECK(reactions->reactions[0].users == std::vector<std::string>{"U1"});
}

TEST_CASE("control characters stay, NULs too, which the host replaces and counts") {
  const auto m = message_of(R"({"ts":"1.000000","user":"U\u00001","text":"a\u0000b \u001b[31m \u001f\u0001"})");
  REQUIRE(m);
  const auto record = message_record(*m, 1);
  CHECK(record.text == std::string("a\0b \x1b[31m \x1f\x01", 12));
  CHECK(record.json.find(R"("text":"a\u0000b \u001B[31m \u001F\u0001")") != std::string::npos);
  const auto ts = parse(R"({"ts":"1.0000\u0000"})");
  CHECK_FALSE(message_from_slack(ts, "C0000000A"));
  const auto channel =
      channel_record(parse(R"({"id":"C0000000A","name":"ge\u0000neral","topic":{"value":"\u001b"}})"), 1);
  REQUIRE(channel);
  CHECK(channel->text == std::string("ge\0neral", 8));
  CHECK(channel->json.find(R"("topic":"\u001B")") != std::string::npos);
}

TEST_CASE("half of a surrogate pair in a message becomes U+FFFD") {
  const auto m = message_of(R"({"ts":"1.000000","text":"half \ud83d of it"})");
  REQUIRE(m);
  CHECK(m->text == "half \xEF\xBF\xBD of it");
}

TEST_CASE("deep and broken JSON is refused without a stack overflow") {
  const std::string deep(5'000'000, '[');
  CHECK(parse(deep).HasParseError());
  CHECK(parse(std::string(100, '[') + std::string(100, ']')).HasParseError() == false);
  CHECK(parse(std::string(200, '[') + std::string(200, ']')).HasParseError());
  CHECK_FALSE(parse("\"" + std::string(500, '[') + R"(\"[[")").HasParseError());
  for (const char* bad : {"", "{", "{\"a\":}", "nul", "{} {}", "\"\xff\"", "\"\\ud80\""}) {
    INFO(bad);
    CHECK(parse(bad).HasParseError());
  }
}

TEST_CASE("channels and users with fields missing") {
  CHECK_FALSE(channel_record(parse("{}"), 1));
  CHECK_FALSE(channel_record(parse(R"({"id":"C1/2"})"), 1));
  CHECK_FALSE(channel_record(parse("7"), 1));
  const auto channel =
      channel_record(parse(R"({"id":"C0000000A","name":"General","is_member":true,"num_members":"x"})"), 1);
  REQUIRE(channel);
  CHECK(channel->order_key == "general");
  CHECK(std::get<std::int64_t>(*field(*channel, "is_member")) == 1);
  CHECK(std::get<std::int64_t>(*field(*channel, "is_archived")) == 0);
  CHECK_FALSE(user_record(parse(R"({"name":"x"})"), 1));
  const auto user = user_record(parse(R"({"id":"U1","profile":{"real_name":"Ada L","display_name":"ada"}})"), 1);
  REQUIRE(user);
  CHECK(user->text ==
        "U1\x1f"
        "Ada L\x1f"
        "ada");
}

TEST_CASE("ids") {
  CHECK(is_id("C0123ABCD", "CG"));
  CHECK_FALSE(is_id("U0123ABCD", "CG"));
  CHECK_FALSE(is_id("C0123abcd", "CG"));
  CHECK_FALSE(is_id("C0123", "CG"));
  CHECK_FALSE(is_id("", "CG"));
  CHECK(parse_message_id("C1/1.000001")->ts == "1.000001");
  for (const char* bad : {"", "C1", "/1.0", "C1/", "C1/x", "C1/1.0/2"}) CHECK_FALSE(parse_message_id(bad));
}

}  // namespace KRUXOS_TEST_FILE
