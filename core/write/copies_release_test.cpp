// What a person decides about a write that is held as a copy.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>

#include "core/write/copies_test_fixture.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("what is released before it was looked for goes out only when a look has not found it") {
  CopyRun f;
  f.clock.advance(30'000);
  f.answers({success});
  std::unique_ptr<Host> host;
  const auto release_at_once = [&](const EffectFound& shown_later) {
    f.finds({shown_later});
    host = f.start_copy();
    CHECK(std::get<WriteRecord>(decide_held(*host, f.id, WriteEvent::kOperatorRelease)).release_wanted);
    host->quiet();
    CHECK(f.looked == 0);  // its settle time is not over
    CHECK(f.executed == 0);
    host.reset();
    host = f.start();  // the wish is durable
    host->quiet();
    f.clock.advance(60'000);
  };
  SECTION("found: it stays held, and is completed with what was found") {
    release_at_once(kFound);
    const auto shown = until_looked(*host, f.id);
    CHECK(shown.held_as_copy);
    CHECK_FALSE(shown.release_wanted);
    f.clock.advance(24 * 3'600'000LL);
    host->quiet();
    CHECK(f.executed == 0);
    CHECK(std::get<WriteRecord>(decide_held(*host, f.id, WriteEvent::kOperatorHappened)).result_json ==
          kFound.result_json);
  }
  SECTION("absent: it goes out, once, and can be cancelled no more") {
    release_at_once(kAbsent);
    const auto done = host->until(f.id, WriteState::kCompleted);
    CHECK(f.executed == 1);
    CHECK(f.looked == 1);
    CHECK(done.irrevocable);
    CHECK(done.evidence == "absent");
    CHECK(open_alerts(*host, f.clock).empty());
  }
  SECTION("nobody can tell: it stays held until a person releases it once more") {
    release_at_once(kCannotTell);
    for (int minutes = 0; minutes < 20; ++minutes) {
      host->quiet();
      f.clock.advance(60'000);
    }
    CHECK(until_looked(*host, f.id).evidence == "cannot_tell");
    CHECK(f.executed == 0);
    CHECK_FALSE(std::get<WriteRecord>(decide_held(*host, f.id, WriteEvent::kOperatorRelease)).held_as_copy);
    host->until(f.id, WriteState::kCompleted);
    CHECK(f.executed == 1);
  }
  SECTION("a copy of it is released anew") {
    f.finds({kAbsent});
    host = f.start_copy();
    decide_held(*host, f.id, WriteEvent::kOperatorRelease);
    host.reset();
    host = f.start_copy();
    CHECK_FALSE(host->buffer.ledger.get(f.id)->release_wanted);
    f.clock.advance(60'000);
    CHECK(until_looked(*host, f.id).held_as_copy);
    CHECK(f.executed == 0);
  }
}

TEST_CASE("what is released together before it was looked for goes out in order") {
  ExecutorFixture f;
  std::vector<std::string> ids;
  {
    Host original(f.scratch.path(), f.clock);
    for (const auto* text : {"a", "b"}) {
      auto write = new_write(text);
      write.order = "C1";
      ids.push_back(original.submit(write).write_id);
    }
  }
  {
    GroupCommit store(f.scratch.path() / "kruxos.db", kLedgerKind);
    CHECK(hold_all(store, f.clock) == 2);
  }
  f.answers({success});
  const bool there = GENERATE(false, true);
  std::atomic<bool> slow{true};
  f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite& write) -> CallResult<EffectFound> {
    ++f.looked;
    if (write.write_id != ids.front()) return kAbsent;
    return slow ? kCannotTell : there ? kFound : kAbsent;
  };
  Host host(f.scratch.path(), f.clock);
  for (const auto& id : ids) decide_held(host, id, WriteEvent::kOperatorRelease);
  host.serve(f.adapter);
  host.quiet();
  f.clock.advance(60'000);
  REQUIRE(host.changes.until(ids.back(), [](const auto& w) { return !w.held_as_copy; }));
  host.quiet();
  CHECK(f.executed == 0);  // the first is looked for once more
  slow = false;
  f.clock.advance(60'000);
  const auto last = host.until(ids.back(), WriteState::kCompleted);
  CHECK_FALSE(last.out_of_order);
  const auto first = *host.buffer.ledger.get(ids.front());
  CHECK(first.state == (there ? WriteState::kBuffered : WriteState::kCompleted));
  CHECK(first.held_as_copy == there);
  CHECK(f.executed == (there ? 1 : 2));
}

TEST_CASE("a release that comes while it is looked for counts for that look") {
  CopyRun f;
  f.answers({success});
  std::promise<void> begun, let_go;
  f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite&) -> CallResult<EffectFound> {
    begun.set_value();
    let_go.get_future().wait();
    ++f.looked;
    return kAbsent;
  };
  const auto host = f.start_copy();
  host->quiet();
  f.clock.advance(60'000);
  begun.get_future().wait();
  CHECK(std::get<WriteRecord>(decide_held(*host, f.id, WriteEvent::kOperatorRelease)).held_as_copy);
  let_go.set_value();
  host->until(f.id, WriteState::kCompleted);
  CHECK(f.looked == 1);
  CHECK(f.executed == 1);
}

TEST_CASE("a decision about a held write counts only for the finding that was shown") {
  CopyRun f;
  f.finds({kFound});
  f.clock.advance(30'000);
  const auto host = f.start_copy();
  host->quiet();
  f.clock.advance(60'000);
  until_looked(*host, f.id);
  for (const auto decision :
       {WriteEvent::kOperatorRelease, WriteEvent::kOperatorDiscard, WriteEvent::kOperatorHappened}) {
    const auto refusal = std::get<Error>(decide_held(*host, f.id, decision, "not_looked_yet"));
    CHECK(refusal.type() == ErrorCode::kConflictError);
    CHECK_THAT(refusal.what(), Catch::Contains("not looked for yet") && Catch::Contains("found at the service") &&
                                   Catch::Contains("kruxos held show " + f.id));
  }
  CHECK(host->buffer.ledger.get(f.id)->held_as_copy);
  CHECK(std::get<WriteRecord>(decide_held(*host, f.id, WriteEvent::kOperatorHappened, "found")).state ==
        WriteState::kCompleted);
}

TEST_CASE("killed while a person decides about a held write, it is decided or not") {
  const std::string point = GENERATE("copies.decide.before_commit", "copies.decide.after_commit");
  CopyRun f;
  f.start_copy();
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    support::arm_fault(point);
    Host host(f.scratch.path(), f.clock);
    decide_held(host, f.id, WriteEvent::kOperatorRelease);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  Host host(f.scratch.path(), f.clock);
  CHECK(host.buffer.ledger.get(f.id)->release_wanted == (point == "copies.decide.after_commit"));
}

}  // namespace KRUXOS_TEST_FILE
