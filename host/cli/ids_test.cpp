#include "host/cli/ids.hpp"

#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

const std::string kFirst = "w_01a20595-99d5-7000-8000-000000000001", kSecond = "w_01a20595-99d6-7000-8000-000000000002";

std::string listed(const std::vector<std::string>& ids) {
  std::string all;
  for (const auto& id : ids) all += (all.empty() ? "" : ",") + ("{\"write_id\":\"" + id) + "\"}";
  return "{\"writes\":[" + all + "]}";
}

}  // namespace

TEST_CASE("the beginning of a write's id is enough where one begins so", "[cli]") {
  CliFixture f;
  f.api.answers["writes_by_id w_01a20595-99d5"] = listed({kFirst});
  f.api.answers["writes_by_id w_01a20595-99d"] = listed({kSecond, kFirst});
  for (const std::vector<std::string>& words : {std::vector<std::string>{"approve", "show"},
                                                {"approve", "cancel"},
                                                {"approve", "rollback"},
                                                {"dlq", "show"},
                                                {"held", "show"},
                                                {"receipt", "get"},
                                                {"audit", "query", "--write"}}) {
    auto of_one = words, of_two = words;
    of_one.emplace_back("w_01a20595-99d5");
    of_two.emplace_back("w_01a20595-99d");
    f.run(of_one);
    const auto asked = f.api.asked();
    REQUIRE_FALSE(asked.empty());
    CHECK(has(asked.back(), kFirst));
    CHECK(f.run(of_two) == 2);
    CHECK(f.api.asked().empty());
    CHECK_THAT(f.err(),
               Catch::Contains("w_01a20595-99d begins the ids of several writes: " + kSecond + ", " + kFirst) &&
                   Catch::Contains("nothing was done"));
  }
  f.run({"approve", "resolve", "w_01a20595-99d5", "--discard", "--yes"});
  CHECK(has(f.api.asked().back(), "decide_outcome " + kFirst));
  f.run({"approve", "accept", "w_01a20595-99d5", "--yes"});
  CHECK(has(f.api.asked().at(0), kFirst));
  f.api.answers["write " + kFirst] = R"({"write":{"content_hash":"h"}})";
  f.run({"approve", "edit", "w_01a20595-99d5", "text=x"});
  CHECK(has(f.api.asked().back(), "edit_write " + kFirst));
}

TEST_CASE("the beginnings of agents', accounts', grants' and receipts' ids are enough", "[cli]") {
  CliFixture f;
  f.api.answers["agents"] =
      R"({"agents":[{"name":"al","agent_id":"agent_12"},{"name":"agent_1","agent_id":"agent_34"},{"name":"c","agent_id":"agent_35"}]})";
  f.run({"agent", "show", "agent_12"});
  CHECK(f.api.asked().back() == "agent agent_12");
  f.run({"agent", "show", "agent_1"});  // a name goes before a beginning
  CHECK(f.api.asked().back() == "agent agent_1");
  CHECK(f.run({"agent", "show", "agent_3"}) == 2);
  CHECK(has(f.err(), "several agents: agent_34, agent_35"));
  f.run({"agent", "pause", "agent_35"});
  CHECK(has(f.api.asked().back(), "pause_agent agent_35"));
  f.api.answers["connections"] =
      R"({"connections":[{"service":"x","account_id":"T0ALPHA","name":"one"},{"service":"y","account_id":"T0ALPS","name":"two"}]})";
  f.run({"disconnect", "x", "T0A", "--yes"});
  CHECK(has(f.api.asked().back(), "disconnect x T0ALPHA"));
  f.api.answers["sign_in"] = R"({"requests":[],"grants":[{"grant_id":"grant_77"}]})";
  f.run({"sign-in", "end", "grant_7", "--yes"});
  CHECK(has(f.api.asked().back(), "end_sign_in grant_77"));
  f.api.answers["receipts"] = R"({"receipts":[{"receipt_id":"rcpt_9a"}]})";
  f.run({"disconnect", "--receipt", "rcpt_9"});
  CHECK(f.api.asked().back() == "receipt rcpt_9a");
  f.api.answers["standing_approvals"] = R"({"standing_approvals":[{"standing_id":"s_5b"}]})";
  f.run({"approve", "standing", "--end", "s_5"});
  CHECK(has(f.api.asked().back(), "end_standing_approval s_5b"));
}

TEST_CASE("many that begin so are listed in short", "[cli]") {
  std::vector<std::string> many;
  for (int i = 0; i < 9; ++i) many.push_back("w_" + std::to_string(i));
  CHECK_THROWS_WITH(cli::whole_id("w_", many, "writes"), Catch::Contains("w_5, …"));
  CHECK(cli::whole_id("w_3", many, "writes") == "w_3");
  CHECK(cli::whole_id("v", many, "writes") == "v");
}

}  // namespace KRUXOS_TEST_FILE
