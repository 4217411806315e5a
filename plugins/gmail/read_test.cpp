// email.search and email.read.
#include "read.hpp"

#include <catch2/catch.hpp>

#include "emulators/gmail/codec.hpp"
#include "test_support/reading_desk.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::testing::CallKind;
using namespace gmail;
using gmail::test::Desk;

namespace {

// m1 as it was sent.
const std::string kAnswer = "{\"raw\":\"" +
                            krux::test::gmail::encode_base64url(
                                "From: \"Ada \\\"A\\\"\" <ada@example.com>\r\nTo: me@example.com\r\n"
                                "Cc: bob@example.com\r\nSubject: Plans\r\n\r\nHello\r\n") +
                            "\"}";

void check_message(const Json& m) {
  CHECK(text_of(m, "id") == "m1");
  CHECK(text_of(m, "thread_id") == "t1");
  CHECK(text_of(m, "from") == "\"Ada \\\"A\\\"\" <ada@example.com>");
  CHECK_FALSE(m.HasMember("sender"));
  CHECK(text_of(m, "to") == "me@example.com");
  CHECK(text_of(m, "subject") == "Plans");
  CHECK(texts_of(m, "labels") == std::vector<std::string>{"INBOX", "Clients/Acme", "Label_9"});
  CHECK(text_of(m, "date") == "2023-11-14T22:13:20.000Z");
  CHECK(m["is_read"].GetBool());
}

}  // namespace

TEST_CASE("a search shows what the documents promise") {
  Desk desk;
  const auto out = desk.read("email.search", R"({"query":"plans","limit":20,"offset":0})");
  CHECK(out["total"].GetInt() == 1);
  REQUIRE(out["messages"].Size() == 1);
  check_message(out["messages"][0]);
  CHECK(out["messages"][0].MemberCount() == 10);
  CHECK(text_of(out["messages"][0], "snippet") == "the snippet");
  CHECK_FALSE(out["messages"][0]["has_attachments"].GetBool());
  CHECK_FALSE(out.HasMember("next_offset"));
  CHECK(desk.read("email.search", R"({"query":"nothing like it"})")["messages"].Empty());
}

TEST_CASE("a read shows the message once, with its body") {
  Desk desk;
  desk.host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(200, kAnswer);
  const auto out = desk.read("email.read", R"({"message_id":"m1"})", CallKind::kFetch);
  CHECK(out.MemberCount() == 5);
  check_message(out["message"]);
  CHECK(text_of(out, "subject") == text_of(out["message"], "subject"));
  CHECK(text_of(out, "sender") == text_of(out["message"], "from"));
  CHECK(text_of(out["message"], "cc") == "bob@example.com");
  CHECK(text_of(out["message"], "rfc822_message_id") == "x@y");
  CHECK_FALSE(out["message"].HasMember("bcc"));
  CHECK_FALSE(out["message"].HasMember("reply_to"));
  CHECK(text_of(out["body"], "text_plain") == "Hello\n");
  // The text is the body's, the attachments are listed, and its id is the message's.
  for (const char* twice : {"snippet", "has_attachments"}) CHECK_FALSE(out["message"].HasMember(twice));
  CHECK_FALSE(out["body"].HasMember("message_id"));
  CHECK(integer_of(out["body"], "total_chars") == 6);
  CHECK_FALSE(out["body"].HasMember("next_offset"));
  CHECK_FALSE(out["body"].HasMember("text_html"));
  CHECK(out["attachments"].Empty());
}

TEST_CASE("a search says where its next page begins") {
  Desk desk;
  auto to = desk.store.store();
  for (int i = 0; i < 5; ++i) {
    Message one;
    one.id = "n" + std::to_string(i);
    one.date_ms = 1'000 + i;
    to.put(message_record(one));
  }
  to.commit();
  const auto page = [&](int offset) {
    return desk.read("email.search",
                     R"({"query":"before:1971/1/1","limit":2,"offset":)" + std::to_string(offset) + "}");
  };
  CHECK(integer_of(page(0), "next_offset") == 2);
  CHECK(integer_of(page(2), "next_offset") == 4);
  CHECK_FALSE(page(4).HasMember("next_offset"));
  CHECK_FALSE(page(3).HasMember("next_offset"));
}

TEST_CASE("what a message does not have is left out") {
  Desk desk;
  Message bare;
  bare.id = "m9";
  auto to = desk.store.store();
  to.put(message_record(bare));
  to.commit();
  const auto found = desk.read("email.search", R"({"query":"before:1971/1/1"})");
  REQUIRE(found["messages"].Size() == 1);
  CHECK(json_text(found["messages"][0]) ==
        R"({"id":"m9","date":"1970-01-01T00:00:00.000Z","is_read":true,"has_attachments":false})");
}

TEST_CASE("a read tells what the mail hides from its text, and how much there is of it") {
  Desk desk;
  const auto mail = "Subject: Plans\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Hello</p><p hidden>" +
                    std::string(3'000, 'x') + "</p>";
  const auto answer = "{\"raw\":\"" + krux::test::gmail::encode_base64url(mail) + "\"}";
  desk.host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(200, answer);
  const auto out = desk.read("email.read", R"({"message_id":"m1"})", CallKind::kFetch);
  CHECK(text_of(out["body"], "text_plain") == "Hello");
  CHECK(text_of(out["body"], "hidden_text") == std::string(1'000, 'x'));
  CHECK(integer_of(out["body"], "hidden_total_chars") == 3'000);
}

TEST_CASE("a body that an earlier version has kept is fetched anew: what was hidden is part of its text") {
  Desk desk;
  desk.keep("head", R"({"subject":"Plans"})");
  desk.keep("body", R"("body":{"message_id":"m1","text_plain":"PREHEADER Hello"},"attachments":[])");
  desk.host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(200, kAnswer);
  const auto out = desk.read("email.read", R"({"message_id":"m1"})", CallKind::kFetch);
  CHECK(text_of(out["body"], "text_plain") == "Hello\n");
}

TEST_CASE("a long text comes in parts, and its HTML when it is asked for") {
  Desk desk;
  desk.keep("head", R"({"subject":"Plans"})");
  desk.keep(
      "body",
      R"("body":{"form":2,"message_id":"m1","text_plain":"a\u00e4\u20ac\ud83d\ude00z","text_html":"<p>longer</p>",)"
      R"("cached_at":"2023-11-14T22:13:20.000Z","is_cut":true,"problems":["It is odd."]},)"
      R"("attachments":[{"id":"1","filename":"","mime_type":"text/csv","size":5}])");
  const auto body = [&](const std::string& more) {
    return json_text(desk.read("email.read", R"({"message_id":"m1")" + more + "}")["body"]);
  };
  const std::string tail = R"("is_cut":true,"problems":["It is odd."],"cached_at":"2023-11-14T22:13:20.000Z"})";
  CHECK(body("") == "{\"text_plain\":\"a\u00e4\u20ac\U0001F600z\",\"total_chars\":5," + tail);
  CHECK(body(R"(,"max_chars":2)") == "{\"text_plain\":\"a\u00e4\",\"total_chars\":5,\"next_offset\":2," + tail);
  CHECK(body(R"(,"max_chars":3,"offset":2)") == "{\"text_plain\":\"\u20ac\U0001F600z\",\"total_chars\":5," + tail);
  CHECK(body(R"(,"offset":99)") == R"({"text_plain":"","total_chars":5,)" + tail);
  // As long as one of the two goes on.
  CHECK(body(R"(,"include_html":true,"max_chars":4,"offset":4)") ==
        R"({"text_plain":"z","total_chars":5,"text_html":"onge","html_total_chars":13,"next_offset":8,)" + tail);
  CHECK(body(R"(,"include_html":true,"max_chars":16000)").find("<p>longer</p>") != std::string::npos);
  // What no host lets through is kept within bounds all the same.
  CHECK(body(R"(,"max_chars":0,"offset":-1)").find(R"("text_plain":"a")") != std::string::npos);
  CHECK(json_text(desk.read("email.read", R"({"message_id":"m1"})")["attachments"]) ==
        R"([{"id":"1","mime_type":"text/csv","size":5}])");
}

TEST_CASE("a newsletter of 230 KB costs no more than was asked for") {
  Desk desk;
  desk.keep("head", R"({"subject":"News"})");
  desk.keep("body", R"("body":{"form":2,"message_id":"m1","text_plain":")" + std::string(50'000, 't') +
                        R"(","text_html":")" + std::string(230'000, 'h') + R"("},"attachments":[])");
  const auto out = desk.read("email.read", R"({"message_id":"m1"})");
  CHECK(text_of(out["body"], "text_plain").size() == 8'000);
  CHECK(integer_of(out["body"], "next_offset") == 8'000);
  CHECK(json_text(out).size() < 9'000);
  const auto most = desk.read("email.read", R"({"message_id":"m1","max_chars":60000})");
  CHECK(text_of(most["body"], "text_plain").size() == 16'000);
  const auto both = desk.read("email.read", R"({"message_id":"m1","max_chars":16000,"include_html":true})");
  CHECK(text_of(both["body"], "text_plain").size() == 8'000);
  CHECK(text_of(both["body"], "text_html").size() == 8'000);
  CHECK(integer_of(both["body"], "next_offset") == 8'000);
}

TEST_CASE("a kept body that cannot be read is fetched again") {
  Desk desk;
  desk.keep("head", R"({"subject":"Plans"})");
  desk.keep("body", R"("body":{"text_plain":)");
  desk.host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(200, kAnswer);
  CHECK(text_of(desk.read("email.read", R"({"message_id":"m1"})", CallKind::kFetch)["body"], "text_plain") ==
        "Hello\n");
}

TEST_CASE("a body that was fetched is kept, and found by its words") {
  Desk desk;
  desk.host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(200, kAnswer);
  kruxos::testing::FakeCall call(desk.host.clock, CallKind::kFetch);
  desk.reader.read(call.call(), desk.store.fetching_reader(), "email.read", R"({"message_id":"m1"})");
  CHECK(text_of(desk.read("email.read", R"({"message_id":"m1"})")["body"], "text_plain") == "Hello\n");
  CHECK(desk.read("email.search", R"({"query":"hello"})")["total"].GetInt() == 1);
}

TEST_CASE("a body that is kept is not fetched again") {
  Desk desk;
  desk.keep("head", R"({"subject":"Other plans","from":[{"name":"Bob","address":"bob@example.com"}],"cut":["to"]})");
  desk.keep("body", R"("body":{"form":2,"message_id":"m1","text_plain":"kept"},"attachments":[])");
  const auto out = desk.read("email.read", R"({"message_id":"m1"})");
  CHECK(text_of(out["body"], "text_plain") == "kept");
  const auto& message = out["message"];
  CHECK(text_of(message, "from") == "Bob <bob@example.com>");  // what the mail itself says
  CHECK(text_of(message, "subject") == "Other plans");
  CHECK(texts_of(message, "cut") == std::vector<std::string>{"to"});
}

TEST_CASE("a body that an earlier version kept is fetched again, with what the mail's header says") {
  Desk desk;
  desk.keep("body", R"("body":{"form":2,"message_id":"m1","text_plain":"kept"},"attachments":[])");
  desk.host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(200, kAnswer);
  CHECK(text_of(desk.read("email.read", R"({"message_id":"m1"})", CallKind::kFetch)["body"], "text_plain") ==
        "Hello\n");
}

TEST_CASE("what cannot be read is said") {
  Desk desk;
  CHECK(desk.refused("email.read", R"({"message_id":"m2"})") == "MessageNotFound");
  CHECK(desk.refused("email.read", "{}") == "MessageNotFound");
  CHECK(desk.refused("email.search", R"({"query":"from:"})") == "InvalidInput");
  CHECK(desk.refused("email.search", "nonsense") == "InvalidInput");
  desk.host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(404, "{}");
  CHECK(desk.refused("email.read", R"({"message_id":"m1"})") == "MessageNotFound");
}

}  // namespace KRUXOS_TEST_FILE
