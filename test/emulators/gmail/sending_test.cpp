// Drafts, sending, and what is done to messages.
#include <catch2/catch.hpp>

#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::gmail;

namespace {

const std::string kMail =
    "To: Bo <bo@example.org>\r\nBcc: eve@example.org\r\nFrom: Somebody <else@example.net>\r\nSubject: Plan\r\n"
    "Message-ID: <given@kruxos.invalid>\r\nX-KruxOS-Write-Id: w_1\r\n\r\nHello";

std::string raw_json(const std::string& mail, const std::string& more = "") {
  return R"({"raw": ")" + encode_base64url(mail) + "\"" + more + "}";
}
std::string draft_json(const std::string& mail, const std::string& more = "") {
  return R"({"message": )" + raw_json(mail, more) + "}";
}

struct Desk : Emulated {
  std::string header(const std::string& id, const std::string& name) {
    const Answered got = get("messages/" + id + "?format=metadata&metadataHeaders=" + name);
    const rapidjson::Value* headers = krux::find_member(got.body["payload"], "headers");
    return headers ? text_or((*headers)[0], "value") : "absent";
  }
  MarkerCounts marker(const std::string& id) { return state.mailbox().markers[id]; }
};

}  // namespace

TEST_CASE("a mail that is sent is kept as Gmail sends it") {
  Desk gmail;
  const Answered sent = gmail.post("messages/send", raw_json(kMail));
  REQUIRE(sent.status == 200);
  CHECK(sent.labels() == "SENT");
  const std::string id = sent.text("id");
  CHECK(gmail.header(id, "From") == "agent@example.com");
  CHECK(gmail.header(id, "Bcc") == "eve@example.org");
  CHECK(gmail.header(id, "Date") == "Tue, 14 Nov 2023 22:13:20 +0000");
  CHECK(gmail.header(id, "Received").find("gmailapi.google.com with HTTPREST") != std::string::npos);
  CHECK(gmail.header(id, "X-KruxOS-Write-Id") == "w_1");
  CHECK(gmail.marker("w_1").sent == 1);
  CHECK(gmail.marker("w_1").live == 1);
  CHECK(gmail.call("DELETE", "messages/" + id).status == 204);
  CHECK(gmail.marker("w_1").sent == 1);
  CHECK(gmail.marker("w_1").live == 0);
}

TEST_CASE("what becomes of a Message-ID is a matter of behaviour") {
  Desk gmail;
  const auto sent = [&](const std::string& mail) { return gmail.post("messages/send", raw_json(mail)).text("id"); };
  const std::string broken = "To: bo@example.org\r\nMessage-ID: no brackets@x\r\n\r\nHello";
  const std::string replaced = sent(kMail);
  CHECK(gmail.header(replaced, "Message-ID").find("@mail.gmail.com>") != std::string::npos);
  CHECK(gmail.header(replaced, "X-Google-Original-Message-ID") == "absent");
  gmail.told("behaviour", R"({"message_id": "replace_and_keep"})");
  CHECK(gmail.header(sent(kMail), "X-Google-Original-Message-ID") == "<given@kruxos.invalid>");
  gmail.told("behaviour", R"({"message_id": "replace_invalid"})");
  CHECK(gmail.header(sent(kMail), "Message-ID") == "<given@kruxos.invalid>");
  CHECK(gmail.header(sent(broken), "X-Google-Original-Message-ID") == "no brackets@x");
  CHECK(gmail.get("messages?q=rfc822msgid:given@kruxos.invalid").body["messages"].Size() == 1);
}

TEST_CASE("recipients are checked, and a mail must have one") {
  Desk gmail;
  const auto refusal = [&](const std::string& headers) {
    return gmail.post("messages/send", raw_json(headers + "\r\n\r\nx")).message();
  };
  CHECK(refusal("Subject: none") == "Recipient address required");
  CHECK(refusal("To: somebody") == "Invalid To header");
  CHECK(refusal("To: human@f") == "Invalid To header");
  CHECK(refusal("To: a@example.org b@example.org") == "Invalid To header");
  CHECK(refusal("To: a@example.org\r\nCc: ,x") == "Invalid Cc header");
  CHECK(refusal("To: a@example.org\r\nBcc: <>") == "Invalid Bcc header");
  CHECK(refusal("Bcc: team: \"A, B\" <a@example.org>, b@example.org;").empty());
  CHECK(gmail.post("messages/send", R"({"raw": "!!!"})").status == 400);
  CHECK(gmail.post("messages/send", "{}").message() ==
        "'raw' RFC822 payload message string or uploading message via /upload/* URL required");
  CHECK(gmail.state.mailbox().effects.sends == 1);
}

TEST_CASE("mail reaches the mailboxes of this emulator, without its Bcc, and its sender too") {
  Desk gmail;
  Mailbox& other = gmail.state.mailbox("Bo@Example.org");
  const Answered sent =
      gmail.post("messages/send", raw_json("To: bo@example.org, agent@example.com\r\n" + kMail.substr(25)));
  CHECK(sent.labels() == "UNREAD SENT INBOX");
  CHECK(gmail.state.mailbox().size() == 1);
  REQUIRE(other.size() == 1);
  const Message& received = *other.newest_first().begin()->second;
  CHECK(received.labels == Labels{"UNREAD", "INBOX"});
  CHECK(received.content.digest().bcc.empty());
  CHECK(received.content.digest().text == "Hello");
}

TEST_CASE("a draft keeps its id while its message changes, and is sent once") {
  Desk gmail;
  const Answered made = gmail.post("drafts", draft_json("Subject: Half\r\nX-KruxOS-Write-Id: w_2\r\n\r\nx"));
  REQUIRE(made.status == 200);
  const std::string draft = made.text("id"), first = text_or(made.body["message"], "id");
  CHECK(gmail.post("drafts/send", R"({"id": ")" + draft + "\"}").message() == "Recipient address required");
  const Answered updated = gmail.call("PUT", "drafts/" + draft, draft_json(kMail + "\r\nX", ""));
  CHECK(updated.text("id") == draft);
  const std::string second = text_or(updated.body["message"], "id");
  CHECK(second != first);
  CHECK(gmail.get("messages/" + first).status == 404);
  CHECK(gmail.get("drafts").column("drafts", "id") == draft);
  CHECK(gmail.get("drafts/" + draft + "?format=minimal").body["message"]["labelIds"][0] == rapidjson::Value("DRAFT"));
  CHECK(gmail.post("messages/" + second + "/modify", R"({"addLabelIds": ["STARRED"]})").status == 400);
  CHECK(gmail.marker("w_2").drafts == 1);
  CHECK(gmail.marker("w_2").drafts_live == 0);
  CHECK(gmail.marker("w_1").drafts_live == 1);

  const Answered sent = gmail.post("drafts/send", R"({"id": ")" + draft + "\"}");
  REQUIRE(sent.status == 200);
  CHECK(sent.text("id") != second);
  CHECK(sent.text("threadId") == second);
  CHECK(sent.labels() == "SENT");
  CHECK(gmail.get("messages/" + second).status == 404);
  CHECK(gmail.post("drafts/send", R"({"id": ")" + draft + "\"}").status == 404);
  CHECK(gmail.get("drafts/" + draft).status == 404);
  CHECK(gmail.marker("w_1").sent == 1);
  CHECK(gmail.marker("w_1").drafts_live == 0);
  CHECK(gmail.state.mailbox().effects.drafts_sent == 1);
}

TEST_CASE("drafts are refused when there is nothing or no address in them, and deleted for good") {
  Desk gmail;
  CHECK(gmail.post("drafts", "{}").status == 400);
  CHECK(gmail.post("drafts", draft_json("To: human@f\r\n\r\nx")).message() == "Invalid To header");
  const std::string id = gmail.post("drafts", draft_json(kMail)).text("id");
  CHECK(gmail.call("DELETE", "drafts/" + id).status == 204);
  CHECK(gmail.call("DELETE", "drafts/" + id).status == 404);
  CHECK(gmail.state.mailbox().size() == 0);
  CHECK(gmail.marker("w_1").drafts == 1);
  CHECK(gmail.marker("w_1").drafts_live == 0);
}

TEST_CASE("people edit drafts, with the same id or another, and send them") {
  Desk gmail;
  const rapidjson::Document made = gmail.told("act", R"({"action": "create_draft", "to": "bo@example.org"})");
  const std::string draft = text_or(made, "draft");
  const std::string edited = gmail.act(R"({"action": "edit_draft", "draft": ")" + draft + R"(", "body": "new"})");
  CHECK(edited != text_or(made, "id"));
  const rapidjson::Document rotated =
      gmail.told("act", R"({"action": "edit_draft", "draft": ")" + draft + R"(", "rotate": true})");
  CHECK(text_or(rotated, "draft") != draft);
  CHECK(text_or(rotated, "threadId") == text_or(made, "threadId"));
  CHECK(gmail.get("drafts/" + draft).status == 404);
  gmail.act(R"({"action": "send_draft", "draft": ")" + text_or(rotated, "draft") + "\"}");
  CHECK(gmail.get("messages?labelIds=SENT").body["messages"].Size() == 1);
  CHECK(gmail.state.mailbox().effects.sends == 0);
}

TEST_CASE("a mail joins the thread it names when references and subject say so too") {
  Desk gmail;
  const std::string thread = gmail.act(R"({"action": "deliver", "subject": "Plan", "message_id": "<1@x.org>"})");
  const std::string to = "To: bo@example.org\r\n", references = "References: <1@x.org>\r\n";
  const auto sent_in = [&](const std::string& mail) {
    return gmail.post("messages/send", raw_json(mail, R"(, "threadId": ")" + thread + "\"")).text("threadId");
  };
  CHECK(sent_in(to + references + "Subject: Re: Plan\r\n\r\nx") == thread);
  CHECK(sent_in(to + references + "Subject: Other\r\n\r\nx") != thread);
  CHECK(sent_in(to + "Subject: Re: Plan\r\n\r\nx") != thread);
  CHECK(gmail.post("messages/send", raw_json(kMail, R"(, "threadId": "18bcfe5680000000")")).status == 404);
  CHECK(gmail.post("messages/send", raw_json(kMail, R"(, "threadId": "soon")")).status == 400);
}

TEST_CASE("labels are changed within Gmail's rules") {
  Desk gmail;
  const std::string id = gmail.act(R"({"action": "deliver"})"), modify = "messages/" + id + "/modify";
  CHECK(gmail.post(modify, R"({"addLabelIds": ["STARRED"], "removeLabelIds": ["UNREAD"]})").labels() ==
        "INBOX STARRED");
  CHECK(gmail.post(modify, R"({"addLabelIds": ["SENT"]})").message() == "Invalid label: SENT");
  CHECK(gmail.post(modify, R"({"removeLabelIds": ["DRAFT"]})").message() == "Invalid label: DRAFT");
  CHECK(gmail.post(modify, R"({"addLabelIds": ["Label_44"]})").message() == "Invalid label: Label_44");
  CHECK(gmail.post(modify, R"({"addLabelIds": []})").message() == "No label add or removes specified");
  CHECK(gmail.post(modify).message() == "No label add or removes specified");
  CHECK(gmail.post(modify, R"({"addLabelIds": ["SPAM"], "removeLabelIds": ["SPAM"]})").status == 400);
  CHECK(gmail.post("messages/" + id + "/trash").labels() == "STARRED TRASH");
  CHECK(gmail.post("messages/" + id + "/untrash").labels() == "STARRED");
  CHECK(gmail.post(modify, R"({"addLabelIds": ["INBOX"]})").labels() == "STARRED INBOX");
  gmail.told("behaviour", R"({"trash_leaves_inbox": false})");
  CHECK(gmail.post("messages/" + id + "/trash").labels() == "STARRED INBOX TRASH");
  CHECK(gmail.post("messages/" + id + "/untrash").labels() == "STARRED INBOX");
}

TEST_CASE("a message is in the inbox, in the trash or among spam") {
  Desk gmail;
  const std::string id = gmail.act(R"({"action": "deliver", "labels": ["INBOX"]})"),
                    modify = "messages/" + id + "/modify";
  CHECK(gmail.post(modify, R"({"addLabelIds": ["TRASH"]})").labels() == "TRASH");
  CHECK(gmail.post(modify, R"({"addLabelIds": ["SPAM"]})").labels() == "SPAM");
  CHECK(gmail.post("messages/" + id + "/trash").labels() == "TRASH");
  CHECK(gmail.post(modify, R"({"addLabelIds": ["INBOX"]})").labels() == "INBOX");
  CHECK(gmail.post(modify, R"({"addLabelIds": ["SPAM"], "removeLabelIds": ["INBOX"]})").labels() == "SPAM");
  for (const char* both : {R"("INBOX", "TRASH")", R"("SPAM", "TRASH")", R"("SPAM", "INBOX", "STARRED")"}) {
    const std::string body = std::string(R"({"addLabelIds": [)") + both + "]}";
    CHECK(gmail.post(modify, body).message() == "Can only add one of: INBOX, SPAM, TRASH");
  }
  gmail.told("behaviour", R"({"one_place": false})");
  CHECK(gmail.post(modify, R"({"addLabelIds": ["TRASH"]})").labels() == "SPAM TRASH");
}

TEST_CASE("many messages are changed and deleted at once, and ids of nothing are passed over") {
  Desk gmail;
  const std::string one = gmail.act(R"({"action": "deliver"})"), two = gmail.act(R"({"action": "deliver"})");
  const std::string ids = R"({"ids": [")" + one + R"(", ")" + two + R"(", "18bcfe5680000000"])";
  CHECK(gmail.post("messages/batchModify", ids + R"(, "removeLabelIds": ["UNREAD"]})").status == 204);
  CHECK(gmail.get("messages/" + two).labels() == "INBOX");
  CHECK(gmail.post("messages/batchModify", ids + "}").status == 400);
  CHECK(gmail.post("messages/batchModify", R"({"ids": ["x"], "addLabelIds": ["SPAM"]})").status == 400);
  CHECK(gmail.post("messages/batchDelete", ids + "}").status == 204);
  CHECK(gmail.state.mailbox().size() == 0);
  CHECK(gmail.post("messages/batchDelete", R"({"ids": []})").status == 400);
}

TEST_CASE("mail is inserted with labels and the date it says") {
  Desk gmail;
  const std::string mail = "From: a@example.org\r\nDate: Mon, 02 Jan 2023 03:04:05 +0100\r\n\r\nx";
  const Answered imported = gmail.post("messages/import", raw_json(mail, R"(, "labelIds": ["INBOX"])"));
  CHECK(imported.labels() == "INBOX");
  CHECK(gmail.get("messages/" + imported.text("id")).text("internalDate") == "1672625045000");
  const Answered inserted = gmail.post("messages", raw_json(mail));
  CHECK(gmail.get("messages/" + inserted.text("id")).text("internalDate") == std::to_string(kNow));
  CHECK(gmail.state.mailbox().effects.inserts == 2);
}

}  // namespace KRUXOS_TEST_FILE
