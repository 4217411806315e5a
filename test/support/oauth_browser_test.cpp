#include "support/oauth_browser.hpp"

#include <catch2/catch.hpp>

#include "support/slack_emulator.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

const char* const kChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";  // of RFC 7636's own verifier

SlackEmulatorOptions with_redirect(const std::string& redirect, const std::string& kind) {
  SlackEmulatorOptions options;
  options.arguments = {"--oauth-client", "id=a,secret=s,kind=" + kind + ",redirect=" + redirect,
                       "--oauth-person", "U0ONE000001",
                       "--oauth-person", "U0TWO000001@T0ELSEWHERE"};
  return options;
}

std::string authorize(SlackEmulator& slack, const std::map<std::string, std::string>& more) {
  std::map<std::string, std::string> fields = more;
  fields.insert({{"client_id", "a"}, {"state", "st&te"}});
  return "http://127.0.0.1:" + std::to_string(slack.port()) + "/oauth/v2/authorize?" + form_encode(fields);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("forms are read with what is ticked and what is not") {
  const auto form = read_form(
      "<p><form method=\"post\" action=\"/go?a=1&amp;b=2\"><input type=\"hidden\" name=\"h\" value=\"&quot;x&quot; "
      "&lt;\">"
      "<input type=\"checkbox\" name=\"c\" value=\"1\" checked><input type=\"checkbox\" name=\"d\" value=\"2\">"
      "<input type=\"radio\" name=\"account\" value=\"me\" checked></form><input name=\"outside\" value=\"x\">");
  REQUIRE(form);
  CHECK(form->method == "post");
  CHECK(form->action == "/go?a=1&b=2");
  CHECK(form->fields == std::map<std::string, std::string>{{"account", "me"}, {"c", "1"}, {"h", "\"x\" <"}});
  CHECK(form->unchecked == std::map<std::string, std::string>{{"d=2", "2"}});
  CHECK_FALSE(read_form("<p>nothing</p>"));
  for (const char* odd : {"<form", "<form <input", "<form method=\"", "<form><input name=\"a"}) CHECK(read_form(odd));
}

TEST_CASE("addresses are taken apart") {
  const WebAddress address = read_web_address("http://localhost:8081/a?b=c");
  CHECK(address.host == "localhost");
  CHECK(address.port == 8081);
  CHECK(address.target == "/a?b=c");
  CHECK(read_web_address("https://example.com").target == "/");
  CHECK(read_web_address("https://example.com?x=1").target == "/?x=1");
  CHECK(read_web_address("myapp://x").host.empty());
  CHECK(read_web_address("").host.empty());
}

TEST_CASE("the browser ends at an https address without opening it") {
  SlackEmulator slack(with_redirect("https://localhost:8081/oauth/callback", "classic"));
  const Landing landing = browse(authorize(slack, {{"scope", "chat:write"}}));
  CHECK(landing.address.rfind("https://localhost:8081/oauth/callback?code=", 0) == 0);
  CHECK(contains(landing.address, "state=st%26te"));
  CHECK_FALSE(landing.page);
}

TEST_CASE("the browser follows a redirect to a listener, and says so when nobody listens") {
  SlackEmulator listener;
  const std::string here = "http://localhost:" + std::to_string(listener.port()) + "/api/api.test";
  SlackEmulator slack(with_redirect(here, "pkce"));
  const std::map<std::string, std::string> asked = {
      {"user_scope", "chat:write"}, {"code_challenge", kChallenge}, {"code_challenge_method", "S256"}};
  const Landing landing = browse(authorize(slack, asked), {"U0TWO000001", {}, false});
  REQUIRE(landing.page);
  CHECK(contains(landing.page->body, R"("state":"st&te")"));
  CHECK(listener.process().stop().ok());
  const Landing lost = browse(authorize(slack, asked), {});
  CHECK_FALSE(lost.page);
  CHECK(contains(lost.address, "code="));
}

TEST_CASE("denying brings access_denied, and what the page does not offer is an error") {
  SlackEmulator slack(with_redirect("https://localhost:8081/oauth/callback", "classic"));
  const std::string address = authorize(slack, {{"scope", "chat:write"}});
  CHECK(contains(browse(address, {"", {}, true}).address, "error=access_denied"));
  CHECK_THROWS_WITH(browse(address, {"U0NOBODY001", {}, false}), Catch::Contains("does not offer"));
  CHECK_THROWS_WITH(browse(address, {"", {"users:read"}, false}), Catch::Contains("no box"));
  const Landing refused = browse(authorize(slack, {{"scope", "admin"}}));
  REQUIRE(refused.page);
  CHECK(refused.page->status == 400);
}

TEST_CASE("the demonstration's browser does the same") {
  SlackEmulator slack(with_redirect("https://localhost:8081/oauth/callback", "classic"));
  const std::string address = authorize(slack, {{"scope", "chat:write"}});
  Command command;
  command.argv = {KRUXOS_PYTHON, KRUXOS_DEMO_BROWSER, address, "--account", "U0TWO000001"};
  const Finished allowed = run(command);
  CHECK(allowed.status.ok());
  CHECK(allowed.out.rfind("https://localhost:8081/oauth/callback?code=", 0) == 0);
  command.argv = {KRUXOS_PYTHON, KRUXOS_DEMO_BROWSER, address, "--deny"};
  CHECK(contains(run(command).out, "error=access_denied"));
  command.argv = {KRUXOS_PYTHON, KRUXOS_DEMO_BROWSER, address, "--account", "U0NOBODY001"};
  CHECK_FALSE(run(command).status.ok());
  command.argv = {KRUXOS_PYTHON, KRUXOS_DEMO_BROWSER, authorize(slack, {{"scope", "admin"}}), "--page"};
  CHECK(contains(run(command).out, "invalid_scope"));
}

}  // namespace KRUXOS_TEST_FILE
