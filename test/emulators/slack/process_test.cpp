// The program itself, over sockets.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "support/slack_emulator.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

const char* const kSeed = R"({"channels": 1, "users": 2, "messages_per_channel": 3})";
const std::map<std::string, std::string> kPost = {{"channel", "C0GEN00000"}, {"text", "hello"}};

}  // namespace

TEST_CASE("the program serves, counts effects and stops at once when told to") {
  SlackEmulator slack;
  slack.seed(kSeed);
  const HttpReply posted = slack.call(
      "chat.postMessage", {{"channel", "C0GEN00000"},
                           {"text", "hi"},
                           {"metadata", R"({"event_type":"krux_write","event_payload":{"write_id":"w_1"}})"}});
  CHECK(posted.status == 200);
  CHECK(posted.header("content-type") == "application/json; charset=utf-8");
  CHECK(slack.posted("w_1") == 1);
  CHECK(slack.live("w_1") == 1);
  CHECK(slack.posted("w_2") == 0);
  CHECK(slack.calls("chat.postMessage") == 1);
  CHECK(slack.messages("C0GEN00000")["messages"].Size() == 4);
  CHECK(slack.log("chat.postMessage")["requests"].Size() == 1);
  CHECK(slack.process().stop().ok());
}

TEST_CASE("one connection carries many requests, also when they are sent ahead") {
  SlackEmulator slack;
  Connection connection(slack.port());
  const std::string request = format_request("GET", "/api/api.test?foo=1", {{"connection", "keep-alive"}}, "");
  connection.send(request + request + request.substr(0, 20));
  CHECK(connection.read_reply().status == 200);
  CHECK(connection.read_reply().body == R"({"ok":true,"args":{"foo":"1"}})");
  connection.send(request.substr(20));
  CHECK(connection.read_reply().status == 200);
  CHECK(slack.calls("api.test") == 3);
}

TEST_CASE("resets, closings and cut bodies are what the caller meets") {
  SlackEmulator slack;
  slack.seed(kSeed);
  slack.fault(R"({"method": "chat.postMessage", "kind": "reset_after"})");
  CHECK_THROWS_WITH(slack.call("chat.postMessage", kPost), Catch::Contains("reset"));
  CHECK(slack.effect("posts") == 1);
  slack.fault(R"({"method": "chat.postMessage", "kind": "truncated"})");
  CHECK_THROWS_WITH(slack.call("chat.postMessage", kPost), Catch::Contains("ended within a body"));
  slack.fault(R"({"method": "auth.test", "kind": "slow", "chunk_bytes": 50, "interval_ms": 1})");
  CHECK(slack.call("auth.test").status == 200);
  slack.fault(R"({"method": "auth.test", "kind": "body", "shape": "huge", "bytes": 3000000})");
  CHECK(slack.call("auth.test").body.size() > 3000000);
}

TEST_CASE("a caller that gives up on a hanging request is noticed, and its effect can still come") {
  SlackEmulator slack;
  slack.seed(kSeed);
  slack.fault(R"({"method": "chat.postMessage", "kind": "hang", "effect": "on_release"})");
  {
    Connection connection(slack.port());
    connection.send(format_request(
        "POST", "/api/chat.postMessage",
        {{"authorization", "Bearer " + slack.token()}, {"content-type", "application/x-www-form-urlencoded"}},
        form_encode(kPost)));
    while (slack.hanging() == 0) continue;
    CHECK(slack.pending_effects() == 1);
  }
  while (slack.hanging() != 0) continue;
  CHECK(slack.effect("posts") == 0);
  CHECK(slack.release() == 1);
  CHECK(slack.effect("posts") == 1);
}

TEST_CASE("bytes that are no HTTP are refused and cost only their connection") {
  SlackEmulator slack;
  for (const std::string& bytes : {std::string("\x16\x03\x01\x02garbage\r\n\r\n"), std::string("GET\r\n\r\n"),
                                   "GET / HTTP/1.1\r\nX: " + std::string(100000, 'x') + "\r\n\r\n",
                                   std::string("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n")}) {
    Connection connection(slack.port());
    connection.send(bytes);
    CHECK(connection.read_reply().status / 100 == 4);
  }
  CHECK(http_request(slack.port(), "GET", "/favicon.ico").status == 404);
  CHECK(http_request(slack.port(), "PUT", "/api/auth.test").status == 405);
  CHECK(slack.call("auth.test").status == 200);
}

TEST_CASE("identity, clock and port file come from the command line") {
  const std::string port_file = "/tmp/krux-slack-port-" + std::to_string(getpid());
  SlackEmulatorOptions options;
  options.start_ms = 1750000000000;
  options.arguments = {"--team-id",  "T0OTHERTEAM", "--team-name", "Other",       "--bot-user",
                       "U0OTHERBOT", "--bot-id",    "B0OTHERBOT",  "--port-file", port_file};
  SlackEmulator slack(options);
  const std::string who = slack.call("auth.test").body;
  CHECK(who.find(R"("team":"Other")") != std::string::npos);
  CHECK(who.find(R"("user_id":"U0OTHERBOT")") != std::string::npos);
  std::uint16_t port = 0;
  CHECK((std::ifstream(port_file) >> port && port == slack.port()));
  std::remove(port_file.c_str());
  slack.advance_ms(1000);
  slack.seed(kSeed);
  CHECK(slack.call("chat.postMessage", kPost).body.find(R"("ts":"1750000001.000000")") != std::string::npos);
}

TEST_CASE("a port that is taken and an unknown option are said clearly") {
  SlackEmulator slack;
  Command taken;
  taken.argv = {KRUXOS_SLACK_EMULATOR, "--port", std::to_string(slack.port())};
  const Finished refused = run(taken);
  CHECK(refused.status.code == 1);
  CHECK(refused.err.find("Address already in use") != std::string::npos);
  taken.argv = {KRUXOS_SLACK_EMULATOR, "--prot", "1"};
  CHECK_FALSE(run(taken).status.ok());
}

}  // namespace KRUXOS_TEST_FILE
