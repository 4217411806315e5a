// Cleaning up after writes, with the executor and a scripted adapter.
#include <catch2/catch.hpp>

#include "core/write/executor_test_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using Fixture = ExecutorFixture;
using State = WriteState;

namespace {

/// A cancelled write. Its attempt had made something before the service refused it for an hour.
struct Cancelled : Fixture {
  Host host{scratch.path(), clock};
  std::string id, cleaning;
  std::vector<AdapterWrite> cleaned;
  std::vector<CallResult<bool>> words;  ///< of clean_up, one after the other; then success

  void begin() {
    adapter->on_execute = [](const CallContextPtr& call, const AdapterWrite&) -> CallResult<std::string> {
      answered_request(call);
      call->remember(R"({"draft":"d1"})");
      return CallFailure{KRUX_RATE_LIMITED, true, {}, "Slow down.", 3'600'000};
    };
    adapter->on_clean_up = [this](const CallContextPtr& call, const AdapterWrite& write) -> CallResult<bool> {
      cleaned.push_back(write);
      if (words.empty()) {
        answered_request(call);
        return true;
      }
      auto word = std::move(words.front());
      words.erase(words.begin());
      const auto* failure = std::get_if<CallFailure>(&word);
      if (failure && !failure->effect_none) call->begin_unsafe_request();
      return word;
    };
    host.serve(adapter);
    id = host.submit(at_once("hello", "notes.post")).write_id;
    host.until(id, State::kDeadLetter);
    CHECK(std::get<WriteRecord>(host.cancel(id)).cleanup == Cleanup::kPending);
    cleaning = host.buffer.ledger.cleanup_of(id)->write_id;
  }
  Cleanup cleanup() { return host.buffer.ledger.get(id)->cleanup; }
};

CallFailure said(krux_status status, bool none = true) {
  return {status, none, {}, "No.", {}};
}

}  // namespace

TEST_CASE("the adapter is given the write whose leavings it takes away") {
  Cancelled f;
  f.begin();
  f.host.until(f.cleaning, State::kCompleted);
  CHECK(f.cleanup() == Cleanup::kDone);
  CHECK(f.host.buffer.ledger.get(f.id)->state == State::kCancelled);
  REQUIRE(f.cleaned.size() == 1);
  CHECK(f.cleaned[0].write_id == f.id);
  CHECK(f.cleaned[0].operation == "notes.post");
  CHECK(f.cleaned[0].params_json == R"({"text":"hello"})");
  CHECK(f.cleaned[0].note_json == R"({"draft":"d1"})");
  CHECK(f.cleaned[0].attempt == 1);
}

TEST_CASE("what is gone already is cleaned up") {
  Cancelled f;
  f.words = {said(KRUX_NOT_FOUND)};
  f.begin();
  f.host.until(f.cleaning, State::kCompleted);
  CHECK(f.cleanup() == Cleanup::kDone);
}

TEST_CASE("a cleanup that fails is tried again on the schedule, and a person is told at its end") {
  Cancelled f;
  const bool in_time = GENERATE(true, false);
  f.words.assign(in_time ? 2 : 6, said(KRUX_UNAVAILABLE));
  f.begin();
  for (const std::int64_t minutes : {1, 2, 4, 8, 16}) {
    f.host.quiet();
    CHECK(f.cleanup() != Cleanup::kLeft);
    f.clock.advance(minutes * 60'000);
  }
  f.host.quiet();
  CHECK(f.cleanup() == (in_time ? Cleanup::kDone : Cleanup::kPending));
  CHECK(f.cleaned.size() == (in_time ? 3 : 6));
  CHECK(AlertStore(f.host.store, f.clock).list(true).size() == (in_time ? 0 : 1));
}

TEST_CASE("a cleanup whose answer was lost is repeated without a question") {
  Cancelled f;
  f.words = {said(KRUX_NETWORK, false)};
  f.begin();
  f.host.until(f.cleaning, State::kUnknown);
  f.host.quiet();
  CHECK(f.cleaned.size() == 1);
  f.clock.advance(60'000);
  f.host.until(f.cleaning, State::kCompleted);
  CHECK(f.cleaned.size() == 2);
  CHECK(f.cleanup() == Cleanup::kDone);
  CHECK(AlertStore(f.host.store, f.clock).list(false).empty());
}

TEST_CASE("what somebody has changed is left, and the operator is told") {
  Cancelled f;
  f.words = {said(KRUX_CONFLICT)};
  f.begin();
  f.host.until(f.cleaning, State::kFailed);
  CHECK(f.cleanup() == Cleanup::kLeft);
  CHECK(AlertStore(f.host.store, f.clock).list(true).at(0).kind == "left_behind");
}

TEST_CASE("an undo of what is harmless to repeat is repeated without a question") {
  Fixture f;
  Host host(f.scratch.path(), f.clock);
  host.serve(f.adapter);
  auto asked = at_once("hello", "notes.move");
  asked.when_absent = GENERATE(as<std::string>{}, "resend", "ask");
  const auto id = host.submit(asked).write_id;
  host.until(id, State::kCompleted);
  int undone = 0;
  f.adapter->on_rollback = [&](const CallContextPtr& call, const RollbackRequest&) -> CallResult<std::string> {
    if (undone++ > 0) return answered_request(call), std::string("{}");
    call->begin_unsafe_request();
    return CallFailure{KRUX_NETWORK, false, {}, "connection reset", {}};
  };
  f.adapter->on_find_rollback = [](auto&, auto&) { return EffectFound{EffectFound::Answer::kAbsent, {}}; };
  const auto undo = std::get<Submitted>(host.roll_back(id)).write.write_id;
  host.until(undo, State::kUnknown);
  host.quiet();
  f.clock.advance(60'000);
  if (asked.when_absent == "resend") {
    host.until(undo, State::kCompleted);
    CHECK(host.buffer.ledger.get(id)->state == State::kRolledBack);
    CHECK(undone == 2);
  } else {
    CHECK(host.until_told(undo).error_message ==
          "what it was to undo still stands at the service: the undo did not happen, or has been reverted.");
    CHECK(undone == 1);
  }
}

}  // namespace KRUXOS_TEST_FILE
