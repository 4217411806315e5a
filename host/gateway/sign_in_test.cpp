// Who has signed in, and who is told to.
#include "host/gateway/sign_in_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Reads until it has come; false where the connection ends before.
bool hears(RawClient& client, std::string_view what) {
  std::string seen;
  while (!has(seen, what)) {
    const auto more = client.receive_bytes(1);
    if (more.empty()) return false;
    seen += more;
  }
  return true;
}

std::string bearer(const std::string& token) {
  return "Authorization: Bearer " + token + "\r\n";
}

}  // namespace

TEST_CASE("whoever has no token is told where to sign in, and an agent's key goes on to work", "[sign_in]") {
  SignInGateway f;
  const auto refused = f.mcp("");
  CHECK(refused.status == 401);
  CHECK(header_of(refused, "WWW-Authenticate") == "Bearer realm=\"kruxos\", resource_metadata=\"" + f.origin +
                                                      "/.well-known/oauth-protected-resource/mcp\", scope=\"mcp\"");
  const auto wrong = f.mcp("kruxat_" + std::string(64, '0'));
  CHECK(wrong.status == 401);
  CHECK(has(header_of(wrong, "WWW-Authenticate"), "error=\"invalid_token\", resource_metadata="));
  CHECK(f.mcp(kKey).status == 200);
  const auto wrong_key = f.mcp(kWrongKey);
  CHECK(wrong_key.status == 401);
  CHECK(has(wrong_key.body, "no agent's key"));
  CHECK_FALSE(has(wrong_key.body, "sign in again"));
  CHECK_FALSE(has(header_of(RawClient(f.port).ask(http_post("/rpc", "{}")), "WWW-Authenticate"), "resource_metadata"));
  // Hosts begin so, and as many as like at one address.
  for (int i = 0; i < 30; ++i) CHECK(f.mcp("").status == 401);
  // Strangers share the address of what stands in front: whoever tries keys there is slowed down, and locks out nobody
  // whose token has run out.
  int locked = 0;
  for (int i = 0; i < 30; ++i) locked += f.mcp(kWrongKey).status == 429 ? 1 : 0;
  CHECK(locked > 15);
  for (int i = 0; i < 30; ++i) {
    const auto unknown = f.mcp("kruxat_" + std::string(64, '1'));
    CHECK(unknown.status == 401);
    CHECK(has(header_of(unknown, "WWW-Authenticate"), "error=\"invalid_token\""));
  }
  CHECK(f.mcp(kKey).status == 200);
  CHECK(f.mcp("").status == 401);
}

TEST_CASE("what a client must know stands at the well-known places", "[sign_in]") {
  SignInGateway f("https://kruxos.example");
  for (const auto* path : {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"}) {
    const auto answer = f.get(path);
    CHECK(answer.status == 200);
    CHECK(text_of(answer, "resource") == "https://kruxos.example/mcp");
    CHECK(has(answer.body, R"("authorization_servers":["https://kruxos.example"])"));
    CHECK(has(answer.body, R"("bearer_methods_supported":["header"])"));
  }
  const auto answer = f.get("/.well-known/oauth-authorization-server");
  CHECK(text_of(answer, "issuer") == "https://kruxos.example");
  CHECK(text_of(answer, "authorization_endpoint") == "https://kruxos.example/authorize");
  CHECK(text_of(answer, "token_endpoint") == "https://kruxos.example/token");
  CHECK(text_of(answer, "registration_endpoint") == "https://kruxos.example/register");
  CHECK(text_of(answer, "revocation_endpoint") == "https://kruxos.example/revoke");
  CHECK(has(answer.body, R"("code_challenge_methods_supported":["S256"])"));
  CHECK(has(answer.body, R"("authorization_response_iss_parameter_supported":true)"));
  CHECK(has(answer.body, R"("client_id_metadata_document_supported":true)"));
  CHECK(f.get("/.well-known/openid-configuration").status == 404);
}

TEST_CASE("a host signs in, works, renews its token and signs out", "[sign_in]") {
  SignInGateway f;
  const auto location = f.accepted();
  CHECK(location.starts_with(kBack + "&code=kruxac_"));
  CHECK(has(location, "&state=a%20state%20%26%20more&iss=" + url_encode(f.origin)));
  const auto first = f.token(f.exchange_of(f.code_of(location)));
  REQUIRE(first.status == 200);
  CHECK(header_of(first, "Cache-Control") == "no-store");
  CHECK(text_of(first, "token_type") == "Bearer");
  CHECK(text_of(first, "scope") == "mcp");
  CHECK(has(first.body, "\"expires_in\":3600"));
  CHECK(f.mcp(text_of(first, "access_token")).status == 200);
  const auto second = f.refresh(text_of(first, "refresh_token"));
  REQUIRE(second.status == 200);
  CHECK(f.mcp(text_of(second, "access_token")).status == 200);
  CHECK(f.post_form("/revoke", form_text({{"token", text_of(second, "refresh_token")}, {"client_id", f.client_id}}))
            .status == 200);
  const auto over = f.mcp(text_of(second, "access_token"));
  CHECK(over.status == 401);
  CHECK(has(header_of(over, "WWW-Authenticate"), "error=\"invalid_token\""));
  CHECK(text_of(f.refresh(text_of(second, "refresh_token")), "error") == "invalid_grant");
}

TEST_CASE("an access token is good for /mcp, in the header, while it lives and its agent does", "[sign_in]") {
  SignInGateway f;
  const auto token = text_of(f.signed_in(), "access_token");
  const std::string message = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  CHECK(f.mcp(token).status == 200);
  CHECK(RawClient(f.port).ask(http_post("/rpc", message, bearer(token))).status == 401);
  CHECK(RawClient(f.port).ask(http_post("/uploads", message, bearer(token))).status == 401);
  CHECK(RawWebSocket(f.port, "/rpc", bearer(token)).answer.status == 401);
  for (const auto* path : {"/mcp?token=", "/mcp?access_token=", "/rpc?token="})
    CHECK(RawClient(f.port).ask(http_post(path + token, message)).status == 401);
  CHECK(RawWebSocket(f.port, "/mcp?token=" + token).answer.status == 401);
  CHECK(RawWebSocket(f.port, "/mcp", bearer(token)).is_open());
  SECTION("it runs out, and that is no guess") {
    RawWebSocket socket(f.port, "/mcp", bearer(token));
    f.clock.advance(3'600'000);
    socket.text(message);
    CHECK(socket.receive().code() == 1008);
    for (int i = 0; i < 30; ++i) CHECK(f.mcp(token).status == 401);
  }
  SECTION("its agent is revoked") {
    f.api.revoked = true;
    CHECK(f.mcp(token).status == 401);
  }
  SECTION("another resource is served now") {
    AgentGateway other(f.api, f.clock, {{}, nullptr, "ifc", {&f.store, &f.documents}});
    other.set_origin("https://other.example");
    HttpServer server(1, HttpServer::Begin::kAtOnce, nullptr, HttpServer::Handlers::kTakeTime);
    const auto port =
        server.listen_tcp("127.0.0.1", 0, other.handler(true), {}, std::nullopt, other.admission(true)).port;
    const auto answer = RawClient(port).ask(http_post("/mcp", message, bearer(token)));
    CHECK(answer.status == 401);
    CHECK(has(header_of(answer, "WWW-Authenticate"), "error=\"invalid_token\""));
  }
}

TEST_CASE("when a grant ends, its WebSockets and streams end, and no others", "[sign_in]") {
  SignInGateway f;
  const auto token = text_of(f.signed_in(), "access_token");
  RawWebSocket his(f.port, "/mcp", bearer(token)), others(f.port, "/mcp", bearer(kOtherKey));
  RawClient stream(f.port), others_stream(f.port), listening(f.port);
  const auto listen = [](const std::string& key) {
    return http_get("/mcp", bearer(key) + "Accept: text/event-stream\r\n");
  };
  stream.send(listen(token));
  others_stream.send(listen(kOtherKey));
  listening.send(http_post(
      "/mcp",
      R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}})",
      bearer(token) + "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                      "Mcp-Method: subscriptions/listen\r\n"));
  for (auto* client : {&stream, &others_stream, &listening}) {
    REQUIRE(client->receive(true).status == 200);
    REQUIRE_FALSE(client->receive_bytes(8).empty());
  }
  f.store.end(f.store.grants().front().grant_id, "operator:me");
  CHECK(his.receive().code() == 1008);
  for (auto* client : {&stream, &listening}) CHECK(hears(*client, "0\r\n\r\n"));
  f.gateway.on_capabilities_changed()();
  CHECK(hears(others_stream, "list_changed"));
  others.text(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  CHECK(has(others.receive_text(), "\"id\":1"));
}

TEST_CASE("with an agent's key its streams end as well", "[sign_in]") {
  SignInGateway f;
  RawClient stream(f.port);
  stream.send(http_get("/mcp", bearer(kKey) + "Accept: text/event-stream\r\n"));
  REQUIRE(stream.receive(true).status == 200);
  REQUIRE_FALSE(stream.receive_bytes(8).empty());
  f.api.revoked = true;
  f.gateway.on_keys_changed()();
  CHECK(hears(stream, "0\r\n\r\n"));
}

TEST_CASE("behind something that does TLS the Host is the public one, and others are refused", "[sign_in]") {
  const std::string name = GENERATE(as<std::string>(), "kruxos.example:8443", "kruxos.example");
  SignInGateway f("https://" + name);
  const auto ask = [&](const std::string& path, const std::string& headers) {
    return RawClient(f.port).ask("GET " + path + " HTTP/1.1\r\n" + headers + "\r\n").status;
  };
  const std::string metadata = "/.well-known/oauth-authorization-server";
  CHECK(ask(metadata, "Host: " + name + "\r\n") == 200);
  CHECK(ask(metadata, "Host: KRUXOS" + name.substr(6) + "\r\n") == 200);
  CHECK(ask(metadata, "Host: localhost\r\n") == 200);
  CHECK(ask("/mcp", "Host: " + name + "\r\n") == 401);
  CHECK(ask("/else", "Host: " + name + "\r\n") == 404);
  for (const auto* host : {"kruxos.example:8444", "evil.example", "kruxos.example:8443.evil.example", "", ":443"})
    CHECK(ask(metadata, std::string("Host: ") + host + "\r\n") == 403);
  // The port that https has anyway may be said.
  const bool default_port = name == "kruxos.example";
  CHECK(ask(metadata, "Host: kruxos.example:443\r\n") == (default_port ? 200 : 403));
  CHECK(ask(metadata, "Host: kruxos.example:80\r\n") == 403);
  CHECK(ask(metadata, "Host: kruxos.example:8443\r\n") == (default_port ? 403 : 200));
  CHECK(ask("/authorize", "Host: evil.example\r\n") == 403);
  // Its own pages, and no others.
  CHECK(ask(metadata, "Host: " + name + "\r\nOrigin: https://" + name + "\r\n") == 200);
  CHECK(ask("/mcp", "Host: " + name + "\r\nOrigin: https://" + name + "\r\n") == 401);
  for (const auto& origin : std::vector<std::string>{"https://evil.example", "http://" + name, "https://",
                                                     "https://" + name + ".evil.example", "null"})
    CHECK(ask(metadata, "Host: localhost\r\nOrigin: " + origin + "\r\n") == 403);
}

TEST_CASE("under the public name there is sign-in and /mcp over HTTP, and no key in an address", "[sign_in]") {
  SignInGateway f("https://kruxos.example");
  const std::string message = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  for (const auto* host : {"kruxos.example", "kruxos.example:443"}) {
    INFO(host);
    const auto post = [&](const std::string& path) {
      return RawClient(f.port)
          .ask("POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + bearer(kKey) +
               "Content-Type: application/json\r\nContent-Length: " + std::to_string(message.size()) + "\r\n\r\n" +
               message)
          .status;
    };
    const auto upgrade = [&](const std::string& path, const std::string& more = {}) {
      return RawClient(f.port)
          .ask("GET " + path + " HTTP/1.1\r\nHost: " + host +
               "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
               more + "\r\n")
          .status;
    };
    CHECK(post("/mcp") == 200);
    CHECK(post("/rpc") == 403);
    CHECK(post("/uploads") == 403);
    for (const auto* path : {"/", "/rpc", "/mcp"}) {
      CHECK(upgrade(path, bearer(kKey)) == 403);
      CHECK(upgrade(path + ("?token=" + kKey)) == 403);
    }
  }
  CHECK(RawWebSocket(f.port, "/mcp?token=" + kKey).is_open());
  CHECK(RawClient(f.port).ask(http_post("/rpc", message, bearer(kKey))).status == 200);
}

TEST_CASE("where sign-in is off there is none of it", "[sign_in]") {
  Fixture f;
  for (const auto* path : {"/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server",
                           "/authorize", "/authorize/x"})
    CHECK(RawClient(f.port).ask(http_get(path)).status == 404);
  for (const auto* path : {"/register", "/token", "/revoke"})
    CHECK(RawClient(f.port).ask(http_post(path, "{}")).status == 404);
  const auto answer = RawClient(f.port).ask(http_post("/mcp", "{}", bearer("kruxat_" + std::string(64, '0'))));
  CHECK(answer.status == 401);
  CHECK(header_of(answer, "WWW-Authenticate") == "Bearer realm=\"kruxos\"");
}

}  // namespace KRUXOS_TEST_FILE
