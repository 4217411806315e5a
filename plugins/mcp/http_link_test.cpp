#include "http_link.hpp"

#include <kruxos/kit/json.hpp>
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using kruxos::testing::FakeRequest;
using kruxos::testing::FakeWrite;
using kruxos::testing::Outcome;

namespace {

struct NotComparedHere {};

/// Asks what the test wants, in a read and in a write.
class Adapter final : public kruxos::ReadAdapter, public kruxos::WriteExecutor {
 public:
  Adapter(kruxos::Host host, const kruxos::Account&) : link(host.http(), "mcp") {}
  static kruxos::Description describe() { return {}; }
  std::string read(const kruxos::Call& call, const kruxos::Reader&, std::string_view,
                   std::string_view params) override {
    try {
      return link.ask(call, {"tools/call", std::string(params), true, compared});
    } catch (const mcp::NotCompared&) {
      throw NotComparedHere();
    }
  }
  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    try {
      return link.ask(call, {"tools/call", std::string(write.params_json), false});
    } catch (const mcp::RpcError& error) {
      throw kruxos::ProxyError(ErrorKind::kRefused, error.what()).no_effect();
    }
  }
  kruxos::EffectFound find_effect(const kruxos::Call&, const kruxos::BufferedWrite&) override { return {}; }
  mcp::HttpLink link;
  std::optional<std::uint64_t> compared;
};

struct Rig {
  kruxos::testing::Workbench<Adapter> bench;
  bool events = false, stateless = false, refuses_by_head = false, keeps_sessions = true;
  std::string session = "s1";
  FakeAnswer forgotten = FakeAnswer::with(404, "gone");
  std::vector<std::string> calls;
  std::function<FakeAnswer(std::string id)> answer = [this](const std::string& id) {
    return give(id, R"("result":{"ok":true})");
  };

  Rig() {
    bench.host.safe_posts = {"mcp"};
    bench.host.on_request = [this](const FakeRequest& request) { return serve(request); };
  }
  FakeAnswer give(const std::string& id, const std::string& rest) const {
    const auto json = R"({"jsonrpc":"2.0","id":)" + id + "," + rest + "}";
    if (!events) return FakeAnswer::json(200, json);
    return FakeAnswer::with(200, ": hello\n\nevent: message\nid: 7\ndata: " + json + "\n\n",
                            {{"Content-Type", "text/event-stream; charset=utf-8"}});
  }
  static std::string header(const FakeRequest& request, const std::string& name) {
    for (const auto& [key, value] : request.headers)
      if (key == name) return value;
    return {};
  }
  FakeAnswer serve(const FakeRequest& request) {
    const auto message = kruxos::kit::parse(request.body);
    const std::string method(kruxos::kit::text_of(message, "method"));
    const auto id = kruxos::kit::digits_of(message, "id");
    if (method == "initialize" && stateless && refuses_by_head)
      return FakeAnswer::json(400, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"no"}})");
    if (method == "initialize" && stateless)
      return FakeAnswer::json(400, R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32022,"message":"no"}})");
    if (method == "server/discover")
      return give(id, R"("result":{"resultType":"complete","supportedVersions":["2026-07-28"]})");
    if (method == "initialize") {
      auto begun = give(id, R"("result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x"}})");
      if (keeps_sessions) begun.headers.emplace_back("mcp-session-id", session);
      return begun;
    }
    if (!stateless && keeps_sessions && header(request, "Mcp-Session-Id") != session) return forgotten;
    if (method == "notifications/initialized") return FakeAnswer::with(202, "");
    calls.push_back(request.body);
    return answer(id);
  }
  std::string read() { return bench.fetch("x.y", R"({"name":"t"})"); }
  kruxos::testing::Attempt write() {
    FakeWrite one{"x.z", R"({"name":"t"})"};
    return bench.execute(one);
  }
  const FakeRequest& last() const { return bench.host.requests.back(); }
};

}  // namespace

TEST_CASE("a session is begun once, and each request says to which it belongs") {
  Rig rig;
  rig.events = GENERATE(false, true);
  CHECK(rig.read() == R"({"ok":true})");
  CHECK(rig.bench.host.requests.size() == 3);
  CHECK(rig.write().outcome == Outcome::kDone);
  CHECK(rig.bench.host.requests.size() == 4);
  CHECK(Rig::header(rig.last(), "Mcp-Session-Id") == "s1");
  CHECK(Rig::header(rig.last(), "MCP-Protocol-Version") == "2025-06-18");
  CHECK_FALSE(rig.last().only_reads);
  CHECK(rig.bench.host.requests[2].only_reads);
}

TEST_CASE("a server without sessions is asked by its own model") {
  Rig rig;
  rig.stateless = true;
  rig.refuses_by_head = GENERATE(false, true);
  CHECK(rig.read() == R"({"ok":true})");
  CHECK(Rig::header(rig.last(), "MCP-Protocol-Version") == "2026-07-28");
  CHECK(Rig::header(rig.last(), "Mcp-Method") == "tools/call");
  CHECK(Rig::header(rig.last(), "Mcp-Name") == "t");
  CHECK_THAT(rig.last().body, Contains("io.modelcontextprotocol/protocolVersion"));
}

TEST_CASE("a lost session costs a read nothing, and a write no more than a later try") {
  Rig rig;
  (void)rig.read();
  rig.session = "s2";
  CHECK(rig.read() == R"({"ok":true})");
  rig.session = "s3";
  const auto attempt = rig.write();
  CHECK(attempt.outcome == Outcome::kRetried);
  CHECK(rig.write().outcome == Outcome::kDone);
  CHECK(rig.calls.size() == 3);
}

TEST_CASE("what a status says of a write") {
  Rig rig;
  const auto outcome_of = [&](const FakeAnswer& answer) {
    rig.answer = [answer](const std::string&) { return answer; };
    return rig.write().outcome;
  };
  CHECK(outcome_of(FakeAnswer::with(500, "")) == Outcome::kUnknown);
  CHECK(outcome_of(FakeAnswer::with(200, "<html>")) == Outcome::kUnknown);
  CHECK(outcome_of(FakeAnswer::with(200, R"({"jsonrpc":"2.0","id":999,"result":{}})")) == Outcome::kUnknown);
  CHECK(outcome_of(FakeAnswer::dropped()) == Outcome::kUnknown);
  CHECK(outcome_of(FakeAnswer::unreachable()) == Outcome::kRetried);
  CHECK(outcome_of(FakeAnswer::with(400, "no")) == Outcome::kRetried);  // the session may be forgotten
  CHECK(outcome_of(FakeAnswer::with(422, "no")) == Outcome::kRefused);
  CHECK(outcome_of(FakeAnswer::with(401, "")) == Outcome::kRetried);
  CHECK(outcome_of(FakeAnswer::with(302, "", {{"Location", "https://evil.example"}})) == Outcome::kRefused);
  CHECK(outcome_of(FakeAnswer::rate_limited(7)) == Outcome::kRetried);
  rig.answer = [&](const std::string& id) { return rig.give(id, R"("error":{"code":-32602,"message":"bad"})"); };
  CHECK(rig.write().outcome == Outcome::kRefused);
}

TEST_CASE("what a status says of the session or the token holds whatever the body is") {
  Rig rig;
  (void)rig.read();
  const auto with_status = [&](int status) {
    rig.answer = [&rig, status](const std::string& id) {
      auto said = rig.give(id, R"("error":{"code":-32001,"message":"Session not found"})");
      said.status = status;
      return said;
    };
  };
  with_status(404);
  const auto begun = rig.bench.host.requests.size();
  CHECK(rig.write().outcome == Outcome::kRetried);
  with_status(401);
  CHECK(rig.write().failure->status == KRUX_AUTH);
  CHECK(rig.bench.host.requests.size() == begun + 4);  // a session was begun for the second
}

TEST_CASE("a tool's name stands in a header as the protocol has it") {
  Rig rig;
  rig.stateless = true;
  const auto header_of = [&](const std::string& name) {
    (void)rig.bench.fetch("x.y", R"({"name":)" + kruxos::kit::quoted(name) + "}");
    return Rig::header(rig.last(), "Mcp-Name");
  };
  CHECK(header_of("do it") == "do it");
  CHECK(header_of("größe") == "=?base64?Z3LDtsOfZQ==?=");
  CHECK(header_of("a\r\nX: y") == "=?base64?YQ0KWDogeQ==?=");
  CHECK(header_of(" a") == "=?base64?IGE=?=");
  CHECK(header_of("=?base64?YQ==?=") == "=?base64?PT9iYXNlNjQ/WVE9PT89?=");
}

TEST_CASE("a refusal by its status has had no effect, whatever error stands in its body") {
  Rig rig;
  const auto refused = [&](int status, FakeAnswer answer = {}) {
    rig.answer = [&, status](const std::string& id) {
      auto said = rig.give(id, R"("error":{"code":-32000,"message":"slow down"})");
      said.status = status;
      said.headers.insert(said.headers.end(), answer.headers.begin(), answer.headers.end());
      return said;
    };
    return rig.write();
  };
  CHECK(refused(400).outcome == Outcome::kRefused);
  CHECK_THAT(refused(422).failure->message, Contains("slow down"));
  const auto limited = refused(429, FakeAnswer::rate_limited(7));
  CHECK(limited.outcome == Outcome::kRetried);
  CHECK(limited.failure->retry_after_ms == 7'000);
  CHECK(refused(500).outcome != Outcome::kRetried);
}

TEST_CASE("a session that is refused with 400 is begun anew, and 303 may have done what was asked") {
  Rig rig;
  (void)rig.read();
  rig.forgotten =
      FakeAnswer::json(400, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No session"}})");
  rig.session = "s2";
  CHECK(rig.read() == R"({"ok":true})");
  rig.session = "s3";
  CHECK(rig.write().outcome == Outcome::kRetried);
  CHECK(rig.write().outcome == Outcome::kDone);
  rig.answer = [](const std::string&) { return FakeAnswer::with(303, "", {{"Location", "/done"}}); };
  CHECK(rig.write().outcome == Outcome::kUnknown);
}

TEST_CASE("what was compared with another session's tools is not sent") {
  Rig rig;
  (void)rig.read();
  auto& link = rig.bench.adapter().link;
  rig.bench.adapter().compared = link.tools_version();
  CHECK(rig.read() == R"({"ok":true})");
  rig.session = "s2";
  const auto calls = rig.calls.size();
  CHECK_THROWS_AS(rig.read(), NotComparedHere);
  CHECK(rig.calls.size() == calls);
  rig.bench.adapter().compared = link.tools_version();
  CHECK(rig.read() == R"({"ok":true})");
}

TEST_CASE("an answer counts although its stream does not end, and is not waited for twice") {
  Rig rig;
  rig.events = true;
  rig.answer = [&](const std::string& id) {
    auto never_ends = FakeAnswer::never();
    const auto whole = rig.give(id, R"("result":{"ok":true})");
    never_ends.status = 200;
    never_ends.headers = whole.headers;
    never_ends.body = whole.body;
    never_ends.cut_after = whole.body.size();
    return never_ends;
  };
  CHECK(rig.read() == R"({"ok":true})");
  const auto before = rig.bench.adapter().link.tools_version();
  rig.answer = [&](const std::string& id) {
    auto said = rig.give(id, R"("result":{"ok":true})");
    std::string more = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";
    const auto each = std::max(said.body.size(), more.size() + 2);
    said.body.insert(0, std::string(each - said.body.size(), '\n'));
    more.insert(0, std::string(each - more.size(), '\n'));
    said.body += more;  // comes in a second part, and nobody waits for that
    return said;
  };
  CHECK(rig.read() == R"({"ok":true})");
  CHECK(rig.bench.adapter().link.tools_version() == before);
}

TEST_CASE("the server says that its tools have changed") {
  Rig rig;
  rig.events = true;
  (void)rig.read();
  const auto before = rig.bench.adapter().link.tools_version();
  rig.answer = [&](const std::string& id) {
    auto said = rig.give(id, R"("result":{})");
    said.body =
        "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"notifications/tools/list_changed\"}\r\n\r\n" + said.body;
    return said;
  };
  (void)rig.read();
  CHECK(rig.bench.adapter().link.tools_version() == before + 1);
}

TEST_CASE("no server, no MCP, and a version of another time") {
  Rig rig;
  rig.bench.host.on_request = [](const FakeRequest&) { return FakeAnswer::with(200, "hello"); };
  CHECK_THROWS_WITH(rig.read(), Contains("no MCP server answers"));
  rig.bench.host.on_request = [](const FakeRequest&) { return FakeAnswer::with(401, ""); };
  CHECK_THROWS_WITH(rig.read(), Contains("token"));
  rig.bench.host.on_request = [](const FakeRequest& request) {
    const auto message = kruxos::kit::parse(request.body);
    return FakeAnswer::json(200, R"({"jsonrpc":"2.0","id":)" + kruxos::kit::digits_of(message, "id") +
                                     R"(,"result":{"protocolVersion":"1999-01-01"}})");
  };
  CHECK_THROWS_WITH(rig.read(), Contains("1999-01-01"));
  CHECK(rig.write().outcome == Outcome::kRefused);
}

}  // namespace KRUXOS_TEST_FILE
