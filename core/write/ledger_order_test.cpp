#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

struct LaneFixture : LedgerFixture {
  /// Names of what is claimed now, in order.
  std::string claimed() {
    std::string names;
    for (const auto& write : take()) {
      last = write;
      names += text_of(write);
    }
    return names;
  }
  static std::string text_of(const WriteRecord& write) {
    const auto begin = write.params_json.find(":\"") + 2;
    return write.params_json.substr(begin, write.params_json.find('"', begin) - begin);
  }
  WriteRecord say(const std::string& text, const std::string& target = "C1", const std::string& agent = "agent_1",
                  std::int64_t delay_ms = 30'000) {
    auto write = new_write(text);
    write.agent_id = agent;
    write.target = target;
    write.order = target;
    write.delay_ms = delay_ms;
    return submit(write).write;
  }
  WriteRecord now(const WriteRecord& write) { return *ledger->get(write.write_id); }
  void ends(WriteEvent event = WriteEvent::kDone) { record(last, event, has_due(event)); }
  static std::optional<std::int64_t> has_due(WriteEvent event) {
    return event == WriteEvent::kCertainlyNotDone || event == WriteEvent::kMayBeDone
               ? std::optional<std::int64_t>(60'000)
               : std::nullopt;
  }
  WriteRecord last;
};

}  // namespace

TEST_CASE("ordered writes go out one after the other, by the end of their window and then by admission") {
  LaneFixture f;
  f.say("c", "C1", "agent_1", 40'000);
  f.say("a");
  f.say("b");
  f.clock.advance(40'000);
  CHECK(f.claimed() == "a");
  CHECK(f.claimed().empty());
  f.ends();
  CHECK(f.claimed() == "b");
  f.ends();
  CHECK(f.claimed() == "c");
}

TEST_CASE("other targets, other agents and operations without order wait for nobody") {
  LaneFixture f;
  f.say("a");
  f.say("b", "C2");
  f.say("c", "C1", "agent_2");
  f.submit(new_write("d"));
  f.say("e");
  f.clock.advance(30'000);
  CHECK(f.claimed() == "abcd");
}

TEST_CASE("what waits for its turn is seen so, and can be cancelled") {
  LaneFixture f;
  f.say("a");
  const auto b = f.say("b"), c = f.say("c");
  f.clock.advance(30'000);
  REQUIRE(f.claimed() == "a");
  CHECK(f.now(b).waits_in_line);
  CHECK(std::get<WriteRecord>(f.cancel(b.write_id, "agent_1")).state == State::kCancelled);
  f.ends();
  CHECK(f.claimed() == "c");
  CHECK_FALSE(f.now(c).waits_in_line);
  CHECK_FALSE(f.now(c).out_of_order);
}

TEST_CASE("a dead letter, or an unknown outcome, holds those behind it up for a while only, and they are marked") {
  const auto event = GENERATE(WriteEvent::kCertainlyNotDone, WriteEvent::kMayBeDone);
  LaneFixture f;
  f.say("a");
  const auto b = f.say("b"), c = f.say("c");
  f.clock.advance(30'000);
  REQUIRE(f.claimed() == "a");
  f.record(f.last, event, std::nullopt);  // nothing more happens to it by itself
  f.clock.advance(kOrderWaitMs - 1);
  CHECK(f.claimed().empty());
  f.clock.advance(1);
  // Still one after the other.
  CHECK(f.claimed() == "b");
  CHECK(f.claimed().empty());
  f.ends();
  CHECK(f.claimed() == "c");
  CHECK(f.now(b).out_of_order);
  CHECK(f.now(c).out_of_order);
}

TEST_CASE("an attempt under way holds those behind it up for a while only, and they are marked") {
  LaneFixture f;
  f.say("a");
  const auto b = f.say("b");
  f.clock.advance(30'000);
  REQUIRE(f.claimed() == "a");
  const auto a = f.last;
  CHECK(f.claimed().empty());
  f.clock.advance(kOrderWaitMs - 1);
  CHECK(f.claimed().empty());
  f.clock.advance(1);
  CHECK(f.now(a).state == State::kExecuting);
  CHECK(f.claimed() == "b");
  CHECK(f.now(b).out_of_order);
}

TEST_CASE("where failures are to hold up nobody, the order of what goes well is kept") {
  LaneFixture f;
  f.say("a");
  const auto b = f.say("b");
  f.clock.advance(30'000);
  const auto take = [&] { return f.ledger->take(f.accounts, {10, 10}, {}, 0).writes; };
  const auto a = take();
  REQUIRE(a.size() == 1);
  CHECK(take().empty());
  f.clock.advance(60'000);
  CHECK(take().empty());
  f.record(a.at(0), WriteEvent::kCertainlyNotDone, 60'000);
  REQUIRE(take().size() == 1);  // at once
  CHECK(f.now(b).out_of_order);
}

TEST_CASE("a dead letter that goes out in time keeps the order") {
  LaneFixture f;
  f.say("a");
  const auto b = f.say("b");
  f.clock.advance(30'000);
  REQUIRE(f.claimed() == "a");
  f.ends(WriteEvent::kCertainlyNotDone);
  CHECK(f.claimed().empty());
  f.clock.advance(60'000);
  CHECK(f.claimed() == "a");
  f.ends();
  CHECK(f.claimed() == "b");
  CHECK_FALSE(f.now(b).out_of_order);
}

TEST_CASE("a refused token holds the lane, and a new one lets it go on in order") {
  LaneFixture f;
  f.say("a");
  f.say("b");
  f.clock.advance(30'000);
  REQUIRE(f.claimed() == "a");
  WriteReport report;
  report.write_id = f.last.write_id;
  report.attempt = f.last.attempts;
  report.event = WriteEvent::kCertainlyNotDone;
  report.due_in_ms = 960'000;
  report.error_type = ErrorCode::kNotAuthenticated;
  Answer<WriteRecord> answer;
  f.ledger->record(report, answer.slot());
  REQUIRE(answer.value().state == State::kDeadLetter);
  CHECK(f.claimed().empty());
  f.clock.advance(60'000);
  f.ledger->connection_restored(kAccount);
  CHECK(f.claimed() == "a");
  CHECK(f.claimed().empty());
  f.ends();
  CHECK(f.claimed() == "b");
}

TEST_CASE("a long line stays in order however long it takes as a whole") {
  LaneFixture f;
  std::string all;
  for (char c = 'a'; c <= 'z'; ++c) f.say(std::string(1, c));
  f.clock.advance(30'000);
  std::string out;
  for (int i = 0; i < 26; ++i) {
    const auto name = f.claimed();
    REQUIRE(name.size() == 1);
    out += name;
    f.clock.advance(60'000);  // the attempt takes that long
    f.ends();
  }
  CHECK(out == "abcdefghijklmnopqrstuvwxyz");
  CHECK_FALSE(f.now(f.last).out_of_order);
}

TEST_CASE("refused, discarded and edited writes make room in their lane") {
  LaneFixture f;
  f.say("a");
  const auto b = f.say("b");
  f.say("c");
  f.clock.advance(30'000);
  REQUIRE(f.claimed() == "a");
  CHECK(f.claimed().empty());
  NewContent content;
  content.params_json = R"({"text":"x"})";
  content.target = content.order = "C1";
  content.delay_ms = 30'000;
  REQUIRE(std::holds_alternative<WriteRecord>(f.edit(f.now(b), content)));
  f.ends(WriteEvent::kRefusedForGood);
  CHECK(f.claimed() == "c");
  f.clock.advance(30'000);
  CHECK(f.claimed().empty());
  f.ends(WriteEvent::kMayBeDone);
  REQUIRE(std::holds_alternative<WriteRecord>(f.resolve(f.last.write_id, WriteEvent::kOperatorDiscard)));
  CHECK(f.claimed() == "x");
}

TEST_CASE("an edit takes a write into the lane of its new content, or out of all") {
  LaneFixture f;
  f.say("a");
  const auto b = f.say("b", "C2"), c = f.say("c");
  NewContent content;
  content.params_json = R"({"text":"x"})";
  content.delay_ms = 30'000;
  content.order = "C1";
  REQUIRE(std::holds_alternative<WriteRecord>(f.edit(b, content)));
  content.params_json = R"({"text":"y"})";
  content.order.clear();
  REQUIRE(std::holds_alternative<WriteRecord>(f.edit(c, content)));
  f.clock.advance(30'000);
  CHECK(f.claimed() == "ay");
}

TEST_CASE("the order outlives the host") {
  LaneFixture f;
  f.say("a");
  const auto b = f.say("b");
  f.clock.advance(30'000);
  REQUIRE(f.claimed() == "a");
  REQUIRE(f.claimed().empty());
  f.restart();
  CHECK(f.claimed().empty());  // what was under way is unknown now
  CHECK(f.now(b).waits_in_line);
  f.clock.advance(kOrderWaitMs);
  // The first is looked for, and so is the second, which was due before the start; then it goes out, marked.
  REQUIRE(f.take().size() == 2);
  CHECK(f.now(b).state == State::kBuffered);
  f.record(f.now(b), WriteEvent::kFirstReconcileOver, 0, true);
  f.take();
  CHECK(f.now(b).state == State::kExecuting);
  CHECK(f.now(b).out_of_order);
}

}  // namespace KRUXOS_TEST_FILE
