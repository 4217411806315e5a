// Messages and labels as records.
#include "model.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "message_text.hpp"
#include "searched_text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gmail;

namespace {

const char* const kMessage = R"({
  "id": "18cf192837465abc", "threadId": "18cf18a1b2e3f4d5", "labelIds": ["UNREAD", "INBOX", "Label_7"],
  "snippet": "Don&#39;t forget &lt;this&gt;", "historyId": "18014398509481999", "internalDate": "1700000001234",
  "sizeEstimate": 5000,
  "payload": {"mimeType": "multipart/mixed", "filename": "",
    "headers": [{"name": "From", "value": "Ada <ada@example.com>"}, {"name": "TO", "value": "bob@example.com"},
                {"name": "Subject", "value": "=?utf-8?q?Gr=C3=BC=C3=9Fe?="}, {"name": "Cc", "value": "carol@example.com"},
                {"name": "Message-Id", "value": "<abc@example.com>"}, {"name": "Received", "value": "x"}],
    "parts": [{"partId": "0", "mimeType": "text/plain", "filename": "", "body": {"size": 10}},
              {"partId": "1", "mimeType": "application/pdf", "filename": "Plan.PDF", "body": {"size": 4711}}]}})";

Message message_of(const std::string& json) {
  const auto message = message_from_gmail(parse(json));
  REQUIRE(message);
  return *message;
}

}  // namespace

TEST_CASE("a message is read as Gmail gives it") {
  const auto m = message_of(kMessage);
  CHECK(m.id == "18cf192837465abc");
  CHECK(m.thread_id == "18cf18a1b2e3f4d5");
  CHECK(shown(m.from) == "Ada <ada@example.com>");
  CHECK(shown(m.to) == "bob@example.com");
  CHECK(shown(m.cc) == "carol@example.com");
  CHECK(m.subject == "Grüße");
  CHECK(m.message_id == "abc@example.com");
  CHECK(m.snippet == "Don't forget <this>");
  CHECK(m.labels == std::vector<std::string>{"INBOX", "Label_7", "UNREAD"});
  CHECK(m.date_ms == 1'700'000'001'234);
  CHECK_FALSE(m.is_read());
  REQUIRE(m.attachments.size() == 1);
  CHECK(m.attachments[0].filename == "Plan.PDF");
  CHECK(m.attachments[0].part_id == "1");
  CHECK(m.attachments[0].size == 4711);
}

TEST_CASE("a record says the same") {
  const auto m = message_of(kMessage);
  const auto record = message_record(m);
  CHECK(record.order_ms == m.date_ms);
  const auto back = message_from_record(record.json);
  REQUIRE(back);
  CHECK(message_record(*back).json == record.json);
  CHECK(message_record(*back).text == record.text);
  CHECK(message_record(*back).tags == record.tags);
  CHECK(message_record(*back).texts == record.texts);
}

TEST_CASE("labels are added and removed once") {
  auto m = message_of(kMessage);
  m.add("STARRED");
  m.add("STARRED");
  m.remove("UNREAD");
  m.remove("UNREAD");
  CHECK(m.labels == std::vector<std::string>{"INBOX", "Label_7", "STARRED"});
  CHECK(m.is_read());
}

TEST_CASE("what is searched are the words, tags for labels and what they lack, and texts by name") {
  const auto record = message_record(message_of(kMessage));
  CHECK(record.text ==
        "Ada <ada@example.com>\x1f"
        "bob@example.com\x1f"
        "Grüße\x1f"
        "Don't forget <this>");
  using Texts = std::vector<std::pair<std::string, std::string>>;
  CHECK(record.texts == Texts{{kFromText, person_text("Ada", "ada@example.com")},
                              {kToText, person_text("", "bob@example.com")},
                              {kCcText, person_text("", "carol@example.com")},
                              {kSubjectText, "Grüße"},
                              {kFilenameText, "Plan.PDF"}});
  CHECK(record.tags ==
        std::vector<std::string>{"INBOX", "Label_7", "UNREAD", lacking("IMPORTANT"), kHasUserLabel, kHasAttachment});
}

TEST_CASE("a message without an id or a date is none") {
  for (const char* json : {"{}", "[]", R"({"id":"1"})", R"({"internalDate":"1"})", R"({"id":"","internalDate":"1"})",
                           R"({"id":"1","internalDate":"soon"})", R"({"id":7,"internalDate":"1"})"}) {
    INFO(json);
    CHECK_FALSE(message_from_gmail(parse(json)));
  }
  CHECK(message_of(R"({"id":"1","internalDate":"-5"})").date_ms == -5);
  CHECK(message_of(R"({"id":"1","internalDate":"9000000000000000000"})").date_ms == 17'000'000'000'000);
}

TEST_CASE("a message with members of other types cannot be read, one that lacks some can") {
  const auto readable = [](const std::string& members) {
    return message_from_gmail(parse(R"({"id":"1","internalDate":"5",)" + members + "}")).has_value();
  };
  for (const char* members :
       {R"("labelIds":["A",7])", R"("labelIds":"A")", R"("snippet":[])", R"("sizeEstimate":"x")", R"("threadId":{})",
        R"("payload":7)", R"("payload":{"headers":7})", R"("payload":{"headers":[7]})",
        R"("payload":{"headers":[{"name":1,"value":"a"}]})", R"("payload":{"headers":[{"name":"From","value":2}]})",
        R"("payload":{"parts":[1]})", R"("payload":{"parts":[{"filename":7}]})", R"("payload":{"parts":[{"body":3}]})",
        R"("payload":{"parts":[{"parts":[{"body":{"size":"x"}}]}]})"}) {
    INFO(members);
    CHECK_FALSE(readable(members));
  }
  const auto m = message_of(R"({"id":"1","internalDate":"5","payload":{"headers":[{"name":"From"},{}],"parts":[{},
    {"filename":"f"}]}})");
  CHECK(m.labels.empty());
  CHECK(m.from.empty());
  REQUIRE(m.attachments.size() == 1);
  CHECK(m.attachments[0].size == 0);
}

TEST_CASE("long headers are cut between addresses, which is said, and many attachments end") {
  std::string to, parts;
  for (int i = 0; i < 5'000; ++i) to += "ü@example.com, ";
  for (int i = 0; i < 300; ++i) parts += std::string(i ? "," : "") + R"({"filename":"a.txt","body":{"size":1}})";
  const auto m = message_of(R"({"id":"1","internalDate":"5","payload":{"headers":[{"name":"To","value":")" + to +
                            R"("}],"parts":[)" + parts + "]}}");
  CHECK(shown(m.to).size() <= 16'384);
  CHECK(shown(m.to).size() > 15'900);
  CHECK(std::all_of(m.to.begin(), m.to.end(), [](const auto& one) { return one.address == "ü@example.com"; }));
  CHECK(m.cut == std::vector<std::string>{"to"});
  CHECK(message_from_record(message_record(m).json)->cut == m.cut);
  CHECK(m.attachments.size() == 100);
  CHECK(message_record(m).json.size() < (1 << 20));
}

TEST_CASE("addresses are told apart before names are decoded") {
  const auto of = [](const std::string& from) {
    return message_of(R"({"id":"1","internalDate":"5","payload":{"headers":[{"name":"From","value":)" +
                      gmail::quoted(from) + "}]}}");
  };
  const auto m = of("=?utf-8?Q?Boss_<boss=40example.com>,?= <evil@attacker.test>");
  CHECK(m.from == std::vector<MailAddress>{{"Boss <boss@example.com>,", "evil@attacker.test"}});
  CHECK(shown(m.from) == "\"Boss <boss@example.com>,\" <evil@attacker.test>");
  CHECK(message_from_record(message_record(m).json)->from == m.from);
  CHECK(of("Postmaster").from.size() == 1);
  CHECK(shown(of("undisclosed-recipients:;").from) == "\"undisclosed-recipients:;\"");
  CHECK(of("").from.empty());
}

TEST_CASE("a record of an earlier version is read") {
  const auto m =
      message_from_record(R"({"id":"1","from":"Ada <ada@example.com>","to":"a@b.test, c@d.test","subject":"x"})");
  REQUIRE(m);
  CHECK(m->from == std::vector<MailAddress>{{"Ada", "ada@example.com"}});
  CHECK(m->to.size() == 2);
}

TEST_CASE("a sender that may be several is looked up in the mail") {
  const auto doubtful = [](const std::string& name, const std::string& value) {
    return has_doubtful_sender(parse(R"({"payload":{"headers":[{"name":)" + gmail::quoted(name) + R"(,"value":)" +
                                     gmail::quoted(value) + "}]}}"));
  };
  for (const char* value : {"finance@attacker.test, Docs <noreply@docs.example>", "Boss <boss@example.com>, <e@a.test>",
                            "boss@example.com <e@a.test>", "Boss <boss@example.com>, \" <e@a.test>",
                            "Boss (boss@example.com) <e@a.test>", "a@b.test, c@d.test"}) {
    INFO(value);
    CHECK(doubtful("From", value));
    CHECK(doubtful("reply-to", value));
    CHECK_FALSE(doubtful("To", value));
  }
  for (const char* value :
       {"Ada <ada@example.com>", "ada@example.com", "\"ada@example.com\" <ada@example.com>", "", "Postmaster",
        "\"Lee, Amy\" <amy@example.com>", "=?utf-8?Q?Boss_<boss=40example.com>,?= <evil@attacker.test>"}) {
    INFO(value);
    CHECK_FALSE(doubtful("From", value));
  }
  CHECK_FALSE(has_doubtful_sender(parse("{}")));
}

TEST_CASE("labels are found by any way of writing them") {
  CHECK(label_key("Clients/Acme Corp") == label_key("clients-acme-corp"));
  CHECK(label_key("GRÖSSE") == label_key("Größe"));
  const auto label = label_from_gmail(parse(R"({"id":"Label_1","name":"Clients/Acme","type":"user"})"));
  REQUIRE(label);
  const auto back = label_from_record(label_record(*label).json);
  CHECK((back->id == "Label_1" && back->name == "Clients/Acme" && !back->is_system));
  CHECK_FALSE(label_from_gmail(parse(R"({"name":"x"})")));
}

TEST_CASE("snippets lose their entities, and nothing else") {
  CHECK(without_entities("&amp;lt; &#x41;&#66; &nbsp;&copy; & &; &#0; &#xD800; &#1114112; &amp") ==
        "&lt; AB \xC2\xA0&copy; & &; &#0; &#xD800; &#1114112; &amp");
}

TEST_CASE("a message's address asks for no body") {
  const auto url = message_url("a/b c");
  CHECK(url.starts_with("gmail/v1/users/me/messages/a%2Fb%20c?format=full&prettyPrint=false&fields="));
  CHECK(url.find("data") == std::string::npos);
  CHECK(url.size() < 2'000);
}

}  // namespace KRUXOS_TEST_FILE
