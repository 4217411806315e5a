// Clients that lead their users to the operator's page, where a write waits for a decision.
#include "host/gateway/mcp/invitations.hpp"

#include <fmt/format.h>

#include "core/write/write.hpp"
#include "host/gateway/foreign_requests.hpp"
#include "host/gateway/mcp/listening.hpp"
#include "host/gateway/mcp/task_view.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;
using mcp::Invitations;

namespace {

constexpr std::uint16_t kPage = 7705;
const std::string kWrite = "w_0192f0c1-0000-7000-8000-000000000001";
const std::string kEvents = "Accept: application/json, text/event-stream\r\n";
const std::string kUrls = R"({"elicitation":{"url":{}}})";
const std::string kUrlsAndTasks = R"({"elicitation":{"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}})";
const std::string kMessage =
    "KruxOS: the agent \\\"alice\\\" wants to do notes.add, and that waits for the operator's decision. The operator's "
    "page on this machine, at 127.0.0.1:7705, shows all of it, and is where it is accepted or rejected. What is "
    "answered here decides nothing.";
const std::string kParams =
    R"("mode":"url","message":")" + kMessage + R"(","url":"http://127.0.0.1:7705/writes/)" + kWrite + "\"";
const std::string kAccept = R"({"action":"accept"})";

AskedApproval approval(const std::string& hash = "00112233445566778899") {
  return {kWrite, "notes.add", hash};
}

std::string wait_arguments(int seconds = 50) {
  return fmt::format(R"({{"write_id":"{}","wait_seconds":{}}})", kWrite, seconds);
}

/// A page, and alice's write that waits for a person. Waits for it are held.
struct InvitingFixture : Fixture {
  InvitingFixture() {
    gateway.set_page_port(kPage);
    api.holds = kWriteStatus;
    api.asks_about(approval());
  }
  std::string session(const std::string& capabilities = kUrls, const std::string& key = kKey) {
    RawClient client(port);
    return client
        .ask(http_post("/mcp",
                       R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                       R"("capabilities":)" +
                           capabilities + "}}",
                       "Authorization: Bearer " + key + "\r\n"))
        .headers.at("Mcp-Session-Id");
  }
  std::string in(const std::string& session, const std::string& body, const std::string& more = {}) const {
    return http_post("/mcp", body,
                     "Authorization: Bearer " + kKey +
                         "\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + session + "\r\n" + more);
  }
  int post_in(const std::string& session, const std::string& body) const {
    RawClient client(port);
    return client.ask(in(session, body)).status;
  }
  static std::string call(const std::string& tool, const std::string& arguments) {
    return R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":")" + tool + R"(","arguments":)" +
           arguments + "}}";
  }
  /// A wait in that session, which has begun. `so_far`: how many are held besides.
  Listening waits(const std::string& session, std::size_t so_far = 0, const std::string& more = kEvents,
                  int seconds = 50) {
    Listening wait(port, in(session, call("proxy__write_status", wait_arguments(seconds)), more));
    api.wait_for_held(so_far + 1);
    if (api.last.progress) api.last.progress("The write waits for a person.");
    return wait;
  }
  void is_decided(WriteState state = WriteState::kBuffered) {
    api.asks_about(std::nullopt);
    WriteRecord write;
    write.write_id = kWrite;
    write.agent_id = "agent_1";
    write.state = state;
    gateway.on_write_changed()(write);
  }

  /// 2026-07-28.
  std::string stateless(const std::string& method, const std::string& name, const std::string& params,
                        const std::string& capabilities = kUrls, const std::string& more = {}) const {
    return http_post(
        "/mcp",
        R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + params +
            R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)" +
            capabilities + "}}}",
        "Authorization: Bearer " + kKey + "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n" +
            (name.empty() ? "" : "Mcp-Name: " + name + "\r\n") + more);
  }
  std::string stateless_wait(const std::string& given = {}, const std::string& capabilities = kUrls,
                             const std::string& more = {}, int seconds = 50) const {
    return stateless("tools/call", "proxy__write_status",
                     R"("name":"proxy__write_status","arguments":)" + wait_arguments(seconds) + "," + given,
                     capabilities, more);
  }
  JsonDocument ask(const std::string& request) const {
    RawClient client(port);
    const auto answer = client.ask(request);
    INFO(answer.body);
    return parse_json(answer.body, "the answer");
  }
};

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto at = text.rfind(before);
  REQUIRE(at != std::string::npos);
  const auto from = at + before.size();
  return text.substr(from, text.find(after, from) - from);
}

std::string type_of(const JsonDocument& answer) {
  return std::string(find_string(answer["result"], "resultType").value_or(""));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("In a session who waits for a write is led to the page, and told when it is decided", "[mcp]") {
  InvitingFixture f;
  const auto session = f.session(), other = f.session();
  auto wait = f.waits(session);
  REQUIRE(wait.hears("elicitation/create"));
  REQUIRE(wait.hears("\"elicitationId\":\""));
  const auto elicitation = between(wait.seen(), "\"elicitationId\":\"", "\"");
  CHECK(elicitation.size() == 32);
  CHECK(contains(wait.seen(), R"("method":"elicitation/create","params":{)" + kParams + R"(,"elicitationId":")"));
  const auto id = between(wait.seen(), R"("jsonrpc":"2.0","id":")", "\"");
  CHECK(f.post_in(other, R"({"jsonrpc":"2.0","id":")" + id + R"(","result":)" + kAccept + "}") == 202);
  CHECK(f.post_in(session, R"({"jsonrpc":"2.0","id":")" + id + R"(","result":)" + kAccept + "}") == 202);
  // An answer ends nothing but the asking: the wait goes on, and nobody is asked twice.
  f.api.last.progress("The write waits for a person.");
  auto again = f.waits(session, 1);
  CHECK(f.api.invoked == 2);
  f.is_decided();
  REQUIRE(wait.hears(R"({"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":")" +
                     elicitation + R"("}})"));
  f.is_decided();  // told once
  f.api.release({true, R"({"status":"completed"})", {}});
  REQUIRE(wait.hears(R"("structuredContent":{"status":"completed"})"));
  REQUIRE(again.hears(R"("structuredContent":{"status":"completed"})"));
  CHECK_FALSE(contains(again.seen(), "elicitation"));
  CHECK_FALSE(contains(wait.seen(), "notifications/cancelled"));
  CHECK(wait.seen().find("elicitation/complete") == wait.seen().rfind("elicitation/complete"));
}

TEST_CASE("Whatever a client answers to an invitation, the wait goes on as if it had said nothing", "[mcp]") {
  InvitingFixture f;
  const auto session = f.session();
  for (const std::string answer : {R"("result":{"action":"accept","content":{"decision":"accept","approved":true}})",
                                   R"("result":{"action":"decline"})", R"("result":{"action":"cancel"})",
                                   R"("result":{})", R"("error":{"code":-32602,"message":"No."})"}) {
    INFO(answer);
    f.api.asks_about(approval(answer));  // other content each time
    auto wait = f.waits(session);
    REQUIRE(wait.hears("\"elicitationId\":\""));
    const auto id = between(wait.seen(), R"("jsonrpc":"2.0","id":")", "\"");
    const auto before = f.api.invoked.load();
    CHECK(f.post_in(session, fmt::format(R"({{"jsonrpc":"2.0","id":"{}",{}}})", id, answer)) == 202);
    CHECK(f.api.invoked == before);
    f.api.release({true, R"({"status":"pending_approval"})", {}});
    REQUIRE(wait.hears(R"("structuredContent":{"status":"pending_approval"})"));
    CHECK_FALSE(contains(wait.seen(), "elicitation/complete"));
  }
}

TEST_CASE("What nobody has answered is withdrawn with the wait, and asked again by the next", "[mcp]") {
  InvitingFixture f;
  const auto session = f.session();
  std::string before;
  for (int i = 0; i < 2; ++i) {
    auto wait = f.waits(session);
    REQUIRE(wait.hears("\"elicitationId\":\""));
    const auto id = between(wait.seen(), R"("jsonrpc":"2.0","id":")", "\"");
    CHECK(id != before);
    before = id;
    if (i == 0) {
      f.api.release({true, R"({"status":"pending_approval"})", {}});
    } else {
      f.post_in(session, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
    }
    REQUIRE(wait.hears(R"("method":"notifications/cancelled","params":{"requestId":")" + id + "\""));
  }
  // Decided while the client still asks: both are said.
  f.api.release();
  auto wait = f.waits(session);
  REQUIRE(wait.hears("\"elicitationId\":\""));
  f.is_decided(WriteState::kRejected);
  REQUIRE(wait.hears("notifications/elicitation/complete"));
  REQUIRE(wait.hears(R"("reason":"It is decided.")"));
  f.api.release();
}

TEST_CASE("A decision behind the wait's end is told on the session's own stream, and on no other", "[mcp]") {
  InvitingFixture f;
  const auto session = f.session(), other = f.session();
  const auto get = [&](const std::string& of) {
    return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kKey +
           "\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + of + "\r\nAccept: text/event-stream\r\n\r\n";
  };
  Listening mine(f.port, get(session)), others(f.port, get(other));
  REQUIRE(mine.hears("data:"));
  REQUIRE(others.hears("data:"));
  auto wait = f.waits(session);
  REQUIRE(wait.hears("\"elicitationId\":\""));
  const auto id = between(wait.seen(), R"("jsonrpc":"2.0","id":")", "\"");
  f.post_in(session, R"({"jsonrpc":"2.0","id":")" + id + R"(","result":)" + kAccept + "}");
  f.api.release({true, R"({"status":"pending_approval"})", {}});
  REQUIRE(wait.hears("structuredContent"));
  f.is_decided();
  REQUIRE(mine.hears("notifications/elicitation/complete"));
  f.gateway.on_capabilities_changed()();
  REQUIRE(others.hears("tools/list_changed"));
  CHECK_FALSE(contains(others.seen(), "elicitation"));
}

TEST_CASE("Over a WebSocket who waits is led to the page too", "[mcp]") {
  InvitingFixture f;
  auto socket = f.socket("/mcp", kKey);
  socket.ask(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":)" +
      kUrls + "}}");
  socket.text(f.call("proxy__write_status", wait_arguments()));
  f.api.wait_for_held(1);
  f.api.last.progress("The write waits for a person.");
  const auto request = parse_json(socket.receive_text(), "the request");
  CHECK(find_string(request["params"], "url") == "http://127.0.0.1:7705/writes/" + kWrite);
  socket.text(R"({"jsonrpc":"2.0","id":)" + to_json(request["id"]) + R"(,"result":)" + kAccept + "}");
  f.is_decided();
  const auto over = socket.receive_text();
  // Which of the two is read first nobody says; then the request is withdrawn as well.
  CHECK_THAT(over, Catch::Contains("notifications/elicitation/complete"));
  f.api.release({true, R"({"status":"completed"})", {}});
  auto last = socket.receive_text();
  if (contains(last, "notifications/cancelled")) last = socket.receive_text();
  CHECK_THAT(last, Catch::Contains("completed"));
}

TEST_CASE("Nobody is led to the page who has not said that it can be, is elsewhere, or does not wait", "[mcp]") {
  InvitingFixture f;
  const auto quiet = [&](const std::string& session, const std::string& more, int seconds = 50) {
    auto wait = f.waits(session, 0, more, seconds);
    f.api.release({true, R"({"status":"pending_approval"})", {}});
    REQUIRE(wait.hears("structuredContent"));
    INFO(wait.seen());
    CHECK_FALSE(contains(wait.seen(), "elicitation"));
  };
  const auto session = f.session();
  for (const auto* capabilities : {"{}", R"({"elicitation":{}})", R"({"elicitation":{"form":{}}})",
                                   R"({"sampling":{}})", R"({"elicitation":{"url":true}})"})
    quiet(f.session(capabilities), kEvents);
  for (const auto* passed_on : {"X-Forwarded-For: 192.0.2.1\r\n", "Forwarded: for=192.0.2.1\r\n", "Via: 1.1 tunnel\r\n",
                                "X-Real-IP: 192.0.2.1\r\n"})
    quiet(session, kEvents + passed_on);
  quiet(session, "");  // which takes no events
  quiet(session, kEvents, 0);
  f.api.asks_about(std::nullopt);
  quiet(session, kEvents);
  f.api.asks_about(AskedApproval{"w_0192f0c1-0000-7000-8000-000000000002", "notes.add", "00"});
  quiet(session, kEvents);
  f.api.asks_about(approval());
  f.gateway.set_page_port(0);
  quiet(session, kEvents);
  f.gateway.set_page_port(kPage);

  f.api.holds.clear();
  for (const auto& request :
       {f.stateless_wait({}, "{}"), f.stateless_wait({}, R"({"elicitation":{}})"), f.stateless_wait({}, kUrls, {}, 0),
        f.stateless_wait({}, kUrls, "X-Forwarded-For: 192.0.2.1\r\n")})
    CHECK(type_of(f.ask(request)) == "complete");
}

TEST_CASE("Whose request is of this machine, its address, its name and its headers say", "[mcp]") {
  ServerRequest request;
  request.peer.address = "127.0.0.1";
  request.headers = {{"host", "localhost:7700"}};
  CHECK(is_of_this_machine(request));
  request.peer.address = "::1";
  CHECK(is_of_this_machine(request));
  request.peer.address = "192.0.2.1";
  CHECK_FALSE(is_of_this_machine(request));
  request.peer.address = "127.0.0.1";
  request.headers = {{"host", "kruxos.example"}};
  CHECK_FALSE(is_of_this_machine(request));
  request.headers = {};
  CHECK_FALSE(is_of_this_machine(request));
  for (const char* passes_on : {"cf-connecting-ip", "forwarded", "via", "x-real-ip", "x-forwarded", "x-forwarded-for",
                                "x-forwarded-host", "x-forwarded-proto", "x-client-ip", "true-client-ip",
                                "x-cluster-client-ip", "x-envoy-external-address", "tailscale-user-login"}) {
    CAPTURE(passes_on);
    request.headers = {{"host", "127.0.0.1"}, {passes_on, "192.0.2.1"}};
    CHECK_FALSE(is_of_this_machine(request));
  }
  request.headers = {{"host", "127.0.0.1"}, {"accept", "*/*"}, {"user-agent", "x-forwarded"}};
  CHECK(is_of_this_machine(request));
}

TEST_CASE("Without sessions a result leads to the page, and the call goes on to wait with whatever is answered",
          "[mcp]") {
  InvitingFixture f;
  const auto first = f.ask(f.stateless_wait());
  REQUIRE(type_of(first) == "input_required");
  CHECK(to_json(first["result"]["inputRequests"]) ==
        R"({"approval-0011223344556677":{"method":"elicitation/create","params":{)" + kParams + "}}}");
  CHECK(f.api.invoked == 0);
  // Who calls again without an answer is asked again; what is no answer is refused.
  CHECK(type_of(f.ask(f.stateless_wait())) == "input_required");
  const auto state = std::string(find_string(first["result"], "requestState").value_or(""));
  const auto given = [&](const std::string& answer, const std::string& with = {}) {
    return R"("inputResponses":{"approval-0011223344556677":)" + answer + R"(},"requestState":")" +
           (with.empty() ? state : with) + "\",";
  };
  for (const auto* wrong : {"{}", "1", R"({"action":"approve"})"})
    CHECK(find_int(f.ask(f.stateless_wait(given(wrong)))["error"], "code") == -32602);
  CHECK(find_int(f.ask(f.stateless_wait(given(kAccept, "x" + state)))["error"], "code") == -32602);
  CHECK(find_int(f.ask(f.stateless_wait(given(kAccept), kUrls, {}, 49))["error"], "code") == -32602);
  CHECK(f.api.invoked == 0);

  Listening wait(f.port, f.stateless_wait(given(R"({"action":"decline"})")));
  f.api.wait_for_held(1);
  CHECK(f.api.last.capability == kWriteStatus);
  CHECK(f.api.last.arguments_json == wait_arguments());
  // Another wait does not ask again.
  Listening again(f.port, f.stateless_wait());
  f.api.wait_for_held(2);
  f.api.release({true, R"({"status":"completed"})", {}});
  REQUIRE(wait.hears(R"("structuredContent":{"status":"completed"})"));
  REQUIRE(again.hears(R"("structuredContent":{"status":"completed"})"));
  CHECK_FALSE(contains(wait.seen() + again.seen(), "elicitation"));
  // What its agent has changed is another question, which the answer of before is none to.
  f.api.asks_about(approval("ffff"));
  CHECK(type_of(f.ask(f.stateless_wait(given(kAccept)))) == "input_required");
  // A client that cannot be led any more just waits.
  f.api.holds.clear();
  CHECK(type_of(f.ask(f.stateless_wait(given(kAccept), "{}"))) == "complete");
}

TEST_CASE("A task that waits for a person asks for its page until that is answered, and goes on", "[mcp]") {
  InvitingFixture f;
  std::atomic<bool> ended{false};
  f.api.holds.clear();
  f.api.scripted = [&](const Invocation& call) {
    if (ended) return InvocationResult{true, R"({"status":"completed"})", {}};
    if (call.progress) call.progress("The write waits for a person.");
    return InvocationResult{false, {}, R"({"type":"Cancelled"})"};
  };
  const auto created = f.ask(f.stateless_wait({}, kUrlsAndTasks));
  REQUIRE(type_of(created) == "task");
  CHECK(find_string(created["result"], "status") == "working");
  const std::string id(find_string(created["result"], "taskId").value_or(""));
  const auto of = [&](const std::string& method, const std::string& capabilities = kUrlsAndTasks,
                      const std::string& more = {}, const std::string& head = {}) {
    return f.ask(f.stateless("tasks/" + method, id, R"("taskId":")" + id + "\"," + more, capabilities, head));
  };
  const auto status = [](const JsonDocument& answer) {
    return std::string(find_string(answer["result"], "status").value_or(""));
  };
  Listening listening(f.port, f.stateless("subscriptions/listen", "", R"("notifications":{"taskIds":[")" + id + "\"]},",
                                          kUrlsAndTasks));
  REQUIRE(listening.hears(R"("status":"input_required")"));
  const auto asking = of("get");
  CHECK(status(asking) == "input_required");
  CHECK(to_json(asking["result"]["inputRequests"]) ==
        R"({"approval-0011223344556677":{"method":"elicitation/create","params":{)" + kParams + "}}}");
  CHECK(status(of("get", R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})")) == "working");
  CHECK(status(of("get", kUrlsAndTasks, {}, "Via: 1.1 tunnel\r\n")) == "working");

  const auto update = [&](const std::string& responses) {
    return of("update", kUrlsAndTasks, R"("inputResponses":)" + responses + ",");
  };
  CHECK(type_of(update(R"({"other":{"action":"accept"}})")) == "complete");
  CHECK(find_int(update(R"({"approval-0011223344556677":{"action":"approve"}})")["error"], "code") == -32602);
  CHECK(find_int(update("[]")["error"], "code") == -32602);
  CHECK(status(of("get")) == "input_required");
  CHECK(type_of(update(R"({"approval-0011223344556677":{"action":"accept"}})")) == "complete");
  CHECK(status(of("get")) == "working");
  REQUIRE(listening.hears(R"("status":"working")"));
  // Changed, it is another question, under another key.
  f.api.asks_about(approval("ffff"));
  CHECK_THAT(to_json(of("get")["result"]), Catch::Contains(R"("approval-ffff":)"));
  ended = true;
  f.is_decided();
  CHECK(status(of("get")) == "completed");
  REQUIRE(listening.hears(R"("status":"completed")"));
}

TEST_CASE("What waits for a person says how its user is led there, to those who can be led", "[mcp]") {
  InvitingFixture f;
  f.api.scripted = [](const Invocation& call) {
    return InvocationResult{false,
                            {},
                            call.capability == "notes.add"
                                ? R"({"type":"ApprovalRequired","message":"It waits.","retryable":false})"
                                : R"({"type":"InvalidInput","message":"Not so.","retryable":false})"};
  };
  const auto result = [&](const std::string& tool, const std::string& capabilities) {
    return to_json(f.ask(f.stateless("tools/call", tool, R"("name":")" + tool + R"(","arguments":{},)",
                                     capabilities))["result"]["content"][0]["text"]);
  };
  const std::string way =
      "It waits. Waiting for it by proxy__write_status with wait_seconds leads your user to the page where it is "
      "decided.";
  CHECK_THAT(result("notes__add", kUrls), Catch::Contains(way) && !Catch::Contains("127.0.0.1"));
  CHECK_THAT(result("notes__add", "{}"), Catch::Contains("It waits.") && !Catch::Contains("page"));
  CHECK_THAT(result("notes__other", kUrls), !Catch::Contains("page"));
}

TEST_CASE("Who was invited is remembered by client and content, up to a number, until it is decided") {
  Invitations invitations;
  const Invitations::Whose mine{"agent_1", "s"}, other{"agent_1", "t"}, stateless{"agent_1", ""};
  const auto first = invitations.begin(mine, approval(), {});
  REQUIRE(first);
  CHECK_FALSE(invitations.begin(mine, approval(), {}));
  CHECK(invitations.begin(other, approval(), {}));
  CHECK(invitations.is_open(stateless, approval()));
  invitations.answered(stateless, approval());
  CHECK_FALSE(invitations.is_open(stateless, approval()));
  CHECK(invitations.is_open(stateless, approval("other")));
  invitations.dropped("agent_1", *first);
  const auto second = invitations.begin(mine, approval(), {});
  REQUIRE(second);
  invitations.answered("agent_1", *second);
  invitations.dropped("agent_1", *second);
  CHECK_FALSE(invitations.begin(mine, approval(), {}));
  invitations.session_ended("t");
  const auto told = invitations.decided("agent_1", kWrite);
  REQUIRE(told.size() == 1);
  CHECK(told[0].elicitation_id == *second);
  CHECK(told[0].session == "s");
  CHECK(invitations.decided("agent_1", kWrite).empty());
  CHECK(invitations.is_open(stateless, approval()));
  for (std::size_t i = 0; i <= Invitations::kPerAgent; ++i)
    invitations.answered(stateless, approval(std::to_string(i)));
  CHECK(invitations.is_open(stateless, approval("0")));
  CHECK_FALSE(invitations.is_open(stateless, approval("1")));
}

}  // namespace KRUXOS_TEST_FILE
