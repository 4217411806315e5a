// The program itself, over sockets.
#include <catch2/catch.hpp>

#include "support/gmail_emulator.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

TEST_CASE("the program serves its mailboxes and stops at once when told to") {
  GmailEmulatorOptions options;
  options.tokens = {"first:gmail.modify,gmail.compose", "second@two@example.com"};
  GmailEmulator gmail(options);
  gmail.seed(R"({"generate": {"messages": 5}})");
  gmail.seed(R"({"mailbox": "two@example.com", "generate": {"messages": 2}})");
  CHECK(gmail.messages()["messages"].Size() == 5);
  CHECK(gmail.messages("two@example.com")["messages"].Size() == 2);
  const HttpReply list = gmail.call("GET", "messages?maxResults=2");
  CHECK(list.status == 200);
  CHECK(list.header("content-type") == "application/json; charset=UTF-8");
  CHECK(list.header("date") == "Tue, 14 Nov 2023 22:13:20 GMT");
  CHECK(gmail.calls("gmail.users.messages.list") == 1);
  CHECK(gmail.units_per_minute() == 5);
  CHECK(gmail.call("GET", "labels/INBOX").status == 200);
  gmail.advance_ms(1000);
  CHECK(gmail.process().stop().ok());
}

TEST_CASE("mails, drafts and their marks are counted for tests") {
  GmailEmulator gmail;
  // "To: bo@example.org", "X-KruxOS-Write-Id: w_1", an empty line, "x".
  const std::string mail = "To: bo@example.org\r\n\r\n" + std::string(30u << 20, 'A');
  const auto reply =
      http_request(gmail.port(), "POST", "/upload/gmail/v1/users/me/messages/send?uploadType=media",
                   {{"authorization", "Bearer ya29.test-token"}, {"content-type", "message/rfc822"}}, mail);
  CHECK(reply.status == 200);
  Connection connection(gmail.port());
  connection.send("POST / HTTP/1.1\r\nHost: gmail\r\nContent-Length: 999999999\r\n\r\n");
  CHECK(connection.read_reply().status == 413);
}

}  // namespace KRUXOS_TEST_FILE
