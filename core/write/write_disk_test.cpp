// A disk that fails while writes are under way.
#include <sqlite3.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "core/write/write_test_support.hpp"
#include "support/fault_vfs.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

NewWrite at_once(const std::string& text) {
  auto w = new_write(text);
  w.immediate = true;
  return w;
}

std::optional<Error> submit_error(Host& host, const std::string& text) {
  Answer<Submitted> answer;
  host.buffer.ledger.submit(at_once(text), answer.slot());
  auto result = answer.wait();
  if (auto* error = std::get_if<Error>(&result)) return *error;
  return std::nullopt;
}

/// Lets the driven clock run until the write is in the state.
void run_until(Host& host, const std::string& id, State state) {
  for (int i = 0; i < 20'000; ++i) {
    try {
      if (host.buffer.ledger.get(id)->state == state) return;
    } catch (const Error&) {
      // Not readable while the disk fails.
    }
    host.clock.advance(100);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("the write never became " << to_string(state));
}

}  // namespace

TEST_CASE("while commits fail nothing is acknowledged, claimed or sent, and then it goes on") {
  support::FaultVfs vfs;
  support::Scratch scratch;
  DrivenClock clock;
  auto adapter = std::make_shared<ScriptedAdapter>();
  std::atomic<int> executed{0};
  adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
    answered_request(call);
    ++executed;
    return std::string("{}");
  };
  ExecutorOptions options;
  options.call_timeout_ms = 1'000'000'000;
  Host host(scratch.path(), clock, options);
  host.serve(adapter);
  const auto waiting = host.submit(new_write("waits")).write_id;
  const int code = GENERATE(SQLITE_FULL, SQLITE_IOERR_WRITE);
  vfs.fail_writes(code);
  // Whether this one is in the ledger is known only when the disk works again, unless the disk was merely full.
  Answer<Submitted> first;
  host.buffer.ledger.submit(at_once("first"), first.slot());
  for (int i = 0; i < 20'000 && !host.store.failing(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto refused = submit_error(host, "second");
  REQUIRE(refused);
  CHECK(refused->type() == ErrorCode::kDatabaseError);
  CHECK(refused->retryable());
  for (int i = 0; i < 100; ++i) {
    clock.advance(1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(executed == 0);
  vfs.heal();
  run_until(host, waiting, State::kCompleted);
  const auto answer = first.wait();
  const auto* accepted = std::get_if<Submitted>(&answer);
  if (accepted) run_until(host, accepted->write.write_id, State::kCompleted);
  CHECK(executed == (accepted ? 2 : 1));
  CHECK_FALSE(submit_error(host, "third"));
}

TEST_CASE("a host stops although its disk has failed for good") {
  support::FaultVfs vfs;
  support::Scratch scratch;
  DrivenClock clock;
  auto adapter = std::make_shared<ScriptedAdapter>();
  adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
    vfs.fail_writes(SQLITE_IOERR_WRITE);
    call->remember("{}");
    return std::string("{}");
  };
  Answer<Submitted> late;
  {
    Host host(scratch.path(), clock);
    host.serve(adapter);
    host.submit(at_once("hello"));
    for (int i = 0; i < 20'000 && vfs.faults() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    host.buffer.ledger.submit(at_once("late"), late.slot());
    host.executor.stop(100);
  }
  CHECK(std::holds_alternative<Error>(late.wait()));
}

TEST_CASE("an outcome that cannot be recorded is recorded when the disk works again") {
  support::FaultVfs vfs;
  support::Scratch scratch;
  DrivenClock clock;
  auto adapter = std::make_shared<ScriptedAdapter>();
  std::atomic<int> executed{0};
  const bool by_sync = GENERATE(false, true);
  adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
    answered_request(call);
    ++executed;
    if (by_sync) {
      vfs.fail_syncs(SQLITE_IOERR_FSYNC, "-wal", true);
    } else {
      vfs.fail_writes(SQLITE_FULL);
    }
    return std::string(R"({"kept":true})");
  };
  ExecutorOptions options;
  options.call_timeout_ms = 1'000'000'000;
  Host host(scratch.path(), clock, options);
  host.serve(adapter);
  const auto id = host.submit(at_once("hello")).write_id;
  for (int i = 0; i < 20'000 && vfs.faults() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(vfs.faults() > 0);
  for (int i = 0; i < 50; ++i) {
    clock.advance(1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  vfs.heal();
  run_until(host, id, State::kCompleted);
  CHECK(host.buffer.ledger.get(id)->result_json == R"({"kept":true})");
  CHECK(executed == 1);
}

TEST_CASE("a claim whose commit fails leads to no second attempt") {
  support::FaultVfs vfs;
  support::Scratch scratch;
  DrivenClock clock;
  auto adapter = std::make_shared<ScriptedAdapter>();
  std::atomic<int> executed{0};
  adapter->on_execute = [&](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
    answered_request(call);
    ++executed;
    return std::string("{}");
  };
  ExecutorOptions options;
  options.call_timeout_ms = 1'000'000'000;
  Host host(scratch.path(), clock, options);
  host.serve(adapter);
  const auto id = host.submit(new_write("hello")).write_id;
  host.quiet();
  // The data of the claim's commit reaches the disk although the sync reports an error.
  vfs.fail_syncs(SQLITE_IOERR_FSYNC, "-wal");
  clock.advance(30'000);
  run_until(host, id, State::kCompleted);
  CHECK(executed == 1);
  CHECK(host.buffer.ledger.get(id)->attempts == 1);
}

}  // namespace KRUXOS_TEST_FILE
