// The authorization endpoint and its page, with all that may be wrong.
#include "host/gateway/sign_in_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

bool shows(const RawAnswer& answer, std::string_view part) {
  return answer.body.find(part) != std::string::npos;
}

/// A server under the name client.test, with the document of a client.
struct DocumentServer {
  TlsIdentity authority = make_authority();
  TlsIdentity identity = make_identity({"DNS:client.test"}, &authority);
  CertificateFile file{authority};
  std::string body;
  TestServer server{[this](krux::test::Peer& peer, int) {
                      while (!peer.read_request().empty())
                        peer.write(answer(body, "200 OK", "Content-Type: application/json\r\n"));
                    },
                    &identity};

  TransportOptions options(std::vector<std::string> allowed) const {
    TransportOptions options;
    options.extra_ca_file = file.path();
    options.allowed_networks = std::move(allowed);
    options.resolve = [](const std::string&) { return Resolution{{*parse_ip("127.0.0.1")}, ""}; };
    return options;
  }
  std::string id() const { return "https://client.test:" + std::to_string(server.port()) + "/client.json"; }
};

}  // namespace

TEST_CASE("the page shows who asks and the code, needs no script, and goes on once the operator has decided",
          "[sign_in]") {
  SignInGateway f;
  const auto page = f.begun();
  CHECK(page.starts_with("/authorize/"));
  const auto waiting = f.load(page);
  CHECK(waiting.status == 200);
  CHECK(header_of(waiting, "Content-Type") == "text/html; charset=utf-8");
  CHECK(header_of(waiting, "Content-Security-Policy") ==
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  CHECK(header_of(waiting, "Referrer-Policy") == "no-referrer");
  CHECK(shows(waiting, "<meta http-equiv=\"refresh\" content=\"3\">"));
  CHECK(shows(waiting, f.code_for_people()));
  CHECK(shows(waiting, "<b>A &lt;b&gt;client&lt;/b&gt;</b>"));
  CHECK(shows(waiting, "registered itself, which anybody can"));
  CHECK(shows(waiting, "<b>client.example</b>"));
  CHECK_FALSE(shows(waiting, "<script"));
  f.store.reject(f.code_for_people(), "operator:me");
  const auto refused = f.load(page);
  CHECK(refused.status == 303);
  const auto location = header_of(refused, "Location");
  CHECK(location == kBack + "&error=access_denied&error_description=The%20operator%20has%20refused.&state=" +
                        url_encode("a state & more") + "&iss=" + url_encode(f.origin));
}

TEST_CASE("an accepted page leads back as often as it is loaded, until the code was used", "[sign_in]") {
  SignInGateway f;
  const auto page = f.begun();
  f.store.accept(f.code_for_people(), "agent_1", "operator:me");
  const auto first = header_of(f.load(page), "Location");
  CHECK(header_of(f.load(page), "Location") == first);
  CHECK(f.token(f.exchange_of(f.code_of(first))).status == 200);
  CHECK(f.load(page).status == 410);
  for (const auto& other : {std::string(), std::string(32, '0'), std::string(64, '0'), std::string(8000, '0')})
    CHECK(f.get("/authorize/" + other, f.cookie_of(page)).status == 410);
  CHECK(f.get("/authorize/%00<script>").status != 200);
}

TEST_CASE("the page and the way back are for the browser that began, and for no other", "[sign_in]") {
  const bool https = GENERATE(false, true);
  SignInGateway f(https ? "https://kruxos.example" : "");
  f.registered();
  const auto begun = f.authorize(f.asked());
  const auto page = header_of(begun, "Location");
  const auto cookie = header_of(begun, "Set-Cookie");
  for (const std::string part : {"; HttpOnly", "; SameSite=Lax", "; Path=/authorize/"}) {
    INFO(part);
    CHECK(cookie.find(part) != std::string::npos);
  }
  CHECK((cookie.find("; Secure") != std::string::npos) == https);
  // The address has nothing of what the cookie has.
  const auto value = f.cookies.at(page).substr(f.cookies.at(page).find('=') + 1);
  CHECK(value.size() == 32);
  CHECK(page.find(value) == std::string::npos);
  const auto leads_nowhere = [&](const std::string& cookies) {
    INFO(cookies);
    const auto answer = f.get(page, cookies);
    CHECK(header_of(answer, "Location").empty());
    CHECK_FALSE(shows(answer, f.code_for_people()));
    return answer.status;
  };
  const auto strangers = [&] {
    CHECK(leads_nowhere("") == 403);
    CHECK(leads_nowhere("Cookie: a=b\r\n") == 403);
    CHECK(leads_nowhere("Cookie: kruxos_browser=\r\n") == 403);
    CHECK(leads_nowhere("Cookie: kruxos_browser=" + value + "0\r\n") == 403);
    CHECK(leads_nowhere("Cookie: kruxos_browser=" + value + "; kruxos_browser=" + value + "\r\n") == 403);
    CHECK(leads_nowhere("Cookie: kruxos_browser=" + std::string(32, '0') + "\r\n") == 410);
  };
  strangers();
  CHECK(shows(f.get(page), "for the browser that began"));
  CHECK(f.load(page).status == 200);
  f.store.accept(f.code_for_people(), "agent_1", "operator:me");
  f.clock.advance(1);
  CHECK(leads_nowhere("") == 403);
  const auto other = f.begun();  // a second one in the same browser takes nothing from the first
  CHECK(f.load(other).status == 200);
  CHECK(f.load(page).status == 303);
}

TEST_CASE("a HEAD begins nothing", "[sign_in]") {
  SignInGateway f;
  f.registered();
  RawClient client(f.port);
  client.send("HEAD /authorize?" + form_text(f.asked()) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(client.receive(true).status == 405);
  CHECK(f.store.requests().empty());
}

TEST_CASE("where client or redirect address are not known the browser is sent nowhere", "[sign_in]") {
  SignInGateway f;
  f.registered();
  const auto refused = [&](const std::string& name, const std::string& value) {
    auto values = f.asked();
    values[name] = value;
    const auto answer = f.authorize(values);
    CHECK(answer.status == 400);
    CHECK(header_of(answer, "Location").empty());
    CHECK_FALSE(shows(answer, "href"));
  };
  refused("client_id", "");
  refused("client_id", "client_x");
  refused("client_id", "http://127.0.0.1/client.json");
  refused("client_id", "https://127.0.0.1/client.json");
  refused("client_id", "<script>alert(1)</script>");
  refused("redirect_uri", "");
  refused("redirect_uri", "https://evil.example/");
  refused("redirect_uri", kBack + "&y=2");
  refused("redirect_uri", "javascript:alert(1)");
  const auto query = form_text(f.asked());
  CHECK(f.get("/authorize").status == 400);
  CHECK(f.get("/authorize?%zz=1&" + query).status == 400);
  CHECK(f.get("/authorize?" + query + "&x=%00").status == 400);
  CHECK(f.get("/authorize?" + query + "&redirect_uri=" + url_encode(kBack)).status == 400);
  CHECK(f.get("/authorize?" + query + "&client_id=x").status == 400);
  CHECK(f.store.requests().empty());
  CHECK(RawClient(f.port).ask(http_post("/authorize?" + query, "")).status == 405);
}

TEST_CASE("what else is wrong is said, with a way back for whoever wants it", "[sign_in]") {
  SignInGateway f;
  f.registered();
  struct Row {
    const char *name, *value, *error;
  };
  const std::string long_state(4097, 's');
  for (const auto& row : std::vector<Row>{{"response_type", "", "invalid_request"},
                                          {"response_type", "token", "unsupported_response_type"},
                                          {"response_mode", "fragment", "invalid_request"},
                                          {"code_challenge", "", "invalid_request"},
                                          {"code_challenge", "short", "invalid_request"},
                                          {"code_challenge_method", "", "invalid_request"},
                                          {"code_challenge_method", "plain", "invalid_request"},
                                          {"state", long_state.c_str(), "invalid_request"},
                                          {"resource", "https://other.example/mcp", "invalid_target"},
                                          {"resource", "nonsense", "invalid_target"}}) {
    INFO(row.name << "=" << row.value);
    f.clock.advance(10'000);
    auto values = f.asked();
    values[row.name] = row.value;
    const auto answer = f.authorize(values);
    CHECK(answer.status == 400);
    CHECK(header_of(answer, "Location").empty());
    CHECK(shows(answer, std::string("<a href=\"") + "https://client.example/back?x=1&amp;error=" + row.error));
    CHECK(shows(answer, "iss=" + url_encode(f.origin)));
  }
  CHECK(f.get("/authorize?" + form_text(f.asked()) + "&state=x").status == 400);
  CHECK(f.store.requests().empty());
}

TEST_CASE("the resource may be left out, and is compared as an address", "[sign_in]") {
  SignInGateway f("https://kruxos.example");
  f.registered();
  for (const auto* resource :
       {"", "https://kruxos.example/mcp", "https://kruxos.example/mcp/", "HTTPS://Kruxos.Example:443/mcp"}) {
    INFO(resource);
    auto values = f.asked();
    values["resource"] = resource;
    CHECK(f.authorize(values).status == 303);
  }
  for (const auto* resource : {"https://kruxos.example", "https://kruxos.example/MCP", "https://kruxos.example/mcp?x",
                               "http://kruxos.example/mcp", "https://kruxos.example/mcp#x"}) {
    INFO(resource);
    auto values = f.asked();
    values["resource"] = resource;
    CHECK(f.authorize(values).status == 400);
  }
}

TEST_CASE("nobody begins more requests than a few a minute, and no page is loaded for ever", "[sign_in]") {
  SignInGateway f;
  const auto page = f.begun();
  int refused = 0;
  for (int i = 0; i < 25; ++i) refused += f.authorize(f.asked()).status == 429 ? 1 : 0;
  CHECK(refused == 7);  // 20 a minute, with the registration and the first request
  CHECK(f.register_client("{}").status == 429);
  CHECK(f.store.requests().size() == 8);
  f.clock.advance(60'000);
  const auto last = header_of(f.authorize(f.asked()), "Location");
  RawClient browser(f.port);
  int loads = 0;
  while (browser.ask(http_get(last, f.cookie_of(last))).status == 200) ++loads;
  CHECK(loads == 1000);
  CHECK(f.load(last).status == 429);
}

TEST_CASE("a client that is known by its document signs in", "[sign_in]") {
  DocumentServer documents;
  SignInGateway f("", documents.options({"127.0.0.1"}));
  f.client_id = documents.id();
  documents.body = "{\"client_id\":" + json_string(f.client_id) +
                   R"(,"client_name":"Known","redirect_uris":["http://localhost/cb"]})";
  auto values = f.asked();
  values["redirect_uri"] = "http://localhost:4711/cb";
  const auto begun = f.authorize(values);
  REQUIRE(begun.status == 303);
  const auto page = header_of(begun, "Location");
  const auto waiting = f.load(page);
  CHECK(shows(waiting, "It is known by its document at <b>" + f.client_id + "</b>."));
  CHECK(shows(waiting, "a program on this computer (<b>localhost:4711</b>)"));
  f.store.accept(f.code_for_people(), "agent_1", "operator:me");
  auto exchange = f.exchange_of(f.code_of(header_of(f.load(page), "Location")));
  exchange["redirect_uri"] = "http://localhost:4711/cb";
  const auto answer = f.token(exchange);
  REQUIRE(answer.status == 200);
  CHECK(f.mcp(text_of(answer, "access_token")).status == 200);
  values["redirect_uri"] = "http://localhost:4711/other";
  CHECK(f.authorize(values).status == 400);
  CHECK(documents.server.connections() == 1);
}

TEST_CASE("a document that is another's, too large, or at a private address is no client", "[sign_in]") {
  DocumentServer documents;
  const bool allowed = GENERATE(true, true, false);
  SignInGateway f("", documents.options(allowed ? std::vector<std::string>{"127.0.0.1"} : std::vector<std::string>{}));
  f.client_id = documents.id();
  documents.body = "{\"client_id\":" + json_string(f.client_id) + ",\"client_name\":\"A\",\"redirect_uris\":[" +
                   json_string(kBack) + "]}";
  if (allowed && GENERATE(true, false))
    documents.body.insert(1, "\"x\":\"" + std::string(20'000, 'x') + "\",");
  else if (allowed)
    documents.body.insert(14, "x");
  const auto answer = f.authorize(f.asked());
  CHECK(answer.status == 400);
  CHECK(header_of(answer, "Location").empty());
  CHECK(documents.server.connections() == (allowed ? 1 : 0));
  CHECK_FALSE(shows(answer, "127.0.0.1"));
}

}  // namespace KRUXOS_TEST_FILE
