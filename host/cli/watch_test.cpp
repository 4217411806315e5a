#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

std::string one(const std::string& id, const std::string& state = "pending_approval") {
  return R"({"write_id":")" + id + R"(","state":")" + state +
         R"(","agent":"al","operation":"chat.send","summary":"say )" + id + R"(","content_hash":"h)" + id + "\"}";
}

struct WatchFixture : CliFixture {
  WatchFixture() {
    console.terminal = true;
    api.answers["writes"] = R"({"writes":[)" + one("w_1") + "," + one("w_2") + "," + one("w_3", "unknown") + "]}";
    for (const auto* id : {"w_1", "w_2"}) {
      api.answers["write " + std::string(id)] = "{\"write\":" + one(id) + "}";
      for (const auto* call : {"accept_write ", "reject_write "})
        api.answers[call + std::string(id)] = R"({"write":{"state":"buffered"}})";
    }
  }
  std::vector<std::string> decided() {
    std::vector<std::string> all;
    for (const auto& asked : api.asked()) {
      if (asked.starts_with("accept_write") || asked.starts_with("reject_write")) all.push_back(asked);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("approve watch shows what waits, and keys decide about what was shown whole", "[cli]") {
  WatchFixture f;
  f.console.keys = " j\nak\nrq";
  f.console.lines = {"not \"now\""};
  CHECK(f.run({"approve", "watch"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("Waiting for your approval: 2"));
  CHECK_THAT(f.out(), Catch::Contains("say w_1") && Catch::Contains("say w_2") && !Catch::Contains("say w_3"));
  const auto decided = f.decided();
  REQUIRE(decided.size() == 2);
  CHECK(decided[0].starts_with("accept_write w_2 hw_2 operator:"));
  CHECK(decided[1].starts_with("reject_write w_1 not \"now\" operator:"));
  CHECK_FALSE(f.console.line_in_keys);
  CHECK_FALSE(f.console.in_keys);
  // Looked at and left alone.
  f.console.keys = "\nx\nr";
  f.console.lines.clear();
  CHECK(f.run({"approve", "watch"}) == 0);
  CHECK(f.decided().empty());
}

TEST_CASE("approve watch goes on where a write was decided meanwhile, and is for terminals", "[cli]") {
  WatchFixture f;
  f.api.errors.emplace("accept_write", conflict("The write is not what was shown any more."));
  f.console.keys = "\na";
  CHECK(f.run({"approve", "watch"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("not what was shown any more"));
  f.api.answers["writes"] = R"({"writes":[]})";
  f.console.keys = "j\nk";
  CHECK(f.run({"approve", "watch"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("Waiting for your approval: 0"));
  f.console.terminal = false;
  CHECK(f.run({"approve", "watch"}) == 2);
}

TEST_CASE("approve stats says how fast and which way", "[cli]") {
  WatchFixture f;
  f.api.answers["approval_figures"] =
      R"({"approvals":{"accepted":93,"rejected":7,"last_hour":12,"at_once":60,"median_ms":4000}})";
  CHECK(f.run({"approve", "stats"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("100 in seven days, 12 in the last hour") && Catch::Contains("93 of 100") &&
                          Catch::Contains("4 s (median)") && Catch::Contains("before they could be read"));
  f.api.answers["approval_figures"] = R"({"approvals":{}})";
  CHECK(f.run({"approve", "stats"}) == 0);
  CHECK_THAT(f.out(), Catch::Contains("Nothing was accepted or rejected"));
}

}  // namespace KRUXOS_TEST_FILE
