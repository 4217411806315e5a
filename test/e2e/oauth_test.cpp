// Accounts that are connected in a browser: each way, each refusal, and what the host does with the tokens afterwards.
#include "oauth_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr std::int64_t kMinute = 60'000, kHour = 60 * kMinute;
constexpr const char* kTokens = "oauth.v2.access";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string state_of(Rig& rig, int index = 0) {
  return text_at(rig.operate({"connect", "status"}), "/connections/" + std::to_string(index) + "/state");
}

int connections(Rig& rig) {
  const auto status = rig.operate({"connect", "status"});
  int count = 0;
  for (const auto& connection : find_at(status, "/connections")->GetArray()) {
    count += text_at(connection, "/state") != "not connected";
  }
  return count;
}

bool alerted(Rig& rig, const std::string& words) {
  return contains(text_of(rig.operate({"alerts"})), words);
}

std::string fault(const std::string& kind, const std::string& more = "") {
  return std::string(R"({"method":")") + kTokens + R"(","when":{"grant_type":"refresh_token"},"kind":")" + kind + "\"" +
         more + "}";
}

// Sent now, and there.
void check_works(OauthRig& rig, const std::string& text) {
  const auto sent = rig.send(text);
  INFO(text_of(sent.document) << rig.log());
  REQUIRE(sent.ok());
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 3 * kMinute));
  CHECK(rig.posts_of(text) == 1);
}

}  // namespace

TEST_CASE("an account is connected in the browser and does what its profile allows") {
  OauthRig rig;
  rig.begin_by();
  CHECK(contains(rig.last_page, "onnected"));
  CHECK(rig.counted("exchanges") == 1);
  CHECK(text_at(rig.facts(), "/oauth/grants/0/speaker") == "user");
  CHECK(rig.invoke("slack.search").size("/messages") > 0);
  check_works(rig, "as myself");
  rig.check_no_secret();
}

TEST_CASE("by the flow of bots the browser's last address is pasted") {
  OauthRig rig;
  rig.start();
  const auto begun = parse(rig.control("POST", "/connections/slack/oauth",
                                       std::string(R"({"flow":"bot","client_id":")") + kClassicClient +
                                           R"(","client_secret":")" + kClassicSecret + "\"}")
                               .body);
  INFO(text_of(begun) << rig.log());
  const Landing landing = browse(text_at(begun, "/attempt/authorize_url"));
  CHECK_FALSE(landing.page);
  REQUIRE(contains(landing.address, kPastedAddress));
  const std::string attempt = "/connections/slack/oauth/" + text_at(begun, "/attempt/attempt_id");
  const auto pasted = rig.control("POST", attempt + "/callback", R"({"address":")" + landing.address + "\"}");
  INFO(pasted.body);
  REQUIRE(eventually([&] { return contains(rig.control("GET", attempt).body, R"("state":"connected")"); }));
  CHECK(text_at(rig.facts(), "/oauth/grants/0/speaker") == "bot");
  REQUIRE(eventually([&] { return rig.synced(); }));
  rig.key = rig.new_agent("assistant");
  check_works(rig, "as a bot");
  rig.check_no_secret();
}

TEST_CASE("the browser's last address can come to the command through a pipe") {
  OauthRig rig;
  rig.start();
  const auto command =
      rig.launch_kruxos({"connect", "slack", "--client-id", kClassicClient, "--flow", "bot", "--no-browser"},
                        {{"KRUXOS_CLIENT_SECRET", kClassicSecret}});
  const auto line = command->wait_for_line("/authorize?", milliseconds(20000), Stream::err);
  REQUIRE(line);
  const Landing landing = browse(line->substr(line->find("http")));
  REQUIRE(command->write_stdin("nothing of this\n" + landing.address + "\n"));
  const auto status = command->wait(milliseconds(30000));
  INFO(command->output() << command->output(Stream::err));
  REQUIRE(status);
  CHECK(status->ok());
  CHECK(contains(command->output(Stream::err), "address"));
}

TEST_CASE("who reads only cannot post, though the scopes of an earlier consent would allow it") {
  OauthRig rig;
  rig.begin_by();
  REQUIRE(rig.connect_by({}, {"--profile", "read"}).status.ok());
  CHECK(contains(text_at(rig.facts(), "/oauth/grants/1/scope"), "chat:write"));
  CHECK_FALSE(rig.send("not allowed").ok());
  CHECK(rig.invoke("slack.channels").ok());
}

TEST_CASE("scopes that were not granted are told, and what needs them is not offered") {
  OauthRig rig;
  rig.start();
  const Finished done = rig.connect_by({"", {"chat:write"}, false});
  INFO(done.out << done.err);
  REQUIRE(done.status.ok());
  CHECK(contains(done.out, "chat:write"));
  CHECK(text_at(rig.operate({"connect", "status"}), "/connections/0/missing_scopes/0") == "chat:write");
  REQUIRE(eventually([&] { return rig.synced(); }));
  rig.key = rig.new_agent("assistant");
  CHECK(rig.invoke("slack.channels").ok());
  CHECK_FALSE(rig.send("without the scope").ok());
  CHECK(rig.posts_of("without the scope") == 0);
}

TEST_CASE("a denial ends the attempt and leaves nothing") {
  OauthRig rig;
  rig.start();
  const Finished done = rig.connect_by({"", {}, true});
  CHECK_FALSE(done.status.ok());
  CHECK(rig.live_grants() == 0);
  CHECK(connections(rig) == 0);
  CHECK(rig.connect_by().status.ok());
}

TEST_CASE("an attempt ends after ten minutes, and a late browser is told so") {
  OauthRig rig;
  rig.start();
  Connecting connecting = rig.connecting();
  const std::string address = connecting.address();
  rig.advance(11 * kMinute);
  CHECK_FALSE(connecting.end().status.ok());
  browse(address);
  CHECK(rig.counted("exchanges") == 0);
  CHECK(connections(rig) == 0);
}

TEST_CASE("a callback with another state, or none, spoils nothing") {
  OauthRig rig;
  rig.start();
  Connecting connecting = rig.connecting();
  const std::string address = connecting.address();
  for (const char* query :
       {"?code=stolen&state=guessed", "?code=stolen", "?error=access_denied&state=x", "", "?state="}) {
    CAPTURE(query);
    const auto reply = http_request(rig.callback_port(), "GET", std::string("/oauth/callback") + query,
                                    {{"host", "localhost:" + std::to_string(rig.callback_port())}});
    CHECK(reply.status >= 400);
    CHECK_FALSE(contains(reply.body, "stolen"));
  }
  CHECK(connecting.running());
  CHECK(rig.counted("exchanges") + rig.counted("exchanges_refused") == 0);
  browse(address);
  CHECK(connecting.end().status.ok());
}

TEST_CASE("tokens are renewed before they end, once, and every refresh token is kept") {
  OauthRig rig;
  rig.begin_by();
  for (int day = 1; day <= 3; ++day) {
    REQUIRE(rig.pass_time([&] { return rig.counted("refreshes") == 2 * day; }, 26 * kHour, 30 * kMinute));
    check_works(rig, "on day " + std::to_string(day));
  }
  CHECK(rig.counted("refreshes_outdated") + rig.counted("refreshes_in_grace") == 0);
  CHECK(rig.counted("refreshes_refused") == 0);
  CHECK(rig.live_grants() == 1);
  rig.check_no_secret();
}

TEST_CASE("a token that the service refuses early is renewed once, whoever needs it") {
  OauthRig rig;
  rig.begin_by();
  rig.advance(10 * kMinute);
  rig.slack().oauth(R"({"action":"expire_access"})");
  rig.slack().fault(fault("slow", R"(,"interval_ms":50)"));
  REQUIRE(rig.pass_time([&] { return rig.counted("refreshes") == 1; }, 10 * kMinute, kMinute));
  check_works(rig, "after a renewal");
  CHECK(rig.counted("refreshes") == 1);
  CHECK(rig.counted("refreshes_outdated") == 0);
}

TEST_CASE("a provider that is down costs nothing while the token lasts, and nothing is lost after") {
  OauthRig rig;
  rig.begin_by();
  const std::string kind = GENERATE(fault("http_status", R"(,"count":0)"), fault("reset", R"(,"count":0)"));
  rig.slack().fault(kind);
  REQUIRE(
      rig.pass_time([&] { return number_at(rig.slack().state(), std::string("/methods/") + kTokens + "/calls") >= 3; },
                    13 * kHour, 10 * kMinute));
  CHECK(rig.live_grants() == 1);
  // By now the token has ended.
  rig.advance(2 * kHour);
  CHECK(rig.invoke("slack.search").size("/messages") > 0);
  const auto waiting = rig.send("held back");
  REQUIRE(waiting.ok());
  rig.advance(2 * kMinute);
  CHECK(rig.posts_of("held back") == 0);
  rig.slack().clear_faults();
  CHECK(rig.pass_time([&] { return rig.posts_of("held back") == 1; }, 2 * kHour, kMinute));
  CHECK(rig.counted("refreshes_outdated") == 0);
}

TEST_CASE("refused for good, the account needs attention, reads go on, and writes go out once it is connected again") {
  OauthRig rig;
  rig.begin_by();
  rig.slack().oauth(R"({"action":"set","refuse_refreshes":-1})");
  rig.slack().oauth(R"({"action":"expire_access"})");
  REQUIRE(rig.pass_time([&] { return alerted(rig, "slack"); }, 30 * kMinute, kMinute));
  CHECK(state_of(rig) != "connected");
  CHECK(rig.invoke("slack.search").size("/messages") > 0);
  const auto waiting = rig.send("after reconnecting");
  REQUIRE(waiting.ok());
  rig.advance(5 * kMinute);
  CHECK(rig.posts_of("after reconnecting") == 0);
  rig.slack().oauth(R"({"action":"set","refuse_refreshes":0})");
  REQUIRE(rig.connect_by().status.ok());
  CHECK(rig.pass_time([&] { return rig.posts_of("after reconnecting") == 1; }, 2 * kHour, kMinute));
  CHECK(rig.posts_of("after reconnecting") == 1);
  rig.check_no_secret();
}

TEST_CASE("killed at any step of a renewal, the host goes on with the same grant") {
  const std::string point = GENERATE("oauth.refresh.before_send", "oauth.refresh.answered", "vault.renew.before_commit",
                                     "vault.renew.after_commit");
  CAPTURE(point);
  OauthRig rig;
  rig.begin_by();
  REQUIRE(rig.stop().ok());
  rig.start(point);
  rig.slack().oauth(R"({"action":"expire_access"})");
  rig.pass_time([&] { return !rig.alive(); }, 30 * kMinute, kMinute);
  REQUIRE(rig.await_end().signal == SIGKILL);
  rig.start();
  REQUIRE(rig.pass_time([&] { return rig.counted("refreshes") >= 1; }, 30 * kMinute, 10'000));
  check_works(rig, "after " + point);
  CHECK(rig.live_grants() == 1);
  CHECK(rig.counted("refreshes_outdated") == 0);
  CHECK(number_at(rig.facts(), "/oauth/grants/0/live_refresh_tokens") >= 1);
  // Answered and not stored: the old refresh token is presented again, within the moment that the service allows.
  const bool answered = point == "oauth.refresh.answered" || point == "vault.renew.before_commit";
  CHECK(rig.counted("refreshes_in_grace") == (answered ? 1 : 0));
  rig.check_no_secret();
}

TEST_CASE("an answer that is lost to a service without such a moment is told, and connecting again mends it") {
  OauthRig rig;
  rig.begin_by();
  rig.slack().oauth(R"({"action":"set","grace_ms":0})");
  REQUIRE(rig.stop().ok());
  rig.start("oauth.refresh.answered");
  rig.slack().oauth(R"({"action":"expire_access"})");
  rig.pass_time([&] { return !rig.alive(); }, 30 * kMinute, kMinute);
  REQUIRE(rig.await_end().signal == SIGKILL);
  rig.start();
  // The access token that came with the lost answer is not known either: the old one is what there is.
  rig.slack().oauth(R"({"action":"expire_access"})");
  REQUIRE(rig.pass_time([&] { return state_of(rig) != "connected"; }, 30 * kMinute, kMinute));
  CHECK(alerted(rig, "slack"));
  CHECK(rig.invoke("slack.search").size("/messages") > 0);
  REQUIRE(rig.connect_by().status.ok());
  check_works(rig, "connected again");
}

TEST_CASE("disconnecting ends the grant at the provider") {
  OauthRig rig;
  rig.begin_by();
  REQUIRE(rig.live_grants() == 1);
  const Finished done = rig.kruxos({"disconnect", "slack"});
  INFO(done.out << done.err);
  REQUIRE(done.status.ok());
  CHECK(rig.live_grants() == 0);
  CHECK(number_at(rig.facts(), "/oauth/grants/0/live_refresh_tokens") == 0);
  CHECK(connections(rig) == 0);
  rig.check_no_secret();
}

TEST_CASE("what a connect that fails was given does not live on at the provider") {
  OauthOptions options;
  options.people = {"U0OPERATOR1", "U0OTHER0001@T0ELSEWHERE"};
  OauthRig rig(options);
  rig.start();
  rig.slack().fault(R"({"method":"auth.test","kind":"error","error":"invalid_auth"})");
  REQUIRE_FALSE(rig.connect_by({"U0OPERATOR1", {}, false}).status.ok());
  CHECK(rig.counted("exchanges") == 1);
  CHECK(rig.live_grants() == 0);
  REQUIRE(rig.connect_by({"U0OPERATOR1", {}, false}).status.ok());
  const Finished taken = rig.connect_by({"U0OTHER0001", {}, false}, {"--account", "default"});
  CHECK_FALSE(taken.status.ok());
  CHECK(contains(taken.out + taken.err, "belongs to another account"));
  CHECK(rig.counted("exchanges") == 3);
  CHECK(rig.live_grants() == 1);
  REQUIRE(rig.connect_by({"U0OTHER0001", {}, false}, {"--account", "elsewhere"}).status.ok());
  // The same account under a name that it cannot have: its own grant is in use.
  CHECK_FALSE(rig.connect_by({"U0OTHER0001", {}, false}, {"--account", "default"}).status.ok());
  CHECK(contains(rig.log(), "may live by the same consent"));
  CHECK(rig.live_grants() >= 2);
  CHECK(connections(rig) == 2);
  CHECK(state_of(rig, 0) == state_of(rig, 1));
  rig.check_no_secret();
}

TEST_CASE("two accounts at once each keep their own tokens") {
  OauthOptions options;
  options.people = {"U0OPERATOR1", "U0OTHER0001@T0ELSEWHERE"};
  OauthRig rig(options);
  rig.begin_by({"U0OPERATOR1", {}, false});
  REQUIRE(rig.connect_by({"U0OTHER0001", {}, false}, {"--account", "elsewhere"}).status.ok());
  CHECK(connections(rig) == 2);
  rig.slack().oauth(R"({"action":"set","refuse_refreshes":0})");
  rig.slack().oauth(R"({"action":"expire_access","person":"U0OTHER0001"})");
  REQUIRE(
      rig.pass_time([&] { return number_at(rig.facts(), "/oauth/grants/1/refreshes") == 1; }, 20 * kMinute, kMinute));
  CHECK(number_at(rig.facts(), "/oauth/grants/0/refreshes") == 0);
  REQUIRE(rig.kruxos({"disconnect", "slack", "elsewhere"}).status.ok());
  CHECK(rig.live_grants() == 1);
  check_works(rig, "of the first account");
}

}  // namespace KRUXOS_TEST_FILE
