#include "core/write/ledger_figures.hpp"

#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

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
  CHECK(figures.by_state.count("needs_person") == 0);
  CHECK(figures.by_state.count("commit") == 0);
  const auto* unknown = f.find(figures, "unknown");
  REQUIRE(unknown);
  CHECK(unknown->count == 1);
  CHECK(unknown->oldest_ms == begun + 5000);
  const auto* dead = f.find(figures, "dead_letter");
  REQUIRE(dead);
  CHECK(dead->count == 2);
  CHECK(dead->need_decision == 1);
  CHECK(dead->oldest_ms == begun);
  const auto* pending = f.find(figures, "pending_approval");
  REQUIRE(pending);
  CHECK(pending->need_decision == 1);
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
