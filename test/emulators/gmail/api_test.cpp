// Faults, the control plane, the log.
#include "emulators/gmail/api.hpp"

#include <catch2/catch.hpp>

#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::gmail;

namespace {

const std::string kMail = R"({"raw": ")" + encode_base64url("To: bo@example.org\r\n\r\nx") + "\"}";

struct Faulty : Emulated {
  void fault(const std::string& json) { told("fault", json); }
  Answered mail() { return post("messages/send", kMail); }
  std::int64_t sends() { return state.mailbox().effects.sends; }
};

}  // namespace

TEST_CASE("faults before the effect leave none, faults after it leave it") {
  Faulty gmail;
  const std::string send = R"({"method": "gmail.users.messages.send", "kind": )";
  gmail.fault(send + R"("http_status", "status": 502})");
  gmail.fault(send + R"("error"})");
  gmail.fault(send + R"("error", "error": "authError"})");
  gmail.fault(send + R"("rate_limited", "retry_after": 7})");
  gmail.fault(send + R"("reset"})");
  CHECK(gmail.mail().status == 502);
  const Answered error = gmail.mail();
  CHECK(error.status == 503);
  CHECK(error.reason() == "backendError");
  CHECK(gmail.mail().status == 401);
  const Answered limited = gmail.mail();
  CHECK(limited.status == 429);
  CHECK(limited.http.headers[0].second == "7");
  CHECK(gmail.mail().how == "reset");
  CHECK(gmail.sends() == 0);
  gmail.fault(send + R"("error_after", "error": "internalError"})");
  gmail.fault(send + R"("reset_after"})");
  CHECK(gmail.mail().status == 500);
  CHECK(gmail.mail().how == "reset");
  CHECK(gmail.sends() == 2);
}

TEST_CASE("what hangs or comes late happens when it is let go or its time has come") {
  Faulty gmail;
  gmail.fault(R"({"method": "gmail.users.messages.send", "kind": "hang", "effect": "on_release"})");
  gmail.fault(R"({"method": "gmail.users.messages.send", "kind": "late", "after_ms": 5000})");
  CHECK(gmail.mail().how == "waiting");
  CHECK(gmail.mail().how == "reset");
  CHECK(gmail.api.held.pending_effects() == 2);
  gmail.told("clock", R"({"advance_ms": 5000})");
  CHECK(gmail.sends() == 1);
  CHECK(gmail.told("release", R"({"answer": true})")["applied"].GetInt() == 1);
  CHECK(gmail.sends() == 2);
}

TEST_CASE("bodies come broken in the ways of this service too") {
  Faulty gmail;
  gmail.told("seed", R"({"generate": {"messages": 1}})");
  rapidjson::Document document;
  const auto shaped = [&](const std::string& shape) {
    gmail.fault(R"({"kind": "body", "bytes": 1000, "shape": ")" + shape + "\"}");
    return gmail.get("profile").http.body;
  };
  CHECK_FALSE(parse_json(shaped("not_json"), document));
  CHECK((parse_json(shaped("missing_ids"), document) && !krux::find_member(document, "historyId")));
  CHECK((parse_json(shaped("wrong_types"), document) && document["historyId"].IsInt()));
  CHECK(gmail.tell("POST", "fault", R"({"kind": "body", "shape": "missing_ok"})").status == 400);
}

TEST_CASE("faults hit the parts of a batch, by what they ask for") {
  Faulty gmail;
  const std::string id = gmail.act(R"({"action": "deliver"})"), other = gmail.act(R"({"action": "deliver"})");
  HttpRequest batch;
  batch.method = "POST";
  batch.path = "/batch/gmail/v1";
  batch.headers = {{"authorization", std::string("Bearer ") + kToken}, {"content-type", "multipart/mixed; boundary=b"}};
  for (const std::string& each : {id, other}) {
    batch.body += "--b\r\nContent-Type: application/http\r\n\r\nGET /gmail/v1/users/me/messages/" + each + "\r\n\r\n";
  }
  batch.body += "--b--";
  gmail.fault(R"({"method": "gmail.users.messages.get", "kind": "error", "when": {"id": ")" + other + "\"}}");
  const std::string body = gmail.send(batch).http.body;
  CHECK(body.find("HTTP/1.1 200 OK") < body.find("HTTP/1.1 503 Service Unavailable"));
  gmail.fault(R"({"method": "gmail.users.messages.get", "kind": "reset", "when": {"id": ")" + other + "\"}}");
  CHECK(gmail.send(batch).how == "reset");
  gmail.fault(R"({"method": "batch", "kind": "http_status"})");
  CHECK(gmail.send(batch).status == 503);
  CHECK(gmail.send(batch).status == 200);
}

TEST_CASE("the log tells of calls, never of tokens or mails") {
  Faulty gmail;
  gmail.mail();
  gmail.get("messages?labelIds=INBOX&labelIds=UNREAD");
  const std::string log = gmail.tell("GET", "log").body;
  CHECK(log.find(kToken) == std::string::npos);
  CHECK(log.find(encode_base64url("To: bo@example.org\r\n\r\nx")) == std::string::npos);
  CHECK(log.find(R"("labelIds":"INBOX,UNREAD")") != std::string::npos);
  CHECK(log.find(R"("method":"gmail.users.messages.send","encoding":"json","token_from":"header")") !=
        std::string::npos);
}

TEST_CASE("the state tells what calls did, and marked mails apart") {
  Faulty gmail;
  gmail.post("messages/send",
             R"({"raw": ")" + encode_base64url("To: bo@example.org\r\nX-KruxOS-Write-Id: w_9\r\n\r\nx") + "\"}");
  rapidjson::Document state;
  REQUIRE(parse_json(gmail.tell("GET", "state").body, state));
  const rapidjson::Value& mailbox = state["mailboxes"]["agent@example.com"];
  CHECK(mailbox["effects"]["sends"].GetInt() == 1);
  CHECK(mailbox["markers"]["w_9"]["live"].GetInt() == 1);
  CHECK(mailbox["quota"]["max_per_minute"].GetInt() == 100);
  rapidjson::Document messages;
  REQUIRE(parse_json(gmail.tell("GET", "messages").body, messages));
  CHECK(text_or(messages["messages"][0], "marker") == "w_9");
}

TEST_CASE("people's doings are in the mailbox and not among the API's effects") {
  Faulty gmail;
  const std::string id = gmail.act(R"({"action": "deliver", "raw": "Subject: raw\r\n\r\nx"})");
  const std::string named = R"(", "id": ")" + id + "\"}";
  for (const char* action : {"mark_read", "star", "archive", "trash", "untrash", "mark_unread", "unstar"}) {
    gmail.act(R"({"action": ")" + std::string(action) + named);
  }
  CHECK(gmail.get("messages/" + id).labels() == "UNREAD");
  const std::string label = text_or(gmail.told("act", R"({"action": "create_label", "name": "Mine"})"), "label");
  gmail.act(R"({"action": "label", "add": [")" + label + "\"], \"id\": \"" + id + "\"}");
  CHECK(gmail.get("messages?q=label:mine").body["messages"].Size() == 1);
  gmail.told("act", R"({"action": "rename_label", "name": "Yours", "label": ")" + label + "\"}");
  gmail.told("act", R"({"action": "delete_label", "label": ")" + label + "\"}");
  CHECK(gmail.get("messages/" + id).labels() == "UNREAD");
  gmail.told("act", R"({"action": "delete)" + named);
  CHECK(gmail.get("messages/" + id).status == 404);
  CHECK(gmail.state.mailbox().effects.modifies == 0);
}

TEST_CASE("the control plane refuses what it does not understand") {
  Faulty gmail;
  const auto refused = [&](const std::string& what, const std::string& json) {
    return gmail.tell("POST", what, json).status;
  };
  CHECK(refused("fault", R"({"kind": "reset", "method": "gmail.users.shout"})") == 400);
  CHECK(refused("seed", R"({"mesages": []})") == 400);
  CHECK(refused("seed", R"({"messages": [{"labels": ["Label_9"]}]})") == 400);
  CHECK(refused("seed", R"({"messages": [{"attachments": [{}]}]})") == 400);
  CHECK(refused("seed", R"({"generate": {"messages": "many"}})") == 400);
  CHECK(refused("seed", R"({"mailbox": "nobody"})") == 400);
  CHECK(refused("act", R"({"action": "sing"})") == 400);
  CHECK(refused("act", R"({"action": "star", "id": "1"})") == 400);
  CHECK(refused("act", R"({"action": "revoke_token", "token": "x"})") == 400);
  CHECK(refused("act", R"({"action": "send_draft", "draft": "r1"})") == 400);
  CHECK(refused("quota", R"({"costs": {"gmail.users.shout": 1}})") == 400);
  CHECK(refused("behaviour", R"({"quota_answer": "500"})") == 400);
  CHECK(refused("behaviour", R"({"message_id": "keep"})") == 400);
  CHECK(refused("nonsense", "{}") == 404);
  CHECK(gmail.tell("GET", "messages?mailbox=nobody@example.com").status == 404);
}

TEST_CASE("reset gives empty mailboxes") {
  Faulty gmail;
  gmail.told("seed", R"({"generate": {"messages": 2}, "labels": [{"name": "A"}]})");
  gmail.fault(R"({"kind": "reset"})");
  gmail.told("reset", "{}");
  CHECK(gmail.get("profile").body["messagesTotal"].GetInt() == 0);
  CHECK(gmail.state.mailbox().label_by_name("A") == nullptr);
}

}  // namespace KRUXOS_TEST_FILE
