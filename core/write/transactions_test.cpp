// Transactions, with the executor and a scripted adapter: notes.add waits in the buffer, notes.move happens at once and
// can be undone.
#include <SQLiteCpp/SQLiteCpp.h>

#include <catch2/catch.hpp>
#include <future>
#include <optional>

#include "core/write/executor_test_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

constexpr const char* kAgent = "agent_1";

struct TransactionFixture : ExecutorFixture {
  std::mutex mutex;
  std::vector<std::string> undone;  ///< texts, in that order
  std::unique_ptr<Host> host = start();
  std::string id = begin();

  TransactionFixture() {
    adapter->on_rollback = [this](const CallContextPtr& call, const RollbackRequest& request) {
      {
        const std::lock_guard lock(mutex);
        undone.push_back(request.params_json);
      }
      return undo_answers ? undo_answers(call, request) : success(call);
    };
  }
  std::function<CallResult<std::string>(const CallContextPtr&, const RollbackRequest&)> undo_answers;

  std::unique_ptr<Host> start() {
    auto made = std::make_unique<Host>(scratch.path(), clock);
    made->serve(adapter);
    made->buffer.transactions.start();
    return made;
  }
  void restart() {
    host.reset();
    host = start();
  }
  using Outcome = std::variant<AgentTransaction, Error>;
  static AgentTransaction well(Outcome outcome) {
    if (const auto* error = std::get_if<Error>(&outcome)) throw std::runtime_error(error->what());
    return std::get<AgentTransaction>(std::move(outcome));
  }
  std::string begin(std::int64_t for_ms = 60'000, const std::string& agent = kAgent) {
    Answer<AgentTransaction> answer;
    host->buffer.transactions.begin(agent, "", for_ms, answer.slot());
    return well(answer.wait()).transaction_id;
  }
  Outcome commit(const std::string& agent = kAgent) {
    Answer<AgentTransaction> answer;
    host->buffer.transactions.commit(id, agent, answer.slot());
    return answer.wait();
  }
  Outcome roll_back(const std::string& agent = kAgent) {
    Answer<AgentTransaction> answer;
    host->buffer.transactions.undo(id, agent, "Its agent rolled it back.", 0, answer.slot());
    return answer.wait();
  }
  /// Waited for without the clock moving.
  AgentTransaction until_undone() {
    for (int i = 0; i < 30'000; ++i) {
      auto now = host->buffer.ledger.transaction(id, kAgent);
      if (now.state == TransactionState::kUndone) return now;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw std::runtime_error("the transaction was never undone");
  }
  NewWrite in_it(NewWrite write) const {
    write.transaction_id = id;
    if (!write.immediate) write.admitted_as = State::kHeld;
    return write;
  }
  WriteRecord add(const std::string& text) { return host->submit(in_it(new_write(text))); }
  WriteRecord move(const std::string& text) {
    return host->until(host->submit(in_it(at_once(text, "notes.move"))).write_id, State::kCompleted);
  }
  Error refused(NewWrite write) {
    Answer<Submitted> answer;
    host->buffer.ledger.submit(in_it(std::move(write)), answer.slot());
    return answer.error();
  }
  WriteRecord now(const WriteRecord& write) { return *host->buffer.ledger.get(write.write_id); }
  std::vector<std::string> undos() {
    const std::lock_guard lock(mutex);
    return undone;
  }
};

std::string text(const char* words) {
  return std::string(R"({"text":")") + words + "\"}";
}

}  // namespace

TEST_CASE("what is in a transaction is held until it is committed, and then waits for its window") {
  TransactionFixture f;
  const auto write = f.add("hello");
  CHECK(write.state == State::kHeld);
  CHECK(write.due_at_ms == 0);
  f.clock.advance(40'000);
  f.host->quiet();
  CHECK(f.now(write).state == State::kHeld);
  const auto committed = f.well(f.commit());
  CHECK(committed.state == TransactionState::kCommitted);
  REQUIRE(committed.writes.size() == 1);
  CHECK(committed.writes[0].write.state == State::kBuffered);
  CHECK(f.now(write).buffer_until_ms == f.clock.wall_ms() + 30'000);
  f.clock.advance(30'000);
  f.host->until(write.write_id, State::kCompleted);
  SECTION("a commit that is asked for once more is answered as the first") {
    CHECK(f.well(f.commit()).state == TransactionState::kCommitted);
  }
  SECTION("what was committed is not rolled back") {
    CHECK_THAT(std::get<Error>(f.roll_back()).what(), Catch::Contains("was committed. proxy.cancel_write"));
    CHECK(f.now(write).state == State::kCompleted);
  }
}

TEST_CASE("a rollback drops what is held and undoes what ran, the last first") {
  TransactionFixture f;
  const auto first = f.move("1"), held = f.add("2"), last = f.move("3");
  f.well(f.roll_back());
  const auto undone = f.until_undone();
  CHECK(undone.reason == "Its agent rolled it back.");
  CHECK(f.now(held).state == State::kCancelled);
  CHECK(f.now(first).state == State::kRolledBack);
  CHECK(f.now(last).state == State::kRolledBack);
  CHECK(f.undos() == std::vector<std::string>{text("3"), text("1")});
  for (const auto& one : undone.writes) CHECK(one.stays_because.empty());
  CHECK(f.well(f.roll_back()).state == TransactionState::kUndone);
  const auto late = std::get<Error>(f.commit());
  CHECK_THAT(late.what(), Catch::Contains("was undone: Its agent rolled it back."));
  CHECK_FALSE(late.retryable());
}

TEST_CASE("what cannot be undone is told of, write by write, and the rest is undone") {
  TransactionFixture f;
  const auto first = f.move("1"), last = f.move("2");
  f.undo_answers = [](const CallContextPtr& call, const RollbackRequest& request) -> CallResult<std::string> {
    if (request.params_json == text("1")) return success(call);
    return CallFailure{KRUX_CONFLICT, true, ErrorCode::kRollbackConflict, "Somebody changed it.", {}};
  };
  f.roll_back();
  const auto undone = f.until_undone();
  CHECK(f.now(first).state == State::kRolledBack);
  CHECK(f.now(last).state == State::kCompleted);
  REQUIRE(undone.writes.size() == 2);
  CHECK(undone.writes[0].stays_because.empty());
  CHECK_THAT(undone.writes[1].stays_because, Catch::Contains("Somebody changed it."));
}

TEST_CASE("a write that does not go well undoes its transaction by itself, and it cannot be committed") {
  TransactionFixture f;
  const auto first = f.move("1"), held = f.add("2");
  f.adapter->on_execute = [](const CallContextPtr& call, const AdapterWrite&) { return refused(KRUX_REFUSED)(call); };
  const auto failed = f.host->submit(f.in_it(at_once("3", "notes.move")));
  f.host->until(failed.write_id, State::kFailed);
  const auto undone = f.until_undone();
  CHECK_THAT(undone.reason, Catch::Contains("notes.move " + failed.write_id + " was refused by the service."));
  CHECK(f.now(first).state == State::kRolledBack);
  CHECK(f.now(held).state == State::kCancelled);
  CHECK(std::get<Error>(f.commit()).type() == ErrorCode::kConflictError);
}

TEST_CASE("a commit that comes while something is still under way changes nothing, and is asked for once more") {
  TransactionFixture f;
  std::promise<void> let_go;
  const auto wait = let_go.get_future().share();
  f.adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) {
    wait.wait();
    return success(call);
  };
  const auto slow = f.host->submit(f.in_it(at_once("1", "notes.move")));
  const auto held = f.add("2");
  f.host->until(slow.write_id, State::kExecuting);
  const auto early = std::get<Error>(f.commit());
  CHECK(early.retryable());
  CHECK_THAT(early.what(), Catch::Contains("Nothing was committed yet: notes.move"));
  CHECK(f.now(held).state == State::kHeld);
  let_go.set_value();
  f.host->until(slow.write_id, State::kCompleted);
  CHECK(f.well(f.commit()).state == TransactionState::kCommitted);
}

TEST_CASE("a transaction whose time is over is undone") {
  TransactionFixture f;
  const auto moved = f.move("1"), held = f.add("2");
  f.host->quiet();
  f.clock.advance(60'000);
  CHECK_THAT(f.until_undone().reason, Catch::Contains("Its time was over"));
  CHECK(f.now(moved).state == State::kRolledBack);
  CHECK(f.now(held).state == State::kCancelled);
  CHECK_THAT(f.refused(new_write("3")).what(), Catch::Contains("was undone: Its time was over"));
}

TEST_CASE("a host that was stopped undoes what was not committed, and goes on where it was undoing") {
  TransactionFixture f;
  const auto moved = f.move("1"), held = f.add("2");
  SECTION("it was open") {
    f.restart();
    CHECK_THAT(f.until_undone().reason, Catch::Contains("The host stopped"));
  }
  SECTION("it was being undone") {
    std::promise<void> let_go;
    const auto wait = let_go.get_future().share();
    f.undo_answers = [&](const CallContextPtr& call, const RollbackRequest&) -> CallResult<std::string> {
      wait.wait();
      return lost(call);
    };
    f.finds({kFound});
    f.adapter->on_find_rollback = [](const CallContextPtr&, const RollbackRequest&) { return kFound; };
    f.roll_back();
    while (f.undos().empty()) std::this_thread::yield();
    f.host->executor.stop(0);
    let_go.set_value();
    f.restart();
    f.host->quiet();
    f.clock.advance(60'000);
    CHECK(f.until_undone().reason == "Its agent rolled it back.");
  }
  CHECK(f.now(moved).state == State::kRolledBack);
  CHECK(f.now(held).state == State::kCancelled);
}

TEST_CASE("what needs a person, or happens at once and cannot be undone, is no part of a transaction") {
  TransactionFixture f;
  auto asks = new_write("1");
  asks.approval_reason = "Every notes.add needs a person's approval.";
  auto error = f.refused(asks);
  CHECK(error.type() == ErrorCode::kOperationBlocked);
  CHECK_THAT(error.what(), Catch::Contains("notes.add needs a person's approval (Every notes.add") &&
                               Catch::Contains("Call it outside of one."));
  error = f.refused(at_once("2"));
  CHECK(error.type() == ErrorCode::kOperationBlocked);
  CHECK_THAT(error.what(), Catch::Contains("notes.add happens at once and cannot be undone"));
  CHECK(f.well(f.commit()).writes.empty());
}

TEST_CASE("a transaction is its agent's alone, and has its bounds") {
  TransactionFixture f;
  CHECK(std::get<Error>(f.commit("agent_2")).type() == ErrorCode::kInvalidInput);
  CHECK(std::get<Error>(f.roll_back("agent_2")).type() == ErrorCode::kInvalidInput);
  auto foreign = new_write("1");
  foreign.agent_id = "agent_2";
  CHECK(f.refused(foreign).type() == ErrorCode::kInvalidInput);
  for (int i = 1; i < kMostOpenTransactions; ++i) f.begin();
  Answer<AgentTransaction> more;
  f.host->buffer.transactions.begin(kAgent, "", 60'000, more.slot());
  CHECK(more.error().type() == ErrorCode::kBatchProtection);
  CHECK_FALSE(f.begin(60'000, "agent_2").empty());
  for (int i = 0; i < kMostTransactionWrites; ++i) f.add("write " + std::to_string(i));
  CHECK_THAT(f.refused(new_write("one more")).what(), Catch::Contains("takes 100 writes"));
}

TEST_CASE("what a transaction may still take back answers nobody outside of it") {
  TransactionFixture f;
  const auto held = f.add("1");
  const auto outside = [&] {
    Answer<Submitted> answer;
    f.host->buffer.ledger.submit(new_write("1"), answer.slot());
    return answer.wait();
  };
  Answer<Submitted> again;
  f.host->buffer.ledger.submit(f.in_it(new_write("1")), again.slot());
  const auto inside = again.value();
  CHECK(inside.duplicate);
  CHECK(inside.write.write_id == held.write_id);
  const auto refused = std::get<Error>(outside());
  CHECK(refused.type() == ErrorCode::kConflictError);
  CHECK_THAT(refused.what(), Catch::Contains(held.write_id + " in the transaction " + f.id));
  SECTION("allow_duplicate makes it another one") {
    CHECK_THAT(refused.what(), Catch::Contains("ask again once that has ended, or with allow_duplicate."));
    auto another = new_write("1");
    another.allow_duplicate = true;
    CHECK(f.host->submit(another).write_id != held.write_id);
  }
  SECTION("rolled back, it is a wish of its own") {
    f.roll_back();
    f.until_undone();
    const auto made = std::get<Submitted>(outside());
    CHECK_FALSE(made.duplicate);
    CHECK(made.write.state == State::kBuffered);
  }
  SECTION("committed, it is the same") {
    f.commit();
    CHECK(std::get<Submitted>(outside()).write.write_id == held.write_id);
  }
}

TEST_CASE("what is held under a key is asked for outside under another one") {
  TransactionFixture f;
  auto write = new_write("1");
  write.idempotency_key = "k";
  const auto held = f.host->submit(f.in_it(write));
  const auto refusal = [&] {
    Answer<Submitted> answer;
    f.host->buffer.ledger.submit(write, answer.slot());
    return std::string(answer.error().what());
  };
  const std::string by_content = "ask again once that has ended, or with allow_duplicate.";
  const std::string by_key =
      "ask again once that has ended, or with another idempotency_key and allow_duplicate: the key is that write's.";
  CHECK_THAT(refusal(), Catch::Contains(held.write_id) && Catch::Contains(by_key));
  write.allow_duplicate = true;
  CHECK_THAT(refusal(), Catch::Contains(by_key));
  write.allow_duplicate = false;
  for (const char* other : {"", "another"}) {
    write.idempotency_key = other;
    CHECK_THAT(refusal(), Catch::Contains(by_content));
  }
  write.allow_duplicate = true;
  CHECK(f.host->submit(write).write_id != held.write_id);
}

TEST_CASE("a held write may be left out by its agent, and ends its transaction where an operator takes it out") {
  TransactionFixture f;
  const auto kept = f.add("1"), left = f.add("2");
  CHECK(std::holds_alternative<WriteRecord>(f.host->cancel(left.write_id)));
  SECTION("by the agent") {
    CHECK(f.well(f.commit()).state == TransactionState::kCommitted);
    CHECK(f.now(kept).state == State::kBuffered);
  }
  SECTION("by an operator") {
    Answer<WriteRecord> answer;
    f.host->buffer.ledger.cancel(kept.write_id, {}, "operator:ann", answer.slot());
    answer.wait();
    CHECK_THAT(f.until_undone().reason, Catch::Contains("is already cancelled"));
  }
}

TEST_CASE("whoever waits for a rollback hears of its end, or of how it stands when the time is over") {
  TransactionFixture f;
  f.move("1");
  std::promise<void> let_go;
  const auto wait = let_go.get_future().share();
  f.undo_answers = [&](const CallContextPtr& call, const RollbackRequest&) {
    wait.wait();
    return success(call);
  };
  f.roll_back();
  while (f.undos().empty()) std::this_thread::yield();
  Answer<AgentTransaction> early, late;
  f.host->buffer.transactions.wait(f.id, kAgent, 0, early.slot());
  CHECK(early.value().state == TransactionState::kUndoing);
  f.host->buffer.transactions.wait(f.id, kAgent, 60'000, late.slot());
  let_go.set_value();
  CHECK(late.value().state == TransactionState::kUndone);
}

TEST_CASE("an agent does not edit what is held into what needs a person") {
  TransactionFixture f;
  const auto held = f.add("1");
  NewContent content;
  content.params_json = content.params_shown_json = content.summary = text("2");
  content.tier = "notify";
  content.definition_version = "1";
  const auto edit = [&] {
    Answer<WriteRecord> answer;
    f.host->buffer.ledger.edit(held.write_id, kAgent, held.content_hash, content, {"agent:agent_1"}, answer.slot());
    return answer.wait();
  };
  SECTION("where a person is to be asked nothing changes") {
    content.approval_reason = "It goes to a stranger.";
    const auto refused = std::get<Error>(edit());
    CHECK(refused.type() == ErrorCode::kOperationBlocked);
    CHECK_THAT(refused.what(), Catch::Contains("It goes to a stranger."));
    CHECK(f.now(held).content_hash == held.content_hash);
  }
  SECTION("where nobody is, it stays held") {
    CHECK(std::get<WriteRecord>(edit()).state == State::kHeld);
  }
  CHECK(f.well(f.commit()).state == TransactionState::kCommitted);
  CHECK(f.now(held).state == State::kBuffered);
}

TEST_CASE("while an undo is under way, writes of others cost no more than without it") {
  TransactionFixture f;
  f.move("1");
  std::promise<void> let_go;
  const auto wait = let_go.get_future().share();
  f.undo_answers = [&](const CallContextPtr& call, const RollbackRequest&) {
    wait.wait();
    return success(call);
  };
  f.roll_back();
  while (f.undos().empty()) std::this_thread::yield();
  const auto commits_after_a_look = [&] {
    for (int i = 0; i < 3; ++i) {
      Answer<AgentTransaction> stands;
      f.host->buffer.transactions.wait(f.id, kAgent, 0, stands.slot());
      CHECK(stands.value().state == TransactionState::kUndoing);
    }
    SQLite::Database db((f.scratch.path() / "kruxos.db").string());
    return db.execAndGet("SELECT n FROM counters WHERE what = 'commit'").getInt64();
  };
  const auto before = commits_after_a_look();
  for (const auto* words : {"a", "b", "c"}) {
    auto other = new_write(words);
    other.agent_id = "agent_2";
    f.host->submit(std::move(other));
  }
  CHECK(commits_after_a_look() == before + 3);
  let_go.set_value();
  f.until_undone();
}

TEST_CASE("a store that is held up is asked once for the end of a transaction") {
  TransactionFixture f;
  const auto held = f.add("1");
  f.host->quiet();
  std::promise<void> let_go, is_held_up;
  const auto wait = let_go.get_future().share();
  f.host->store.post(
      [&, wait](SQLite::Database&) {
        is_held_up.set_value();
        wait.wait();
      },
      [](const std::exception_ptr&) {});
  is_held_up.get_future().wait();
  f.clock.advance(60'000);
  for (int i = 0; i < 20'000; ++i) f.host->buffer.ledger.transactions_at_work();
  const auto commits = [&] {
    SQLite::Database db((f.scratch.path() / "kruxos.db").string());
    return db.execAndGet("SELECT n FROM counters WHERE what = 'commit'").getInt64();
  };
  const auto before = commits();
  let_go.set_value();
  f.until_undone();
  f.host->quiet();
  CHECK(f.now(held).state == State::kCancelled);
  CHECK(commits() - before <= 4);
}

TEST_CASE("whoever asks when nobody looks after transactions any more is answered all the same") {
  TransactionFixture f;
  f.move("1");
  f.host->buffer.transactions.stop();
  Answer<AgentTransaction> stands, undone;
  f.host->buffer.transactions.wait(f.id, kAgent, 60'000, stands.slot());
  CHECK(stands.value().state == TransactionState::kOpen);
  f.host->buffer.transactions.undo(f.id, kAgent, "Its agent rolled it back.", 60'000, undone.slot());
  CHECK(undone.value().state == TransactionState::kUndoing);
}

TEST_CASE("undos and old transactions are found without a look at all there ever were") {
  TransactionFixture f;
  SQLite::Database db((f.scratch.path() / "kruxos.db").string());
  const auto plan = [&](const std::string& statement) {
    SQLite::Statement rows(db, "EXPLAIN QUERY PLAN " + statement);
    std::string all;
    while (rows.executeStep()) all += rows.getColumn("detail").getString() + "\n";
    return all;
  };
  CHECK_THAT(plan("SELECT seq FROM writes WHERE rolls_back = ?1 ORDER BY seq DESC LIMIT 1"),
             Catch::Contains("writes_undos") && !Catch::Contains("TEMP B-TREE"));
  CHECK_THAT(plan("DELETE FROM transactions WHERE ended_at_ms < ?1"), Catch::Contains("transactions_ended"));
}

}  // namespace KRUXOS_TEST_FILE
