#include "core/write/outcome.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

WriteRecord executing(std::uint32_t tries = 0) {
  WriteRecord w;
  w.write_id = "w_1";
  w.operation = "notes.add";
  w.account = {"notes", "N1", 1};
  w.attempts = tries + 1;
  w.tries = tries;
  w.settle_ms = 60'000;
  return w;
}

RetryPolicy policy(double random = 0.5) {
  RetryPolicy p;
  p.random = [random] { return random; };
  return p;
}

CallEnd failed(krux_status status, bool none, WireState wire, std::optional<std::int64_t> retry_after = {}) {
  CallEnd end;
  end.how = CallEnd::How::kAnswered;
  end.wire = wire;
  end.failure = CallFailure{status, none, {}, "no", retry_after};
  return end;
}

CallEnd succeeded(const std::string& result, WireState wire = WireState::kAnswered) {
  CallEnd end;
  end.how = CallEnd::How::kAnswered;
  end.wire = wire;
  end.result_json = result;
  return end;
}

EffectFound answer(EffectFound::Answer a, const std::string& result = "{}") {
  return {a, result};
}

}  // namespace

TEST_CASE("an attempt's outcome is the worse of the adapter's and the wire's word") {
  const auto event = [](CallEnd end) { return judge_attempt(executing(), std::move(end), policy()).event; };
  using enum WireState;
  CHECK(event(succeeded(R"({"id":1})")) == WriteEvent::kDone);
  CHECK(event(succeeded(R"({"id":1})", kNothingSent)) == WriteEvent::kDone);
  CHECK(event(succeeded(R"({"id":1})", kOpen)) == WriteEvent::kMayBeDone);
  CHECK(event(succeeded("[]")) == WriteEvent::kMayBeDone);
  CHECK(event(succeeded("")) == WriteEvent::kMayBeDone);
  CHECK(event(succeeded("{\"a\":\"\xff\"}")) == WriteEvent::kMayBeDone);

  for (const auto status : {KRUX_REFUSED, KRUX_INVALID, KRUX_NOT_FOUND}) {
    CHECK(event(failed(status, true, kAnswered)) == WriteEvent::kRefusedForGood);
    CHECK(event(failed(status, true, kOpen)) == WriteEvent::kMayBeDone);
    CHECK(event(failed(status, false, kAnswered)) == WriteEvent::kMayBeDone);
    CHECK(event(failed(status, false, kNothingSent)) == WriteEvent::kRefusedForGood);
  }
  for (const int status :
       std::vector<int>{KRUX_RATE_LIMITED, KRUX_NETWORK, KRUX_UNAVAILABLE, KRUX_INTERNAL, KRUX_TIMEOUT, KRUX_AUTH,
                        KRUX_STORAGE, KRUX_CANCELLED, KRUX_UNSUPPORTED, 99}) {
    CHECK(event(failed(status, true, kAnswered)) == WriteEvent::kCertainlyNotDone);
    CHECK(event(failed(status, false, kNothingSent)) == WriteEvent::kCertainlyNotDone);
    CHECK(event(failed(status, true, kOpen)) == WriteEvent::kMayBeDone);
    CHECK(event(failed(status, false, kAnswered)) == WriteEvent::kMayBeDone);
  }
}

TEST_CASE("the wire proves nothing about an adapter that does not act by HTTP") {
  auto end = failed(KRUX_INTERNAL, false, WireState::kNothingSent);
  end.wire_counts = false;
  CHECK(judge_attempt(executing(), end, policy()).event == WriteEvent::kMayBeDone);
  end.failure->effect_none = true;
  CHECK(judge_attempt(executing(), end, policy()).event == WriteEvent::kCertainlyNotDone);
}

TEST_CASE("an abandoned call may have done it, one that never began has not") {
  CallEnd end;
  end.wire = WireState::kNothingSent;
  const auto abandoned = judge_attempt(executing(), end, policy());
  CHECK(abandoned.event == WriteEvent::kMayBeDone);
  CHECK(abandoned.due_in_ms == 60'000);
  end.how = CallEnd::How::kNotRun;
  end.failure = CallFailure{KRUX_TIMEOUT, true, {}, "no worker", {}};
  const auto not_run = judge_attempt(executing(), end, policy());
  CHECK(not_run.event == WriteEvent::kCertainlyNotDone);
  CHECK_FALSE(not_run.uses_try);
}

TEST_CASE("certain failures are tried again after 1, 2, 4, 8 and 16 minutes, then a person is told") {
  const std::int64_t minutes[] = {1, 2, 4, 8, 16};
  for (std::uint32_t tries = 0; tries < 5; ++tries) {
    const auto report = judge_attempt(executing(tries), failed(KRUX_UNAVAILABLE, true, WireState::kAnswered), policy());
    CHECK(report.due_in_ms == minutes[tries] * 60'000);
    CHECK(report.uses_try);
    CHECK_FALSE(report.alert);
  }
  const auto last = judge_attempt(executing(5), failed(KRUX_UNAVAILABLE, true, WireState::kAnswered), policy());
  CHECK(last.event == WriteEvent::kScheduleUsedUp);
  CHECK_FALSE(last.due_in_ms);
  REQUIRE(last.alert);
  CHECK(last.alert->severity == "critical");
  CHECK(last.alert->write_id == "w_1");
}

TEST_CASE("jitter is ten per cent to either side, and Retry-After is never undercut") {
  const auto due = [](double random, std::optional<std::int64_t> after) {
    return *judge_attempt(executing(), failed(KRUX_RATE_LIMITED, true, WireState::kAnswered, after), policy(random))
                .due_in_ms;
  };
  CHECK(due(0, {}) == 54'000);
  CHECK(due(0.999999, {}) >= 65'999);
  CHECK(due(0.999999, {}) <= 66'000);
  CHECK(due(0, 30'000) == 30'000);
  CHECK(due(0.999999, 30'000) <= 33'000);
  CHECK(due(0, -5) == 0);
  CHECK(due(0, std::int64_t{1} << 62) == 7 * 24 * 3'600'000);
}

TEST_CASE("a refused token holds the write without using up its schedule") {
  for (const std::uint32_t tries : {0U, 4U, 5U}) {
    const auto report = judge_attempt(executing(tries), failed(KRUX_AUTH, true, WireState::kAnswered), policy());
    CHECK(report.event == WriteEvent::kCertainlyNotDone);
    CHECK_FALSE(report.uses_try);
    CHECK(report.due_in_ms == 960'000);
    CHECK(report.error_type == ErrorCode::kNotAuthenticated);
    REQUIRE(report.alert);
    CHECK(report.alert->once);
  }
}

TEST_CASE("a call that the host ended is due at once") {
  auto end = failed(KRUX_CANCELLED, true, WireState::kNothingSent);
  end.host_stops = true;
  const auto report = judge_attempt(executing(5), end, policy());
  CHECK(report.event == WriteEvent::kCertainlyNotDone);
  CHECK(report.due_in_ms == 0);
  CHECK_FALSE(report.uses_try);
}

TEST_CASE("what an adapter says is bounded and harmless text") {
  auto end = failed(KRUX_REFUSED, true, WireState::kAnswered);
  end.failure->message = "\x1b[31m" + std::string(100'000, 'x') + "\xff";
  end.failure->type = ErrorType::named("ChannelNotFound");
  const auto report = judge_attempt(executing(), end, policy());
  CHECK(report.error_type.name() == "ChannelNotFound");
  CHECK(report.error_message.size() <= 2000);
  CHECK(report.error_message.find('\x1b') == std::string::npos);
}

TEST_CASE("a rollback point that cannot be made is certainly not done") {
  CallEnd abandoned;
  CHECK(judge_rollback_point(executing(), abandoned, policy()).event == WriteEvent::kCertainlyNotDone);
  CHECK(judge_rollback_point(executing(), failed(KRUX_NETWORK, false, WireState::kOpen), policy()).event ==
        WriteEvent::kCertainlyNotDone);
  CHECK(judge_rollback_point(executing(), failed(KRUX_NOT_FOUND, false, WireState::kOpen), policy()).event ==
        WriteEvent::kRefusedForGood);
}

TEST_CASE("what a look finds decides, and absence is a person's matter") {
  using A = EffectFound::Answer;
  auto write = executing();
  write.state = WriteState::kUnknown;
  const auto look = [&](const EffectFound& found, bool repeat) {
    return judge_reconcile(write, succeeded("", WireState::kNothingSent), found, repeat, 1000, policy());
  };
  const auto found = look(answer(A::kFound, R"({"id":7})"), false);
  CHECK(found.event == WriteEvent::kEffectFound);
  CHECK(found.result_json == R"({"id":7})");
  CHECK(look(answer(A::kFound, "oops"), false).event == WriteEvent::kEffectUnclear);

  const auto absent = look(answer(A::kAbsent), false);
  CHECK(absent.event == WriteEvent::kEffectAbsentAsk);
  CHECK(absent.due_in_ms == 960'000);  // it may come late
  REQUIRE(absent.alert);
  CHECK(look(answer(A::kAbsent), true).event == WriteEvent::kEffectAbsentResend);
  CHECK(look(answer(A::kAbsent), true).uses_try);
  CHECK(look(answer(A::kDisproved), false).event == WriteEvent::kEffectDisproved);
  CHECK(look(answer(A::kDisproved), false).due_in_ms == 60'000);
  write.tries = 5;
  CHECK(look(answer(A::kAbsent), true).event == WriteEvent::kEffectAbsentAsk);
  CHECK(look(answer(A::kDisproved), true).event == WriteEvent::kScheduleUsedUp);
}

TEST_CASE("why a look cannot tell is what the person reads") {
  auto write = executing();
  write.state = WriteState::kUnknown;
  write.looks = 4;
  EffectFound found;
  found.why = "The history is\x1b[2J hidden.";
  const auto report = judge_reconcile(write, succeeded("", WireState::kNothingSent), found, false, 2000, policy());
  CHECK(report.event == WriteEvent::kLooksUsedUp);
  CHECK(report.error_message == "it may have happened, and the service could not tell. The history is\\x1b[2J hidden.");
}

TEST_CASE("a look that cannot tell is repeated at growing gaps, then told, then repeated for a day") {
  auto write = executing();
  write.state = WriteState::kUnknown;
  write.unknown_since_ms = 1000;
  const std::int64_t gaps[] = {60'000, 120'000, 240'000, 480'000};
  for (write.looks = 0; write.looks < 4; ++write.looks) {
    const auto report =
        judge_reconcile(write, failed(KRUX_NETWORK, false, WireState::kNothingSent), {}, false, 2000, policy());
    CHECK(report.event == WriteEvent::kEffectUnclear);
    CHECK(report.due_in_ms == gaps[write.looks]);
    CHECK_FALSE(report.alert);
  }
  const auto told = judge_reconcile(write, CallEnd{}, {}, false, 2000, policy());
  CHECK(told.event == WriteEvent::kLooksUsedUp);
  CHECK(told.alert);
  CHECK(told.due_in_ms == 960'000);
  write.escalated = true;
  const auto late = judge_reconcile(write, CallEnd{}, {}, false, 2000, policy());
  CHECK(late.event == WriteEvent::kEffectUnclear);
  CHECK(late.due_in_ms == 960'000);
  CHECK_FALSE(late.alert);
  CHECK_FALSE(judge_reconcile(write, CallEnd{}, {}, false, 1000 + 24 * 3'600'000, policy()).due_in_ms);
}

TEST_CASE("a look that the service refuses for the token's sake does not count") {
  auto write = executing();
  write.state = WriteState::kUnknown;
  write.looks = 4;
  const auto report = judge_reconcile(write, failed(KRUX_AUTH, true, WireState::kAnswered), {}, false, 0, policy());
  CHECK(report.event == WriteEvent::kEffectUnclear);
  CHECK_FALSE(report.counts_look);
  REQUIRE(report.alert);
  CHECK(report.alert->kind == "not_authenticated");
}

TEST_CASE("a look that never began does not count, and a person does not wait for longer because of it") {
  auto write = executing();
  write.state = WriteState::kUnknown;
  write.unknown_since_ms = 1000;
  auto end = failed(KRUX_UNAVAILABLE, true, WireState::kNothingSent, 1000);
  const bool never_run = GENERATE(false, true);
  end.cut_off = !never_run;
  if (never_run) end.how = CallEnd::How::kNotRun;
  for (write.looks = 0; write.looks < 5; ++write.looks) {
    const auto report = judge_reconcile(write, end, {}, false, 2000, policy());
    CHECK(report.event == WriteEvent::kEffectUnclear);
    CHECK_FALSE(report.counts_look);
    CHECK_FALSE(report.alert);
    CHECK(report.due_in_ms >= 1000);
    CHECK_FALSE(report.error_message.empty());
  }
  CHECK(judge_reconcile(write, end, {}, false, 1000 + 900'000, policy()).event == WriteEvent::kLooksUsedUp);
}

TEST_CASE("a look that cannot be made for a quarter of an hour is told to a person, and goes on") {
  const auto status = static_cast<krux_status>(GENERATE(int{KRUX_AUTH}, int{KRUX_RATE_LIMITED}));
  auto write = executing();
  write.state = WriteState::kUnknown;
  write.unknown_since_ms = 1000;
  const auto look = [&](std::int64_t now_ms) {
    return judge_reconcile(write, failed(status, true, WireState::kAnswered), {}, false, now_ms, policy());
  };
  CHECK(look(1000 + 899'999).event == WriteEvent::kEffectUnclear);
  const auto told = look(1000 + 900'000);
  CHECK(told.event == WriteEvent::kLooksUsedUp);
  REQUIRE(told.alert);
  CHECK(told.alert->kind == "outcome_unclear");
  CHECK(told.due_in_ms > 0);
  write.escalated = true;
  const auto late = look(1000 + 3'600'000);
  CHECK(late.event == WriteEvent::kEffectUnclear);
  CHECK(late.due_in_ms > 0);
}

TEST_CASE("a look that the quota delays is none yet and comes back when the service allows it") {
  auto write = executing();
  write.state = WriteState::kUnknown;
  write.looks = 4;
  const auto report =
      judge_reconcile(write, failed(KRUX_RATE_LIMITED, true, WireState::kAnswered, 40'000), {}, false, 0, policy(0));
  CHECK(report.event == WriteEvent::kEffectUnclear);
  CHECK_FALSE(report.counts_look);
  CHECK_FALSE(report.alert);
  CHECK(report.due_in_ms == 40'000);
}

TEST_CASE("what is harmless to repeat is sent again when no look can tell") {
  auto write = executing();
  write.state = WriteState::kUnknown;
  write.unknown_since_ms = 1000;
  const auto asked = succeeded("", WireState::kNothingSent);
  const auto sent_again = [](const WriteReport& report) {
    return report.event == WriteEvent::kEffectAbsentResend && report.due_in_ms == 0 && report.uses_try &&
           !report.waits_for_connection;
  };
  CHECK(sent_again(judge_reconcile(write, asked, {}, true, 2000, policy())));
  // One that failed may tell later.
  const auto broken = failed(KRUX_NETWORK, false, WireState::kNothingSent);
  CHECK(judge_reconcile(write, broken, {}, true, 2000, policy()).event == WriteEvent::kEffectUnclear);
  const auto refused = failed(KRUX_AUTH, true, WireState::kAnswered);
  CHECK(judge_reconcile(write, refused, {}, true, 2000, policy()).event == WriteEvent::kEffectUnclear);
  CHECK(sent_again(judge_reconcile(write, refused, {}, true, 1000 + 900'000, policy())));
  write.looks = 4;
  CHECK(sent_again(judge_reconcile(write, broken, {}, true, 2000, policy())));
  SECTION("but not for ever") {
    write.tries = 5;
    CHECK(judge_reconcile(write, asked, {}, true, 2000, policy()).event == WriteEvent::kLooksUsedUp);
  }
  SECTION("and not behind the back of a person who was told") {
    write.escalated = true;
    CHECK(judge_reconcile(write, asked, {}, true, 2000, policy()).event == WriteEvent::kEffectUnclear);
  }
}

TEST_CASE("that nothing happened is not said of a write that an earlier attempt may have carried out") {
  auto write = executing(static_cast<std::uint32_t>(policy().schedule_ms.size()));
  const auto message = [&] {
    const auto report = judge_attempt(write, failed(KRUX_UNAVAILABLE, true, WireState::kAnswered), policy());
    REQUIRE(report.alert);
    return report.alert->message;
  };
  CHECK_THAT(message(), Catch::Contains("times and certainly did not happen"));
  write.irrevocable = true;
  CHECK_THAT(message(), !Catch::Contains("times and certainly did not happen") &&
                            Catch::Contains("an earlier one may have happened") &&
                            Catch::Contains("Look at the service"));
}

}  // namespace KRUXOS_TEST_FILE
