// Who may do what, in which words it is refused, quota, partial responses, batches and uploads.
#include <catch2/catch.hpp>

#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::gmail;

namespace {

Settings with_tokens(std::vector<std::string> tokens) {
  return driven_settings(std::move(tokens));
}

std::string www_authenticate(const Answered& answered) {
  for (const auto& [name, value] : answered.http.headers) {
    if (name == "WWW-Authenticate") return value;
  }
  return "";
}

struct Issuer : TokenSource {
  std::optional<Access> access(const std::string& token, std::int64_t now_ms) const override {
    if (token != "issued" || now_ms >= kNow + 1000) return std::nullopt;
    return Access{"new@example.com", {full_scope("gmail.readonly")}};
  }
};

HttpRequest batch_of(const std::vector<std::string>& calls) {
  HttpRequest request;
  request.method = "POST";
  request.path = "/batch/gmail/v1";
  request.headers = {{"authorization", std::string("Bearer ") + kToken},
                     {"content-type", "multipart/mixed; boundary=\"outer\""}};
  int number = 0;
  for (const std::string& call : calls) {
    request.body += "--outer\r\nContent-Type: application/http\r\nContent-ID: <item" + std::to_string(++number) +
                    ">\r\n\r\n" + call + "\r\n";
  }
  request.body += "--outer--\r\n";
  return request;
}

}  // namespace

TEST_CASE("tokens that are missing, unknown, expired or revoked are 401") {
  Emulated gmail(with_tokens({kToken, "short;expires_ms=1700000001000"}));
  const Answered unknown = gmail.call("GET", "profile", "", "stranger");
  CHECK(unknown.status == 401);
  CHECK(unknown.reason() == "authError");
  CHECK(unknown.error_text("status") == "UNAUTHENTICATED");
  CHECK(www_authenticate(unknown) == "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"");
  CHECK(gmail.call("GET", "profile", "", "").reason() == "required");
  CHECK(gmail.call("GET", "profile", "", "short").status == 200);
  gmail.state.clock.advance_ms(1000);
  CHECK(gmail.call("GET", "profile", "", "short").status == 401);
  gmail.told("act", R"({"action": "revoke_token", "token": "ya29.test"})");
  CHECK(gmail.get("profile").status == 401);
  gmail.told("act", R"({"action": "restore_tokens"})");
  CHECK(gmail.get("profile").status == 200);
  gmail.told("act", R"({"action": "expire_tokens"})");
  CHECK(gmail.get("profile").status == 401);
}

TEST_CASE("a method needs one of its scopes") {
  Emulated gmail(with_tokens({"reader:gmail.readonly", "sender:gmail.send", "writer:gmail.modify", "all"}));
  const std::string mail = R"({"raw": ")" + encode_base64url("To: a@example.org\r\n\r\nx") + "\"}";
  const Answered refused = gmail.call("POST", "messages/send", mail, "reader");
  CHECK(refused.status == 403);
  CHECK(refused.reason() == "insufficientPermissions");
  CHECK(refused.http.body.find("ACCESS_TOKEN_SCOPE_INSUFFICIENT") != std::string::npos);
  CHECK(www_authenticate(refused).find("insufficient_scope") != std::string::npos);
  CHECK(gmail.call("POST", "messages/send", mail, "sender").status == 200);
  CHECK(gmail.call("GET", "profile", "", "sender").status == 403);
  const std::string id = gmail.act(R"({"action": "deliver"})");
  CHECK(gmail.call("POST", "messages/" + id + "/trash", "", "writer").status == 200);
  CHECK(gmail.call("DELETE", "messages/" + id, "", "writer").status == 403);
  CHECK(gmail.call("DELETE", "messages/" + id, "", "all").status == 204);
}

TEST_CASE("the metadata scope forbids bodies and searches, whatever stands beside it") {
  Emulated gmail(with_tokens({"meta:gmail.metadata,gmail.readonly"}));
  const std::string id = gmail.act(R"({"action": "deliver"})");
  const auto get = [&](const std::string& target) { return gmail.call("GET", target, "", "meta"); };
  CHECK(get("messages?q=x").message() == "Metadata scope does not support 'q' parameter");
  CHECK(get("messages?q=").status == 403);
  CHECK(get("messages/" + id).message() == "Metadata scope doesn't allow format FULL");
  CHECK(get("messages/" + id + "?format=raw").status == 403);
  CHECK(get("messages/" + id + "?format=metadata").status == 200);
}

TEST_CASE("every token has its mailbox, and other people's are out of reach") {
  Emulated gmail(with_tokens({kToken, "second@other@example.com"}));
  CHECK(gmail.call("GET", "profile", "", "second").text("emailAddress") == "other@example.com");
  CHECK(gmail.get("/gmail/v1/users/agent%40example.com/profile").status == 200);
  const Answered refused = gmail.get("/gmail/v1/users/other%40example.com/profile");
  CHECK(refused.status == 403);
  CHECK(refused.message() == "Delegation denied for agent@example.com");
  const Issuer issuer;
  gmail.state.token_sources.push_back(&issuer);
  CHECK(gmail.call("GET", "profile", "", "issued").text("emailAddress") == "new@example.com");
  CHECK(gmail.call("GET", "messages/1/trash", "", "issued").status == 404);
  gmail.state.clock.advance_ms(1000);
  CHECK(gmail.call("GET", "profile", "", "issued").status == 401);
}

TEST_CASE("names and types that the API does not know are refused") {
  Emulated gmail;
  const std::string id = gmail.act(R"({"action": "deliver"})");
  CHECK(gmail.get("messages?maxresults=5").message().find("Unknown name \"maxresults\"") != std::string::npos);
  CHECK(gmail.get("messages?includeSpamTrash=yes").status == 400);
  CHECK(gmail.get("messages/" + id + "?format=everything").status == 400);
  CHECK(gmail.get("messages?alt=xml").status == 400);
  CHECK(gmail.get("messages?fields=messages(id").message() == "Invalid field selection messages(id");
  CHECK(gmail.get("mesages").status == 404);
  CHECK(gmail.call("PUT", "messages/" + id).status == 404);
  const std::string modify = "messages/" + id + "/modify";
  CHECK(gmail.post(modify, R"({"addLabels": ["SPAM"]})").message().find("Cannot find field") != std::string::npos);
  CHECK(gmail.post(modify, R"({"addLabelIds": "SPAM"})").status == 400);
  CHECK(gmail.post(modify, R"({"addLabelIds": [5]})").status == 400);
  CHECK(gmail.post(modify, "{").reason() == "parseError");
  CHECK(gmail.post(modify, "[]").status == 400);
  CHECK(gmail.post("drafts", R"({"message": {"raww": "x"}})").message().find("at 'message'") != std::string::npos);
  CHECK(gmail.post(modify, "{\"addLabelIds\":" + std::string(100000, '[') + std::string(100000, ']') + "}").status ==
        400);
}

TEST_CASE("partial responses hold what was asked for") {
  Emulated gmail;
  const std::string id = gmail.act(
      R"({"action": "deliver", "html": "<b>x</b>", "headers": {"X-A": "1"}, "attachments": [{"filename": "a", "text": "b"}]})");
  const auto fields = [&](const std::string& wanted) {
    return gmail.get("messages/" + id + "?prettyPrint=false&fields=" + wanted).http.body;
  };
  CHECK(fields("id") == R"({"id":")" + id + "\"}");
  CHECK(fields("labelIds,id") == R"({"id":")" + id + R"(","labelIds":["UNREAD","INBOX"]})");
  CHECK(fields("payload/parts/parts/mimeType").find(R"({"payload":{"parts":[{"parts":[{"mimeType":"text/plain"})") ==
        0);
  CHECK(fields("payload(mimeType,body/size)") == R"({"payload":{"mimeType":"multipart/mixed","body":{"size":0}}})");
  CHECK(fields("nothing") == "{}");
  CHECK(fields("*").size() == fields("payload,*").size());
  CHECK(gmail.get("messages?prettyPrint=false&fields=messages/id").http.body ==
        R"({"messages":[{"id":")" + id + "\"}]}");
  CHECK(gmail.get("messages/" + id).http.body.rfind("{\n  \"id\"", 0) == 0);
  for (const char* wrong : {"", "a,", "a(b", "a)", "a//b", "(a)", "a b"}) {
    CHECK(gmail.get("messages/" + id + "?fields=" + std::string(wrong)).status == 400);
  }
}

TEST_CASE("quota is counted in units, by mailbox, in any minute") {
  Emulated gmail(with_tokens({kToken, "second@other@example.com"}));
  gmail.told("quota", R"({"units_per_minute": 12, "costs": {"gmail.users.getProfile": 2}})");
  CHECK(gmail.get("messages").status == 200);
  CHECK(gmail.get("messages").status == 200);
  const Answered over = gmail.get("messages");
  CHECK(over.status == 403);
  CHECK(over.reason() == "userRateLimitExceeded");
  CHECK(over.message() == "User-rate limit exceeded.  Retry after 2023-11-14T22:14:20.000Z");
  CHECK(gmail.get("profile").status == 200);
  CHECK(gmail.get("profile").status == 403);
  CHECK(gmail.call("GET", "messages", "", "second").status == 200);
  gmail.told("behaviour", R"({"quota_answer": "429", "quota_retry_after": true})");
  const Answered many = gmail.get("messages");
  CHECK(many.status == 429);
  CHECK(many.http.headers[0] == std::pair<std::string, std::string>("Retry-After", "60"));
  gmail.told("behaviour", R"({"quota_answer": "403_rate"})");
  CHECK(gmail.get("messages").reason() == "rateLimitExceeded");
  gmail.state.clock.advance_ms(60000);
  CHECK(gmail.get("messages").status == 200);
  CHECK(gmail.state.quota.max_per_minute("agent@example.com") == 12);
  CHECK(gmail.state.quota.used("other@example.com") == 5);
}

TEST_CASE("a batch answers each call in a part of its own, and each costs") {
  Emulated gmail;
  const std::string id = gmail.act(R"({"action": "deliver"})");
  gmail.told("quota", R"({"units_per_minute": 6})");
  const Answered answered =
      gmail.send(batch_of({"GET /gmail/v1/users/me/messages/" + id + "?format=minimal",
                           "GET /gmail/v1/users/me/profile HTTP/1.1\r\nAuthorization: Bearer no\r\n",
                           "GET /gmail/v1/users/me/labels", "GET /gmail/v1/users/me/labels"}));
  CHECK(answered.http.content_type.rfind("multipart/mixed; boundary=", 0) == 0);
  const std::string& body = answered.http.body;
  CHECK(body.find("Content-ID: <response-item1>\r\n\r\nHTTP/1.1 200 OK\r\n") != std::string::npos);
  CHECK(body.find("Content-ID: <response-item2>\r\n\r\nHTTP/1.1 401 Unauthorized\r\n") != std::string::npos);
  CHECK(body.find("Content-ID: <response-item3>\r\n\r\nHTTP/1.1 200 OK\r\n") != std::string::npos);
  CHECK(body.find("Content-ID: <response-item4>\r\n\r\nHTTP/1.1 403 Forbidden\r\n") != std::string::npos);
  CHECK(gmail.state.journal.calls("gmail.users.labels.list") == 2);
  CHECK(gmail.state.journal.calls("batch") == 1);
  CHECK(gmail.send(batch_of(std::vector<std::string>(101, "GET /gmail/v1/users/me/profile"))).status == 400);
  CHECK(gmail.send(batch_of({"nonsense"})).status == 400);
  CHECK(gmail.send(batch_of({})).status == 400);
}

TEST_CASE("bodies of a batch's parts reach their methods") {
  Emulated gmail;
  const std::string id = gmail.act(R"({"action": "deliver"})");
  const std::string json = R"({"addLabelIds":["STARRED"]})";
  gmail.send(batch_of(
      {"POST /gmail/v1/users/me/messages/" + id + "/modify\r\nContent-Type: application/json\r\n\r\n" + json}));
  CHECK(gmail.get("messages/" + id).labels() == "UNREAD INBOX STARRED");
}

TEST_CASE("mails are uploaded alone or with their resource, up to 35 MB") {
  Emulated gmail;
  HttpRequest request;
  request.method = "POST";
  request.path = "/upload/gmail/v1/users/me/messages/send";
  request.query = "uploadType=media";
  request.headers = {{"authorization", std::string("Bearer ") + kToken}, {"content-type", "message/rfc822"}};
  request.body = "To: bo@example.org\r\nSubject: up\r\n\r\nx";
  CHECK(gmail.send(request).labels() == "SENT");
  const std::string mail = request.body;
  request.body += std::string(36700160, 'x');
  const Answered large = gmail.send(request);
  CHECK(large.status == 413);
  CHECK(large.reason() == "uploadTooLarge");
  request.path = "/upload/gmail/v1/users/me/drafts";
  request.query = "uploadType=multipart";
  request.headers["content-type"] = "multipart/related; boundary=b";
  request.body =
      "--b\r\nContent-Type: application/json\r\n\r\n{\"message\":{}}\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n" +
      mail + "\r\n--b--";
  const Answered draft = gmail.send(request);
  CHECK(draft.status == 200);
  CHECK(gmail.get("drafts/" + draft.text("id") + "?format=raw").body["message"]["raw"] ==
        rapidjson::Value(rapidjson::StringRef(encode_base64url(mail).c_str())));
  request.query = "uploadType=resumable";
  CHECK(gmail.send(request).reason() == "uploadTypeNotSupported");
  request.query = "";
  CHECK(gmail.send(request).status == 400);
  request.path = "/upload/gmail/v1/users/me/labels";
  CHECK(gmail.send(request).status == 404);
}

TEST_CASE("an upload's parts are taken as they are, and nothing that is not quite right") {
  Emulated gmail;
  HttpRequest request;
  request.method = "POST";
  request.path = "/upload/gmail/v1/users/me/drafts";
  request.query = "uploadType=multipart";
  request.headers["authorization"] = std::string("Bearer ") + kToken;
  const std::string json = "Content-Type: application/json; charset=UTF-8\r\n\r\n{}";
  const std::string mail = "Content-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\n--b is text\r\n\r\n";
  const auto upload = [&](const std::string& body, const std::string& type = "multipart/related; boundary=\"=_b\"") {
    request.headers["content-type"] = type;
    request.body = body;
    return gmail.send(request);
  };
  const std::string whole = "--=_b\r\n" + json + "\r\n--=_b\r\n" + mail + "\r\n--=_b--\r\n";
  const Answered draft = upload(whole);
  REQUIRE(draft.status == 200);
  // To the byte: the last line end belongs to the boundary.
  const Answered raw = gmail.get("drafts/" + draft.text("id") + "?format=raw");
  CHECK(text_or(raw.body["message"], "raw") == encode_base64url("Subject: x\r\n\r\n--b is text\r\n\r\n"));

  struct Row {
    std::string body, type, reason;
  };
  const std::string related = "multipart/related; boundary=\"=_b\"";
  const std::vector<Row> rows = {
      {whole, "multipart/mixed; boundary=\"=_b\"", "badRequest"},
      {whole, "multipart/related", "badRequest"},
      {whole, "application/json", "badRequest"},
      {whole, "", "badRequest"},
      {whole, "multipart/related; boundary=c", "badRequest"},
      {"", related, "badRequest"},
      {"x" + whole, related, "badRequest"},
      {whole + "x", related, "badRequest"},
      {whole.substr(0, whole.size() - 4), related, "badRequest"},
      {whole.substr(0, whole.size() / 2), related, "badRequest"},
      {"--=_b--\r\n", related, "badContent"},
      {"--=_b\r\n" + json + "\r\n--=_b--", related, "badContent"},
      {"--=_b\r\n" + mail + "\r\n--=_b\r\n" + json + "\r\n--=_b--", related, "badContent"},
      {"--=_b\r\n" + json + "\r\n--=_b\r\n" + json + "\r\n--=_b--", related, "badContent"},
      {"--=_b\r\nno empty line\r\n--=_b--", related, "badRequest"},
      {"--=_b\r\n" + json + "}\r\n--=_b\r\n" + mail + "\r\n--=_b--", related, "parseError"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.body, row.type);
    const Answered refused = upload(row.body, row.type);
    CHECK(refused.status == 400);
    CHECK(refused.reason() == row.reason);
  }
  CHECK(gmail.state.mailbox().drafts().size() == 1);
  request.query = "uploadType=media";
  CHECK(upload("Subject: x\r\n\r\n", "text/plain").message() ==
        "Media type 'text/plain' is not supported. Valid media types: [message/*]");
}

TEST_CASE("a request without an upload has at most 5 MB, and is refused with a page") {
  Emulated gmail;
  const std::string mail = "To: bo@example.org\r\n\r\n" + std::string(3 << 20, 'x');
  const auto raw = [](const std::string& text) { return R"({"raw":")" + encode_base64url(text) + R"("})"; };
  CHECK(gmail.post("messages/send", raw(mail)).status == 200);
  const Answered refused = gmail.post("messages/send", raw(mail + mail));
  CHECK(refused.status == 413);
  CHECK(refused.http.content_type == "text/html; charset=UTF-8");
  CHECK(refused.http.body.find("Request Entity Too Large") != std::string::npos);
  CHECK(gmail.state.mailbox().effects.sends == 1);
}

}  // namespace KRUXOS_TEST_FILE
