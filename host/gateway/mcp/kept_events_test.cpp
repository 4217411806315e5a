// Answers that go on over another connection.
#include "host/gateway/mcp/kept_events.hpp"

#include "host/gateway/gateway_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

const std::string kCall =
    R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{"progressToken":1}}})";
const std::string kBearer = "Authorization: Bearer " + kKey + "\r\n";
const std::string kTakesEvents = "Accept: application/json, text/event-stream\r\n";

struct Resumed : Fixture {
  std::string version = "2025-11-25";
  std::string session(const std::string& key = kKey) {
    RawClient client(port);
    return client
        .ask(http_post("/mcp",
                       R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                       R"("capabilities":{},"clientInfo":{"name":"c","version":"1"}}})",
                       "Authorization: Bearer " + key + "\r\n"))
        .headers.at("Mcp-Session-Id");
  }
  void call(RawClient& client, const std::string& session) {
    client.send(http_post(
        "/mcp", kCall,
        kBearer + "MCP-Protocol-Version: " + version + "\r\nMcp-Session-Id: " + session + "\r\n" + kTakesEvents));
    CHECK(client.receive().headers.at("Content-Type") == "text/event-stream");
  }
  std::string get(const std::string& session, const std::string& last_event, const std::string& key = kKey) const {
    return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key +
           "\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + session + "\r\nLast-Event-ID: " + last_event +
           "\r\n" + kTakesEvents + "\r\n";
  }
};

/// The text of the next event.
std::string next_event(RawClient& client) {
  std::string text;
  while (!text.ends_with("\n\n")) {
    const auto more = client.receive_bytes(1);
    REQUIRE(more.size() == 1);
    text += more;
  }
  client.receive_bytes(2);  // the chunk's end
  return text.substr(text.find("\r\n") + 2);
}

std::string id_of(const std::string& event) {
  const auto at = event.find("id: ") + 4;
  return event.substr(at, event.find('\n', at) - at);
}

}  // namespace

TEST_CASE("An answer goes on over another connection behind the event that was heard last", "[mcp]") {
  Resumed f;
  const auto session = f.session();
  std::string last;
  {
    RawClient lost(f.port);
    f.call(lost, session);
    const auto first = next_event(lost);
    CHECK_THAT(first, Catch::StartsWith("id: answer-") && Catch::EndsWith("-0\nretry: 1000\ndata: \n\n"));
    f.api.wait_for_held(1);
    f.api.last.tell("It waits.");
    const auto told = next_event(lost);
    CHECK_THAT(told, Catch::Contains("It waits."));
    last = id_of(told);
    CHECK(last.ends_with("-1"));
  }
  f.api.last.tell("It goes out.");
  RawClient client(f.port);
  client.send(f.get(session, last));
  CHECK(client.receive().headers.at("Content-Type") == "text/event-stream");
  CHECK_THAT(next_event(client), Catch::Contains("It goes out."));
  // Who comes again takes the place of whom he was before.
  RawClient again(f.port);
  again.send(f.get(session, last));
  again.receive();
  CHECK_THAT(next_event(again), Catch::Contains("It goes out."));
  bool whole = false;
  client.receive_chunks(&whole);
  CHECK(whole);
  f.api.release();
  CHECK_THAT(next_event(again), Catch::Contains(R"("id":7,"result")"));

  // The answer stays for a while, for this session of this agent alone.
  RawClient late(f.port);
  late.send(f.get(session, last));
  late.receive();
  whole = false;
  CHECK_THAT(late.receive_chunks(&whole),
             Catch::Contains("It goes out.") && Catch::Contains(R"("id":7,"result")") && !Catch::Contains("It waits."));
  CHECK(whole);
  const auto status = [&](const std::string& request) {
    RawClient one(f.port);
    return one.ask(request).status;
  };
  CHECK(status(f.get(f.session(), last)) == 410);
  CHECK(status(f.get(f.session(kOtherKey), last, kOtherKey)) == 410);
  for (const auto* odd :
       {"answer-", "answer-0-", "answer-1-x", "answer-0123456789abcdef01234567-1", "answer-1-99999999999999999999999"})
    CHECK(status(f.get(session, odd)) == 410);
  f.clock.advance(mcp::KeptAnswers::kKeptMs + 1);
  CHECK(status(f.get(session, last)) == 410);
}

TEST_CASE("With its agent's key an answer ends that could be gone on with, and nothing of it is kept", "[mcp]") {
  Resumed f;
  const auto session = f.session();
  RawClient first(f.port), lost(f.port), second(f.port);
  f.call(first, session);
  const auto id = id_of(next_event(first));
  f.call(lost, session);
  const auto other = id_of(next_event(lost));
  f.api.wait_for_held(2);
  second.send(f.get(session, other));
  second.receive();
  f.gateway.on_keys_changed()();  // another's: they go on
  f.api.last.tell("It waits.");
  CHECK_THAT(next_event(second), Catch::Contains("It waits."));
  f.api.revoked = true;
  f.gateway.on_keys_changed()();
  for (auto* client : {&first, &second}) {
    bool whole = false;
    client->receive_chunks(&whole);
    CHECK(whole);
  }
  f.api.answer_of_held = R"({"late":1})";
  f.api.release();
  f.api.revoked = false;  // as with a new key
  for (const auto& one : {id, other}) {
    RawClient back(f.port);
    CHECK(back.ask(f.get(session, one)).status == 410);
  }
}

TEST_CASE("Clients of the versions before are answered over one connection", "[mcp]") {
  Resumed f;
  f.version = "2025-06-18";
  const auto session = f.session();
  RawClient client(f.port);
  f.call(client, session);
  f.api.wait_for_held(1);
  f.api.last.tell("It waits.");
  f.api.release();
  CHECK_THAT(client.receive_chunks(), Catch::StartsWith("event: message\ndata: ") && !Catch::Contains("id: "));
}

TEST_CASE("So many answers of an agent are kept, and so much of each", "[mcp]") {
  Resumed f;
  const auto session = f.session();
  std::vector<RawClient> clients;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i <= mcp::KeptAnswers::kPerAgent; ++i) {
    f.call(clients.emplace_back(f.port), session);
    ids.push_back(id_of(next_event(clients.back())));
    f.api.wait_for_held(i + 1);
  }
  RawClient gone(f.port);
  CHECK(gone.ask(f.get(session, ids[0])).status == 410);
  clients.back().close();
  for (int i = 0; i < 3; ++i) f.api.last.tell(std::string(100'000, static_cast<char>('w' + i)));
  f.api.answer_of_held = "\"" + std::string(mcp::KeptEvents::kLargestKept, 'z') + "\"";
  RawClient back(f.port);
  back.send(f.get(session, ids.back()));
  back.receive();
  // Letters that no id has.
  auto heard = next_event(back);
  heard += next_event(back);
  CHECK((heard.find("xxx") != heard.npos && heard.find("yyy") != heard.npos && heard.find("www") == heard.npos));
  f.api.release();
  CHECK_THAT(back.receive_chunks(), Catch::Contains("zzz"));  // whoever is there gets it, however large
  RawClient late(f.port);
  CHECK(late.ask(f.get(session, ids.back())).status == 410);
}

}  // namespace KRUXOS_TEST_FILE
