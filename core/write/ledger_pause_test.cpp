// What a pause holds of an agent's writes, and what it does not.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "core/state/agent_pauses.hpp"
#include "core/storage/statement.hpp"
#include "core/util/durations.hpp"
#include "core/write/ledger_figures.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

constexpr std::int64_t kWindow = 30'000;
const std::string kAll;

struct PausedFixture : LedgerFixture {
  AgentPauses pauses{store, clock};

  void pause(const std::string& agent = "agent_1") { pauses.pause(agent, "", "operator:ann"); }
  void resume(const std::string& agent = "agent_1") { pauses.resume(agent, "operator:ann"); }
  WriteRecord write_of(const std::string& text, const std::string& agent, const std::string& order = {}) {
    auto write = new_write(text);
    write.agent_id = agent;
    write.order = order;
    return submit(write).write;
  }
  WriteRecord now(const WriteRecord& write) { return *ledger->get(write.write_id); }
  static std::string text_of(const WriteRecord& write) {
    return write.rolls_back.empty() ? write.params_json.substr(9, 1) : "undo";
  }
  /// Of what is claimed or to be looked for, in order; what is claimed is done at once.
  std::string went_out(std::size_t limit = 10) {
    std::string texts;
    for (const auto& write : take(limit)) {
      texts += text_of(write);
      if (write.state == State::kExecuting) record(write, WriteEvent::kDone);
    }
    return texts;
  }
  std::optional<std::int64_t> next_due() { return ledger->next_due_in(accounts, {4, 2}, {}); }

  /// Buffered writes that have been due for an hour.
  void add_due(const std::string& agent, int count) {
    store.run([&](SQLite::Database& db) {
      Statement insert(
          db.getHandle(),
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) INSERT INTO writes (seq, "
          "write_id, state, due_at_ms, due_boot_ms, boot, immediate, created_at_ms, delay_ms, settle_ms, agent_id, "
          "service, account_id, generation, operation, intent, content_hash, tier, definition_version, when_absent, "
          "summary, params_json) SELECT (1 << 30) + i, printf('w_%d', i), 'buffered', ?2 + i, 0, 1, 0, 0, 0, 0, ?3, "
          "'notes', 'N1', 1, 'notes.add', i, i, '', '', 'ask', '', '{}' FROM n");
      insert.bind_all(count, clock.wall_ms() - kHour, agent).run();
    });
  }
  /// Seconds of some polls that find nothing to be due.
  double polls() {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 500; ++i) {
      if (next_due()) FAIL("something is due");
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  }
};

}  // namespace

TEST_CASE("a paused agent's writes are held, and those of others behind them go out") {
  PausedFixture f;
  const auto held = f.write_of("a", "agent_1");
  f.write_of("b", "agent_1");
  f.clock.advance(1000);
  f.write_of("c", "agent_2");
  f.pause();
  f.clock.advance(kWindow);
  CHECK(f.next_due() == 0);
  CHECK(f.went_out(1) == "c");
  CHECK_FALSE(f.next_due());
  f.clock.advance(kHour);
  CHECK(f.went_out().empty());
  CHECK(f.now(held).state == State::kBuffered);
  f.resume();
  CHECK(f.next_due() == 0);
  CHECK(f.went_out() == "ab");
}

TEST_CASE("what was held goes out in its order, also within its lane") {
  PausedFixture f;
  f.pause();
  for (const auto* text : {"a", "b", "c"}) f.write_of(text, "agent_1", "C1");
  f.clock.advance(kHour);
  CHECK(f.went_out().empty());
  f.resume();
  std::string order;
  for (int i = 0; i < 3; ++i) order += f.went_out();
  CHECK(order == "abc");
  for (const auto& write : f.ledger->list({})) CHECK_FALSE(write.out_of_order);
}

TEST_CASE("all agents are paused together, those with a pause of their own beyond that") {
  PausedFixture f;
  f.write_of("a", "agent_1");
  f.write_of("b", "agent_2");
  f.pause("agent_2");
  f.pause(kAll);
  f.write_of("c", "agent_3");
  f.clock.advance(kWindow);
  CHECK(f.went_out().empty());
  CHECK_FALSE(f.next_due());
  f.resume("agent_1");
  CHECK(f.went_out().empty());
  f.resume(kAll);
  CHECK(f.went_out() == "ac");
  f.resume("agent_2");
  CHECK(f.went_out() == "b");
}

TEST_CASE("policy is asked when a write that was held goes out") {
  PausedFixture f;
  PresentTerms terms;
  f.ledger->ask_terms([&](const WriteRecord&) { return terms; });
  const auto held = f.write_of("a", "agent_1");
  f.pause();
  f.clock.advance(kWindow);
  terms.forbids = "notes.add is blocked by now.";
  CHECK(f.went_out().empty());
  CHECK(f.now(held).state == State::kBuffered);
  f.resume();
  CHECK(f.went_out().empty());
  CHECK(f.now(held).state == State::kFailed);
}

TEST_CASE("what is held can be cancelled, edited and accepted meanwhile") {
  PausedFixture f;
  const auto taken_back = f.write_of("a", "agent_1");
  const auto edited = f.write_of("b", "agent_1");
  auto asked = new_write("c");
  asked.approval_reason = "It is asked for.";
  const auto accepted = f.submit(asked).write;
  f.pause();
  f.clock.advance(kHour);
  CHECK(std::get<WriteRecord>(f.cancel(taken_back.write_id, "agent_1")).state == State::kCancelled);
  NewContent other;
  other.params_json = R"({"text":"B"})";
  CHECK(std::holds_alternative<WriteRecord>(f.edit(edited, other)));
  CHECK(std::holds_alternative<WriteRecord>(f.accept(accepted)));
  f.clock.advance(kHour);
  CHECK(f.went_out().empty());
  f.resume();
  auto out = f.went_out();
  std::sort(out.begin(), out.end());
  CHECK(out == "Bc");
  CHECK(f.now(taken_back).state == State::kCancelled);
}

TEST_CASE("undos that a person ordered go on, those that the paused agent ordered are held") {
  PausedFixture f;
  const auto move = [&](const std::string& text) {
    const auto write = f.submit(new_write(text, "notes.move")).write;
    f.clock.advance(kWindow);
    const auto taken = f.take();
    REQUIRE(taken.size() == 1);
    f.ledger->keep_rollback_point(write.write_id, taken[0].attempts, R"({"before":1})");
    f.record(taken[0], WriteEvent::kDone);
    return write.write_id;
  };
  const auto first = move("a"), second = move("b");
  const auto by_agent = LedgerFixture::ask<Submitted>(
      [&](auto done) { f.ledger->roll_back(first, "agent_1", false, "agent:agent_1", std::move(done)); });
  REQUIRE(std::holds_alternative<Submitted>(by_agent));
  const auto pause_of = GENERATE(as<std::string>{}, "agent_1", "");
  f.pause(pause_of);
  REQUIRE(std::holds_alternative<Submitted>(f.roll_back(second)));
  CHECK(f.went_out() == "undo");
  CHECK(f.ledger->get(second)->state == State::kRolledBack);
  CHECK(f.ledger->get(first)->state == State::kCompleted);
  f.resume(pause_of);
  CHECK(f.went_out() == "undo");
  CHECK(f.ledger->get(first)->state == State::kRolledBack);
}

TEST_CASE("looks and cleanups go on while their agent is paused, and what is sent again is held") {
  PausedFixture f;
  auto harmless = new_write("a");
  harmless.when_absent = "resend";
  f.submit(harmless);
  f.submit(new_write("p", "notes.post"));
  f.clock.advance(kWindow);
  const auto taken = f.take();
  REQUIRE(taken.size() == 2);
  f.record(taken[0], WriteEvent::kMayBeDone, kMinute);
  f.record(taken[1], WriteEvent::kCertainlyNotDone, kMinute);
  f.pause();
  CHECK(std::get<WriteRecord>(f.cancel(taken[1].write_id, "agent_1")).cleanup == Cleanup::kPending);
  const auto cleanup = f.take();
  REQUIRE(cleanup.size() == 1);
  CHECK(cleanup[0].cleans == taken[1].write_id);
  f.record(cleanup[0], WriteEvent::kDone);
  f.clock.advance(kMinute);
  const auto look = f.take();
  REQUIRE(look.size() == 1);
  CHECK(look[0].state == State::kUnknown);
  f.record(look[0], WriteEvent::kEffectAbsentResend, 0, true);
  CHECK(f.went_out().empty());
  CHECK(f.now(taken[0]).state == State::kBuffered);
  f.resume();
  CHECK(f.went_out() == "a");
}

TEST_CASE("a pause outlasts the host, and what was held is looked for first and then still held") {
  PausedFixture f;
  const auto held = f.write_of("a", "agent_1");
  f.pause();
  f.clock.advance(kWindow);
  f.restart();
  const auto looks = f.take();
  REQUIRE(looks.size() == 1);
  CHECK(looks[0].state == State::kBuffered);
  CHECK(looks[0].reconcile_first);
  f.record(looks[0], WriteEvent::kFirstReconcileOver, 0, true);
  CHECK(f.went_out().empty());
  CHECK_FALSE(f.next_due());
  f.resume();
  CHECK(f.went_out() == "a");
  CHECK(f.now(held).state == State::kCompleted);
}

TEST_CASE("the pause of an agent that is revoked since holds nothing: its writes are refused") {
  PausedFixture f;
  const auto write = f.write_of("a", "agent_1");
  f.pause();
  f.store.run([&](SQLite::Database& db) {
    db.exec(
        "INSERT INTO agents (agent_id, name, key_hash, created_at_ms, revoked_at_ms) VALUES ('agent_1', 'a', 'h', 1, "
        "5)");
  });
  f.clock.advance(kWindow);
  CHECK(f.went_out().empty());
  CHECK(f.now(write).state == State::kFailed);
  CHECK(f.now(write).error_type == ErrorCode::kPolicyDenied);
}

TEST_CASE("what is held makes no account late") {
  PausedFixture f;
  f.write_of("a", "agent_1");
  f.pause();
  f.clock.advance(kWindow);
  LedgerFiguresReader reader(f.store);
  CHECK(reader.read().due.empty());
  const auto due = f.write_of("b", "agent_2");
  REQUIRE(reader.read().due.size() == 1);
  CHECK(reader.read().due[0].due_at_ms == due.due_at_ms);
}

TEST_CASE("a poll costs the same however many writes a pause holds, and others are claimed behind them") {
  PausedFixture few, many;
  few.add_due("agent_1", 10);
  many.add_due("agent_1", 50'000);
  const auto pause_of = GENERATE(as<std::string>{}, "agent_1", "");
  few.pause(pause_of);
  many.pause(pause_of);
  few.polls();
  const auto with_few = few.polls();
  // A walk through those that are held would take thousands of times as long.
  CHECK(many.polls() < 20 * with_few);
  if (pause_of.empty()) return;
  many.write_of("z", "agent_2");
  many.clock.advance(kWindow);
  CHECK(many.went_out(1) == "z");
}

}  // namespace KRUXOS_TEST_FILE
