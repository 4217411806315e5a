// What is held in a copy of a data directory.
#include <SQLiteCpp/Database.h>

#include <catch2/catch.hpp>

#include "core/write/copies_test_fixture.hpp"
#include "core/write/copy_reconcile.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("a copy sends nothing, looks by the marker and shows what it found") {
  CopyRun f;
  f.clock.advance(30'000);
  std::atomic<int> presumed{0};
  f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite& write) -> CallResult<EffectFound> {
    presumed += !write.note_json.empty() + static_cast<int>(write.attempt);
    CHECK(write.first_attempt_at_ms == write.created_at_ms);
    ++f.looked;
    return kFound;
  };
  const auto host = f.start_copy();
  host->quiet();
  CHECK(f.looked == 0);  // a request of the original may still be under way
  f.clock.advance(60'000);
  const auto shown = until_looked(*host, f.id);
  CHECK(shown.evidence == "found");
  CHECK(shown.state == WriteState::kBuffered);
  CHECK(host->buffer.ledger.get(f.id)->evidence_json == kFound.result_json);
  CHECK(presumed == 0);
  f.clock.advance(24 * 3'600'000LL);
  host->quiet();
  CHECK(f.executed == 0);
  CHECK(f.looked == 1);
  CHECK(host->buffer.ledger.counts().held_as_copy == 1);
  CHECK(open_alerts(*host, f.clock) == std::vector<std::string>{"held_as_copy"});

  const auto done = std::get<WriteRecord>(decide_held(*host, f.id, WriteEvent::kOperatorHappened));
  CHECK(done.state == WriteState::kCompleted);
  CHECK(done.result_json == kFound.result_json);
  CHECK(open_alerts(*host, f.clock).empty());
  CHECK(host->buffer.ledger.counts().held_as_copy == 0);
}

TEST_CASE("what a person releases in a copy goes out once, and can be cancelled no more") {
  CopyRun f;
  f.clock.advance(30'000);
  f.finds({kAbsent});
  f.answers({success});
  const auto host = f.start_copy();
  host->quiet();
  f.clock.advance(60'000);
  CHECK(until_looked(*host, f.id).evidence == "absent");
  const auto refusal = std::get<Error>(host->cancel(f.id));
  CHECK(refusal.type() == ErrorCode::kCannotCancel);
  CHECK_THAT(refusal.what(), Catch::Contains("held because this data directory may be a copy"));
  const auto released = std::get<WriteRecord>(decide_held(*host, f.id, WriteEvent::kOperatorRelease));
  CHECK(released.irrevocable);
  host->until(f.id, WriteState::kCompleted);
  CHECK(f.executed == 1);
  CHECK(std::get<Error>(decide_held(*host, f.id, WriteEvent::kOperatorRelease)).type() == ErrorCode::kConflictError);
}

TEST_CASE("what goes out of a copy is no first attempt to its adapter: the original may have left something") {
  CopyRun f;
  f.clock.advance(30'000);
  f.finds({kAbsent});
  std::uint32_t told = 0;
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite& write) {
    told = write.attempt;
    return success(call);
  };
  const auto host = f.start_copy();
  host->quiet();
  f.clock.advance(60'000);
  until_looked(*host, f.id);
  decide_held(*host, f.id, WriteEvent::kOperatorRelease);
  CHECK(host->until(f.id, WriteState::kCompleted).attempts == 1);
  CHECK(told == 2);
}

TEST_CASE("a held write is decided in the same way by whichever of the two decisions there are") {
  LedgerFixture f;
  const auto ended = [&](const WriteRecord& write, WriteEvent event) {
    const auto answer = GENERATE(true, false) ? f.resolve(write.write_id, event) : f.decide_copied(write, event);
    return std::get<WriteRecord>(answer);
  };
  auto asked = new_write("asked about");
  asked.approval_reason = "The tier asks.";
  const auto write = f.submit(asked).write;
  f.ledger.reset();
  CHECK(hold_all(f.store, f.clock) == 1);
  f.restart();
  SECTION("it happened: with the result that was found") {
    f.clock.advance(60'000);
    REQUIRE(f.take().size() == 1);
    f.looked(write, "found");
    CHECK(ended(write, WriteEvent::kOperatorHappened).result_json == kFound.result_json);
  }
  SECTION("given up") {
    CHECK(ended(write, WriteEvent::kOperatorDiscard).state == WriteState::kDiscarded);
  }
  CHECK(AlertStore(f.store, f.clock).list(true).empty());
}

TEST_CASE("what is held stays so over restarts, also over one without any sign of a copy") {
  CopyRun f;
  f.clock.advance(30'000);
  f.finds({kAbsent});
  {
    const auto copy = f.start_copy();
    copy->quiet();
  }
  for (int i = 0; i < 2; ++i) {
    const auto host = f.start();
    host->quiet();
    f.clock.advance(600'000);
    host->quiet();
    CHECK(host->buffer.ledger.get(f.id)->held_as_copy);
  }
  CHECK(f.executed == 0);
  const auto host = f.start();
  CHECK(std::get<WriteRecord>(decide_held(*host, f.id, WriteEvent::kOperatorDiscard)).state == WriteState::kDiscarded);
}

TEST_CASE("a look at a copy that cannot tell is repeated, and then says so") {
  CopyRun f;
  f.finds({{EffectFound::Answer::kCannotTell, "", "The history is hidden."}});
  const auto host = f.start_copy();
  for (int minutes = 0; minutes < 20; ++minutes) {
    host->quiet();
    f.clock.advance(60'000);
  }
  CHECK(until_looked(*host, f.id).evidence == "cannot_tell");
  CHECK(host->buffer.ledger.history(f.id).back().message == "The history is hidden.");
  CHECK(f.looked == 5);
  CHECK(f.executed == 0);
}

TEST_CASE("an attempt that was under way when the copy was made is looked for, and decided by a person") {
  LedgerFixture f;
  const auto running = f.submit(immediate("under way")).write;
  REQUIRE(f.take().size() == 1);
  auto asked = new_write("asked about");
  asked.approval_reason = "The tier asks.";
  const auto pending = f.submit(asked).write;
  const auto letter = f.submit(immediate("failed")).write;
  REQUIRE(f.take().size() == 1);
  f.record(*f.ledger->get(letter.write_id), WriteEvent::kScheduleUsedUp);
  const auto done = f.submit(immediate("done")).write;
  REQUIRE(f.take().size() == 1);
  f.record(*f.ledger->get(done.write_id), WriteEvent::kDone);

  f.ledger.reset();
  CHECK(hold_all(f.store, f.clock, 0) == 3);
  f.ledger = std::make_unique<Ledger>(f.store, f.clock, "boot-1");
  f.ledger->recover(true, {}, {});
  CHECK(f.ledger->get(running.write_id)->state == WriteState::kUnknown);
  CHECK(f.ledger->get(pending.write_id)->state == WriteState::kPendingApproval);
  CHECK(f.ledger->get(letter.write_id)->escalated);
  CHECK_FALSE(f.ledger->get(done.write_id)->held_as_copy);
  CHECK(std::get<Error>(f.accept(pending)).type() == ErrorCode::kConflictError);
  CHECK(std::get<Error>(f.reject(pending)).type() == ErrorCode::kConflictError);
  CHECK(std::get<Error>(f.resolve(letter.write_id, WriteEvent::kOperatorResend)).type() == ErrorCode::kConflictError);
  WriteFilter held;
  held.held_as_copy = true;
  CHECK(f.ledger->list(held).size() == 3);
  // All of them are looked for, and none is claimed.
  for (const auto& write : f.take()) CHECK(write.reconcile_first);

  CHECK(f.ledger->counts().needs_operator == 3);
  CHECK(std::get<WriteRecord>(f.decide_copied(pending, WriteEvent::kOperatorRelease)).release_wanted);
  CHECK(std::get<Error>(f.accept(pending)).type() == ErrorCode::kConflictError);
  CHECK(std::get<WriteRecord>(f.looked(pending, "absent")).irrevocable);
  CHECK(std::get<WriteRecord>(f.accept(pending)).state == WriteState::kBuffered);
}

TEST_CASE("what was released waits for a look and for nobody") {
  LedgerFixture f;
  const auto write = f.submit(immediate("a")).write;
  f.ledger.reset();
  CHECK(hold_all(f.store, f.clock, 0) == 1);
  f.restart();
  CHECK(f.ledger->counts().needs_operator == 1);
  CHECK_FALSE(std::get<WriteRecord>(f.decide_copied(write, WriteEvent::kOperatorRelease)).needs_operator());
  CHECK(f.ledger->counts().needs_operator == 0);
  WriteFilter asked;
  asked.needs_operator = true;
  CHECK(f.ledger->list(asked).empty());
  CHECK(std::get<WriteRecord>(f.looked(write, "found")).needs_operator());
  CHECK(f.ledger->counts().needs_operator == 1);
}

TEST_CASE("what is held and was accepted for a connection that is gone is not released") {
  LedgerFixture f;
  const auto write = f.submit(immediate("a")).write;
  f.ledger.reset();
  CHECK(hold_all(f.store, f.clock, 0) == 1);
  f.restart();
  SQLite::Database((f.scratch.path() / "kruxos.db").string(), SQLite::OPEN_READWRITE)
      .exec(
          "INSERT INTO connections (service, account_id, generation, display_name, principal, scopes_json, "
          "scopes_known, "
          "token_origin, connected_at_ms, attention, token) VALUES ('" +
          kAccount.service + "', '" + kAccount.account_id + "', " + std::to_string(kAccount.generation) +
          ", '', '', '[]', 0, '', 1, '', NULL)");
  CHECK(std::get<Error>(f.decide_copied(write, WriteEvent::kOperatorRelease)).type() == ErrorCode::kNotConnected);
}

TEST_CASE("a held write that waits for approval holds up none that was released with it") {
  LedgerFixture f;
  auto asked = new_write("a");
  asked.approval_reason = "The tier asks.";
  asked.order = "C1";
  auto behind = new_write("b");
  behind.order = "C1";
  const auto first = f.submit(asked).write, second = f.submit(behind).write;
  f.clock.advance(30'000);
  f.ledger.reset();
  CHECK(hold_all(f.store, f.clock, 0) == 2);
  f.restart();
  for (const auto& write : {first, second}) f.decide_copied(write, WriteEvent::kOperatorRelease);
  CHECK(f.take().size() == 2);
  CHECK(std::get<WriteRecord>(f.looked(second, "absent")).irrevocable);
  f.take();  // the first is still to be looked for
  CHECK(f.ledger->get(second.write_id)->state == WriteState::kExecuting);
}

TEST_CASE("a look at a copy behind a refused token counts for nothing, and waits for the connection") {
  CopyRun f;
  std::atomic<bool> refused{true};
  f.adapter->on_find = [&](const CallContextPtr&, const AdapterWrite&) -> CallResult<EffectFound> {
    ++f.looked;
    if (refused) return CallFailure{KRUX_AUTH, true, {}, "invalid token", {}};
    return kFound;
  };
  const auto host = f.start_copy();
  for (int hours = 0; hours < 24; ++hours) {
    host->quiet();
    f.clock.advance(3'600'000);
  }
  host->quiet();
  CHECK(host->buffer.ledger.get(f.id)->evidence.empty());
  CHECK(host->buffer.ledger.get(f.id)->looks == 0);
  CHECK(open_alerts(*host, f.clock) == std::vector<std::string>{"not_authenticated", "held_as_copy"});
  refused = false;
  host->executor.connection_restored(kAccount);
  CHECK(until_looked(*host, f.id).evidence == "found");
  CHECK(f.executed == 0);
}

TEST_CASE("when the account is connected again, a held write of any state is looked for that waited for that") {
  LedgerFixture f;
  auto asked = new_write("asked about");
  asked.approval_reason = "The tier asks.";
  f.submit(asked);
  f.submit(new_write("waits"));
  const auto letter = f.submit(immediate("failed")).write;
  REQUIRE(f.take().size() == 1);
  f.record(*f.ledger->get(letter.write_id), WriteEvent::kScheduleUsedUp);
  f.submit(immediate("under way"));
  REQUIRE(f.take().size() == 1);
  f.ledger.reset();
  CHECK(hold_all(f.store, f.clock) == 4);
  f.restart();
  f.ledger->connection_restored(kAccount);
  CHECK(f.take().empty());  // in their settle time
  f.clock.advance(60'000);
  const auto looked = f.take();
  REQUIRE(looked.size() == 4);
  for (const auto& write : looked) {
    WriteReport report;
    report.of = WriteReport::Of::kLook;
    report.write_id = write.write_id;
    report.attempt = write.attempts;
    report.event = WriteEvent::kEffectUnclear;
    report.due_in_ms = 960'000;
    report.waits_for_connection = true;
    Answer<WriteRecord> answer;
    f.ledger->record(report, answer.slot());
    answer.value();
  }
  CHECK(f.take().empty());
  f.ledger->connection_restored(kAccount);
  CHECK(f.take().size() == 4);
}

TEST_CASE("a look at a held write that could not be made does not count, whatever kept the host from it") {
  WriteRecord write;
  write.held_as_copy = write.reconcile_first = true;
  write.looks = 4;  // the next one that cannot tell is the last
  CallEnd end;
  end.how = CallEnd::How::kAnswered;
  end.failure = CallFailure{KRUX_NETWORK, true, {}, "no answer", {}};
  std::int64_t earliest = 1;
  SECTION("a used-up quota") {
    end.failure->status = KRUX_RATE_LIMITED;
    end.failure->retry_after_ms = earliest = 1'000'000;
  }
  SECTION("no free worker") {
    end.how = CallEnd::How::kNotRun;
  }
  SECTION("the adapter's process has ended") {
    end.cut_off = true;
  }
  const auto report = judge_copy_reconcile(write, end, {}, {});
  CHECK(report.event == WriteEvent::kEffectUnclear);
  CHECK_FALSE(report.counts_look);
  CHECK(report.due_in_ms.value_or(0) >= earliest);
}

}  // namespace KRUXOS_TEST_FILE
