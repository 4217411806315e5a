#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

TEST_CASE("a service that there is not has one sentence and one exit code everywhere", "[cli]") {
  CliFixture f;
  f.api.answers["connections"] = R"({"connections":[{"service":"chat"},{"service":"mail"}]})";
  f.api.errors.emplace("sync_now", not_found("No."));
  f.api.errors.emplace("connection", not_found("No."));
  f.api.errors.emplace("disconnect", conflict("chta is not connected."));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"sync", "chta"},
                                                {"connect", "chta"},
                                                {"connect", "chta", "--token"},
                                                {"disconnect", "chta", "--yes"},
                                                {"approve", "list", "--service", "chta"},
                                                {"dlq", "list", "--service", "chta"},
                                                {"held", "list", "--service", "chta"},
                                                {"audit", "query", "--service", "chta"},
                                                {"approve", "accept", "--all", "--service", "chta", "--yes"}}) {
    INFO(words[0] << " " << words[1]);
    CHECK(f.run(words) == 4);
    CHECK(f.console.prompts.empty());
    CHECK_THAT(f.err(),
               Catch::Contains("There is no service chta here (did you mean \"chat\"?). There are: chat, mail."));
  }
  f.console.terminal = true;
  CHECK(f.run({"disconnect", "chta"}) == 4);  // before anything is asked
  CHECK(f.console.prompts.empty());
  CHECK(f.run({"sync", "chat"}) == 4);  // the host's own word about one that there is
  CHECK(has(f.err(), "No."));
}

TEST_CASE("an agent that there is not is told of where nothing was found", "[cli]") {
  CliFixture f;
  f.api.answers["agents"] = R"({"agents":[{"name":"helper","agent_id":"agent_1"}]})";
  CHECK(f.run({"audit", "query", "--agent", "helpr"}) == 4);
  CHECK_THAT(f.err(), Catch::Contains("There is no agent helpr (did you mean \"helper\"?). There is: helper."));
  f.api.errors.emplace("agent", not_found("No."));
  f.api.errors.emplace("revoke_agent", not_found("No."));
  for (const auto* command : {"show", "revoke"}) {
    CHECK(f.run({"agent", command, "helpr"}) == 4);
    CHECK_THAT(f.err(), Catch::Contains("There is no agent helpr (did you mean \"helper\"?)"));
  }
  CHECK(f.run({"audit", "query", "--agent", "helper"}) == 0);
  CHECK(has(f.out(), "No row fits."));
}

TEST_CASE("what was written for a service that is gone is still shown", "[cli]") {
  CliFixture f;
  f.api.answers["writes"] = R"({"writes":[{"write_id":"w_1","service":"gone","state":"completed"}]})";
  CHECK(f.run({"approve", "list", "--service", "gone"}) == 0);
  CHECK(has(f.out(), "w_1"));
}

}  // namespace KRUXOS_TEST_FILE
