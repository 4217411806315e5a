// Registration, tokens and revocation, with all that may be wrong.
#include "host/gateway/sign_in_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

TEST_CASE("a client registers, and is told what it got", "[sign_in]") {
  SignInGateway f;
  const auto answer = f.register_client(
      R"({"client_name":"Old","redirect_uris":["http://127.0.0.1/cb"],"token_endpoint_auth_method":"client_secret_post","grant_types":["authorization_code","refresh_token"],"scope":"x"})");
  CHECK(answer.status == 201);
  CHECK(text_of(answer, "client_id").starts_with("client_"));
  CHECK(text_of(answer, "token_endpoint_auth_method") == "none");
  CHECK(text_of(answer, "client_name") == "Old");
  CHECK(answer.body.find("client_secret\"") == std::string::npos);
  CHECK(f.store.client(text_of(answer, "client_id")));
}

TEST_CASE("a registration that is none is refused with the reason", "[sign_in]") {
  SignInGateway f;
  const auto error = [&](const std::string& body) {
    f.clock.advance(10'000);
    const auto answer = f.register_client(body);
    CHECK(answer.status == 400);
    return text_of(answer, "error");
  };
  CHECK(error("") == "invalid_client_metadata");
  CHECK(error("{") == "invalid_client_metadata");
  CHECK(error("[]") == "invalid_client_metadata");
  CHECK(error("\xff\xfe") == "invalid_client_metadata");
  CHECK(error(R"({"redirect_uris":["https://a.example/"],"client_name":"\u0000"})") == "invalid_client_metadata");
  CHECK(error(std::string(10'000, '[')) == "invalid_client_metadata");
  CHECK(error("{}") == "invalid_redirect_uri");
  CHECK(error(R"({"redirect_uris":["http://evil.example/"]})") == "invalid_redirect_uri");
  CHECK(error(R"({"redirect_uris":["https://a.example/"],"response_types":["token"]})") == "invalid_client_metadata");
  const auto other_type = f.post_form("/register", R"({"redirect_uris":["https://a.example/"]})");
  CHECK(text_of(other_type, "error") == "invalid_client_metadata");
}

TEST_CASE("bodies of strangers are small, and their length is said before they come", "[sign_in]") {
  SignInGateway f;
  for (const std::string path : {"/register", "/token", "/revoke"}) {
    const auto head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n";
    CHECK(RawClient(f.port).ask(head + "Transfer-Encoding: chunked\r\n\r\n").status == 411);
    CHECK(RawClient(f.port).ask(head + "\r\n").status == 411);
    // Refused without having come.
    CHECK(RawClient(f.port).ask(head + "Content-Length: 16385\r\n\r\n").status == 413);
    CHECK(RawClient(f.port).ask(head + "Content-Length: 99999999999999999999\r\n\r\n").status >= 400);
    const auto wrong = RawClient(f.port).ask("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(wrong.status == 405);
    CHECK(header_of(wrong, "Allow") == "POST");
  }
  const auto with_body =
      RawClient(f.port).ask("GET /authorize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n");
  CHECK(with_body.status == 413);
  CHECK(with_body.body.find("at most 0 bytes") != std::string::npos);
}

TEST_CASE("a form that is none is refused with the reason", "[sign_in]") {
  SignInGateway f;
  f.registered();
  const auto good = f.exchange_of("kruxac_" + std::string(64, '0'));
  const auto error = [&](const Values& values) { return text_of(f.token(values), "error"); };
  for (const auto* name : {"grant_type", "code", "client_id", "code_verifier"}) {
    INFO(name);
    auto values = good;
    values.erase(name);
    CHECK(error(values) == "invalid_request");
    values[name] = "";
    CHECK(error(values) == "invalid_request");
  }
  auto values = good;
  values["grant_type"] = "client_credentials";
  CHECK(error(values) == "unsupported_grant_type");
  values = good;
  values["resource"] = "https://other.example/mcp";
  CHECK(error(values) == "invalid_target");
  CHECK(error({{"grant_type", "refresh_token"}, {"client_id", f.client_id}}) == "invalid_request");
  const auto text = form_text(good);
  CHECK(text_of(f.post_form("/token", text + "&code=x"), "error") == "invalid_request");
  CHECK(text_of(f.post_form("/token", text + "&x=%zz"), "error") == "invalid_request");
  CHECK(text_of(f.post_form("/token", std::string(5000, '&')), "error") == "invalid_request");
  CHECK(text_of(RawClient(f.port).ask(http_post("/token", text)), "error") == "invalid_request");
  CHECK(text_of(f.post_form("/revoke", "token=a&token=b"), "error") == "invalid_request");
  CHECK(text_of(f.post_form("/revoke", "client_id=b"), "error") == "invalid_request");
}

TEST_CASE("with a wrong verifier, another redirect address or client a code gives nothing, and is spent", "[sign_in]") {
  const auto name = GENERATE(as<std::string>(), "code_verifier", "redirect_uri", "client_id");
  INFO(name);
  SignInGateway f;
  const auto right = f.exchange_of(f.code_of(f.accepted()));
  auto wrong = right;
  wrong[name] = name == "code_verifier"  ? std::string(43, 'w')
                : name == "redirect_uri" ? "https://client.example/"
                                         : "x";
  const auto answer = f.token(wrong);
  CHECK(text_of(answer, "error") == (name == "client_id" ? "invalid_client" : "invalid_grant"));
  CHECK(answer.status == (name == "client_id" ? 401 : 400));
  CHECK(text_of(f.token(right), "error") == "invalid_grant");
  CHECK(f.store.grants().empty());
}

TEST_CASE("a code that is used twice ends its grant", "[sign_in]") {
  SignInGateway f;
  const auto exchange = f.exchange_of(f.code_of(f.accepted()));
  const auto token = text_of(f.token(exchange), "access_token");
  CHECK(f.mcp(token).status == 200);
  CHECK(text_of(f.token(exchange), "error") == "invalid_grant");
  CHECK(f.mcp(token).status == 401);
}

TEST_CASE("a refresh token that is used twice ends its grant", "[sign_in]") {
  SignInGateway f;
  const auto first = f.signed_in();
  const auto second = f.refresh(text_of(first, "refresh_token"));
  CHECK(f.mcp(text_of(second, "access_token")).status == 200);
  f.clock.advance(60'000);
  const auto reused = f.refresh(text_of(first, "refresh_token"));
  CHECK(reused.status == 400);
  CHECK(text_of(reused, "error") == "invalid_grant");
  CHECK(f.mcp(text_of(second, "access_token")).status == 401);
}

TEST_CASE("a client that has been forgotten is told to register again, and no wrong try locks others out",
          "[sign_in]") {
  SignInGateway f;
  const auto answer = f.token(
      {{"grant_type", "refresh_token"}, {"refresh_token", "kruxrt_" + std::string(96, '0')}, {"client_id", "x"}});
  CHECK(answer.status == 401);
  CHECK(text_of(answer, "error") == "invalid_client");
  const auto right = f.exchange_of(f.code_of(f.accepted()));
  for (int i = 0; i < 20; ++i) {
    const auto wrong = f.token(f.exchange_of(i % 2 ? "x" : "kruxac_" + std::string(64, '0')));
    CHECK(wrong.status == 400);
    CHECK(text_of(wrong, "error") == "invalid_grant");
    CHECK(f.refresh("kruxrt_" + std::string(96, '0')).status == 400);
  }
  CHECK(f.token(right).status == 200);
}

TEST_CASE("what nobody knows is revoked already, and another's token is not", "[sign_in]") {
  SignInGateway f;
  const auto tokens = f.signed_in();
  const auto token = text_of(tokens, "access_token");
  CHECK(f.post_form("/revoke", "token=nonsense").status == 200);
  CHECK(f.post_form("/revoke", form_text({{"token", token}, {"client_id", "x"}})).status == 401);
  const auto own = f.client_id;
  f.registered();
  const auto anothers = f.post_form("/revoke", form_text({{"token", token}, {"client_id", f.client_id}}));
  CHECK(anothers.status == 400);
  CHECK(text_of(anothers, "error") == "invalid_grant");
  f.client_id = own;
  CHECK(f.mcp(token).status == 200);
  CHECK(f.post_form("/revoke", form_text({{"token", token}, {"token_type_hint", "refresh_token"}})).status == 200);
  CHECK(f.mcp(token).status == 401);
  CHECK(f.refresh(text_of(tokens, "refresh_token")).status == 200);
}

}  // namespace KRUXOS_TEST_FILE
