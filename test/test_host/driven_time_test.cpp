// A host whose time the test moves.
#include "test_host/started_host.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

TEST_CASE("in driven time a write waits as its definition says, until the test lets the time pass") {
  StartedHost host({"slack", "--driven-time"});
  const auto begin = number_at(host.ready, "/clock_ms");
  CHECK(begin > 1'700'000'000'000);
  const auto sent = host.invoke("slack.send", R"({"channel":"general","text":"later"})");
  REQUIRE(sent.ok());
  CHECK(sent.text("/status") == "buffered");
  CHECK(number_at(host.tell("advance 1 s"), "/clock_ms") == begin + 1000);
  CHECK(host.state(sent.write_id()) == "buffered");
  CHECK(host.journal().empty());
  host.tell("advance 1 h");
  REQUIRE(host.reaches(sent.write_id(), "completed"));

  // What is undone within a day can no longer be undone in two.
  host.tell("advance 2 d");
  const auto undo = host.invoke("proxy.rollback", R"({"write_id":")" + sent.write_id() + "\"}");
  CHECK_FALSE(undo.ok());
  INFO(undo.message());
  CHECK(undo.error() == "RollbackExpired");
  for (const auto* wrong : {"advance", "advance 1", "advance -1 s", "advance soon", "advance 400 d"}) {
    INFO(wrong);
    CHECK_THAT(text_of(host.tell(wrong)), Catch::Contains("is no time"));
  }
}

TEST_CASE("limits over days are tested in no time, and the time goes on over a power cut") {
  StartedHost host({"slack", "--driven-time", "--delay", "1 s"});
  std::string last;
  int taken = 0;
  for (; taken < 200; ++taken) {
    const auto sent =
        host.invoke("slack.send", R"({"channel":"general","text":"number )" + std::to_string(taken) + "\"}");
    if (!sent.ok() || sent.text("/status") != "buffered") break;
    last = sent.write_id();
  }
  REQUIRE(taken < 200);
  const auto moved = number_at(host.tell("advance 2 d"), "/clock_ms");
  // One that is killed while it is sent is looked for first, and what comes behind it waits for that.
  REQUIRE(host.reaches(last, "completed"));
  host.tell("kill");
  CHECK(number_at(host.tell("start"), "/clock_ms") == moved);
  const auto next = host.invoke("slack.send", R"({"channel":"general","text":"the day after"})");
  CHECK(next.text("/status") == "buffered");
  host.tell("advance 2 s");
  CHECK(host.reaches(next.write_id(), "completed"));
}

}  // namespace KRUXOS_TEST_FILE
