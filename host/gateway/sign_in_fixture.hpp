// A gateway at which hosts can sign in, on a real socket, and one such host.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/net/test_server.hpp"
#include "core/oauth/form.hpp"
#include "core/oauth/pkce.hpp"
#include "core/sign_in/client_documents.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/storage/group_commit.hpp"
#include "host/gateway/gateway_fixture.hpp"

namespace gateway_test {

inline const std::string kVerifier(43, 'v'), kBack = "https://client.example/back?x=1";

using Values = std::map<std::string, std::string>;

inline std::string form_text(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) append_pair(text, name, value);
  return text;
}

inline std::string text_of(const RawAnswer& answer, const std::string& member) {
  const auto json = parse_json(answer.body, "The answer");
  return std::string(find_string(json, member).value_or(""));
}

inline std::string header_of(const RawAnswer& answer, const std::string& name) {
  const auto at = answer.headers.find(name);
  return at == answer.headers.end() ? "" : at->second;
}

struct SignInGateway {
  FakeApi api;
  DrivenClock clock;
  support::Scratch scratch;
  GroupCommit commits{scratch.path() / "kruxos.db", kLedgerKind};
  SignInStore store{commits, clock};
  std::shared_ptr<HttpTransport> transport;
  ClientDocuments documents;
  AgentGateway gateway;
  HttpServer server{2, HttpServer::Begin::kLater, nullptr, HttpServer::Handlers::kTakeTime};
  std::uint16_t port;
  std::string origin, client_id;
  std::map<std::string, std::string> cookies;  ///< of the browser, by page

  explicit SignInGateway(const std::string& public_url = "", TransportOptions options = {},
                         std::vector<std::string> allowed_origins = {})
      : transport(make_http_transport(std::move(options))),
        documents(transport, clock),
        gateway(api, clock, {{}, nullptr, "ifc", {&store, &documents}, std::move(allowed_origins)}) {
    store.when_tokens_end(gateway.on_keys_changed());
    port = server.listen_tcp("127.0.0.1", 0, gateway.handler(true), {}, std::nullopt, gateway.admission(true)).port;
    origin = public_url.empty() ? "http://127.0.0.1:" + std::to_string(port) : public_url;
    gateway.set_origin(origin);
    server.serve();
  }

  RawAnswer get(const std::string& path, const std::string& more = {}) {
    return RawClient(port).ask(http_get(path, more));
  }
  /// What the browser that began sends with a load of that page.
  std::string cookie_of(const std::string& page) const { return "Cookie: a=b; " + cookies.at(page) + "; c=d\r\n"; }
  RawAnswer load(const std::string& page) { return get(page, cookie_of(page)); }
  RawAnswer post_form(const std::string& path, const std::string& body) {
    return RawClient(port).ask("POST " + path +
                               " HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                               "application/x-www-form-urlencoded\r\nContent-Length: " +
                               std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  RawAnswer register_client(const std::string& json) { return RawClient(port).ask(http_post("/register", json)); }
  void registered() {
    const auto answer =
        register_client(R"({"client_name":"A <b>client</b>","redirect_uris":[)" + json_string(kBack) + "]}");
    REQUIRE(answer.status == 201);
    client_id = text_of(answer, "client_id");
  }
  Values asked() const {
    return {{"response_type", "code"},         {"client_id", client_id},
            {"redirect_uri", kBack},           {"code_challenge", challenge_of(kVerifier)},
            {"code_challenge_method", "S256"}, {"state", "a state & more"},
            {"resource", origin + "/mcp"},     {"scope", "mcp"}};
  }
  RawAnswer authorize(const Values& values) {
    auto answer = get("/authorize?" + form_text(values));
    const auto cookie = header_of(answer, "Set-Cookie");
    if (answer.status == 303) cookies[header_of(answer, "Location")] = cookie.substr(0, cookie.find(';'));
    return answer;
  }
  /// The address of the page that waits.
  std::string begun() {
    if (client_id.empty()) registered();
    const auto answer = authorize(asked());
    REQUIRE(answer.status == 303);
    return header_of(answer, "Location");
  }
  std::string code_for_people() const { return store.requests().back().code; }
  /// Where the browser is sent at the end.
  std::string accepted() {
    const auto page = begun();
    store.accept(code_for_people(), "agent_1", "operator:me");
    const auto answer = load(page);
    REQUIRE(answer.status == 303);
    return header_of(answer, "Location");
  }
  static std::string code_of(const std::string& location) {
    return query_value(location.substr(location.find('?') + 1), "code").value_or("");
  }
  Values exchange_of(const std::string& code) const {
    return {{"grant_type", "authorization_code"},
            {"code", code},
            {"client_id", client_id},
            {"redirect_uri", kBack},
            {"code_verifier", kVerifier},
            {"resource", origin + "/mcp"}};
  }
  RawAnswer token(const Values& values) { return post_form("/token", form_text(values)); }
  RawAnswer signed_in() {
    auto answer = token(exchange_of(code_of(accepted())));
    REQUIRE(answer.status == 200);
    return answer;
  }
  RawAnswer refresh(const std::string& token_text) {
    return token({{"grant_type", "refresh_token"}, {"refresh_token", token_text}, {"client_id", client_id}});
  }
  RawAnswer mcp(const std::string& token_text, const std::string& more = {}) {
    const auto authorization = token_text.empty() ? "" : "Authorization: Bearer " + token_text + "\r\n";
    return RawClient(port).ask(http_post("/mcp", R"({"jsonrpc":"2.0","id":1,"method":"ping"})", authorization + more));
  }
};

}  // namespace gateway_test
