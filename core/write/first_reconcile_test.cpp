// What is looked for before its first attempt: what was due before the host began.
#include <catch2/catch.hpp>

#include "core/write/executor_test_fixture.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("what was due before the start and never attempted is looked for first") {
  StoppedRun f;
  f.clock.advance(30'000);
  f.answers({success});
  SECTION("found: it is completed without an attempt") {
    f.finds({kFound});
    const auto host = f.start();
    CHECK(host->until(f.id, WriteState::kCompleted).result_json == kFound.result_json);
    CHECK(f.executed == 0);
  }
  SECTION("absent: it goes out") {
    f.finds({kAbsent});
    const auto host = f.start();
    host->until(f.id, WriteState::kCompleted);
    CHECK(f.executed == 1);
    CHECK(f.looked == 1);
  }
  SECTION("nobody can tell: it goes out") {
    f.finds({kCannotTell});
    const auto host = f.start();
    host->until(f.id, WriteState::kCompleted);
    CHECK(f.executed == 1);
    CHECK(f.looked == 1);
  }
  SECTION("the service refuses to look: it goes out") {
    f.looks_fail_with({KRUX_REFUSED, true, {}, "no scope to look with", {}});
    const auto host = f.start();
    host->until(f.id, WriteState::kCompleted);
    CHECK(f.executed == 1);
    CHECK(f.looked == 1);
  }
}

TEST_CASE("a first look that could not be made is made again, and what it then finds is not sent") {
  StoppedRun f;
  f.clock.advance(30'000);
  f.answers({success});
  SECTION("no answer, or one that makes no sense") {
    const bool failed = GENERATE(true, false);
    f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite&) -> CallResult<EffectFound> {
      if (++f.looked > 1) return kFound;
      if (failed) return CallFailure{KRUX_NETWORK, true, {}, "no network", {}};
      return EffectFound{EffectFound::Answer::kFound, "no object"};
    };
    const auto host = f.start();
    host->quiet();
    f.clock.advance(59'999);
    host->quiet();
    CHECK(f.looked == 1);
    f.clock.advance(1);
    host->until(f.id, WriteState::kCompleted);
  }
  SECTION("not before the time that the service names") {
    f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite&) -> CallResult<EffectFound> {
      if (++f.looked > 1) return kFound;
      return CallFailure{KRUX_RATE_LIMITED, true, {}, "later", 1'000'000};
    };
    const auto host = f.start();
    host->quiet();
    f.clock.advance(1'000'000);
    host->quiet();
    CHECK(f.looked == 1);
    f.clock.advance(100'000);
    host->until(f.id, WriteState::kCompleted);
  }
  CHECK(f.executed == 0);
  CHECK(f.looked == 2);
}

TEST_CASE("a first look that can never be made ends, over restarts too, and the write goes out") {
  StoppedRun f;
  f.clock.advance(30'000);
  f.answers({success});
  f.looks_fail_with({KRUX_NETWORK, true, {}, "no network", {}});
  {
    const auto host = f.start();
    for (int minutes = 0; minutes < 3; ++minutes) {
      host->quiet();
      f.clock.advance(60'000);
    }
    host->quiet();
    CHECK(f.looked == 3);
  }
  const auto host = f.start();
  for (int minutes = 3; minutes < 15; ++minutes) {
    host->quiet();
    CHECK(f.executed == 0);
    f.clock.advance(60'000);
  }
  host->until(f.id, WriteState::kCompleted);
  CHECK(f.looked == 5);
  CHECK(f.executed == 1);
}

TEST_CASE("a first look behind a refused token waits for the connection, however long") {
  StoppedRun f;
  f.clock.advance(30'000);
  f.answers({success});
  std::atomic<bool> refused{true};
  f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite&) -> CallResult<EffectFound> {
    ++f.looked;
    if (refused) return CallFailure{KRUX_AUTH, true, {}, "invalid token", {}};
    return kFound;
  };
  const auto host = f.start();
  for (int hours = 0; hours < 24; ++hours) {
    host->quiet();
    f.clock.advance(3'600'000);
  }
  host->quiet();
  CHECK(f.executed == 0);
  CHECK(host->buffer.ledger.get(f.id)->state == WriteState::kBuffered);
  CHECK(open_alerts(*host, f.clock) == std::vector<std::string>{"not_authenticated"});
  refused = false;
  host->executor.connection_restored(kAccount);
  host->until(f.id, WriteState::kCompleted);
  CHECK(f.executed == 0);
}

TEST_CASE("a first look that could not be made does not shorten the window of what was edited meanwhile") {
  LedgerFixture f;
  const auto write = f.submit(new_write("a")).write;
  f.clock.advance(30'000);
  f.restart();
  REQUIRE(f.take().size() == 1);
  NewContent content;
  content.params_json = R"({"text":"b"})";
  content.tier = "notify";
  content.delay_ms = 600'000;
  REQUIRE(std::holds_alternative<WriteRecord>(f.edit(write, content)));
  f.record(write, WriteEvent::kEffectUnclear, 60'000, true);
  f.ledger->connection_restored(kAccount);
  f.clock.advance(599'999);
  CHECK(f.take().empty());
  f.clock.advance(1);
  CHECK(f.take().size() == 1);
}

TEST_CASE("a first look behind a refused token does not shorten the window of what was edited meanwhile") {
  LedgerFixture f;
  const auto write = f.submit(new_write("a")).write;
  f.clock.advance(30'000);
  f.restart();
  REQUIRE(f.take().size() == 1);
  NewContent content;
  content.params_json = R"({"text":"b"})";
  content.tier = "notify";
  content.delay_ms = 600'000;
  REQUIRE(std::holds_alternative<WriteRecord>(f.edit(write, content)));
  WriteReport refused;
  refused.of = WriteReport::Of::kLook;
  refused.write_id = write.write_id;
  refused.event = WriteEvent::kEffectUnclear;
  refused.due_in_ms = 60'000;
  refused.counts_look = false;
  refused.waits_for_connection = true;
  Answer<WriteRecord> answer;
  f.ledger->record(refused, answer.slot());
  REQUIRE(std::holds_alternative<WriteRecord>(answer.wait()));
  f.ledger->connection_restored(kAccount);
  f.clock.advance(599'999);
  CHECK(f.take().empty());
  f.clock.advance(1);
  CHECK(f.take().size() == 1);
}

TEST_CASE("what becomes due after the start, or is harmless to repeat, is not looked for") {
  auto write = new_write("hello");
  SECTION("its window is still open") {
    StoppedRun f(write);
    f.clock.advance(29'999);
    f.answers({success});
    const auto host = f.start();
    host->quiet();
    f.clock.advance(1);
    host->until(f.id, WriteState::kCompleted);
    CHECK(f.looked == 0);
  }
  SECTION("harmless") {
    write.when_absent = "resend";
    StoppedRun f(write);
    f.clock.advance(30'000);
    f.answers({success});
    const auto host = f.start();
    host->until(f.id, WriteState::kCompleted);
    CHECK(f.looked == 0);
  }
}

TEST_CASE("a write that waits for its first look can be cancelled, and an edit keeps the look") {
  LedgerFixture f;
  const auto first = f.submit(new_write("a")).write;
  const auto second = f.submit(new_write("b")).write;
  f.clock.advance(30'000);
  f.restart();
  CHECK(f.ledger->get(first.write_id)->reconcile_first);
  CHECK(std::get<WriteRecord>(f.cancel(first.write_id, "agent_1")).state == WriteState::kCancelled);
  NewContent content;
  content.params_json = R"({"text":"c"})";
  content.tier = "notify";
  const auto edited = std::get<WriteRecord>(f.edit(second, content));
  CHECK(edited.state == WriteState::kBuffered);
  CHECK(edited.reconcile_first);
  CHECK(f.take().empty());
  f.clock.advance(30'000);
  const auto taken = f.take();
  REQUIRE(taken.size() == 1);
  CHECK(taken.at(0).state == WriteState::kBuffered);
}

}  // namespace KRUXOS_TEST_FILE
