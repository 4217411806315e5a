// The program itself, over sockets.
#include <catch2/catch.hpp>

#include "support/gmail_emulator.hpp"

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
  const std::string raw = "VG86IGJvQGV4YW1wbGUub3JnDQpYLUtydXhPUy1Xcml0ZS1JZDogd18xDQoNCng=";
  CHECK(gmail.call("POST", "messages/send", R"({"raw": ")" + raw + "\"}").status == 200);
  CHECK(gmail.call("POST", "drafts", R"({"message": {"raw": ")" + raw + "\"}}").status == 200);
  CHECK(gmail.sent("w_1") == 1);
  CHECK(gmail.live("w_1") == 1);
  CHECK(gmail.drafts("w_1") == 1);
  CHECK(gmail.drafts_live("w_1") == 1);
  CHECK(gmail.sent("w_2") == 0);
  CHECK(gmail.effect("sends") == 1);
  CHECK(gmail.log("gmail.users.messages.send")["requests"].Size() == 1);
  gmail.quota(R"({"units_per_minute": 1})");
  CHECK(gmail.call("GET", "messages").status == 403);
}

TEST_CASE("a mail of many megabytes passes, and one without an end is refused") {
  GmailEmulator gmail;
  const std::string raw = "VG86IGJvQGV4YW1wbGUub3JnDQoNCng=";
  const std::string padded = raw.substr(0, raw.size() - 4) + std::string(8u << 20, 'A');
  CHECK(gmail.call("POST", "messages/send", R"({"raw": ")" + padded + "\"}").status == 200);
  Connection connection(gmail.port());
  connection.send("POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n");
  CHECK(connection.read_reply().status == 413);
}
