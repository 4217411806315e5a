// Calls that ask their client before they answer.
#include <fmt/format.h>
#include <kruxos/abi/entry.h>

#include <future>

#include "host/gateway/mcp/asking.hpp"
#include "host/gateway/mcp/capability_call.hpp"
#include "host/gateway/mcp/client_questions.hpp"
#include "host/gateway/mcp/request_state.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

const std::string kTakesEvents = "Accept: application/json, text/event-stream\r\n";
const std::string kAll = R"({"who":{"kind":"form","message":"Who?","schema":)" + kForm +
                         R"(},"say":{"kind":"model","message":"Hi","max_tokens":9,"system":"Be kind."},)" +
                         R"("go":{"kind":"url","message":"Go","url":"https://x.example/"},"where":{"kind":"roots"}})";
constexpr std::uint32_t kEverything = KRUX_ASK_FORM | KRUX_ASK_URL | KRUX_ASK_MODEL | KRUX_ASK_ROOTS;
const std::string kCanAll = R"({"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}})";

/// Asks `questions` and then answers with what it was given.
struct Asker {
  std::string questions;
  InvocationResult operator()(const Invocation& call) const {
    const auto& dialogue = *call.dialogue;
    if (dialogue.answers_json.empty()) return asks(call, questions, "kept");
    CHECK(dialogue.account == "x/1#1");
    return {true, R"({"answers":)" + dialogue.answers_json + R"(,"state":")" + dialogue.state + "\"}", {}};
  }
};

struct AskingFixture : Fixture {
  using Fixture::Fixture;
  struct Reply {
    int status = 0;
    JsonDocument body;
    std::string text;
    const JsonValue& result() const { return body["result"]; }
    int code() const { return body.HasMember("error") ? body["error"]["code"].GetInt() : 0; }
    std::string message() const { return body.HasMember("error") ? body["error"]["message"].GetString() : ""; }
    std::string type() const { return std::string(find_string(result(), "resultType").value_or("")); }
    std::string request_state() const { return std::string(find_string(result(), "requestState").value_or("")); }
  };
  /// 2026-07-28.
  Reply call(const std::string& more = {}, const std::string& capabilities = kCanAll, const std::string& key = kKey,
             const std::string& arguments = "{}", const std::string& tool = "x__ask") const {
    const auto params =
        R"({"name":")" + tool + R"(","arguments":)" + arguments + (more.empty() ? "" : "," + more) +
        R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)" +
        capabilities + "}}";
    RawClient client(port);
    const auto answer = client.ask(
        http_post("/mcp", R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + params + "}",
                  "Authorization: Bearer " + key +
                      "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " + tool + "\r\n"));
    INFO(answer.body);
    return {answer.status, parse_json(answer.body, "the answer"), answer.body};
  }
  std::string responses(const std::string& of_who, const std::string& state) const {
    return R"("inputResponses":{"who":)" + of_who + "}" + (state.empty() ? "" : R"(,"requestState":")" + state + "\"");
  }

  std::string session(const std::string& capabilities = kCanAll) {
    RawClient client(port);
    return client
        .ask(http_post("/mcp",
                       R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                       R"("capabilities":)" +
                           capabilities + R"(,"clientInfo":{"name":"c","version":"1"}}})",
                       "Authorization: Bearer " + kKey + "\r\n"))
        .headers.at("Mcp-Session-Id");
  }
  std::string in(const std::string& session, const std::string& body, const std::string& more = {}) const {
    return http_post("/mcp", body,
                     "Authorization: Bearer " + kKey +
                         "\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + session + "\r\n" + more);
  }
  RawAnswer post_in(const std::string& session, const std::string& body, const std::string& more = {}) const {
    RawClient client(port);
    return client.ask(in(session, body, more));
  }
};

const std::string kCallText =
    R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x__ask","arguments":{}}})";

/// The data of the next event that has any.
JsonDocument next_event(RawClient& client) {
  std::string text;
  while (!text.ends_with("}\n\n")) {
    const auto more = client.receive_bytes(1);
    REQUIRE(more.size() == 1);
    text += more;
  }
  client.receive_bytes(2);  // the chunk's end
  INFO(text);
  const auto at = text.rfind("data: ");
  REQUIRE(at != std::string::npos);
  return parse_json(std::string_view(text).substr(at + 6), "the event");
}

std::string answer_to(const JsonDocument& request, const std::string& result) {
  return R"({"jsonrpc":"2.0","id":)" + to_json(request["id"]) + R"(,"result":)" + result + "}";
}

const std::string kAccept = R"({"action":"accept","content":{"name":"Ann","method":1}})";

}  // namespace

TEST_CASE("Without sessions a result asks, and the call goes on with the answers", "[mcp]") {
  AskingFixture f;
  f.api.scripted = Asker{kAll};
  const auto first = f.call();
  CHECK(first.status == 200);
  CHECK(first.type() == "input_required");
  CHECK(
      to_json(first.result()["inputRequests"]) ==
      R"({"who":{"method":"elicitation/create","params":{"message":"x__ask asks: Who?","requestedSchema":)" + kForm +
          R"(}},"say":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text",)"
          R"("text":"x__ask asks: Hi"}}],"systemPrompt":"The tool x__ask says: Be kind.","maxTokens":9}},"go":{"method":"elicitation/create","params":)"
          R"({"message":"x__ask asks: Go","mode":"url","url":"https://x.example/"}},"where":{"method":"roots/list","params":{}}})");
  CHECK(f.api.last.dialogue->can_ask == kEverything);

  const auto given = [&](const std::string& state) {
    return R"("inputResponses":{"who":)" + kAccept +
           R"(,"say":{"role":"assistant","content":[{"type":"text","text":"Ha"},{"type":"image"}],"model":"m"},)"
           R"("go":{"action":"decline","content":{"a":1}},"where":{"roots":[{"uri":"file:///a","name":"A","x":1}]},"no":1})" +
           (state.empty() ? "" : R"(,"requestState":")" + state + "\"");
  };
  // With the state, and beside what is asked anew: the same.
  for (const auto& state : {first.request_state(), std::string()}) {
    const auto whole = f.call(given(state));
    CHECK(whole.type() == "complete");
    CHECK(to_json(whole.result()["structuredContent"]) ==
          R"({"answers":{"who":{"action":"accept","content":{"name":"Ann"}},"say":{"text":"Ha","model":"m"},)"
          R"("go":{"action":"decline"},"where":{"roots":[{"uri":"file:///a","name":"A"}]}},"state":"kept"})");
  }
  // Some are missing: they are asked for once more, without a call.
  const auto before = f.api.invoked.load();
  const auto again = f.call(f.responses(kAccept, first.request_state()));
  CHECK(again.type() == "input_required");
  CHECK(again.result()["inputRequests"].MemberCount() == 4);
  CHECK(f.api.invoked == before);
  CHECK(f.call(R"("inputResponses":{})").type() == "input_required");
}

TEST_CASE("What does not fit, and a state that is none of this call's, is refused with a sentence", "[mcp]") {
  AskingFixture f;
  f.api.scripted = Asker{kWho};
  const auto state = f.call({}, kCanAll, kKey, R"({"b":1,"a":2})").request_state();
  const auto refused = [&](const AskingFixture::Reply& reply, const std::string& why) {
    INFO(reply.text);
    CHECK(reply.status == 400);
    CHECK(reply.code() == -32602);
    CHECK_THAT(reply.message(), Catch::Contains(why));
  };
  for (const auto* answer : {"12345", "null", "[]", "{}", R"({"action":"maybe"})", R"({"action":"accept"})",
                             R"({"action":"accept","content":{}})", R"({"action":"accept","content":{"name":1}})"})
    refused(f.call(f.responses(answer, {})), "\"who\" does not fit");
  refused(f.call(R"("inputResponses":null)"), "\"inputResponses\" must be");
  refused(f.call(R"("inputResponses":[1])"), "\"inputResponses\" must be");
  refused(f.call(R"("requestState":7)"), "\"requestState\" must be");

  const auto mine = R"({"a": 2, "b": 1.0})";  // the same arguments
  const auto with = f.responses(kAccept, state);
  CHECK(f.call(with, kCanAll, kKey, mine).type() == "complete");
  refused(f.call(with, kCanAll, kOtherKey, mine), "none that was given for this call");
  refused(f.call(with, kCanAll, kKey, R"({"a":2,"b":2})"), "none that was given for this call");
  refused(f.call(with, kCanAll, kKey, mine, "x__other"), "none that was given for this call");
  for (const auto& forged :
       {state + "-TAMPERED", state.substr(1), state.substr(0, 20), std::string("x"), std::string(300'000, 'A')})
    refused(f.call(f.responses(kAccept, forged), kCanAll, kKey, mine), "none that was given for this call");
  // Who lets himself be asked once more has no longer than before.
  f.clock.advance(mcp::StateSeal::kGoodForMs / 2);
  const auto renewed = f.call(R"("requestState":")" + state + "\"", kCanAll, kKey, mine).request_state();
  CHECK(f.call(f.responses(kAccept, renewed), kCanAll, kKey, mine).type() == "complete");
  f.clock.advance(mcp::StateSeal::kGoodForMs / 2 + 1);
  refused(f.call(with, kCanAll, kKey, mine), "has expired");
  refused(f.call(f.responses(kAccept, renewed), kCanAll, kKey, mine), "has expired");
}

TEST_CASE("Only what a client has declared is asked of it, and no call asks for ever", "[mcp]") {
  AskingFixture f;
  f.api.scripted = Asker{kWho};
  const auto missing = f.call({}, R"({"sampling":{},"elicitation":{"url":{}}})");
  CHECK(missing.status == 400);
  CHECK(missing.code() == -32021);
  CHECK(to_json(missing.body["error"]["data"]) == R"({"requiredCapabilities":{"elicitation":{"form":{}}}})");
  CHECK(f.call({}, R"({"elicitation":{}})").type() == "input_required");  // who names no way means forms
  CHECK(f.call({}, R"({"elicitation":7})").code() == -32021);
  // The state does not help who says later that it cannot.
  const auto state = f.call().request_state();
  CHECK(f.call(R"("requestState":")" + state + "\"", "{}").code() == -32021);

  f.api.scripted = [](const Invocation& call) { return asks(call, kWho, "again"); };
  auto reply = f.call();
  for (int round = 1; round < mcp::CapabilityCall::kMostRounds; ++round) {
    REQUIRE(reply.type() == "input_required");
    reply = f.call(f.responses(kAccept, reply.request_state()));
  }
  CHECK(reply.type() == "input_required");
  CHECK_THAT(f.call(f.responses(kAccept, reply.request_state())).text, Catch::Contains("has asked 8 times"));
}

TEST_CASE("In a session the client is asked on the stream of the call, and answers in its session", "[mcp]") {
  AskingFixture f;
  f.api.scripted = Asker{kWho};
  const auto session = f.session(), other = f.session();
  RawClient client(f.port);
  client.send(f.in(session, kCallText, kTakesEvents));
  CHECK(client.receive().headers.at("Content-Type") == "text/event-stream");
  const auto request = next_event(client);
  CHECK(find_string(request, "method") == "elicitation/create");
  CHECK(to_json(request["params"]) == R"({"message":"x__ask asks: Who?","requestedSchema":)" + kForm + "}");
  // Another session's word is nobody's, and so is what was not asked.
  CHECK(f.post_in(other, answer_to(request, kAccept)).status == 202);
  CHECK(f.post_in(session, R"({"jsonrpc":"2.0","id":"x","result":{}})").status == 202);
  CHECK(f.api.invoked == 1);
  CHECK(f.post_in(session, answer_to(request, kAccept)).status == 202);
  const auto answer = next_event(client);
  CHECK(to_json(answer["id"]) == "7");
  CHECK(to_json(answer["result"]["structuredContent"]["answers"]) ==
        R"({"who":{"action":"accept","content":{"name":"Ann"}}})");
  CHECK(f.post_in(session, answer_to(request, kAccept)).status == 202);  // too late, and nothing to anybody
  CHECK(f.api.invoked == 2);
}

TEST_CASE("What a client refuses, fills in wrongly, or cannot be asked, is a failed call that says so", "[mcp]") {
  AskingFixture f;
  f.api.scripted = Asker{kWho};
  const auto session = f.session();
  const auto failed = [&](const std::function<std::string(const JsonDocument&)>& message, const std::string& why) {
    RawClient client(f.port);
    client.send(f.in(session, kCallText, kTakesEvents));
    client.receive();
    f.post_in(session, message(next_event(client)));
    const auto answer = next_event(client);
    CHECK(find_bool(answer["result"], "isError") == true);
    CHECK_THAT(to_json(answer["result"]), Catch::Contains(why));
  };
  failed([](const auto& request) { return answer_to(request, R"({"action":"accept","content":{"name":1}})"); },
         "does not fit what was asked");
  failed(
      [](const auto& request) {
        return R"({"jsonrpc":"2.0","id":)" + to_json(request["id"]) +
               R"(,"error":{"code":-1,"message":"No \u001b way"}})";
      },
      "has refused: No");
  // Each answer is a message of its own: together they are bounded.
  f.api.scripted = Asker{R"({"a":{"kind":"model","message":"A","max_tokens":9},"b":{"kind":"model","message":"B",)"
                         R"("max_tokens":9},"c":{"kind":"roots"}})"};
  {
    const auto able = f.session(kCanAll);
    RawClient client(f.port);
    client.send(f.in(able, kCallText, kTakesEvents));
    client.receive();
    std::vector<JsonDocument> requests;
    for (int i = 0; i < 3; ++i) requests.push_back(next_event(client));
    for (int i = 0; i < 2; ++i)
      f.post_in(able, answer_to(requests[i], R"({"role":"assistant","model":"m","content":{"type":"text","text":")" +
                                                 std::string(600'000, 'x') + "\"}}"));
    CHECK(find_string(next_event(client), "method") == "notifications/cancelled");  // what is not answered yet
    CHECK_THAT(to_json(next_event(client)["result"]), Catch::Contains("more than 1024 KiB together"));
  }
  f.api.scripted = Asker{kWho};
  // Without events, and without the ability, nobody is asked.
  CHECK_THAT(f.post_in(session, kCallText).body, Catch::Contains("InputRequired"));
  CHECK(f.api.last.dialogue->can_ask == 0);
  CHECK_THAT(f.post_in(f.session("{}"), kCallText, kTakesEvents).body, Catch::Contains("InputRequired"));
}

TEST_CASE("What may not be called any more is not asked again, and what was asked of it is withdrawn", "[mcp]") {
  AskingFixture f;
  f.api.scripted = Asker{kWho};
  const Error blocked(ErrorCode::kOperationBlocked, "x.ask is blocked.");
  const auto state = f.call().request_state();
  const auto session = f.session();
  RawClient client(f.port);
  client.send(f.in(session, kCallText, kTakesEvents));
  client.receive();
  const auto request = next_event(client);
  const auto changed = f.gateway.on_capabilities_changed();
  changed();  // and it still may
  const auto before = f.api.invoked.load();
  f.api.asks_no_more = blocked;
  changed();
  const auto withdrawn = next_event(client);
  CHECK(find_string(withdrawn, "method") == "notifications/cancelled");
  CHECK(to_json(withdrawn["params"]["requestId"]) == to_json(request["id"]));
  CHECK_THAT(to_json(next_event(client)["result"]), Catch::Contains("x__ask is blocked."));
  CHECK(f.post_in(session, answer_to(request, kAccept)).status == 202);  // to nobody

  const auto again = f.call(R"("requestState":")" + state + "\"");
  CHECK(again.type() == "complete");
  CHECK(find_bool(again.result(), "isError") == true);
  CHECK_THAT(again.text, Catch::Contains("x__ask is blocked.") && !Catch::Contains("Who?"));
  CHECK(f.api.invoked == before);
  // What has changed while the read ran is not asked at all.
  const auto told = f.post_in(session, kCallText, kTakesEvents).body;
  CHECK_THAT(told, Catch::Contains("x__ask is blocked.") && !Catch::Contains("Who?"));
}

TEST_CASE("A question ends with its call, its time, or its session, and is withdrawn", "[mcp]") {
  AskingFixture f;
  f.api.scripted = Asker{kWho};
  const auto session = f.session();
  const auto asked = [&](RawClient& client) {
    client.send(f.in(session, kCallText, kTakesEvents));
    client.receive();
    return to_json(next_event(client)["id"]);
  };
  const auto withdrawn = [](RawClient& client, const std::string& id) {
    const auto event = next_event(client);
    CHECK(find_string(event, "method") == "notifications/cancelled");
    CHECK(to_json(event["params"]["requestId"]) == id);
  };
  SECTION("the client takes the call back") {
    RawClient client(f.port);
    const auto id = asked(client);
    f.post_in(session, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
    withdrawn(client, id);
    bool whole = false;
    CHECK(client.receive_chunks(&whole).empty());
    CHECK(whole);
  }
  SECTION("nobody answers") {
    RawClient client(f.port);
    const auto id = asked(client);
    while (f.clock.waiters() == 0) std::this_thread::yield();
    f.clock.advance(mcp::ClientQuestions::kPatienceMs);
    withdrawn(client, id);
    CHECK_THAT(to_json(next_event(client)["result"]), Catch::Contains("nobody has answered in time"));
  }
  SECTION("the session ends") {
    RawClient client(f.port), ender(f.port);
    asked(client);
    ender.ask("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kKey +
              "\r\nMcp-Session-Id: " + session + "\r\n\r\n");
    CHECK_THAT(to_json(next_event(client)["result"]), Catch::Contains("the session has ended"));
  }
  SECTION("too many wait") {
    std::vector<RawClient> clients;
    for (std::size_t i = 0; i < mcp::ClientQuestions::kPerAgent; ++i) asked(clients.emplace_back(f.port));
    CHECK_THAT(f.post_in(session, kCallText, kTakesEvents).body, Catch::Contains("16 calls of this agent wait"));
  }
}

TEST_CASE("Over a WebSocket questions are messages, and end with the connection", "[mcp]") {
  AskingFixture f;
  f.api.scripted = Asker{kWho};
  auto socket = f.socket("/mcp");
  socket.ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":)"
             R"({"elicitation":{}}}})");
  const auto request = parse_json(socket.ask(kCallText), "the request");
  CHECK(find_string(request, "method") == "elicitation/create");
  const auto answer = socket.ask(answer_to(request, R"({"action":"decline"})"));
  CHECK_THAT(answer, Catch::Contains(R"("structuredContent":{"answers":{"who":{"action":"decline"}})"));
  // What is said after the answer reaches nobody.
  socket.ask(R"({"jsonrpc":"2.0","id":8,"method":"logging/setLevel","params":{"level":"debug"}})");
  std::function<void(std::int32_t, std::string_view)> tell;
  f.api.scripted = [&](const Invocation& call) {
    tell = call.dialogue->tell;
    return InvocationResult{true, "{}", {}};
  };
  socket.ask(kCallText);
  REQUIRE(tell);
  tell(KRUX_LOG_WARN, "late");
  CHECK_THAT(socket.ask(R"({"jsonrpc":"2.0","id":9,"method":"ping"})"), Catch::Contains(R"("id":9)"));
  f.api.scripted = Asker{kWho};
  socket.ask(kCallText);  // and goes
}

TEST_CASE("A call tells its progress, and messages of the level that is wanted", "[mcp]") {
  AskingFixture f;
  f.api.scripted = [](const Invocation& call) {
    const auto& dialogue = *call.dialogue;
    if (dialogue.progress) {
      for (const auto done : {0.0, 2.5, 2.5, 1.0}) dialogue.progress({done, 5, done > 2 ? "half" : ""});
    }
    if (dialogue.tell) {
      dialogue.tell(KRUX_LOG_DEBUG, "fine");
      dialogue.tell(KRUX_LOG_WARN, "odd");
    }
    return InvocationResult{true, "{}", {}};
  };
  const auto session = f.session();
  const auto call = [&](const std::string& meta) {
    return R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x__ask","arguments":{})" + meta + "}}";
  };
  const auto heard = [&](const std::string& request) {
    RawClient client(f.port);
    client.send(request);
    auto answer = client.receive();
    return answer.headers.at("Content-Type") == "text/event-stream" ? client.receive_chunks() : std::string("plain");
  };
  CHECK(f.post_in(session, call(""), kTakesEvents).headers.at("Content-Type") == "application/json");
  const auto progress = heard(f.in(session, call(R"(,"_meta":{"progressToken":4})"), kTakesEvents));
  CHECK_THAT(progress, Catch::Contains(R"({"progressToken":4,"progress":0,"total":5}})") &&
                           Catch::Contains(R"({"progressToken":4,"progress":2.5,"total":5,"message":"half"}})") &&
                           !Catch::Contains(R"("progress":1)"));
  CHECK(progress.find("2.5,") == progress.rfind("2.5,"));

  const auto level = [&](const std::string& name) {
    return f
        .post_in(session, R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":")" + name + "\"}}")
        .body;
  };
  CHECK_THAT(level("loud"), Catch::Contains("-32602"));
  CHECK_THAT(level("notice"), Catch::Contains(R"("result":{})"));
  const auto told = heard(f.in(session, call(""), kTakesEvents));
  CHECK_THAT(
      told,
      Catch::Contains(
          R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"x__ask","data":"odd"}})") &&
          !Catch::Contains("fine"));
  CHECK_THAT(level("emergency"), Catch::Contains(R"("result":{})"));
  CHECK(f.post_in(session, call(""), kTakesEvents).headers.at("Content-Type") == "application/json");
}

}  // namespace KRUXOS_TEST_FILE
