// A host that is killed in the middle of transactions: each is carried out whole, or nothing is left of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "core/write/crash_test_support.hpp"
#include "core/write/write_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;
namespace fs = std::filesystem;

namespace {

constexpr const char* kAgent = "agent_1";

struct TransactionWorld {
  explicit TransactionWorld(const fs::path& d) : directory(d) {}
  fs::path directory;
  Record effects{directory / "effects"}, begun{directory / "begun"}, committed{directory / "committed"};
};

EffectFound found_where(bool there) {
  return {there ? EffectFound::Answer::kFound : EffectFound::Answer::kAbsent, "{}"};
}

std::shared_ptr<ScriptedAdapter> remembering(const TransactionWorld& world) {
  auto adapter = std::make_shared<ScriptedAdapter>();
  const auto does = [&world](const CallContextPtr& call, const std::string& id) -> CallResult<std::string> {
    if (!call->begin_unsafe_request()) return CallFailure{KRUX_CANCELLED, true, {}, "ended", {}};
    world.effects.add(id);
    call->request_answered();
    return std::string("{}");
  };
  adapter->on_execute = [does](const CallContextPtr& call, const AdapterWrite& w) { return does(call, w.write_id); };
  adapter->on_rollback = [does](const CallContextPtr& call, const RollbackRequest& r) {
    return does(call, r.rollback_id);
  };
  adapter->on_find = [&world](const CallContextPtr&, const AdapterWrite& w) {
    return found_where(world.effects.lines().count(w.write_id) > 0);
  };
  adapter->on_find_rollback = [&world](const CallContextPtr&, const RollbackRequest& r) {
    return found_where(world.effects.lines().count(r.rollback_id) > 0);
  };
  return adapter;
}

/// Two that happen at once, and one that is held in between.
std::string fill(const TransactionWorld& world, Host& host, const std::string& name) {
  Answer<AgentTransaction> begun;
  host.buffer.transactions.begin(kAgent, "", 3'600'000, begun.slot());
  const auto id = begun.value().transaction_id;
  world.begun.add(id);
  for (const char* operation : {"notes.move", "notes.add", "notes.move"}) {
    auto write = new_write(name + std::to_string(world.begun.lines().size()) + operation, operation);
    write.allow_duplicate = true;
    write.transaction_id = id;
    write.immediate = write.operation == "notes.move";
    if (!write.immediate) write.admitted_as = State::kHeld;
    const auto made = host.submit(write);
    if (write.immediate) host.until(made.write_id, State::kCompleted);
  }
  return id;
}

bool is_over(Host& host) {
  const auto at_work = host.buffer.ledger.transactions_at_work();
  const auto writes = host.buffer.ledger.list({});
  return at_work.open.empty() && at_work.undoing.empty() &&
         std::all_of(writes.begin(), writes.end(), [](auto& w) { return has_ended(w.state); });
}

/// Until everything has ended. What an operator is asked about was not found: he gives it up, or has it undone again.
void run_to_the_end(Host& host, DrivenClock& clock) {
  for (int i = 0; i < 2'000 && !is_over(host); ++i) {
    host.quiet();
    for (const auto& w : host.buffer.ledger.list({"", "", "", {}, true, 50, ""}))
      host.resolve(w.write_id, w.rolls_back.empty() ? WriteEvent::kOperatorDiscard : WriteEvent::kOperatorResend);
    host.quiet();
    clock.advance(10'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the keeper's thread
  }
  if (!is_over(host)) ::_exit(4);
}

void run_host(const TransactionWorld& world, int run) {
  DrivenClock clock(1'700'000'000'000 + run * 3'600'000, 1'000'000);
  ExecutorOptions options;
  options.call_timeout_ms = 1'000'000'000;
  Host host(world.directory, clock, options, "boot-" + std::to_string(run));
  host.serve(remembering(world));
  host.buffer.transactions.start();
  if (run == 1) {
    const auto back = fill(world, host, "back");
    Answer<AgentTransaction> undone, done;
    host.buffer.transactions.undo(back, kAgent, "Its agent rolled it back.", 0, undone.slot());
    undone.wait();
    const auto whole = fill(world, host, "whole");
    host.buffer.transactions.commit(whole, kAgent, done.slot());
    if (std::holds_alternative<AgentTransaction>(done.wait())) world.committed.add(whole);
  }
  run_to_the_end(host, clock);
  host.buffer.transactions.stop();
}

void check_world(const TransactionWorld& world) {
  DrivenClock clock(1'700'100'000'000);
  Host host(world.directory, clock);
  const auto effects = world.effects.lines(), committed = world.committed.lines();
  for (const auto& id : effects) CHECK(effects.count(id) == 1);
  for (const auto& id : world.begun.lines()) {
    const auto transaction = host.buffer.ledger.transaction(id, kAgent);
    INFO(id << " is " << to_string(transaction.state) << ": " << transaction.reason);
    const bool whole = transaction.state == TransactionState::kCommitted;
    CHECK((whole || transaction.state == TransactionState::kUndone));
    if (committed.count(id) > 0) CHECK(whole);
    for (const auto& [write, stays] : transaction.writes) {
      INFO(write.operation << " is " << to_string(write.state));
      CHECK(stays.empty());
      if (whole) {
        CHECK(write.state == State::kCompleted);
        CHECK(effects.count(write.write_id) == 1);
      } else {
        const bool ran = effects.count(write.write_id) == 1;
        CHECK((write.state == (ran ? State::kRolledBack : State::kCancelled) ||
               (!ran && write.state == State::kDiscarded)));
      }
    }
  }
}

}  // namespace

TEST_CASE("a transaction that a killed host leaves behind is whole, or nothing is left of it") {
  for (const auto point : kFaultPoints) {
    const bool of_writes = point.starts_with("write.claim.") || point.starts_with("write.outcome.") ||
                           point.starts_with("write.submit.") || point.starts_with("write.execute.");
    if (!of_writes && !point.starts_with("transaction.")) continue;
    for (const int pass : {1, 2, 4}) {
      support::Scratch scratch;
      const TransactionWorld world(scratch.path());
      const int status = in_child(point, pass, [&] { run_host(world, 1); });
      INFO(point << " pass " << pass);
      REQUIRE((status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)));
      if (pass == 1) CHECK(status != 0);
      REQUIRE(in_child("", 0, [&] { run_host(world, 2); }) == 0);
      check_world(world);
    }
  }
}

}  // namespace KRUXOS_TEST_FILE
