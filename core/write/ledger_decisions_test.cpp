// Lists, ids, people's decisions, alerts.
#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("lists are pages, newest first") {
  LedgerFixture f;
  std::vector<std::string> ids;
  for (int i = 0; i < 25; ++i) {
    auto w = immediate("n" + std::to_string(i));
    if (i % 5 == 0) w.agent_id = "agent_2";
    ids.push_back(f.submit(w).write.write_id);
  }
  f.take(4);
  WriteFilter filter;
  filter.limit = 10;
  std::vector<std::string> seen;
  for (auto page = f.ledger->list(filter); !page.empty(); page = f.ledger->list(filter)) {
    for (const auto& w : page) seen.push_back(w.write_id);
    filter.before_write_id = page.back().write_id;
  }
  CHECK(seen == std::vector<std::string>(ids.rbegin(), ids.rend()));

  const auto count = [&](WriteFilter wanted) { return f.ledger->list(wanted).size(); };
  CHECK(count({"agent_2", "", "", {}, false, 50, ""}) == 5);
  CHECK(count({"", "", "", {WriteState::kExecuting}, false, 50, ""}) == 4);
  CHECK(count({"", "", "", {WriteState::kExecuting, WriteState::kBuffered, WriteState::kBuffered}, false, 50, ""}) ==
        25);
  CHECK(count({"agent_2", "", "", {WriteState::kExecuting}, false, 50, ""}) == 1);
  CHECK(count({"", "other", "", {}, false, 50, ""}) == 0);
  CHECK(count({"", "notes", "N1", {}, false, 3, ""}) == 3);
  CHECK(count({"", "", "", {}, true, 50, ""}) == 0);
  auto asked = immediate("asked");
  asked.approval_reason = "Each one is asked about.";
  const auto pending = f.submit(asked).write;
  REQUIRE(pending.state == WriteState::kPendingApproval);
  CHECK(pending.needs_operator());
  CHECK(count({"", "", "", {}, true, 50, ""}) == 1);
  CHECK_THROWS_AS(count({"", "", "", {}, false, 50, "w_none"}), Error);
}

TEST_CASE("the newest of few and of very many buffered writes are listed") {
  LedgerFixture f;
  const auto many = GENERATE(0, 5001);
  f.store.run([&](SQLite::Database& db) {
    Statement(
        db.getHandle(),
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) INSERT INTO writes (write_id, "
        "state, due_at_ms, due_boot_ms, boot, immediate, created_at_ms, delay_ms, settle_ms, agent_id, service, "
        "account_id, generation, operation, intent, content_hash, tier, definition_version, when_absent, summary, "
        "params_json) SELECT 'w_' || i, 'buffered', i, i, 1, 0, i, 0, 0, 'agent_3', 'notes', 'N1', 1, 'notes.add', "
        "i, '', '', '', 'ask', '', '{}' FROM n WHERE ?1 > 0")
        .bind_all(many)
        .run();
  });
  const auto mine = f.submit(immediate("a")).write.write_id;
  auto other = immediate("b");
  other.agent_id = "agent_2";
  const auto theirs = f.submit(other).write.write_id;
  WriteFilter filter;
  filter.states = {WriteState::kBuffered};
  filter.limit = 2;
  auto page = f.ledger->list(filter);
  REQUIRE(page.size() == 2);
  CHECK(page[0].write_id == theirs);
  CHECK(page[1].write_id == mine);
  filter.agent_id = "agent_2";
  page = f.ledger->list(filter);
  REQUIRE(page.size() == 1);
  CHECK(page[0].write_id == theirs);
  filter.agent_id.clear();
  filter.before_write_id = mine;
  CHECK(f.ledger->list(filter).size() == (many > 0 ? 2 : 0));
}

TEST_CASE("what sets a state is a duplicate only until it has ended") {
  LedgerFixture f;
  auto react = immediate("reaction");
  react.sets_state = true;
  const auto first = f.submit(react);
  CHECK(f.submit(react).duplicate);
  REQUIRE(f.take().size() == 1);
  REQUIRE(std::holds_alternative<WriteRecord>(f.record(*f.ledger->get(first.write.write_id), WriteEvent::kDone)));
  const auto again = f.submit(react);
  CHECK_FALSE(again.duplicate);
  CHECK(again.write.write_id != first.write.write_id);
}

TEST_CASE("a person may end a write of unknown outcome before the host has given up looking") {
  LedgerFixture f;
  const auto event = GENERATE(WriteEvent::kOperatorDiscard, WriteEvent::kOperatorHappened);
  f.submit(immediate("a"));
  const auto write = f.take().at(0);
  f.record(write, WriteEvent::kMayBeDone, 60'000);
  CHECK(std::holds_alternative<Error>(f.resolve(write.write_id, WriteEvent::kOperatorResend)));
  REQUIRE(std::holds_alternative<WriteRecord>(f.resolve(write.write_id, event)));
  const auto ended = f.ledger->get(write.write_id);
  CHECK(ended->state == (event == WriteEvent::kOperatorDiscard ? WriteState::kDiscarded : WriteState::kCompleted));
  CHECK(std::holds_alternative<Error>(f.record(write, WriteEvent::kEffectFound, {}, true)));
}

TEST_CASE("a restored connection brings forward what waits for it, and no other look") {
  LedgerFixture f;
  for (const auto* text : {"a", "b", "c"}) f.submit(immediate(text));
  const auto writes = f.take();
  REQUIRE(writes.size() == 3);
  for (const auto& write : writes) f.record(write, WriteEvent::kMayBeDone, 60'000);
  f.record(writes[0], WriteEvent::kEffectUnclear, 960'000, true);  // it was looked for, and the service could not tell
  WriteReport refused;
  refused.of = WriteReport::Of::kLook;
  refused.write_id = writes[1].write_id;
  refused.attempt = 1;
  refused.event = WriteEvent::kEffectUnclear;
  refused.due_in_ms = 960'000;
  refused.counts_look = false;
  refused.waits_for_connection = true;
  Answer<WriteRecord> answer;
  f.ledger->record(refused, answer.slot());
  answer.wait();
  f.ledger->connection_restored(kAccount);
  const auto due = f.take();
  REQUIRE(due.size() == 1);
  CHECK(due[0].write_id == writes[1].write_id);
}

TEST_CASE("a second finding about a write takes the place of the first alert") {
  LedgerFixture f;
  f.submit(immediate("a"));
  const auto write = f.take().at(0);
  f.record(write, WriteEvent::kMayBeDone, 0);
  const auto tell = [&](WriteEvent event, const char* kind) {
    WriteReport report;
    report.of = WriteReport::Of::kLook;
    report.write_id = write.write_id;
    report.attempt = write.attempts;
    report.event = event;
    report.alert = NewAlert{"critical", kind, "notes", "N1", write.write_id, "Decide.", false};
    Answer<WriteRecord> answer;
    f.ledger->record(report, answer.slot());
    answer.wait();
  };
  tell(WriteEvent::kLooksUsedUp, "outcome_unclear");
  tell(WriteEvent::kEffectAbsentAsk, "outcome_absent");
  const auto open = AlertStore(f.store, f.clock).list(true);
  REQUIRE(open.size() == 1);
  CHECK(open[0].kind == "outcome_absent");
}

TEST_CASE("ids rise though the clock is set back, and name their write") {
  LedgerFixture f;
  const auto first = f.submit(immediate("a")).write;
  f.clock.jump_wall(-3'600'000);
  const auto second = f.submit(immediate("b")).write;
  CHECK(second.seq == first.seq + 1);
  CHECK(second.write_id > first.write_id);
  CHECK(f.ledger->get(second.write_id)->seq == second.seq);
  auto forged = second.write_id;
  forged.back() = forged.back() == '0' ? '1' : '0';
  CHECK_FALSE(f.ledger->get(forged));
}

TEST_CASE("counters follow every change") {
  LedgerFixture f;
  for (int i = 0; i < 6; ++i) f.submit(immediate("n" + std::to_string(i)));
  CHECK(f.ledger->counts().buffered == 6);
  const auto taken = f.take(4);
  f.record(taken[0], WriteEvent::kDone);
  f.record(taken[1], WriteEvent::kRefusedForGood);
  f.record(taken[2], WriteEvent::kScheduleUsedUp);
  const auto c = f.ledger->counts();
  CHECK(c.buffered == 2);
  CHECK(c.executing == 1);
  CHECK(c.completed == 1);
  CHECK(c.failed == 1);
  CHECK(c.dead_letter == 1);
  CHECK(c.needs_operator == 1);
  f.resolve(taken[2].write_id, WriteEvent::kOperatorResend);
  CHECK(f.ledger->counts().needs_operator == 0);
  CHECK(f.ledger->counts().dead_letter == 1);
}

TEST_CASE("a person's decision needs the state for it") {
  LedgerFixture f;
  const auto id = f.submit(immediate("a")).write.write_id;
  for (const auto event : {WriteEvent::kOperatorResend, WriteEvent::kOperatorDiscard, WriteEvent::kOperatorHappened}) {
    CHECK(std::get<Error>(f.resolve(id, event)).type() == ErrorCode::kConflictError);
  }
  f.record(f.take().at(0), WriteEvent::kMayBeDone, 0);
  CHECK(std::get<Error>(f.resolve(id, WriteEvent::kOperatorResend)).type() == ErrorCode::kConflictError);
  f.record(f.take().at(0), WriteEvent::kLooksUsedUp, {}, true);
  const auto done = std::get<WriteRecord>(f.resolve(id, WriteEvent::kOperatorHappened));
  CHECK(done.state == WriteState::kCompleted);
  CHECK(done.decided_by == "operator:ann");
  CHECK(std::get<Error>(f.resolve("w_none", WriteEvent::kOperatorDiscard)).type() == ErrorCode::kInvalidInput);
}

TEST_CASE("an alert of a write closes when the write is settled") {
  LedgerFixture f;
  AlertStore alerts(f.store, f.clock);
  const auto id = f.submit(immediate("a")).write.write_id;
  WriteReport report;
  report.write_id = id;
  report.attempt = f.take().at(0).attempts;
  report.event = WriteEvent::kScheduleUsedUp;
  report.alert = NewAlert{"critical", "retries_used_up", "notes", "N1", id, "Write it again."};
  Answer<WriteRecord> answer;
  f.ledger->record(report, answer.slot());
  answer.wait();
  REQUIRE(alerts.list(true).size() == 1);
  CHECK(alerts.list(true)[0].write_id == id);
  f.resolve(id, WriteEvent::kOperatorDiscard);
  CHECK(alerts.list(true).empty());
  CHECK(alerts.list(false).at(0).acknowledged_by == "operator:ann");
}

TEST_CASE("alerts are raised, paged and acknowledged") {
  LedgerFixture f;
  AlertStore alerts(f.store, f.clock);
  NewAlert one{"critical", "not_authenticated", "notes", "N1", "", "Connect it again.", true};
  alerts.raise(one);
  alerts.raise(one);
  one.account_id = "N2";
  alerts.raise(one);
  f.store.run([](SQLite::Database&) {});
  auto open = alerts.list(true);
  REQUIRE(open.size() == 2);
  CHECK(open[0].account_id == "N2");
  CHECK(alerts.list(true, 1, open[0].id).at(0).account_id == "N1");
  alerts.acknowledge(open[1].id, "operator:ann");
  CHECK(alerts.list(true).size() == 1);
  CHECK_THROWS_AS(alerts.acknowledge(999, "operator:ann"), Error);
  one.account_id = "N1";
  alerts.raise(one);
  f.store.run([](SQLite::Database&) {});
  CHECK(alerts.list(true).size() == 2);
  alerts.settle("not_authenticated", "notes", "N1");
  alerts.settle("another_kind", "notes", "N2");
  f.store.run([](SQLite::Database&) {});
  open = alerts.list(true);
  REQUIRE(open.size() == 1);
  CHECK(open[0].account_id == "N2");
}

TEST_CASE("an alert that names a write is raised once for that write, not once for its account") {
  LedgerFixture f;
  AlertStore alerts(f.store, f.clock);
  NewAlert one{"critical", "write_stranded", "notes", "N1", "w_1", "Cancel it.", true};
  alerts.raise(one);
  alerts.raise(one);
  one.write_id = "w_2";
  alerts.raise(one);
  f.store.run([](SQLite::Database&) {});
  const auto open = alerts.list(true);
  REQUIRE(open.size() == 2);
  CHECK(open[0].write_id == "w_2");
  CHECK(open[1].write_id == "w_1");
}

TEST_CASE("a decision that names the state it was taken about is refused in any other") {
  LedgerFixture f;
  f.submit(immediate("a"));
  const auto write = f.take().at(0);
  f.record(write, WriteEvent::kCertainlyNotDone, 60'000);
  f.clock.advance(60'000);
  const auto again = f.take().at(0);
  f.record(again, WriteEvent::kMayBeDone, 1000);
  f.record(again, WriteEvent::kLooksUsedUp, {}, true);
  REQUIRE(f.ledger->get(write.write_id)->escalated);
  const auto event = GENERATE(WriteEvent::kOperatorResend, WriteEvent::kOperatorDiscard);
  const auto refused = std::get<Error>(f.resolve(write.write_id, event, WriteState::kDeadLetter));
  CHECK(refused.type() == ErrorCode::kConflictError);
  CHECK_THAT(refused.what(), Catch::Contains("has an unknown outcome") && Catch::Contains("Look at it again"));
  CHECK(f.ledger->get(write.write_id)->state == WriteState::kUnknown);
  CHECK(f.ledger->get(write.write_id)->escalated);
  CHECK(std::holds_alternative<WriteRecord>(f.resolve(write.write_id, event, WriteState::kUnknown)));
}

TEST_CASE("of a long history and many edits the newest are read") {
  LedgerFixture f;
  const auto write = f.submit(new_write("0")).write;
  auto now = write;
  for (int i = 1; i <= 5; ++i) {
    NewContent content;
    content.params_json = R"({"text":")" + std::to_string(i) + "\"}";
    content.delay_ms = 1000;
    now = std::get<WriteRecord>(f.edit(now, content));
  }
  const auto edits = f.ledger->edits(write.write_id, 2);
  REQUIRE(edits.size() == 2);
  CHECK(edits[0].to_json == R"({"text":"4"})");
  CHECK(edits[1].to_json == R"({"text":"5"})");
  const auto history = f.ledger->history(write.write_id, 3);
  REQUIRE(history.size() == 3);
  CHECK(history.back().outcome == "edit");
  CHECK(f.ledger->edits(write.write_id).size() == 5);
  const auto totals = f.ledger->totals(write.write_id);
  CHECK(totals.edits == 5);
  CHECK(totals.attempts == static_cast<std::int64_t>(f.ledger->history(write.write_id).size()));
}

}  // namespace KRUXOS_TEST_FILE
