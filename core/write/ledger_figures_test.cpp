#include "core/write/ledger_figures.hpp"

#include <catch2/catch.hpp>

#include "core/write/copies.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

struct FiguresFixture : LedgerFixture {
  LedgerFiguresReader reader{store};

  static const LedgerFigures::Open* find(const LedgerFigures& figures, const std::string& state,
                                         const std::string& account = "N1") {
    for (const auto& open : figures.open) {
      if (open.state == state && open.account_id == account) return &open;
    }
    return nullptr;
  }
};

}  // namespace

TEST_CASE("figures of an empty ledger") {
  FiguresFixture f;
  const auto figures = f.reader.read();
  CHECK(figures.by_state.size() == kWriteStates);
  CHECK(figures.by_state.at("buffered") == 0);
  CHECK(figures.open.empty());
  CHECK(figures.due.empty());
  CHECK(figures.alerts.empty());
  CHECK(figures.alerts_raised == 0);
}

TEST_CASE("figures count writes by account and state, with the age of the oldest") {
  FiguresFixture f;
  const auto begun = f.clock.wall_ms();
  auto elsewhere = new_write("elsewhere");
  elsewhere.account = {"notes", "N2", 3};
  f.submit(elsewhere);
  auto ask = new_write("ask");
  ask.approval_reason = "Somebody must look at it.";
  f.submit(ask);
  for (const auto* text : {"a", "b", "c", "d"}) f.submit(immediate(text));
  const auto taken = f.take();
  REQUIRE(taken.size() == 4);
  f.clock.advance(5000);
  f.record(taken[0], WriteEvent::kMayBeDone, 60'000);
  f.record(taken[1], WriteEvent::kCertainlyNotDone, 60'000);
  f.record(taken[2], WriteEvent::kScheduleUsedUp);
  for (const auto* text : {"e", "f", "g"}) f.submit(new_write(text));

  const auto figures = f.reader.read();
  CHECK(figures.by_state.at("buffered") == 4);
  CHECK(figures.by_state.at("dead_letter") == 2);
  CHECK(figures.by_state.count("needs_operator") == 0);
  CHECK(figures.by_state.count("commit") == 0);
  const auto* unknown = f.find(figures, "unknown");
  REQUIRE(unknown);
  CHECK(unknown->count == 1);
  CHECK(unknown->oldest_ms == begun + 5000);
  const auto* dead = f.find(figures, "dead_letter");
  REQUIRE(dead);
  CHECK(dead->count == 2);
  CHECK(dead->oldest_ms == begun);
  const auto* pending = f.find(figures, "pending_approval");
  REQUIRE(pending);
  CHECK(pending->count == 1);
  REQUIRE(f.find(figures, "executing"));
  CHECK(f.find(figures, "executing")->count == 1);
  // A dead letter that is tried again stands in the same index.
  REQUIRE(f.find(figures, "buffered"));
  CHECK(f.find(figures, "buffered")->count == 3);
  REQUIRE(f.find(figures, "buffered", "N2"));
  CHECK(f.find(figures, "buffered", "N2")->count == 1);
  REQUIRE(figures.due.size() == 2);
  CHECK(figures.due[1].account_id == "N2");
  CHECK(figures.due[1].due_at_ms == begun + 30'000);
}

TEST_CASE("who waits for a person is said once: by the write, the list, the count and the figures") {
  FiguresFixture f;
  const auto asks = [&](const std::string& text) {
    auto write = new_write(text);
    write.approval_reason = "Somebody must look at it.";
    return f.submit(write).write;
  };
  const auto told = [&](const std::string& text, WriteEvent outcome, WriteEvent then) {
    f.submit(immediate(text));
    const auto write = f.take().at(0);
    f.record(write, outcome, std::nullopt);
    if (then != outcome) f.record(write, then, std::nullopt, true);
    return write;
  };
  const auto agree = [&](std::size_t expected) {
    std::vector<std::string> by_write, by_list;
    for (const auto& write : f.ledger->list({})) {
      if (write.needs_operator()) by_write.push_back(write.write_id);
    }
    WriteFilter filter;
    filter.needs_operator = true;
    for (const auto& write : f.ledger->list(filter)) by_list.push_back(write.write_id);
    CHECK(by_write.size() == expected);
    CHECK(by_list == by_write);
    filter.states = {WriteState::kPendingApproval, WriteState::kBuffered, WriteState::kUnknown,
                     WriteState::kDeadLetter};
    filter.agent_id = "agent_1";
    CHECK(f.ledger->list(filter).size() == expected);
    CHECK(f.ledger->counts().needs_operator == static_cast<std::int64_t>(expected));
    const auto figures = f.reader.read();
    std::int64_t by_figures = 0;
    for (const auto& need : figures.need_decision) by_figures += need.count;
    CHECK(by_figures == static_cast<std::int64_t>(expected));
  };
  agree(0);
  const auto pending = asks("asked");
  asks("asked too");
  told("letter", WriteEvent::kScheduleUsedUp, WriteEvent::kScheduleUsedUp);
  told("absent", WriteEvent::kMayBeDone, WriteEvent::kEffectAbsentAsk);
  f.submit(new_write("waits"));
  agree(4);
  REQUIRE(std::holds_alternative<WriteRecord>(f.accept(pending)));
  agree(3);
  f.store.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    hold_copies(sql, {"This data directory is a copy.", "boot-1", 0}, f.clock);
  });
  agree(5);
  REQUIRE(std::holds_alternative<WriteRecord>(f.decide_copied(pending, WriteEvent::kOperatorRelease)));
  agree(4);  // the host looks for it first
  REQUIRE(std::holds_alternative<WriteRecord>(f.looked(pending, "absent")));
  agree(4);
}

TEST_CASE("generations of one account are counted together") {
  FiguresFixture f;
  for (const std::uint32_t generation : {1u, 2u}) {
    auto write = new_write("of a generation");
    write.account.generation = generation;
    f.submit(write);
  }
  const auto figures = f.reader.read();
  REQUIRE(figures.open.size() == 1);
  CHECK(figures.open[0].count == 2);
}

TEST_CASE("figures of alerts") {
  FiguresFixture f;
  AlertStore alerts(f.store, f.clock);
  alerts.raise({"critical", "not_authenticated", "notes", "N1", "", "Look.", true});
  alerts.raise({"warning", "replica_damaged", "notes", "N1", "", "Look.", false});
  alerts.raise({"warning", "replica_damaged", "notes", "N2", "", "Look.", false});
  alerts.settle("not_authenticated", "notes", "N1");
  f.store.run([](SQLite::Database&) {});
  const auto figures = f.reader.read();
  REQUIRE(figures.alerts.size() == 1);
  CHECK(figures.alerts[0].severity == "warning");
  CHECK(figures.alerts[0].kind == "replica_damaged");
  CHECK(figures.alerts[0].open == 2);
  CHECK(figures.alerts_raised == 3);
}

}  // namespace KRUXOS_TEST_FILE
