// Letting hosts sign in, from the command line.
#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

const std::string kListed =
    R"({"enabled":true,"requests":[{"request_id":"request_0011223344556677","code":"BCDF-....","state":"waiting","client_id":"client_1","client_name":"Evil\u001b[2J","has_document":false,)"
    R"("redirect_uri":"https://client.example/cb","redirect_host":"client.example","peer":"192.0.2.7","begun_at_ms":1,"expires_at_ms":2},)"
    R"({"request_id":"request_1011223344556677","code":"LMNP-....","state":"accepted","client_id":"https://known.example/c.json","client_name":"Known","has_document":true,)"
    R"("redirect_host":"localhost:1","agent":"al"}],)"
    R"("grants":[{"grant_id":"grant_1","agent":"al","client_name":"Known","redirect_host":"localhost:1","begun_at_ms":1000,"used_at_ms":0,)"
    R"("ended_at_ms":0},{"grant_id":"grant_2","agent":"bo","client_name":"Old","ended_at_ms":5,"end_reason":"it was not renewed"}]})";

std::vector<std::string> asked_by_post(CliFixture& f) {
  auto asked = f.api.asked();
  std::erase(asked, "sign_in");
  for (auto& one : asked) one = one.substr(0, one.find(" operator:"));
  return asked;
}

}  // namespace

TEST_CASE("sign-in list shows what waits and the grants, and no text steers the terminal", "[cli]") {
  CliFixture f;
  f.api.answers["sign_in"] = kListed;
  CHECK(f.run({"sign-in", "list"}) == 0);
  for (const auto* part : {"request_0011223344556677", "BCDF-....", "LMNP-....", "waiting", "Evil\\x1b[2J",
                           "nobody: it has registered itself", "client.example", "192.0.2.7",
                           "https://known.example/c.json", "grant_1", "goes on", "it was not renewed"}) {
    INFO(part);
    CHECK(has(f.out(), part));
  }
  CHECK_FALSE(has(f.out(), "\x1b[2J"));
  CHECK(f.run({"sign-in", "list", "--json"}) == 0);
  CHECK(has(f.out(), "\"grant_1\""));
  f.api.answers["sign_in"] = R"({"enabled":false,"requests":[],"grants":[]})";
  CHECK(f.run({"sign-in", "list"}) == 0);
  CHECK(has(f.out(), "Sign-in is off"));
  CHECK(has(f.out(), "Nobody waits"));
}

TEST_CASE("sign-in accept, reject and end name what they are about", "[cli]") {
  CliFixture f;
  f.api.answers["accept_sign_in"] = R"({"agent_is_new":true,"request":{"code":"BCDF-GHJK","agent":"al"}})";
  CHECK(f.run({"sign-in", "accept", "bcdf-ghjk", "--agent", "al"}) == 0);
  CHECK(has(f.out(), "BCDF-GHJK signs in as the new agent al."));
  CHECK(asked_by_post(f) == std::vector<std::string>{"accept_sign_in bcdf-ghjk al"});
  f.api.answers["reject_sign_in"] = R"({"request":{"code":"BCDF-...."}})";
  for (const std::string name : {"BCDF-GHJK", "request_0011223344556677"}) {
    CHECK(f.run({"sign-in", "reject", name}) == 0);
    CHECK(has(f.out(), name + " is refused."));
    CHECK(asked_by_post(f) == std::vector<std::string>{"reject_sign_in " + name});
  }
  f.api.answers["end_sign_in"] = R"({"grant":{"grant_id":"grant_1","agent":"al","end_reason":"ended by operator:me"}})";
  CHECK(f.run({"sign-in", "end", "grant_1"}) == 0);
  CHECK(has(f.out(), "grant_1 of agent al has ended"));
  CHECK(asked_by_post(f) == std::vector<std::string>{"end_sign_in grant_1"});
  CHECK(f.run({"sign-in", "accept", "a/b", "--agent", "x"}) == 0);
  CHECK(asked_by_post(f) == std::vector<std::string>{"accept_sign_in a/b x"});
}

TEST_CASE("on a terminal sign-in accept shows who asks before it goes on", "[cli]") {
  CliFixture f;
  f.api.answers["sign_in_request"] =
      R"({"request":{"code":"BCDF-GHJK","client_name":"Evil\u001b[2J","redirect_host":"client.example"}})";
  f.console.terminal = true;
  f.console.lines = {"n"};
  CHECK(f.run({"sign-in", "accept", "bcdfghjk", "--agent", "al"}) == 1);
  CHECK(f.api.asked() == std::vector<std::string>{"sign_in_request bcdfghjk"});
  CHECK(has(f.console.prompts, "is known by nobody"));
  CHECK(has(f.console.prompts, "client.example"));
  CHECK_FALSE(has(f.console.prompts, "\x1b[2J"));
  f.api.errors.emplace("sign_in_request", not_found("There is no request with this code."));
  CHECK(f.run({"sign-in", "accept", "bcdfghjk", "--agent", "al"}) == 4);
  CHECK(f.api.asked() == std::vector<std::string>{"sign_in_request bcdfghjk"});
}

TEST_CASE("sign-in commands that lack something are refused", "[cli]") {
  CliFixture f;
  for (const auto& row : std::vector<std::vector<std::string>>{{"sign-in"},
                                                               {"sign-in", "accept", "BCDF-GHJK"},
                                                               {"sign-in", "accept", "--agent", "al"},
                                                               {"sign-in", "reject"},
                                                               {"sign-in", "end"}})
    CHECK(f.run(row) == 2);
  f.api.errors.emplace("accept_sign_in", conflict("BCDF-GHJK is accepted already."));
  CHECK(f.run({"sign-in", "accept", "BCDF-GHJK", "--agent", "al"}) == 5);
  f.api.errors.emplace("end_sign_in", not_found("There is no grant with this id."));
  CHECK(f.run({"sign-in", "end", "x"}) == 4);
  CHECK(has(f.err(), "There is no grant"));
}

}  // namespace KRUXOS_TEST_FILE
