#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const std::string kBegin = R"(schema: 1
service: notes
display_name: Notes
description: Notes of a small service.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://notes.example/api/
capabilities:
  - {name: notes.send, kind: write, tier: notify, purpose: Send., when_to_use: Often., delay: 30 s}
)";

const std::string kSection = R"(oauth:
  callback_port: 8080
  revoke_url: https://auth.notes.example/revoke
  flows:
    - name: desktop
      description: A desktop app.
      authorize_url: https://auth.notes.example/authorize
      token_url: https://auth.notes.example/token
      client_secret: required
      authorize_parameters: {access_type: offline}
    - {name: person, description: P., authorize_url: "http://127.0.0.1:9/a", token_url: "http://127.0.0.1:9/t",
       scope_parameter: user_scope, scope_separator: ",", token_at: authed_user, token_types: [user], redirect: fixed,
       redirect_host: localhost, client_secret: none}
    - {name: pasted, description: P., authorize_url: "https://a.example/a", token_url: "https://a.example/t",
       pkce: none, client_secret: required, redirect_uri: "https://localhost:8081/oauth/callback"}
  profiles:
    read: {description: R., scopes: [notes.read]}
    draft: {description: D., scopes: [notes.read, notes.write], without: [notes.send]}
  default_profile: draft
  implied_scopes: {notes.write: [notes.read]}
  help: Use {redirect_uri}.
)";

std::string refusal(const std::string& from, const std::string& to) {
  auto text = kSection;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    parse_definition(kBegin + text, "notes.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an oauth section is read whole") {
  const auto oauth = parse_definition(kBegin + kSection, "notes.yaml").oauth;
  CHECK(oauth.callback_port == 8080);
  CHECK(oauth.revoke_url == "https://auth.notes.example/revoke");
  REQUIRE(oauth.flows.size() == 3);
  const auto& desktop = oauth.flows[0];
  CHECK(desktop.pkce);
  CHECK(desktop.any_port);
  CHECK(desktop.redirect_host == "127.0.0.1");
  CHECK(desktop.client_secret == OAuthFlow::ClientSecret::kRequired);
  CHECK(desktop.authorize_parameters == std::vector<std::pair<std::string, std::string>>{{"access_type", "offline"}});
  const auto* person = oauth.find_flow("person");
  REQUIRE(person);
  CHECK(person->scope_parameter == "user_scope");
  CHECK(person->scope_separator == ",");
  CHECK(person->token_at == "authed_user");
  CHECK(person->token_types == std::vector<std::string>{"user"});
  CHECK_FALSE(person->any_port);
  CHECK(person->redirect_host == "localhost");
  CHECK(person->redirect_uri.empty());
  CHECK(oauth.find_flow("pasted")->redirect_uri == "https://localhost:8081/oauth/callback");
  CHECK(oauth.default_profile == "draft");
  REQUIRE(oauth.find_profile("draft"));
  CHECK(oauth.find_profile("draft")->without == std::vector<std::string>{"notes.send"});
  CHECK(oauth.implied_scopes.at("notes.write") == std::vector<std::string>{"notes.read"});
  CHECK_FALSE(oauth.find_profile("full"));
  CHECK_FALSE(oauth.find_flow(""));
  CHECK(parse_definition(kBegin, "notes.yaml").oauth.flows.empty());
}

TEST_CASE("an oauth section that does not fit is refused with its place") {
  const std::vector<std::array<std::string, 3>> cases{
      {"callback_port: 8080", "callback_port: 80", "80 is not from 1024"},
      {"  callback_port: 8080\n", "", "needs the section's callback_port"},
      {"https://auth.notes.example/token", "http://auth.notes.example/token", "http is accepted only for the loopback"},
      {"https://auth.notes.example/token", "https://u:p@auth.notes.example/token", "user or password"},
      {"https://auth.notes.example/authorize", "https://auth.notes.example/a?b=c", "? and # are not accepted"},
      {"client_secret: required", "client_secret: required\n      pkce: some", "is not one of required, none"},
      {"client_secret: required", "pkce: none", "a client secret must be required"},
      {"access_type: offline", "state: fixed", "\"state\" is set by the host"},
      {"access_type: offline", "scope: all", "\"scope\" is set by the host"},
      {"name: person", "name: desktop", "there is a flow \"desktop\" already"},
      {"scope_separator: \",\"", "scope_separator: \";\"", "a blank or a comma"},
      {"[notes.read, notes.write]", "[\"notes read\"]", "contains what separates scopes"},
      {"scopes: [notes.read]", "scopes: []", "the list is empty"},
      {"without: [notes.send]", "without: [notes.sent]", "\"notes.sent\" is not a capability"},
      {"default_profile: draft", "default_profile: full", "\"full\" is not one of the profiles"},
      {"redirect: fixed", "redirect: any", "is not one of loopback, fixed"},
      {"redirect_host: localhost", "redirect_host: notes.example", "is not one of 127.0.0.1, localhost"},
      {"https://localhost:8081", "http://127.0.0.1:8081", "an https address is expected"},
      {"https://localhost:8081/oauth/callback\"", "https://localhost:8081/cb\", redirect: loopback", "leave them out"},
      {"https://localhost:8081/oauth/callback", "https://localhost:8081/cb?x=1", "? and # are not accepted"},
      {"  help: Use {redirect_uri}.\n", "", "the key \"help\" is missing"},
  };
  for (const auto& [from, to, wanted] : cases) {
    INFO(to);
    CHECK_THAT(refusal(from, to), Catch::Contains(wanted));
  }
}

}  // namespace KRUXOS_TEST_FILE
