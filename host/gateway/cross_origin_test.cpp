// Web pages of other origins: what a browser asks beforehand, what it lets a page read, and who gets none of it.
#include "host/gateway/sign_in_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

const std::string kApp = "https://app.example", kTool = "http://localhost:6274";

std::string from(const std::string& origin) {
  return "Origin: " + origin + "\r\n";
}

RawAnswer preflight(std::uint16_t port, const std::string& path, const std::string& origin,
                    const std::string& more = "Access-Control-Request-Method: POST\r\n") {
  RawClient client(port);
  client.send("OPTIONS " + path + " HTTP/1.1\r\nHost: localhost\r\n" + from(origin) + more + "\r\n");
  return client.receive(true);
}

bool names(const RawAnswer& answer, const std::string& header, std::string_view part) {
  return header_of(answer, header).find(part) != std::string::npos;
}

/// What lets a page read an answer; empty where nothing does.
std::string readable_by(const RawAnswer& answer) {
  CHECK(header_of(answer, "Access-Control-Allow-Credentials").empty());
  return header_of(answer, "Access-Control-Allow-Origin");
}

}  // namespace

TEST_CASE("a page of an allowed origin uses /mcp and signs in", "[cors]") {
  SignInGateway f("", {}, {kApp, kTool});
  for (const auto& origin : {kApp, kTool}) {
    INFO(origin);
    for (const std::string path :
         {"/mcp", "/register", "/token", "/revoke", "/.well-known/oauth-protected-resource",
          "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"}) {
      INFO(path);
      const auto asked = preflight(f.port, path, origin);
      CHECK(asked.status == 204);
      CHECK(readable_by(asked) == origin);
      CHECK(header_of(asked, "Vary") == "Origin");
      for (const auto* method : {"GET", "POST", "DELETE"}) CHECK(names(asked, "Access-Control-Allow-Methods", method));
      for (const auto* header : {"Authorization", "Content-Type", "Accept", "Last-Event-ID", "Mcp-Session-Id",
                                 "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "*"})
        CHECK(names(asked, "Access-Control-Allow-Headers", header));
    }
    // A page must read where to sign in, and its session.
    const auto refused = f.mcp("", from(origin));
    CHECK(refused.status == 401);
    CHECK(readable_by(refused) == origin);
    for (const auto* header : {"WWW-Authenticate", "Mcp-Session-Id"})
      CHECK(names(refused, "Access-Control-Expose-Headers", header));
    const auto answered = f.mcp(kKey, from(origin));
    CHECK(answered.status == 200);
    CHECK(readable_by(answered) == origin);
    CHECK(readable_by(f.get("/.well-known/oauth-authorization-server", from(origin))) == origin);
    RawClient stream(f.port);
    stream.send(http_get("/mcp", from(origin) + "Authorization: Bearer " + kKey + "\r\nAccept: text/event-stream\r\n"));
    CHECK(readable_by(stream.receive(true)) == origin);
    const auto form = RawClient(f.port).ask("POST /token HTTP/1.1\r\nHost: localhost\r\n" + from(origin) +
                                            "Content-Length: 0\r\n\r\n");
    CHECK(form.status == 400);
    CHECK(readable_by(form) == origin);
  }
  // Who names no origin is answered as ever; what stands between is told that others are answered otherwise.
  const auto program = f.mcp(kKey);
  CHECK(program.status == 200);
  CHECK(readable_by(program).empty());
  CHECK(header_of(program, "Vary") == "Origin");
}

TEST_CASE("other origins, other paths and other machines' names stay closed", "[cors]") {
  SignInGateway f("", {}, {kApp, kTool});
  for (const std::string origin : {"http://app.example", "https://app.example.evil.example", "https://app.example:444",
                                   "https://APP.example", "https://evil.example", "null", "*", ""}) {
    INFO(origin);
    CHECK(preflight(f.port, "/mcp", origin).status == 403);
    const auto answer = f.mcp(kKey, from(origin));
    CHECK(answer.status == 403);
    CHECK(readable_by(answer).empty());
  }
  // Of this machine's pages the listed ones alone read answers.
  const auto other_port = f.mcp(kKey, from("http://localhost:6275"));
  CHECK(other_port.status == 200);
  CHECK(readable_by(other_port).empty());
  CHECK(preflight(f.port, "/mcp", "http://localhost:6275").status == 405);
  for (const std::string path : {"/rpc", "/uploads", "/authorize", "/authorize/x", "/else"}) {
    INFO(path);
    const auto answer = preflight(f.port, path, kApp);
    CHECK(answer.status == 403);
    CHECK(readable_by(answer).empty());
  }
  CHECK(preflight(f.port, "/mcp", kApp, "").status == 405);  // it asks for nothing
  RawClient client(f.port);
  client.send("OPTIONS /mcp HTTP/1.1\r\nHost: evil.example\r\n" + from(kApp) +
              "Access-Control-Request-Method: POST\r\n\r\n");
  CHECK(client.receive(true).status == 403);
}

TEST_CASE("where no origin is allowed no answer says a word about them", "[cors]") {
  SignInGateway f;
  CHECK(preflight(f.port, "/mcp", kTool).status == 405);
  for (const auto& answer : {f.mcp(kKey, from(kTool)), f.mcp(kKey), f.mcp("", from(kTool))}) {
    CHECK(readable_by(answer).empty());
    CHECK(header_of(answer, "Vary").empty());
  }
  CHECK(f.mcp(kKey, from(kApp)).status == 403);
}

}  // namespace KRUXOS_TEST_FILE
