// Reading: profile, lists, messages, attachments, labels, threads.
#include <catch2/catch.hpp>

#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::gmail;

namespace {

const char* const kMixed =
    R"({"action": "deliver", "from": "Ada <ada@example.org>", "subject": "Über \"uns\" & <dich>", "body": "Hi & <there>",
        "html": "<p>Hi</p>", "attachments": [{"filename": "a.txt", "type": "text/plain", "text": "abc"}]})";

std::string header(const rapidjson::Value& payload, const std::string& name) {
  for (const auto& entry : payload["headers"].GetArray()) {
    if (name == entry["name"].GetString()) return entry["value"].GetString();
  }
  return "absent";
}

}  // namespace

TEST_CASE("a mailbox is listed in pages, newest first, whatever comes and goes between them") {
  Emulated gmail;
  gmail.told("seed", R"({"generate": {"messages": 250}})");
  CHECK(gmail.get("profile").text("emailAddress") == "agent@example.com");
  CHECK(gmail.get("profile").body["messagesTotal"].GetInt() == 250);
  std::string token, all;
  int pages = 0;
  do {
    const Answered page = gmail.get("messages?pageToken=" + token);
    REQUIRE(page.status == 200);
    all += page.column("messages", "id") + " ";
    token = page.text("nextPageToken");
    gmail.act(R"({"action": "deliver"})");
    gmail.act(R"({"action": "delete", "id": ")" + all.substr(all.size() - 17, 16) + "\"}");
    ++pages;
  } while (!token.empty());
  CHECK(pages == 3);
  CHECK(all.size() == 250 * 17);
  const Answered first = gmail.get("messages/" + all.substr(0, 16));
  CHECK(first.text("internalDate") == std::to_string(kNow - 60000));
  CHECK(std::stoull(first.text("historyId")) > (1ULL << 53));
}

TEST_CASE("an empty list has no list") {
  Emulated gmail;
  CHECK(gmail.get("messages?prettyPrint=false").http.body == R"({"resultSizeEstimate":0})");
  CHECK(gmail.get("threads?prettyPrint=false").http.body == R"({"resultSizeEstimate":0})");
  CHECK(gmail.get("drafts?prettyPrint=false").http.body == R"({"resultSizeEstimate":0})");
  const std::string id = gmail.act(R"({"action": "deliver", "labels": []})");
  CHECK(gmail.get("messages/" + id).labels() == "absent");
}

TEST_CASE("values of headers come decoded, or as they stand in the mail, and addresses are told apart before") {
  Emulated gmail;
  const std::string id =
      gmail.act(R"({"action": "deliver", "from": "=?utf-8?Q?Boss_<boss=40example.com>,?= <evil@attacker.test>",)"
                R"( "to": "\"Lee, David\" <agent@example.com>", "subject": "=?utf-8?Q?Gr=C3=BC=C3=9Fe?="})");
  const auto value = [&](const std::string& name) { return header(gmail.get("messages/" + id).body["payload"], name); };
  CHECK(value("From") == "Boss <boss@example.com>, <evil@attacker.test>");
  CHECK(value("Subject") == "Grüße");
  gmail.told("behaviour", R"({"header_values": "raw"})");
  CHECK(value("From") == "=?utf-8?Q?Boss_<boss=40example.com>,?= <evil@attacker.test>");
  CHECK(value("Subject") == "=?utf-8?Q?Gr=C3=BC=C3=9Fe?=");
  CHECK(gmail.tell("POST", "behaviour", R"({"header_values": "nice"})").status == 400);

  CHECK(gmail.get("messages?q=from:boss@example.com").column("messages", "id") == "absent");
  CHECK(gmail.get("messages?q=from:evil@attacker.test").column("messages", "id") == id);
  CHECK(gmail.get("messages?q=from:boss").column("messages", "id") == id);
  const HttpAnswer shown = gmail.tell("GET", "messages");
  CHECK(shown.body.find(R"("from":"\"Boss <boss@example.com>,\" <evil@attacker.test>")") != std::string::npos);
  CHECK(shown.body.find(R"("to":"\"Lee, David\" <agent@example.com>")") != std::string::npos);
}

TEST_CASE("a message comes as minimal, metadata, full and raw") {
  Emulated gmail;
  const std::string id = gmail.act(kMixed);
  const Answered minimal = gmail.get("messages/" + id + "?format=minimal");
  CHECK(minimal.labels() == "UNREAD INBOX");
  CHECK(minimal.text("snippet") == "Hi &amp; &lt;there&gt;");
  CHECK_FALSE(minimal.body.HasMember("payload"));
  const Answered metadata =
      gmail.get("messages/" + id + "?format=metadata&metadataHeaders=subject&metadataHeaders=FROM");
  CHECK(metadata.body["payload"]["headers"].Size() == 2);
  CHECK(header(metadata.body["payload"], "Subject") == "Über \"uns\" & <dich>");
  CHECK_FALSE(metadata.body["payload"].HasMember("parts"));
  const Answered full = gmail.get("messages/" + id);
  const rapidjson::Value& payload = full.body["payload"];
  CHECK(std::string(payload["partId"].GetString()).empty());
  CHECK(payload["body"]["size"].GetInt() == 0);
  const rapidjson::Value& alternative = payload["parts"][0];
  CHECK(alternative["mimeType"] == rapidjson::Value("multipart/alternative"));
  CHECK(alternative["parts"][0]["partId"] == rapidjson::Value("0.0"));
  CHECK(decode_base64url(alternative["parts"][0]["body"]["data"].GetString()) == "Hi & <there>");
  CHECK(payload["parts"][1]["filename"] == rapidjson::Value("a.txt"));
  CHECK_FALSE(payload["parts"][1]["body"].HasMember("data"));
  const Answered raw = gmail.get("messages/" + id + "?format=raw");
  CHECK(decode_base64url(raw.text("raw")).value().find("\r\nFrom: Ada <ada@example.org>\r\n") != std::string::npos);
}

TEST_CASE("an attachment has another handle at every look, and each one works") {
  Emulated gmail;
  const std::string id = gmail.act(kMixed);
  const auto handle = [&] {
    const Answered full = gmail.get("messages/" + id);
    return std::string(full.body["payload"]["parts"][1]["body"]["attachmentId"].GetString());
  };
  const std::string first = handle(), second = handle();
  CHECK(first != second);
  for (const std::string& each : {first, second}) {
    const Answered got = gmail.get("messages/" + id + "/attachments/" + each);
    CHECK(decode_base64url(got.text("data")) == "abc");
    CHECK(got.body["size"].GetInt() == 3);
  }
  const std::string other = gmail.act(R"({"action": "deliver"})");
  CHECK(gmail.get("messages/" + other + "/attachments/" + first).message() == "Invalid attachment token");
  CHECK(gmail.get("messages/" + id + "/attachments/nonsense").status == 400);
}

TEST_CASE("a large text comes as an attachment") {
  Emulated gmail;
  gmail.told("behaviour", R"({"inline_text_max": 10})");
  const std::string id = gmail.act(R"({"action": "deliver", "body": "longer than ten"})");
  const Answered full = gmail.get("messages/" + id);
  CHECK(full.body["payload"]["body"].HasMember("attachmentId"));
  CHECK_FALSE(full.body["payload"]["body"].HasMember("data"));
}

TEST_CASE("ids that are none and ids of nothing are told apart") {
  Emulated gmail;
  const Answered nothing = gmail.get("messages/18bcfe5680000000");
  CHECK(nothing.status == 404);
  CHECK(nothing.message() == "Requested entity was not found.");
  CHECK(nothing.reason() == "notFound");
  CHECK(nothing.error_text("status") == "NOT_FOUND");
  CHECK(gmail.get("messages/not-an-id").message() == "Invalid id value");
  CHECK(gmail.get("threads/18bcfe5680000000").status == 404);
  CHECK(gmail.get("drafts/r1").status == 404);
  CHECK(gmail.get("labels/Label_9").status == 404);
}

TEST_CASE("lists choose by labels, all of them, and leave out spam and trash") {
  Emulated gmail;
  const std::string read = gmail.act(R"({"action": "deliver", "labels": ["INBOX"]})");
  const std::string unread = gmail.act(R"({"action": "deliver"})");
  const std::string gone = gmail.act(R"({"action": "deliver", "labels": ["TRASH"]})");
  CHECK(gmail.get("messages?labelIds=INBOX&labelIds=UNREAD").column("messages", "id") == unread);
  CHECK(gmail.get("messages").body["messages"].Size() == 2);
  CHECK(gmail.get("messages?includeSpamTrash=true").body["messages"].Size() == 3);
  CHECK(gmail.get("messages?labelIds=TRASH").column("messages", "id") == gone);
  CHECK(gmail.get("messages?q=in:trash").column("messages", "id") == gone);
  CHECK(gmail.get("messages?labelIds=Label_7").message() == "Invalid label: Label_7");
  CHECK(gmail.get("messages?maxResults=501").status == 400);
  CHECK(gmail.get("messages?maxResults=many").status == 400);
  CHECK(gmail.get("messages?pageToken=nonsense").message() == "Invalid pageToken");
  CHECK(gmail.get("messages?maxResults=1").body["resultSizeEstimate"].GetInt() == 201);
}

TEST_CASE("a body's fields have their types, before anything is looked for") {
  Emulated gmail;
  for (const char* wrong : {R"({"historyId": "x"})", R"({"internalDate": []})", R"({"payload": 5})", R"({"raw": 5})",
                            R"({"classificationLabelValues": [5]})", R"({"labelIds": "INBOX"})"}) {
    CAPTURE(wrong);
    CHECK(gmail.post("messages/send", wrong).message().find("Invalid value at") == 0);
  }
  const std::string right = R"({"historyId": "5", "internalDate": -5, "payload": {}, "raw": "VG86IGFAYi5jCgo"})";
  CHECK(gmail.post("messages/send", right).status == 200);
  CHECK(gmail.post("labels", R"({"name": "x", "type": "mine"})").message() == "Invalid value at 'type'");
  CHECK(gmail.post("messages?internalDateSource=x", "{}").message().find("internal_date_source") != std::string::npos);
  CHECK(gmail.get("history?startHistoryId=1&maxResults=x").status == 400);
}

TEST_CASE("labels are made, renamed, counted and deleted, system ones are not") {
  Emulated gmail;
  const Answered made = gmail.post("labels", R"({"name": "Work/2026", "labelListVisibility": "labelShow"})");
  REQUIRE(made.status == 200);
  const std::string id = made.text("id");
  CHECK(made.text("type") == "user");
  const Answered twice = gmail.post("labels", R"({"name": "work/2026"})");
  CHECK(twice.status == 409);
  CHECK(twice.message() == "Label name exists or conflicts");
  CHECK(gmail.post("labels", R"({"name": "inbox"})").message() == "Invalid label name");
  CHECK(gmail.post("labels", R"({"name": " "})").message() == "Invalid label name");
  CHECK(gmail.post("labels", R"({"name": "x", "labelListVisibility": "bold"})").status == 400);
  const std::string message = gmail.act(R"({"action": "deliver"})");
  CHECK(gmail.post("messages/" + message + "/modify", R"({"addLabelIds": [")" + id + "\"]}").status == 200);
  const Answered counted = gmail.get("labels/" + id);
  CHECK(counted.body["messagesTotal"].GetInt() == 1);
  CHECK(counted.body["threadsUnread"].GetInt() == 1);
  CHECK_FALSE(gmail.get("labels").body["labels"][0].HasMember("messagesTotal"));
  CHECK(gmail.call("PATCH", "labels/" + id, R"({"name": "Play"})").text("name") == "Play");
  CHECK(gmail.call("PATCH", "labels/INBOX", R"({"name": "Play2"})").status == 400);
  CHECK(gmail.call("DELETE", "labels/INBOX").message() == "Invalid delete request");
  CHECK(gmail.call("DELETE", "labels/" + id).status == 204);
  CHECK(gmail.get("messages/" + message).labels() == "UNREAD INBOX");
}

TEST_CASE("threads hold what belongs together by references and subject") {
  Emulated gmail;
  const auto deliver = [&](const std::string& subject, const std::string& id, const std::string& references) {
    return gmail.act(R"({"action": "deliver", "subject": ")" + subject + R"(", "message_id": ")" + id +
                     R"(", "headers": {"References": ")" + references + "\"}}");
  };
  const std::string first = deliver("Plan", "<1@x.org>", "");
  const std::string reply = deliver("Re: plan", "<2@x.org>", "<1@x.org>");
  const std::string other = deliver("Another", "<3@x.org>", "<1@x.org>");
  CHECK(gmail.get("messages/" + reply).text("threadId") == first);
  CHECK(gmail.get("messages/" + other).text("threadId") == other);
  CHECK(gmail.get("threads").body["threads"].Size() == 2);
  const Answered thread = gmail.get("threads/" + first + "?format=metadata");
  CHECK(thread.column("messages", "id") == first + " " + reply);
  CHECK(gmail.post("threads/" + first + "/modify", R"({"removeLabelIds": ["UNREAD"]})").status == 200);
  CHECK(gmail.get("messages/" + reply).labels() == "INBOX");
  CHECK(gmail.post("threads/" + first + "/trash").status == 200);
  CHECK(gmail.get("threads").body["threads"].Size() == 1);
  CHECK(gmail.post("threads/" + first + "/untrash").status == 200);
  CHECK(gmail.call("DELETE", "threads/" + first).status == 204);
  CHECK(gmail.get("messages/" + reply).status == 404);
}

TEST_CASE("a large mailbox is grown and searched") {
  Emulated gmail;
  gmail.told("seed", R"({"generate": {"messages": 20000, "thread_length": 3}})");
  CHECK(gmail.state.mailbox().size() == 20000);
  CHECK(gmail.get("messages?q=rfc822msgid:grown.77@example.com").body["messages"].Size() == 1);
}

}  // namespace KRUXOS_TEST_FILE
