// A host that cannot send a key signs in, as such hosts do it: over the gateway alone, with the operator at the command
// line.
#include <poll.h>

#include "core/oauth/form.hpp"
#include "core/oauth/pkce.hpp"
#include "host/http/http_types.hpp"
#include "host/http/raw_web_socket.hpp"
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

const std::string kVerifier(43, 'v'), kBack = "http://localhost:9/callback";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

RigOptions with_sign_in() {
  RigOptions options;
  options.env["KRUXOS_SERVER__SIGN_IN__ENABLED"] = "true";
  options.env["KRUXOS_NET__ALLOW_PRIVATE_HOSTS"] = "127.0.0.0/8,::1/128";  // of services
  return options;
}

/// A port of this machine at which nobody is answered.
class SilentPort {
 public:
  SilentPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(fd_, 8) == 0);
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~SilentPort() { ::close(fd_); }
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;
  std::uint16_t port() const { return port_; }
  bool was_tried() const {
    pollfd waiting{fd_, POLLIN, 0};
    return ::poll(&waiting, 1, 0) != 0;
  }

 private:
  const int fd_;
  std::uint16_t port_ = 0;
};

/// What such a host knows.
struct McpHost {
  Rig& rig;
  std::string authorize, token, revoke, resource, client_id;

  std::string cookie = {};  ///< of the browser

  RawAnswer get(const std::string& address) {
    return RawClient(rig.gateway_port())
        .ask(http_get(path_of(address), cookie.empty() ? "" : "Cookie: " + cookie + "\r\n"));
  }
  std::string path_of(const std::string& address) const {
    const auto origin = "http://127.0.0.1:" + std::to_string(rig.gateway_port());
    CHECK((address.starts_with('/') || address.starts_with(origin + "/")));
    return address.starts_with('/') ? address : address.substr(origin.size());
  }
  RawAnswer form(const std::string& address, const std::map<std::string, std::string>& values) {
    std::string body;
    for (const auto& [name, value] : values) krux::append_pair(body, name, value);
    return RawClient(rig.gateway_port())
        .ask("POST " + path_of(address) +
             " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  RawAnswer mcp(const std::string& token_text) {
    const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
    return RawClient(rig.gateway_port())
        .ask(http_post("/mcp", body, token_text.empty() ? "" : "Authorization: Bearer " + token_text + "\r\n"));
  }
  /// From the 401 to a client_id.
  void discover() {
    const auto refused = mcp("");
    REQUIRE(refused.status == 401);
    const auto challenge = refused.headers.at("WWW-Authenticate");
    const std::string name = "resource_metadata=\"";
    const auto at = challenge.find(name) + name.size();
    const auto of_resource = parse(get(challenge.substr(at, challenge.find('"', at) - at)).body);
    resource = text_at(of_resource, "/resource");
    const auto issuer = text_at(of_resource, "/authorization_servers/0");
    const auto of_server = parse(get(issuer + "/.well-known/oauth-authorization-server").body);
    CHECK(text_at(of_server, "/issuer") == issuer);
    authorize = text_at(of_server, "/authorization_endpoint");
    token = text_at(of_server, "/token_endpoint");
    revoke = text_at(of_server, "/revocation_endpoint");
    const auto registered =
        RawClient(rig.gateway_port())
            .ask(http_post(path_of(text_at(of_server, "/registration_endpoint")),
                           R"({"client_name":"A host","redirect_uris":["http://localhost/callback"]})"));
    REQUIRE(registered.status == 201);
    client_id = text_at(parse(registered.body), "/client_id");
  }
  RawAnswer ask_leave() {
    std::string query;
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"response_type", "code"},
                                            {"client_id", client_id},
                                            {"redirect_uri", kBack},
                                            {"state", "s"},
                                            {"code_challenge", krux::challenge_of(kVerifier)},
                                            {"code_challenge_method", "S256"},
                                            {"resource", resource}})
      krux::append_pair(query, name, value);
    return get(authorize + "?" + query);
  }
  std::string begin() {
    const auto answer = ask_leave();
    REQUIRE(answer.status == 303);
    cookie = answer.headers.at("Set-Cookie");
    cookie.resize(cookie.find(';'));
    return answer.headers.at("Location");
  }
  /// What its page shows, and nothing else does.
  std::string code_of(const std::string& page) {
    const auto shown = get(page).body;
    const std::string before = "<strong>";
    const auto at = shown.find(before);
    REQUIRE(at != std::string::npos);
    const auto code = shown.substr(at + before.size(), std::string("BCDF-GHJK").size());
    const auto listed = rig.operate({"sign-in", "list"});
    CHECK(text_at(listed, "/requests/0/code") == code.substr(0, 5) + "....");
    CHECK_FALSE(contains(text_of(listed), code));
    CHECK_FALSE(contains(text_of(listed), code.substr(5)));
    CHECK(text_at(parse(rig.control("GET", "/sign-in/" + code).body), "/request/request_id") ==
          text_at(listed, "/requests/0/request_id"));
    return code;
  }
  Json exchange(const std::string& code) {
    return parse(form(token, {{"grant_type", "authorization_code"},
                              {"code", code},
                              {"client_id", client_id},
                              {"redirect_uri", kBack},
                              {"code_verifier", kVerifier},
                              {"resource", resource}})
                     .body);
  }
  Json refresh(const std::string& refresh_token) {
    return parse(form(token, {{"grant_type", "refresh_token"},
                              {"refresh_token", refresh_token},
                              {"client_id", client_id},
                              {"resource", resource}})
                     .body);
  }
  /// All the way, with the operator's word; the tokens.
  Json sign_in() {
    discover();
    const auto page = begin();
    const auto code = code_of(page);
    rig.operate({"sign-in", "accept", code, "--agent", "desktop"});
    const auto location = get(page).headers.at("Location");
    CHECK(location.starts_with(kBack + "?code="));
    CHECK(contains(location, "&state=s&iss=http%3A%2F%2F127.0.0.1%3A"));
    return exchange(krux::query_value(location.substr(location.find('?') + 1), "code").value_or(""));
  }
};

}  // namespace

TEST_CASE("a host signs in, works as an agent, renews its token, and is shut out") {
  Rig rig(with_sign_in());
  rig.begin();
  McpHost host{rig, {}, {}, {}, {}, {}};
  const auto first = host.sign_in();
  const auto access = text_at(first, "/access_token");
  CHECK(contains(host.mcp(access).body, "slack__send"));
  CHECK(rig.invoke("slack.channels").ok());  // who has a key goes on
  const auto second = host.refresh(text_at(first, "/refresh_token"));
  const auto newer = text_at(second, "/access_token");
  CHECK(contains(host.mcp(newer).body, "slack__send"));

  // The host forgets nothing over a restart.
  const std::string any_port = "port: 0,";
  rig.config_text.replace(rig.config_text.find(any_port), any_port.size(),
                          "port: " + std::to_string(rig.gateway_port()) + ",");
  rig.stop();
  rig.start();
  const auto listed = rig.operate({"sign-in", "list"});
  REQUIRE(size_at(listed, "/grants") == 1);
  CHECK(text_at(listed, "/grants/0/agent") == "desktop");
  CHECK(text_at(listed, "/grants/0/client_name") == "A host");
  CHECK(host.mcp(newer).status == 200);
  CHECK(host.mcp(text_at(host.refresh(text_at(second, "/refresh_token")), "/access_token")).status == 200);
  CHECK(text_at(host.refresh(text_at(first, "/refresh_token")), "/error") == "invalid_grant");
  CHECK(host.mcp(newer).status == 401);
}

TEST_CASE("when the operator ends a grant, its host is shut out at once") {
  Rig rig(with_sign_in());
  rig.begin();
  McpHost host{rig, {}, {}, {}, {}, {}};
  const auto tokens = host.sign_in();
  const auto access = text_at(tokens, "/access_token");
  RawWebSocket socket(rig.gateway_port(), "/mcp", "Authorization: Bearer " + access + "\r\n");
  REQUIRE(socket.is_open());
  const auto id = text_at(rig.operate({"sign-in", "list"}), "/grants/0/grant_id");
  rig.operate({"sign-in", "end", id});
  CHECK(socket.receive().code() == 1008);
  const auto refused = host.mcp(access);
  CHECK(refused.status == 401);
  CHECK(contains(refused.headers.at("WWW-Authenticate"), "error=\"invalid_token\""));
  CHECK(text_at(host.refresh(text_at(tokens, "/refresh_token")), "/error") == "invalid_grant");
  for (const auto* secret : {"/access_token", "/refresh_token"}) {
    CHECK_FALSE(contains(rig.log(), text_at(tokens, secret)));
    CHECK_FALSE(contains(rig.log(), text_at(tokens, secret).substr(7)));
  }
}

TEST_CASE("with its agent a host is shut out, and a refused one is told so") {
  Rig rig(with_sign_in());
  rig.begin();
  McpHost host{rig, {}, {}, {}, {}, {}};
  const auto access = text_at(host.sign_in(), "/access_token");
  CHECK(host.mcp(access).status == 200);
  rig.operate({"agent", "revoke", "desktop", "-y"});
  CHECK(host.mcp(access).status == 401);
  CHECK(contains(text_at(rig.operate({"sign-in", "list"}), "/grants/0/end_reason"), "its agent was revoked"));

  const auto page = host.begin();
  const auto code = host.code_of(page);
  const auto revoked = rig.kruxos({"sign-in", "accept", code, "--agent", "desktop", "-y"});
  CHECK(revoked.status.code == 5);
  CHECK(contains(revoked.err, "is revoked: name another one"));
  CHECK(rig.kruxos({"sign-in", "accept", code, "--agent", "no name", "-y"}).status.code == 1);
  const auto id = text_at(rig.operate({"sign-in", "list"}), "/requests/0/request_id");
  CHECK(rig.kruxos({"sign-in", "accept", id, "--agent", "a", "-y"}).status.code == 4);
  CHECK_FALSE(contains(text_of(rig.operate({"sign-in", "reject", id})), code));
  CHECK(contains(host.get(page).headers.at("Location"), "error=access_denied"));
  CHECK(rig.kruxos({"sign-in", "accept", "XXXX-XXXX", "--agent", "a"}).status.code == 4);

  // Where services may be, strangers lead the host nowhere.
  const SilentPort inside;
  host.client_id = "https://localhost:" + std::to_string(inside.port()) + "/client.json";
  const auto led = host.ask_leave();
  CHECK(led.status == 400);
  CHECK(contains(led.body, "could not be fetched"));
  CHECK_FALSE(inside.was_tried());
}

TEST_CASE(
    "under another public address, and with sign-in off, tokens are good for nothing, and are again when it is back") {
  Rig rig;
  const auto serve = [&](const std::string& sign_in) {
    const auto from = rig.config_text.find("server:"), end = rig.config_text.find('\n', from);
    rig.config_text.replace(
        from, end - from,
        "server: {port: " + std::to_string(rig.gateway_port()) + ", health_port: 0, sign_in: {" + sign_in + "}}");
    if (rig.gateway_port() != 0) rig.stop();
    rig.start();
  };
  serve("enabled: true");
  McpHost host{rig, {}, {}, {}, {}, {}};
  const auto tokens = host.sign_in();
  const auto access = text_at(tokens, "/access_token"), renewal = text_at(tokens, "/refresh_token");
  CHECK(host.mcp(access).status == 200);

  serve("enabled: true, public_url: 'https://kruxos.example'");
  const auto elsewhere = host.mcp(access);
  CHECK(elsewhere.status == 401);
  CHECK(contains(elsewhere.headers.at("WWW-Authenticate"),
                 "error=\"invalid_token\", resource_metadata=\"https://kruxos.example/"));
  CHECK(text_at(host.refresh(renewal), "/error") == "invalid_target");
  host.resource.clear();
  CHECK(text_at(host.refresh(renewal), "/error") == "invalid_grant");
  CHECK(number_at(rig.operate({"sign-in", "list"}), "/grants/0/ended_at_ms") == 0);

  serve("enabled: false");
  const auto off = host.mcp(access);
  CHECK(off.status == 401);
  CHECK_FALSE(contains(off.headers.at("WWW-Authenticate"), "resource_metadata"));
  CHECK(RawClient(rig.gateway_port()).ask(http_post("/token", "grant_type=refresh_token")).status == 404);
  const auto listed = rig.operate({"sign-in", "list"});
  CHECK_FALSE(bool_at(listed, "/enabled"));
  CHECK(number_at(listed, "/grants/0/ended_at_ms") == 0);

  serve("enabled: true");
  CHECK(host.mcp(access).status == 200);
  CHECK(host.mcp(text_at(host.refresh(renewal), "/access_token")).status == 200);
}

TEST_CASE("sign-in is refused where tokens would travel unencrypted, and off unless it is turned on") {
  {
    auto options = with_sign_in();
    options.env["KRUXOS_SERVER__HOST"] = "0.0.0.0";
    options.env["KRUXOS_SERVER__ALLOW_PLAIN_HTTP"] = "true";
    Rig rig(options);
    rig.launch();
    CHECK(rig.await_end().code == 1);
    CHECK(contains(rig.host().output(Stream::err), "tokens would travel there unencrypted"));
  }
  Rig rig;
  rig.start();
  CHECK(RawClient(rig.gateway_port()).ask(http_get("/.well-known/oauth-authorization-server")).status == 404);
  CHECK_FALSE(bool_at(rig.operate({"sign-in", "list"}), "/enabled"));
  const auto off = rig.kruxos({"sign-in", "accept", "BCDF-GHJK", "--agent", "a"});
  CHECK(off.status.code == 5);
  CHECK(contains(off.err, "Sign-in is off"));
}

}  // namespace KRUXOS_TEST_FILE
