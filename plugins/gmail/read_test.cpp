// email.search and email.read.
#include "read.hpp"

#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>

#include "emulators/gmail/codec.hpp"
#include "model.hpp"

using kruxos::testing::CallKind;
using namespace gmail;

namespace {

// m1 as it was sent.
const std::string kAnswer = "{\"raw\":\"" +
                            krux::test::gmail::encode_base64url(
                                "From: \"Ada \\\"A\\\"\" <ada@example.com>\r\nTo: me@example.com\r\n"
                                "Cc: bob@example.com\r\nSubject: Plans\r\n\r\nHello\r\n") +
                            "\"}";

struct Desk {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store{host.clock, collections()};
  ApiClient api{host.host().http()};
  MailReader reader{api, "me@example.com"};

  Desk() {
    auto to = store.store();
    to.put(label_record({"INBOX", "INBOX", true}));
    to.put(label_record({"Label_1", "Clients/Acme", false}));
    Message m;
    m.id = "m1";
    m.thread_id = "t1";
    m.from = {{"Ada \"A\"", "ada@example.com"}};
    m.to = {{"", "me@example.com"}};
    m.cc = {{"", "bob@example.com"}};
    m.subject = "Plans";
    m.snippet = "the snippet";
    m.labels = {"INBOX", "Label_1", "Label_9"};
    m.date_ms = 1'700'000'000'000;
    m.message_id = "x@y";
    to.put(message_record(m));
    to.commit();
  }
  rapidjson::Document read(const std::string& capability, const std::string& params, CallKind kind = CallKind::kRead) {
    kruxos::testing::FakeCall call(host.clock, kind);
    auto out = parse(reader.read(call.call(), store.reader(), capability, params));
    REQUIRE_FALSE(out.HasParseError());
    return out;
  }
  void keep(const char* name, std::string bytes) {
    auto to = store.store();
    to.put_blob(kMessages, "m1", name, -1, [&](char* buffer, std::size_t room) {
      const auto count = bytes.copy(buffer, room);
      bytes.erase(0, count);
      return static_cast<std::int64_t>(count);
    });
    to.commit();
  }
  std::string refused(const std::string& capability, const std::string& params) {
    kruxos::testing::FakeCall call(host.clock, CallKind::kFetch);
    try {
      reader.read(call.call(), store.reader(), capability, params);
    } catch (const kruxos::ProxyError& e) {
      return e.type();
    }
    return "taken";
  }
};

void check_message(const Json& m) {
  CHECK(text_of(m, "id") == "m1");
  CHECK(text_of(m, "thread_id") == "t1");
  CHECK(text_of(m, "from") == "\"Ada \\\"A\\\"\" <ada@example.com>");
  CHECK(text_of(m, "sender") == text_of(m, "from"));
  CHECK(text_of(m, "to") == "me@example.com");
  CHECK(text_of(m, "subject") == "Plans");
  CHECK(text_of(m, "snippet") == "the snippet");
  CHECK(texts_of(m, "labels") == std::vector<std::string>{"INBOX", "Clients/Acme", "Label_9"});
  CHECK(text_of(m, "date") == "2023-11-14T22:13:20.000Z");
  CHECK(m["is_read"].GetBool());
  CHECK_FALSE(m["has_attachments"].GetBool());
}

}  // namespace

TEST_CASE("a search shows what the documents promise") {
  Desk desk;
  const auto out = desk.read("email.search", R"({"query":"plans","limit":20,"offset":0})");
  CHECK(out["total"].GetInt() == 1);
  REQUIRE(out["messages"].Size() == 1);
  check_message(out["messages"][0]);
  CHECK(out["messages"][0].MemberCount() == 11);
  CHECK(desk.read("email.search", R"({"query":"nothing like it"})")["messages"].Empty());
}

TEST_CASE("a read shows the message, beside it and within, with its body") {
  Desk desk;
  desk.host.expect("GET", "gmail/v1/users/me/messages/m1?format=raw&fields=raw").answers(200, kAnswer);
  const auto out = desk.read("email.read", R"({"message_id":"m1"})", CallKind::kFetch);
  check_message(out);
  check_message(out["message"]);
  CHECK(text_of(out, "cc") == "bob@example.com");
  CHECK(text_of(out, "rfc822_message_id") == "x@y");
  CHECK(text_of(out["body"], "text_plain") == "Hello\n");
  CHECK(text_of(out["body"], "message_id") == "m1");
  CHECK(out["attachments"].Empty());
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
  desk.keep("body", R"("body":{"message_id":"m1","text_plain":"kept"},"attachments":[])");
  const auto out = desk.read("email.read", R"({"message_id":"m1"})");
  CHECK(text_of(out["body"], "text_plain") == "kept");
  CHECK(text_of(out, "from") == "Bob <bob@example.com>");  // what the mail itself says
  CHECK(text_of(out, "subject") == "Other plans");
  CHECK(texts_of(out, "cut") == std::vector<std::string>{"to"});
}

TEST_CASE("a body that an earlier version kept is fetched again, with what the mail's header says") {
  Desk desk;
  desk.keep("body", R"("body":{"message_id":"m1","text_plain":"kept"},"attachments":[])");
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
