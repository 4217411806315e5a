// What fails ends as little as it can.
#include <catch2/catch.hpp>

#include "sync.hpp"
#include "test_support/rig.hpp"

using gmail::Rig;
using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;

namespace {

ErrorKind failure_of(Rig& rig) {
  try {
    rig.pass();
  } catch (const kruxos::ProxyError& error) {
    return error.kind();
  }
  return ErrorKind::kInternal;
}

/// Requests for this message are answered so.
std::function<std::optional<FakeAnswer>(const kruxos::testing::FakeRequest&)> answer_to(const std::string& id,
                                                                                        FakeAnswer answer) {
  return [id, answer](const kruxos::testing::FakeRequest& request) -> std::optional<FakeAnswer> {
    if (request.url.find("messages/" + id) == std::string::npos) return std::nullopt;
    return answer;
  };
}

constexpr const char* kPart = "messages that cannot be read";

}  // namespace

TEST_CASE("a message that cannot be read keeps no other out, is told, and read when it can be") {
  for (const auto& answer : {FakeAnswer::with(200, "<html>"), FakeAnswer::json(200, "{}"), FakeAnswer::json(500, "{}"),
                             FakeAnswer::json(400, "{}"), FakeAnswer::dropped(),
                             FakeAnswer::json(200, R"({"id":"other","internalDate":"1"})")}) {
    INFO(answer.status << answer.body);
    Rig rig;
    const auto ids = rig.arrive_many(10);
    rig.override_answer = answer_to(ids[4], answer);
    rig.pass();
    CHECK(rig.replica_size() == 9);
    REQUIRE(rig.store.reports.contains(kPart));
    CHECK(rig.store.reports.at(kPart).message.find(ids[4]) != std::string::npos);
    rig.override_answer = nullptr;
    rig.next_pass();
    CHECK(rig.differences() == "");
    CHECK(rig.store.reports.empty());
  }
}

TEST_CASE("it is tried so often and no more, until the mailbox is compared") {
  Rig rig;
  const auto ids = rig.arrive_many(3);
  rig.override_answer = answer_to(ids[1], FakeAnswer::with(200, "no"));
  rig.pass();
  for (int i = 0; i < 10; ++i) rig.next_pass();
  CHECK(rig.calls("messages/" + ids[1]) == gmail::Unreadable::kMostTries);
  CHECK(rig.store.reports.contains(kPart));
  rig.override_answer = nullptr;
  rig.next_pass(7 * 86'400'000LL);
  CHECK(rig.differences() == "");
  CHECK(rig.store.reports.empty());
}

TEST_CASE("a message that is gone when it is fetched is no failure") {
  Rig rig;
  const auto ids = rig.arrive_many(5);
  rig.override_answer = answer_to(ids[2], FakeAnswer::json(404, "{}"));
  rig.pass();
  CHECK(rig.replica_size() == 4);
  CHECK(rig.store.reports.empty());
}

TEST_CASE("a record that the host does not take is told") {
  Rig rig;
  const auto ids = rig.arrive_many(3);
  rig.store.refuse_put = [&](const krux_record& record) {
    return kruxos::from_abi(record.id) == ids[0] ? KRUX_INVALID : KRUX_OK;
  };
  rig.pass();
  CHECK(rig.replica_size() == 2);
  CHECK(rig.store.reports.contains(kPart));
}

TEST_CASE("a label is forgotten, also where the host does not take one of its messages") {
  Rig rig;
  emu::Label label;
  label.name = "Trips";
  const auto id = rig.mailbox().add_label(label).id;
  const auto ids = rig.arrive_many(450);
  for (const auto& one : ids) rig.modify(one, {id}, {});
  rig.pass();
  REQUIRE(rig.replica(ids[0])->has(id));
  rig.mailbox().erase_label(id);
  int asked = 0;
  rig.store.refuse_put = [&](const krux_record& record) {
    const auto name = kruxos::from_abi(record.id);
    if (name != ids[7] && name != ids[449]) return KRUX_OK;
    return ++asked > 100 ? KRUX_STORAGE : KRUX_INVALID;  // a pass that goes on for ever ends
  };
  rig.next_pass(7 * 86'400'000LL);
  for (const auto& one : ids) {
    const bool kept = one == ids[7] || one == ids[449];
    CHECK(rig.replica(one)->has(id) == kept);
  }
  CHECK_FALSE(rig.store.rows(gmail::kLabels).contains(id));
}

TEST_CASE("when nothing is answered any more, the pass ends and goes on later") {
  Rig rig;
  rig.arrive_many(30);
  rig.override_answer = [&](const auto& request) -> std::optional<FakeAnswer> {
    if (rig.gets() < 12 || request.url.find("?format=full") == std::string::npos) return std::nullopt;
    return FakeAnswer::json(503, "{}");
  };
  CHECK(failure_of(rig) == ErrorKind::kUnavailable);
  CHECK(rig.replica_size() > 5);
  rig.override_answer = nullptr;
  rig.reset_calls();
  rig.next_pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gets() <= 25);
}

TEST_CASE("answers without sense to a whole chunk are the service's failure") {
  Rig rig;
  rig.arrive_many(30);
  rig.override_answer = [](const auto& request) -> std::optional<FakeAnswer> {
    if (request.url.find("?format=full") == std::string::npos) return std::nullopt;
    return FakeAnswer::with(200, "<html>Sign in to the hotel's network");
  };
  CHECK(failure_of(rig) == ErrorKind::kUnavailable);
  rig.override_answer = nullptr;
  rig.next_pass();
  CHECK(rig.differences() == "");
}

TEST_CASE("a refused token ends the pass as such") {
  Rig rig;
  rig.arrive_many(3);
  rig.gmail.state.tokens.revoke(emu::kToken);
  CHECK(failure_of(rig) == ErrorKind::kAuth);
}

TEST_CASE("every kind of refusal for the quota makes the sync wait") {
  const auto limited = [](const std::string& reason, int status) {
    return FakeAnswer::json(status, R"({"error":{"code":403,"message":"x","errors":[{"reason":")" + reason + "\"}]}}");
  };
  for (const auto& answer :
       {limited("userRateLimitExceeded", 403), limited("rateLimitExceeded", 403), limited("rateLimitExceeded", 429),
        FakeAnswer::rate_limited(3), FakeAnswer::failed(ErrorKind::kRateLimited, "wait", 2'500)}) {
    for (const char* part : {"gmail/v1/users/me/labels", "gmail/v1/users/me/profile", "gmail/v1/users/me/messages?",
                             "?format=full", "history"}) {
      INFO(part << answer.body);
      Rig rig;
      rig.arrive_many(10);
      int left = 3;
      rig.override_answer = [&](const auto& request) -> std::optional<FakeAnswer> {
        if (left == 0 || request.url.find(part) == std::string::npos) return std::nullopt;
        --left;
        return answer;
      };
      bool waited = false;
      for (int steps = 0; steps < 50; ++steps) {
        const auto step = rig.step();
        waited = waited || step.next == KRUX_SYNC_WAIT;
        if (step.next == KRUX_SYNC_DONE) break;
        if (step.next == KRUX_SYNC_WAIT) {
          CHECK(step.wait_ms >= 100);
          rig.host.clock.advance(step.wait_ms);
        }
      }
      CHECK(waited);
      CHECK(rig.differences() == "");
    }
  }
}

TEST_CASE("the sync stays within the quota and gets through") {
  Rig rig;
  rig.arrive_many(400);
  rig.gmail.state.quota.units_per_minute = 1'000;
  rig.pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gmail.state.quota.max_per_minute("agent@example.com") <= 1'000);
}

TEST_CASE("a cancelled step stops and loses nothing") {
  Rig rig;
  rig.arrive_many(10);
  kruxos::testing::FakeCall call(rig.host.clock);
  call.cancelled = true;
  auto lent = rig.store.store();
  gmail::Sync sync(rig.client, rig.host.host(), {});
  CHECK_THROWS_AS(sync.step(call.call(), lent), kruxos::ProxyError);
  rig.store.drop_uncommitted();
  rig.pass();
  CHECK(rig.differences() == "");
}

TEST_CASE("a commit that fails loses nothing") {
  Rig rig;
  rig.arrive_many(60);
  int commits = 0;
  rig.store.refuse_commit = [&]() -> krux_status { return ++commits % 3 == 0 ? KRUX_STORAGE : KRUX_OK; };
  for (int i = 0; i < 60; ++i) {
    try {
      if (rig.step().next == KRUX_SYNC_DONE) break;
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == ErrorKind::kStorage);
    }
  }
  CHECK(rig.differences() == "");
}

TEST_CASE("history records out of order and malformed ones are taken as far as they go") {
  Rig rig;
  const auto ids = rig.arrive_many(3);
  rig.pass();
  rig.override_answer = [&](const auto& request) -> std::optional<FakeAnswer> {
    if (request.url.find("gmail/v1/users/me/history") == std::string::npos) return std::nullopt;
    const auto message = R"({"message":{"id":")" + ids[0] + "\"},\"labelIds\":[\"STARRED\"]}";
    return FakeAnswer::json(
        200, R"({"historyId":"18014398509999999","history":[7,{"id":"x"},{"id":"30","labelsAdded":[)" + message +
                 R"(]},{"id":"20","labelsRemoved":[)" + message +
                 R"(]},{"id":"25","labelsAdded":[{"message":7},{"labelIds":["A"]},null]},)" +
                 R"({"id":"26","messagesAdded":{},"messagesDeleted":["x"]}]})");
  };
  rig.next_pass();
  CHECK(rig.replica(ids[0])->has("STARRED"));
  CHECK(rig.replica_size() == 3);
}

TEST_CASE("a page without records though others follow is no end") {
  Rig rig;
  const auto ids = rig.arrive_many(3);
  rig.pass();
  rig.modify(ids[0], {"STARRED"}, {});
  bool first = true;
  rig.override_answer = [&](const auto& request) -> std::optional<FakeAnswer> {
    if (request.url.find("gmail/v1/users/me/history") == std::string::npos) return std::nullopt;
    if (request.url.find("pageToken=p2") != std::string::npos) {
      return FakeAnswer::json(200, R"({"historyId":"18014398509999999","history":[{"id":"9","labelsAdded":[{"message":)"
                                   R"({"id":")" +
                                       ids[0] + R"("},"labelIds":["STARRED"]}]}]})");
    }
    first = false;
    return FakeAnswer::json(200, R"({"nextPageToken":"p2","historyId":"18014398509999999"})");
  };
  rig.next_pass();
  CHECK_FALSE(first);
  CHECK(rig.replica(ids[0])->has("STARRED"));
}

TEST_CASE("cursors of another make begin anew") {
  for (const char* cursor : {"nonsense", "[]", "{}", R"({"phase":99,"history_id":7})", R"({"phase":-3})"}) {
    INFO(cursor);
    Rig rig;
    rig.arrive_many(3);
    rig.store.cursors["sync"] = cursor;
    rig.store.cursors["unread"] = "{";
    for (int i = 0; i < 5 && !rig.differences().empty(); ++i) {
      try {
        rig.pass();
      } catch (const kruxos::ProxyError&) {
        rig.store.cursors.clear();
      }
    }
    CHECK(rig.differences() == "");
  }
}
