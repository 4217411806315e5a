// `kruxos connect` in the browser, against a host that answers what a test lays out.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

const std::string kKnown =
    R"({"connection":{"help":"Paste it.","takes_token":true,"oauth":{"client_id":"","help":"App for {service} at)"
    R"( {redirect_uri}:\n{scopes}","default_profile":"read","flows":[{"name":"desktop","description":"D.",)"
    R"("client_secret":"required","redirect_uri":"http://127.0.0.1:8080/oauth/callback"},{"name":"person",)"
    R"("description":"P.","client_secret":"none","redirect_uri":"http://localhost:1/oauth/callback"}],"profiles":)"
    R"([{"name":"read","description":"R.","scopes":["a","b"]},{"name":"full","description":"F.","scopes":["c"]}]}}})";

std::string attempt(const std::string& state, const std::string& more = "") {
  return R"({"attempt":{"attempt_id":"oauth_1","state":")" + state +
         R"(","authorize_url":"https://auth.example/a?x=1","redirect_uri":"http://127.0.0.1:8080/oauth/callback")" +
         more + "}}";
}

/// What the environment of the command holds while it lives.
struct ClientSecret {
  explicit ClientSecret(const char* secret) { ::setenv("KRUXOS_CLIENT_SECRET", secret, 1); }
  ~ClientSecret() { ::unsetenv("KRUXOS_CLIENT_SECRET"); }
  ClientSecret(const ClientSecret&) = delete;
  ClientSecret& operator=(const ClientSecret&) = delete;
};

struct Browser : CliFixture {
  Browser() {
    api.answers["connection"] = kKnown;
    api.answers["begin_oauth"] = attempt("waiting");
    api.answers["oauth_attempt"] =
        attempt("connected",
                R"(,"connection":{"service":"x","account_id":"A1","account_name":"Acme","name":"work","profile":)"
                R"("read","scopes":["a"],"missing_scopes":["b"],"expires_at_ms":99999999999999,"refreshes":true})");
  }
};

}  // namespace

TEST_CASE("connecting in the browser shows the address and how it ended", "[cli]") {
  Browser f;
  const ClientSecret secret("s3cret");
  f.console.has_browser = true;
  CHECK(f.run({"connect", "x", "--client-id", "id", "--account", "work", "--profile", "read"}) == 0);
  const auto asked = f.api.asked();
  REQUIRE(asked.size() >= 3);
  CHECK(has(asked[1], "begin_oauth x work,read,,id,s3cret operator:"));
  CHECK(asked[2] == "oauth_attempt x oauth_1");
  CHECK(f.console.opened == std::vector<std::string>{"https://auth.example/a?x=1"});
  CHECK(has(f.err(), "https://auth.example/a?x=1"));
  CHECK(has(f.out(), "work"));
  CHECK(has(f.out(), "refreshes by itself"));
  CHECK_FALSE(has(f.out() + f.err(), "s3cret"));
}

TEST_CASE("the browser is not given the app's secret", "[cli]") {
  Browser f;
  const ClientSecret secret("s3cret");
  f.console.has_browser = true;
  f.console.when_opened = [] { CHECK(std::getenv("KRUXOS_CLIENT_SECRET") == nullptr); };
  CHECK(f.run({"connect", "x", "--client-id", "id", "--account", "work", "--profile", "read"}) == 0);
  CHECK(f.console.opened.size() == 1);
}

TEST_CASE("on a terminal the browser is the way where the service has it, and a token with --token", "[cli]") {
  Browser f;
  f.console.terminal = true;
  f.console.lines = {"typed-secret"};
  CHECK(f.run({"connect", "x", "--no-browser"}) == 0);
  auto asked = f.api.asked();
  CHECK(has(asked[1], "begin_oauth x ,,,,typed-secret"));
  CHECK(f.console.opened.empty());
  f.api.answers["connect"] = R"({"connection":{"service":"x"}})";
  f.console.lines = {"tok-1"};
  CHECK(f.run({"connect", "x", "--token", "--account", "work"}) == 0);
  asked = f.api.asked();
  CHECK(has(asked[1], "connect x tok-1 account=work"));
  f.console.terminal = false;
  f.console.lines = {"tok-2"};
  CHECK(f.run({"connect", "x"}) == 0);
  CHECK(has(f.api.asked().at(1), "connect x tok-2 operator:"));
}

TEST_CASE("an address that is pasted while the browser is waited for is handed on", "[cli]") {
  Browser f;
  f.console.terminal = true;
  f.api.answers["answer_oauth"] = attempt("finishing");
  const auto connected = std::exchange(f.api.answers["oauth_attempt"], attempt("waiting"));
  f.console.on_sleep = [&, polls = 0]() mutable {
    if (++polls == 2) f.api.answers["oauth_attempt"] = connected;
  };
  f.console.lines = {"s", "http://127.0.0.1:8080/oauth/callback?code=a&state=b"};
  CHECK(f.run({"connect", "x"}) == 0);
  bool handed = false;
  for (const auto& asked : f.api.asked())
    handed = handed || asked == "answer_oauth x oauth_1 http://127.0.0.1:8080/oauth/callback?code=a&state=b";
  CHECK(handed);
}

TEST_CASE("an attempt that fails says why", "[cli]") {
  Browser f;
  f.api.answers["oauth_attempt"] = attempt("failed", R"(,"message":"The access was denied in the browser.")");
  CHECK(f.run({"connect", "x", "--client-id", "id"}) == 1);
  CHECK(has(f.err(), "Not connected: The access was denied in the browser."));
}

TEST_CASE("the guided set-up has the address and the scopes that are to be entered", "[cli]") {
  Browser f;
  CHECK(f.run({"connect", "x", "--help-setup", "--profile", "full", "--flow", "person"}) == 0);
  CHECK(has(f.out(), "App for x at http://localhost:1/oauth/callback:\nc\n"));
  CHECK(has(f.out(), "P."));
  CHECK(f.run({"connect", "x", "--help-setup"}) == 0);
  CHECK(has(f.out(), "http://127.0.0.1:8080/oauth/callback:\na\nb\n"));
  f.api.answers["connection"] = R"({"connection":{"help":"Paste it."}})";
  CHECK(f.run({"connect", "x", "--help-setup"}) == 2);
  CHECK(has(f.err(), "not in the browser"));
}

}  // namespace KRUXOS_TEST_FILE
