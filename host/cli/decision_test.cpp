// The operator's decisions about writes: what is decided is what was shown.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

constexpr const char* kNone = "agent= service=";

std::string entry(const std::string& id, const std::string& more = "") {
  return fmt::format(R"({{"write_id":"{0}","content_hash":"h_{0}","summary":"cut of {0}"{1}}})", id, more);
}

std::string whole(const std::string& id, const std::string& state, const std::string& more = "") {
  return R"({"write":)" +
         entry(id, fmt::format(R"(,"state":"{}","params":{{"channel":"general","text":"whole of {}"}}{})", state, id,
                               more)) +
         "}";
}

/// A host with the writes w_1 to w_<count> in that state, w_1 the newest.
struct Fixture : CliFixture {
  void lay_out(const std::string& state, int count, int page, const std::string& filter = kNone) {
    std::string list, before;
    for (int i = 1; i <= count; ++i) {
      const auto id = fmt::format("w_{}", i);
      api.answers["write " + id] = whole(id, state);
      list += (list.empty() ? "" : ",") + entry(id, fmt::format(R"(,"state":"{}")", state));
      if (i % page != 0 && i != count) continue;
      api.answers[fmt::format("writes {} {} limit={} before={}", state, filter, page, before)] =
          R"({"writes":[)" + list + "]}";
      list.clear();
      before = id;
    }
    api.answers[fmt::format("writes {}", state)] = R"({"writes":[]})";
  }
  /// The decisions that were posted.
  std::vector<std::string> decided() {
    auto asked = api.asked();
    std::erase_if(asked, [](const std::string& one) { return !one.starts_with("decide "); });
    return asked;
  }
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("with --all each write is shown whole before it is asked about", "[cli]") {
  Fixture f;
  const int count = GENERATE(1, 3);
  const std::string command = GENERATE("approve", "dlq");
  f.lay_out(command == "approve" ? "pending_approval" : "dead_letter", count, 20);
  f.console.terminal = true;
  f.console.columns = 60;
  f.console.lines = {"n"};
  CHECK(f.run({command, command == "approve" ? "accept" : "discard", "--all"}) == 1);
  for (int i = 1; i <= count; ++i) CHECK(has(f.out(), fmt::format("whole of w_{}", i)));
  CHECK(count_of(f.out(), "channel") == static_cast<std::size_t>(count));
  CHECK(count_of(f.console.prompts, "[y/N]") == 1);
  CHECK(f.decided().empty());
}

TEST_CASE("what was shown is what is decided, though the list says otherwise by now", "[cli]") {
  Fixture f;
  f.lay_out("pending_approval", 1, 20);
  f.api.answers["write w_1"] =
      R"({"write":{"write_id":"w_1","content_hash":"newer","state":"pending_approval","params":{"text":"edited"}}})";
  f.console.terminal = true;
  f.console.lines = {"y"};
  f.run({"approve", "accept", "--all"});
  CHECK(has(f.out(), "edited"));
  const auto decided = f.decided();
  REQUIRE(decided.size() == 1);
  CHECK(has(decided[0], "w_1:newer"));
}

TEST_CASE("the like of what is accepted is said before it is asked about", "[cli]") {
  Fixture f;
  f.lay_out("pending_approval", 1, 20);
  f.console.terminal = true;
  f.console.lines = {"y"};
  SECTION("with whom it reaches") {
    f.api.answers["write w_1"] =
        whole("w_1", "pending_approval", R"(,"operation":"chat.send","agent":"assistant","like":{"reaches":["C1"]})");
    CHECK(f.run({"approve", "accept", "w_1", "--like", "2h", "--most", "5"}) == 0);
    CHECK(has(f.out(), "With it, for 2 h and up to 5 writes: chat.send of assistant to C1"));
    const auto decided = f.decided();
    REQUIRE(decided.size() == 1);
    CHECK(has(decided[0], "like 7200 s 5"));
  }
  SECTION("nothing is asked where there is none") {
    f.api.answers["write w_1"] =
        whole("w_1", "pending_approval", R"(,"like":{"why_not":"It is not known whom it reaches."})");
    CHECK(f.run({"approve", "accept", "w_1", "--like", "30min"}) == 5);
    CHECK(has(f.err(), "It is not known whom it reaches."));
    CHECK(f.decided().empty());
  }
  SECTION("its time and number are bounded") {
    for (const auto* time : {"0h", "25h", "1", "2d", "soon", "-1h"})
      CHECK(f.run({"approve", "accept", "w_1", "--like", time}) == 2);
    CHECK(f.run({"approve", "accept", "w_1", "--most", "5"}) == 2);
    CHECK(f.run({"approve", "accept", "w_1", "--like", "1h", "--most", "1001"}) == 2);
    CHECK(f.run({"approve", "reject", "w_1", "--like", "1h"}) == 2);
  }
}

TEST_CASE("what is approved beforehand is shown, and ended", "[cli]") {
  Fixture f;
  f.api.answers["standing_approvals"] = R"({"standing_approvals":[]})";
  CHECK(f.run({"approve", "standing"}) == 0);
  CHECK(has(f.err(), "Nothing is approved beforehand."));
  f.api.answers["standing_approvals"] =
      R"({"standing_approvals":[{"standing_id":"sa_1","agent":"assistant","operation":"chat.send","reaches":["C1",)"
      R"("C2\u001b[2J"],"used":3,"most":20,"until_ms":1700000000000,"granted_by":"operator:ann"}]})";
  CHECK(f.run({"approve", "standing"}) == 0);
  for (const auto* part : {"sa_1", "assistant", "C1, C2", "3 of 20", "operator:ann"}) CHECK(has(f.out(), part));
  CHECK_FALSE(has(f.out(), "\x1b[2J"));
  CHECK(f.run({"approve", "standing", "--end", "sa_1"}) == 0);
  CHECK(has(f.api.asked().back(), "end_standing_approval sa_1"));
}

TEST_CASE("with --all every page is gone through", "[cli]") {
  Fixture f;
  SECTION("without a question, 500 at once") {
    f.lay_out("dead_letter", 528, 500, "agent=al service=x");
    CHECK(f.run({"dlq", "discard", "--all", "--agent", "al", "--service", "x", "--yes"}) == 0);
    const auto decided = f.decided();
    REQUIRE(decided.size() == 2);
    CHECK(has(decided[0], "w_528:h_w_528"));
    CHECK(has(decided[0], " w_29:h_w_29"));
    CHECK(has(decided[1], "w_28:h_w_28"));
    CHECK(has(decided[1], " w_1:h_w_1"));
  }
  SECTION("one answer as JSON") {
    f.lay_out("dead_letter", 528, 500);
    f.api.answers["decide"] = R"({"results":[{"write_id":"w_1","state":"discarded"}]})";
    CHECK(f.run({"--json", "dlq", "discard", "--all", "--yes"}) == 0);
    CHECK(parse_json(f.out(), "it")["results"].Size() == 2);
  }
  SECTION("on a terminal as many for a question as one can read") {
    f.lay_out("dead_letter", 25, 20);
    f.console.terminal = true;
    f.console.lines = {"y", "n"};
    CHECK(f.run({"dlq", "discard", "--all"}) == 1);
    CHECK(has(f.console.prompts, "Give these 20 writes up?"));
    CHECK(has(f.console.prompts, "Give these 5 writes up?"));
    const auto decided = f.decided();
    REQUIRE(decided.size() == 1);
    CHECK(has(decided[0], "w_25:h_w_25"));
    CHECK(has(decided[0], " w_6:h_w_6"));
    CHECK_FALSE(has(decided[0], " w_5:"));
    CHECK(has(f.out(), "whole of w_1"));
  }
}

TEST_CASE("lists go on beyond the first page", "[cli]") {
  Fixture f;
  SECTION("the dead letter queue") {
    f.lay_out("dead_letter", 528, 500);
    CHECK(f.run({"dlq", "list"}) == 0);
    CHECK(has(f.out(), "cut of w_528"));
    CHECK(f.run({"dlq", "list", "--json"}) == 0);
    CHECK(parse_json(f.out(), "it")["writes"].Size() == 528);
  }
  SECTION("what waits for approval") {
    const std::string pending = "held,pending_approval,buffered,executing,unknown,dead_letter";
    f.lay_out(pending, 528, 500);
    CHECK(f.run({"approve", "list"}) == 0);
    CHECK(has(f.out(), "cut of w_528"));
    CHECK(f.run({"approve", "list", "--json"}) == 0);
    CHECK(parse_json(f.out(), "it")["pending"].Size() == 528);
  }
  SECTION("but say when they end before all is listed") {
    f.lay_out("dead_letter", 10'500, 500);
    CHECK(f.run({"dlq", "list"}) == 1);
    CHECK(has(f.out(), "cut of w_10000 "));
    CHECK_FALSE(has(f.out(), "w_10001"));
    CHECK(has(f.err(), "older ones are not shown"));
  }
}

TEST_CASE("a decision of the dead letter queue is about dead letters only", "[cli]") {
  Fixture f;
  f.lay_out("dead_letter", 1, 20);
  for (const auto* command : {"retry", "discard"}) {
    f.run({"dlq", command, "w_1", "--yes"});
    const auto decided = f.decided();
    REQUIRE(decided.size() == 1);
    CHECK(has(decided[0], "w_1:h_w_1:dead_letter "));
  }
  f.api.answers["write w_1"] = whole("w_1", "unknown", R"(,"needs_operator":true)");
  f.console.terminal = true;
  f.console.lines = {"y"};
  CHECK(f.run({"dlq", "retry", "w_1"}) == 5);
  CHECK(f.console.prompts.empty());
  CHECK(f.decided().empty());
  CHECK(has(f.err(), "kruxos approve resolve"));
}

TEST_CASE("a decision about an unknown write goes with the state that was shown", "[cli]") {
  Fixture f;
  f.api.answers["write w_1"] = f.api.answers["decide_outcome"] = whole("w_1", "unknown");
  f.console.terminal = true;
  f.console.lines = {"y"};
  CHECK(f.run({"approve", "resolve", "w_1", "--resend"}) == 0);
  CHECK(has(f.api.asked().back(), "decide_outcome w_1 operator_resend unknown operator:"));
  CHECK(f.run({"approve", "resolve", "w_1", "--resend", "--yes"}) == 0);
  CHECK(has(f.api.asked().back(), "decide_outcome w_1 operator_resend any operator:"));
}

TEST_CASE("of a dead letter that an earlier attempt may have carried out no more is said than is known", "[cli]") {
  Fixture f;
  f.lay_out("dead_letter", 2, 500);
  f.api.answers["writes dead_letter agent= service= limit=500 before="] =
      R"({"writes":[)" +
      entry("w_1", R"(,"irrevocable":true,"error":{"type":"ServiceUnavailable","message":"Down."})") + "," +
      entry("w_2", R"(,"error":{"type":"ServiceUnavailable","message":"Down."})") + "]}";
  CHECK(f.run({"dlq", "list"}) == 0);
  CHECK_FALSE(has(f.out(), "These did not happen"));
  CHECK(count_of(f.out(), "an earlier attempt may have had its effect") == 1);
  f.api.answers["write w_1"] = whole("w_1", "dead_letter", R"(,"irrevocable":true)");
  f.console.terminal = true;
  f.console.lines = {"n"};
  CHECK(f.run({"dlq", "retry", "w_1"}) == 1);
  CHECK(has(f.out(), "an earlier attempt may have had its effect"));
  CHECK(has(f.console.prompts, "happens twice"));
}

TEST_CASE("a decision is not taken on words that were not shown", "[cli]") {
  Fixture f;
  f.lay_out("pending_approval", 1, 20);
  f.console.terminal = true;
  f.console.lines = {"y"};
  CHECK(f.run({"--json", "approve", "accept", "--all"}) == 2);
  CHECK(f.decided().empty());
}

TEST_CASE("what cannot be undone says why, and how much of a history is shown", "[cli]") {
  Fixture f;
  f.api.answers["write w_1"] = whole(
      "w_1", "completed",
      R"(,"rollback_problem":"Nobody knows what it made.","history_total":70,"edits_total":60,)"
      R"("history":[{"kind":"attempt","attempt":1}],"edits":[{"who":"al","from":{"note":"gone"},"to":{"text":"x"}}])");
  CHECK(f.run({"approve", "show", "w_1"}) == 0);
  CHECK(has(f.out(), "Nobody knows what it made."));
  CHECK(has(f.out(), "the newest 1 of 70"));
  CHECK(has(f.out(), "the newest 1 of 60"));
  CHECK(has(f.out(), "- note: gone"));
  CHECK(has(f.out(), "+ text: x"));
}

TEST_CASE("an answer that is too large is called so", "[cli]") {
  Fixture f;
  f.api.answers["write w_1"] = std::string(65u << 20, 'x');
  CHECK(f.run({"approve", "show", "w_1"}) == 1);
  CHECK(has(f.err(), "larger than 64 MiB"));
}

TEST_CASE("many writes are decided at once, as they were shown", "[cli]") {
  Fixture f;
  const std::string two = R"({"writes":[{"write_id":"w_1","content_hash":"a","summary":"one"},)"
                          R"({"write_id":"w_2","content_hash":"b","summary":"two"}]})";
  f.api.answers["writes pending_approval"] = f.api.answers["writes dead_letter"] = two;
  f.api.answers["decide"] =
      R"({"results":[{"write_id":"w_1","state":"buffered"},{"write_id":"w_2","state":"buffered"}]})";
  CHECK(f.run({"approve", "accept", "--all", "--agent", "al"}) == 2);
  CHECK(has(f.err(), "--yes"));
  CHECK(f.run({"approve", "accept"}) == 2);
  CHECK(f.run({"approve", "accept", "w_1", "--all"}) == 2);
  f.api.asked();
  CHECK(f.run({"approve", "accept", "--all", "--agent", "al", "--service", "x", "--yes"}) == 0);
  const auto asked = f.api.asked();
  REQUIRE(asked.size() == 2);
  CHECK(has(asked[0], "agent=al service=x"));
  CHECK(has(asked[1], "decide accept w_2:b w_1:a"));
  CHECK(has(f.out(), "Write w_2 is now buffered."));

  f.console.terminal = true;
  f.console.lines = {"n"};
  CHECK(f.run({"dlq", "retry", "--all"}) == 1);
  CHECK(has(f.console.prompts, "Try these 2 writes again now?"));
  CHECK(f.decided().empty());
  f.console.terminal = false;

  f.api.answers["write w_1"] = whole("w_1", "pending_approval");
  f.api.answers["decide"] =
      R"({"results":[{"write_id":"w_1","error":{"type":"ConflictError","message":"It has\u001b[2J changed."}}]})";
  CHECK(f.run({"approve", "reject", "w_1", "--reason", "no", "--yes"}) == 5);
  CHECK(has(f.err(), "Write w_1: It has\\x1b[2J changed."));
  CHECK(has(f.api.asked().back(), "decide reject w_1:h_w_1"));
  f.api.answers["writes dead_letter"] = R"({"writes":[]})";
  CHECK(f.run({"dlq", "discard", "--all", "--yes"}) == 0);
  CHECK(has(f.err(), "No write is in the dead letter queue."));
}

TEST_CASE("what is held as a copy is completed where it was found, and released where it was not", "[cli]") {
  Fixture f;
  const auto held = [](const char* id, const char* finding, const char* more = "") {
    return fmt::format(
        R"({{"write_id":"{0}","content_hash":"h_{0}","state":"buffered","held_as_copy":true,"evidence":{{"finding":"{1}"}}{2}}})",
        id, finding, more);
  };
  const auto list = held("w_1", "found") + "," + held("w_2", "absent") + "," + held("w_3", "not_looked_yet") + "," +
                    held("w_4", "not_looked_yet", R"(,"release_wanted":true)");
  for (const int limit : {20, 500})
    f.api.answers[fmt::format("writes held_as_copy agent= service= limit={} before=", limit)] =
        R"({"writes":[)" + list + "]}";
  SECTION("list") {
    CHECK(f.run({"held", "list"}) == 0);
    CHECK(has(f.out(), "found: it was sent"));
    CHECK(has(f.out(), "not found, which is no proof"));
    CHECK(has(f.out(), "not looked for yet"));
    CHECK(has(f.out(), "not looked for yet; goes out if it is not found"));
    CHECK(f.run({"--json", "held", "list"}) == 0);
  }
  SECTION("complete") {
    CHECK(f.run({"held", "complete", "--all", "--yes"}) == 0);
    const auto decided = f.decided();
    REQUIRE(decided.size() == 1);
    CHECK(has(decided[0], "decide happened w_1:h_w_1:found held "));
    CHECK(
        has(f.err(),
            "these were left: 1 not found (kruxos held release or discard), 1 not looked for yet, 1 released before"));
  }
  SECTION("release") {
    f.api.answers["decide"] = R"({"results":[{"write_id":"w_2","state":"buffered","release_wanted":false},)"
                              R"({"write_id":"w_3","state":"buffered","release_wanted":true}]})";
    CHECK(f.run({"held", "release", "--all", "--yes"}) == 0);
    const auto decided = f.decided();
    REQUIRE(decided.size() == 1);
    CHECK(has(decided[0], "decide release w_3:h_w_3:not_looked_yet w_2:h_w_2:absent held "));
    CHECK(has(f.out(), "Write w_2 is released: buffered."));
    CHECK(has(f.out(), "Write w_3 goes out as soon as a look has not found it."));
    CHECK(has(f.err(), "these were left: 1 found (kruxos held complete), 1 released before"));
  }
  SECTION("discard") {
    CHECK(f.run({"held", "discard", "--all", "--yes"}) == 0);
    CHECK(has(f.decided().at(0),
              "w_4:h_w_4:not_looked_yet w_3:h_w_3:not_looked_yet w_2:h_w_2:absent w_1:h_w_1:found held "));
    CHECK_FALSE(has(f.err(), "left"));
  }
  SECTION("what is decided about is the finding that was shown, whatever the list said") {
    f.console.terminal = true;
    f.console.lines = {"y"};
    f.api.answers["write w_3"] = R"({"write":)" + held("w_3", "cannot_tell") + "}";
    f.run({"held", "release", "w_3"});
    CHECK(has(f.out(), "the service could not tell"));
    CHECK(has(f.decided().at(0), "decide release w_3:h_w_3:cannot_tell held "));
  }
  SECTION("one that is held no longer") {
    f.console.terminal = true;
    f.api.answers["write w_2"] = R"({"write":{"write_id":"w_2","state":"completed","held_as_copy":false}})";
    CHECK(f.run({"held", "release", "w_2"}) == 5);
    CHECK(f.decided().empty());
  }
}

}  // namespace KRUXOS_TEST_FILE
