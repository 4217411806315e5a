#include "core/sign_in/client_metadata.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::string refusal(const std::string& json) {
  try {
    client_metadata(parse_json(json, "it"), SaidIn::kRegistration);
    return "";
  } catch (const SignInRefused& why) {
    return why.error();
  }
}

std::string with_redirect(const std::string& uri) {
  return R"({"redirect_uris":[)" + json_string(uri) + "]}";
}

}  // namespace

TEST_CASE("what a client says of itself is taken within bounds", "[sign_in]") {
  const auto metadata = client_metadata(
      parse_json(
          R"({"client_name":"A","redirect_uris":["https://a.example/x?y=z","http://localhost:3000/cb"],"grant_types":["authorization_code"],
          "response_types":["code"],"contacts":["me"]})",
          "it"),
      SaidIn::kRegistration);
  CHECK(metadata.name == "A");
  CHECK(metadata.redirect_uris == std::vector<std::string>{"https://a.example/x?y=z", "http://localhost:3000/cb"});
  CHECK(
      client_metadata(parse_json(R"({"client_name":"\u2028 a  \"b\" ","redirect_uris":["https://a.example/"]})", "it"),
                      SaidIn::kRegistration)
          .name == "a 'b'");
  CHECK(refusal(R"({"redirect_uris":["https://a.example/","cursor://x"]})") == "invalid_redirect_uri");
  CHECK(refusal("[]") == "invalid_client_metadata");
  CHECK(refusal("{}") == "invalid_redirect_uri");
  CHECK(refusal(R"({"redirect_uris":[]})") == "invalid_redirect_uri");
  CHECK(refusal(R"({"redirect_uris":"https://a.example/"})") == "invalid_redirect_uri");
  CHECK(refusal(R"({"redirect_uris":[1]})") == "invalid_redirect_uri");
  std::string many;
  for (std::size_t i = 0; i <= kMostRedirects; ++i) many += (i ? "," : "") + json_string("https://a.example/");
  CHECK(refusal(R"({"redirect_uris":[)" + many + "]}") == "invalid_redirect_uri");
  const std::string good = R"({"redirect_uris":["https://a.example/"],)";
  CHECK(refusal(good + R"("client_name":1})") == "invalid_client_metadata");
  CHECK(refusal(good + R"("client_name":")" + std::string(kMostClientNameBytes + 1, 'x') + "\"}") ==
        "invalid_client_metadata");
  CHECK(refusal(good + R"("client_name":")" + std::string(kMostClientNameBytes, 'x') + "\"}").empty());
  CHECK(refusal(good + R"("grant_types":["client_credentials"]})") == "invalid_client_metadata");
  CHECK(refusal(good + R"("response_types":["token"]})") == "invalid_client_metadata");
  CHECK(refusal(good + R"("response_types":"code"})") == "invalid_client_metadata");
}

TEST_CASE("a redirect address is https, or http on the loopback", "[sign_in]") {
  for (const auto* uri : {"https://a.example/", "https://a.example", "http://127.0.0.1/", "http://[::1]:8080/cb?a=b",
                          "http://localhost/cb", "https://10.0.0.1/cb", "http://localhost", "http://localhost?a=b",
                          "http://localhost:1"}) {
    INFO(uri);
    CHECK(refusal(with_redirect(uri)).empty());
  }
  for (const auto& uri : std::vector<std::string>{"",
                                                  "http://a.example/",
                                                  "a.example",
                                                  "/back",
                                                  "javascript:alert(1)",
                                                  "data:text/html,x",
                                                  "cursor://a/b",
                                                  "https://a.example/#x",
                                                  "https://user@a.example/",
                                                  "https://a.example/\r\nSet-Cookie: a=b",
                                                  "https://a.example/\xc3\xa9",
                                                  "http://localhost.evil.example/",
                                                  "http://localhost@evil.example/",
                                                  "http://localhost:99999/",
                                                  "http://127.0.0.1.evil.example/",
                                                  "http://localhost1:8000/cb",
                                                  "http://localhost1",
                                                  "http://localhost8/cb",
                                                  "http://localhost%2eevil.example/",
                                                  "http://localhost#x",
                                                  "http://127.0.0.2/cb",
                                                  "http://127.0.0.11/cb",
                                                  "http://[::ffff:127.0.0.1]/cb",
                                                  "http://[::ffff:7f00:1]/cb",
                                                  "http://[0:0::1]/cb",
                                                  "http://127.1/",
                                                  "https://a.example/a/../b",
                                                  "https://a.example/" + std::string(kMostRedirectBytes, 'x')}) {
    INFO(uri);
    CHECK(refusal(with_redirect(uri)) == "invalid_redirect_uri");
  }
}

TEST_CASE("redirect addresses are compared as they are written, and on the loopback without the port", "[sign_in]") {
  const ClientMetadata client{
      "", {"https://a.example/cb", "http://localhost/callback", "http://127.0.0.1:1/cb", "http://[::1]/cb?x=1"}};
  for (const auto* good : {"https://a.example/cb", "http://localhost/callback", "http://localhost:8088/callback",
                           "http://127.0.0.1/cb", "http://127.0.0.1:65535/cb", "http://[::1]:9/cb?x=1"}) {
    INFO(good);
    CHECK(redirect_fits(client, good));
  }
  for (const auto& bad : std::vector<std::string>{
           "https://a.example/cb/", "https://a.example:443/cb", "https://A.example/cb", "https://a.example/cb?x",
           "https://a.example:444/cb", "http://a.example/cb", "http://localhost:8088/other",
           "http://localhost:8088/callback?x", "http://127.0.0.1/callback", "https://localhost/callback",
           "http://localhost1:8000/callback", "http://localhost1/callback", "http://localhost/callback1",
           "http://127.0.0.2/cb", "http://127.0.0.11/cb", "http://[::1]/cb", "http://localhost:8088/callback#x", "",
           "http://localhost/" + std::string(3000, 'x')}) {
    INFO(bad);
    CHECK_FALSE(redirect_fits(client, bad));
  }
  CHECK(redirect_host("https://a.example:8443/cb?x=/y") == "a.example:8443");
  CHECK(redirect_host("http://[::1]:9") == "[::1]:9");
  CHECK(is_loopback_redirect("http://localhost:1/"));
  CHECK_FALSE(is_loopback_redirect("https://a.example/"));
  CHECK_FALSE(is_loopback_redirect("http://localhost1:1/"));
}

}  // namespace KRUXOS_TEST_FILE
