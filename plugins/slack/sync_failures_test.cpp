// What fails costs its own part; what was committed before is never lost.
#include <catch2/catch.hpp>

#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using slack::Params;
using slack::Rig;

namespace {

const std::string kA = "C0000000A", kB = "C0000000B", kC = "C0000000C";

FakeAnswer refusal(const std::string& name) {
  return {200, R"({"ok":false,"error":")" + name + "\"}", {}, {}, "", -1};
}

/// Three channels of five messages; what `answer` says instead of the history of B.
void fail_channel_b(Rig& rig, const FakeAnswer& answer) {
  for (const auto& id : {kA, kB, kC}) {
    rig.add_channel(id, "channel-" + id);
    rig.say_many(id, 5);
  }
  rig.override_answer = [answer](const std::string& method, const Params& params) {
    const bool hit = method == "conversations.history" && slack::param(params, "channel") == kB;
    return hit ? std::optional(answer) : std::nullopt;
  };
}

}  // namespace

TEST_CASE("a channel that fails, in every way there is, is reported and ends nothing else") {
  const FakeAnswer answer = GENERATE(values<FakeAnswer>({
      refusal("channel_not_found"),
      refusal("not_in_channel"),
      refusal("missing_scope"),
      refusal("access_denied"),
      refusal("internal_error"),
      refusal("fatal_error"),
      refusal("something_new"),
      refusal("invalid_cursor"),
      {500, "", {}, {}, "", -1},
      {403, "no", {}, {}, "", -1},
      {302, "", {}, {}, "", -1},
      {200, "<html>", {}, {}, "", -1},
      {200, "", {}, {}, "", -1},
      {200, "[]", {}, {}, "", -1},
      {200, R"({"ok":true})", {}, {}, "", -1},
      {200, R"({"ok":true,"messages":{}})", {}, {}, "", -1},
      {200, R"({"ok":"yes"})", {}, {}, "", -1},
      FakeAnswer::failed(ErrorKind::kNetwork),
      FakeAnswer::failed(ErrorKind::kTimeout),
      FakeAnswer::failed(ErrorKind::kUnavailable, "too large"),
      FakeAnswer::failed(ErrorKind::kInternal),
  }));
  INFO(answer.status << " " << answer.body << answer.message);
  Rig rig;
  fail_channel_b(rig, answer);
  rig.pass();
  CHECK(rig.replica_size() == 10);
  REQUIRE(rig.store.reports.count(kB) == 1);
  CHECK_FALSE(rig.store.reports[kB].message.empty());
  CHECK(rig.store.reports.size() == 1);
  rig.override_answer = nullptr;
  rig.next_pass();
  CHECK(rig.differences().empty());
  CHECK(rig.store.reports.empty());
}

TEST_CASE("a channel that Slack does not let the bot read holds nothing back") {
  Rig rig;
  fail_channel_b(rig, refusal("missing_scope"));
  CHECK(rig.pass().complete_through_ms > 1);
}

TEST_CASE("a refused token ends the pass") {
  const std::string name = GENERATE("invalid_auth", "token_revoked", "account_inactive", "token_expired");
  Rig rig;
  rig.override_answer = [name](const std::string&, const Params&) { return std::optional(refusal(name)); };
  try {
    rig.pass();
    FAIL("it went on");
  } catch (const kruxos::ProxyError& error) {
    CHECK(error.kind() == ErrorKind::kAuth);
  }
}

TEST_CASE("a service that does not answer at all ends the step, and the pass goes on later where it was") {
  Rig rig;
  fail_channel_b(rig, refusal("channel_not_found"));
  rig.override_answer = [](const std::string& method, const Params&) {
    return method == "conversations.history" ? std::optional(FakeAnswer::failed(ErrorKind::kNetwork)) : std::nullopt;
  };
  CHECK_THROWS_AS(rig.pass(), kruxos::ProxyError);
  rig.override_answer = nullptr;
  rig.pass();
  rig.next_pass();
  CHECK(rig.differences().empty());
}

TEST_CASE("a failing store ends the step, and nothing that was committed is asked for again") {
  Rig rig;
  rig.options.page_size = 2;
  rig.restart();
  rig.add_channel(kA, "general");
  rig.say_many(kA, 11);
  int commits = 0;
  rig.store.refuse_commit = [&] { return ++commits % 3 == 0 ? KRUX_STORAGE : KRUX_OK; };
  int failures = 0;
  for (bool done = false; !done;) {
    try {
      rig.pass();
      done = true;
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == ErrorKind::kStorage);
      REQUIRE(++failures < 100);
    }
  }
  CHECK(failures > 3);
  CHECK(rig.differences().empty());
  CHECK(rig.calls("conversations.history") <= static_cast<std::size_t>(6 + failures));
}

TEST_CASE("killed after every step, the sync still ends and misses nothing") {
  Rig rig;
  rig.options.page_size = 3;
  rig.state.limits.set("conversations.history", {1, 3});
  rig.restart();
  for (const auto& id : {kA, kB}) {
    rig.add_channel(id, "channel-" + id);
    rig.say_many(id, 10);
    const auto parent = rig.say(id, "parent");
    for (int i = 0; i < 7; ++i) rig.say(id, "reply", parent);
  }
  bool done = false;
  for (int steps = 0; !done && steps < 500; ++steps) {
    const auto step = rig.step();
    done = step.next == KRUX_SYNC_DONE;
    rig.host.clock.advance(step.next == KRUX_SYNC_WAIT ? step.wait_ms : 0);
    rig.restart();
  }
  REQUIRE(done);
  CHECK(rig.differences().empty());
}

TEST_CASE("a cursor that Slack no longer knows begins that look anew") {
  Rig rig;
  rig.options.page_size = 3;
  rig.restart();
  rig.add_channel(kA, "general");
  rig.say_many(kA, 10);
  int left = 2;
  rig.override_answer = [&](const std::string& method, const Params& params) {
    const bool hit = method == "conversations.history" && !slack::param(params, "cursor").empty() && left > 0;
    left -= hit;
    return hit ? std::optional(refusal("invalid_cursor")) : std::nullopt;
  };
  rig.pass();
  CHECK(left == 0);
  CHECK(rig.differences().empty());
  CHECK(rig.store.reports.empty());
}

TEST_CASE("pages that do not advance are a failure, not a loop") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.override_answer = [&](const std::string& method, const Params&) {
    const std::string same = R"({"ok":true,"messages":[],"has_more":true,"response_metadata":{"next_cursor":"x"}})";
    return method == "conversations.history" ? std::optional(FakeAnswer{200, same, {}, {}, "", -1}) : std::nullopt;
  };
  rig.pass();
  CHECK(rig.store.reports.count(kA) == 1);
}

TEST_CASE("history that Slack cuts short without a cursor is kept, and nothing is swept by it") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.say_many(kA, 5);
  rig.pass();
  rig.override_answer = [&](const std::string& method, const Params&) {
    const std::string cut = R"({"ok":true,"messages":[],"has_more":true,"is_limited":true})";
    return method == "conversations.history" ? std::optional(FakeAnswer{200, cut, {}, {}, "", -1}) : std::nullopt;
  };
  rig.next_pass();
  CHECK(rig.replica_size() == 5);
  CHECK(rig.store.reports.empty());
}

TEST_CASE("a rate limit of one stream does not hold up the others") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.say_many(kA, 3);
  rig.override_answer = [&](const std::string& method, const Params&) {
    return method == "conversations.history" ? std::optional(FakeAnswer{429, "", {{"Retry-After", "40"}}, {}, "", -1})
                                             : std::nullopt;
  };
  const auto step = rig.step();
  CHECK(step.next == KRUX_SYNC_WAIT);
  CHECK(step.wait_ms == 40'000);
  CHECK(rig.store.rows(slack::kChannels).size() == 1);
  CHECK(rig.store.rows(slack::kUsers).size() == 1);
  CHECK(rig.calls("conversations.history") == 1);
  CHECK(rig.store.reports.empty());
  rig.override_answer = nullptr;
  rig.host.clock.advance(step.wait_ms);
  rig.pass();
  CHECK(rig.differences().empty());
}

TEST_CASE("a cancelled call ends between two requests") {
  Rig rig;
  rig.add_channel(kA, "general");
  kruxos::testing::FakeCall call(rig.host.clock);
  call.cancelled = true;
  slack::Sync sync(rig.client, rig.host.host(), {}, *rig.changes);
  auto store = rig.store.store();
  CHECK_THROWS_AS(sync.step(call.call(), store), kruxos::ProxyError);
  CHECK(rig.host.requests.empty());
}

}  // namespace KRUXOS_TEST_FILE
