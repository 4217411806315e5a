// Sessions by either way in: whose they are, and that they go on after a restart.
#include "core/util/ids.hpp"
#include "host/gateway/gateway_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

struct SessionFixture : Fixture {
  std::string created(const std::string& params = "{}", const std::string& key = kKey) {
    const auto answer = parse_json(call("session.create", params, key), "the answer");
    return std::string(*find_string(answer["result"], "session_id"));
  }
  std::string invoke_in(const std::string& session, const std::string& key = kKey) {
    return call("capabilities.invoke", R"({"capability":"x","session_id":)" + json_string(session) + "}", key);
  }
  void restart() { api.kept_sessions.emplace(api.store, api.clock); }

  RawAnswer mcp(const std::string& method, const std::string& params, const std::string& session = {}) {
    RawClient client(port);
    auto head = "Authorization: Bearer " + kKey + "\r\nMCP-Protocol-Version: 2025-11-25\r\n";
    if (!session.empty()) head += "Mcp-Session-Id: " + session + "\r\n";
    return client.ask(
        http_post("/mcp", R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}", head));
  }
  int end_mcp(const std::string& session) {
    RawClient client(port);
    const auto named = session.empty() ? "" : "Mcp-Session-Id: " + session + "\r\n";
    return client
        .ask("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kKey + "\r\n" + named + "\r\n")
        .status;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kUnknown = "sess_01900000-0000-7000-8000-000000000000";

}  // namespace

TEST_CASE("a client can neither choose a session's id nor use what is not his", "[gateway]") {
  SessionFixture f;
  CHECK(has(f.call("session.create", R"({"session_id":")" + kUnknown + "\"}"), "no parameter"));
  const auto mine = f.created(), theirs = f.created("{}", kOtherKey);
  CHECK(mine != theirs);
  for (const std::string& foreign : {theirs, kUnknown, mine + "x"}) {
    CHECK(has(f.invoke_in(foreign), "SessionExpired"));
    CHECK(has(f.call("session.end", R"({"session_id":")" + foreign + "\"}"), "SessionExpired"));
  }
  CHECK(f.api.invoked == 0);
  CHECK(has(f.invoke_in(theirs, kOtherKey), "\"success\":true"));
}

TEST_CASE("a session goes on after a restart, one that has ended does not", "[gateway]") {
  SessionFixture f;
  const auto named = f.created(R"({"agent_name":"helper","purpose":"sort the mail"})"), over = f.created();
  CHECK(has(f.call("session.end", R"({"session_id":")" + over + "\"}"), "\"ended\":true"));
  f.restart();
  CHECK(has(f.invoke_in(named), "\"success\":true"));
  CHECK(f.api.last.session_id == named);
  CHECK(has(f.invoke_in(named, kOtherKey), "SessionExpired"));
  CHECK(has(f.invoke_in(over), "SessionExpired"));
  CHECK(f.api.kept_sessions->find(named)->name == "helper");
  CHECK(f.api.kept_sessions->find(named)->purpose == "sort the mail");
  CHECK(f.api.kept_sessions->find(f.created())->name == "alice");
}

TEST_CASE("a session of the Model Context Protocol is kept and named by its client", "[mcp]") {
  SessionFixture f;
  const auto began = f.mcp("initialize", R"({"protocolVersion":"2025-11-25","clientInfo":{"name":"desk\u001b[1m"}})");
  const auto session = began.headers.at("Mcp-Session-Id");
  CHECK(f.api.kept_sessions->find(session)->name == "desk\\x1b[1m");
  f.mcp("tools/call", R"({"name":"x"})", session);
  CHECK(f.api.last.session_id == session);
  f.restart();
  CHECK(f.mcp("tools/call", R"({"name":"x"})", session).status == 200);
  CHECK(f.api.last.session_id == session);
  f.mcp("tools/call", R"({"name":"x"})");
  CHECK(f.api.last.session_id.empty());
  // What did not begin with the protocol's handshake is no session of the protocol.
  CHECK(f.mcp("tools/list", "{}", f.created()).status == 404);
  CHECK(f.mcp("tools/list", "{}", kUnknown).status == 404);
  CHECK(f.end_mcp("") == 404);
  CHECK(f.end_mcp(f.created()) == 404);
  CHECK(f.end_mcp(session) == 204);
  CHECK(f.end_mcp(session) == 404);
  f.restart();
  CHECK(f.mcp("tools/list", "{}", session).status == 404);
}

TEST_CASE("what is asked for over a WebSocket of the Model Context Protocol has its session", "[mcp]") {
  SessionFixture f;
  auto socket = f.socket("/mcp");
  const auto ask = [&](int id, const std::string& method, const std::string& params) {
    return socket.ask(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" +
                      params + "}");
  };
  ask(1, "initialize", R"({"protocolVersion":"2025-11-25","clientInfo":{"name":"desk"}})");
  ask(2, "tools/call", R"({"name":"x"})");
  REQUIRE(is_id("sess_", f.api.last.session_id));
  CHECK(f.api.kept_sessions->find(f.api.last.session_id)->name == "desk");
  f.clock.advance(24 * 3'600'000);
  ask(3, "tools/call", R"({"name":"x"})");
  CHECK(f.api.last.session_id.empty());
}

TEST_CASE("approvals are asked for by id, and whoever waits takes a place", "[gateway]") {
  SessionFixture f;
  CHECK(has(f.call("approvals.check", R"({"approval_id":"w_pending"})"), R"({"agent":"agent_1","wait_ms":0})"));
  CHECK(has(f.call("approvals.wait", R"({"approval_id":"w_pending"})"), R"("wait_ms":50000)"));
  CHECK(has(f.call("approvals.wait", R"({"approval_id":"w_pending","timeout":600})"), R"("wait_ms":600000)"));
  for (const char* params :
       {"{}", R"({"approval_id":7})", R"({"approval_id":"w_x"})", R"({"approval_id":"w_pending","timeout":601})",
        R"({"approval_id":"w_pending","timeout":-1})", R"({"approval_id":"w_pending","timeout":1.5})",
        R"({"approval_id":"w_pending","timeout":"5"})", R"({"approval_id":"w_pending","write_id":"w_1"})"}) {
    INFO(params);
    CHECK(has(f.call("approvals.wait", params), "-32602"));
  }
  CHECK(has(f.call("approvals.check", R"({"approval_id":"w_pending","timeout":1})"), "-32602"));
}

TEST_CASE("who waits for an approval has no more calls under way than others", "[gateway]") {
  Fixture f({64, 1});
  std::thread held([&] { f.call("approvals.wait", R"({"approval_id":"w_held"})"); });
  f.api.wait_for_held(1);
  CHECK(has(f.call("approvals.check", R"({"approval_id":"w_pending"})"), "-32000"));
  f.api.release();
  held.join();
  CHECK(has(f.call("approvals.check", R"({"approval_id":"w_pending"})"), "agent_1"));
}

}  // namespace KRUXOS_TEST_FILE
