// What fails ends as little as it can.
#include <catch2/catch.hpp>
#include <set>

#include "sync.hpp"
#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

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

/// Requests for these messages are answered so, as long as they stand there.
std::function<std::optional<FakeAnswer>(const kruxos::testing::FakeRequest&)> answers_without_sense_to(
    const std::set<std::string>& ids) {
  return [&ids](const kruxos::testing::FakeRequest& request) -> std::optional<FakeAnswer> {
    const auto& url = request.url;
    const auto from = url.rfind('/') + 1;
    if (!ids.contains(url.substr(from, url.find('?') - from))) return std::nullopt;
    return FakeAnswer::with(200, "no");
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
    REQUIRE(rig.store.left_out().size() == 1);
    CHECK(rig.store.left_out()[0].find(ids[4]) != std::string::npos);
    rig.override_answer = nullptr;
    rig.next_pass();
    CHECK(rig.differences() == "");
    CHECK(rig.store.reports.empty());
    CHECK(rig.store.left_out().empty());
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
  CHECK(rig.store.left_out().size() == 1);
  rig.override_answer = nullptr;
  rig.next_pass(7 * 86'400'000LL);
  CHECK(rig.differences() == "");
  CHECK(rig.store.reports.empty());
  CHECK(rig.store.left_out().empty());
}

TEST_CASE("a message that could not be read and is deleted is left out no longer") {
  for (const bool compared : {false, true}) {
    Rig rig;
    const auto ids = rig.arrive_many(3);
    rig.override_answer = answer_to(ids[1], FakeAnswer::with(200, "no"));
    rig.pass();
    CHECK(rig.store.left_out().size() == 1);
    rig.erase(ids[1]);
    rig.override_answer = nullptr;
    rig.next_pass(compared ? 8 * 86'400'000LL : 60'000);
    CHECK(rig.store.left_out().empty());
  }
}

TEST_CASE("however many messages cannot be read, each is left out until it is read or gone") {
  Rig rig;
  const auto ids = rig.arrive_many(2 * 250);
  std::set<std::string> unreadable;
  for (std::size_t i = 0; i < ids.size(); i += 2) unreadable.insert(ids[i]);
  rig.override_answer = answers_without_sense_to(unreadable);
  rig.pass();
  CHECK(rig.replica_size() == 250);
  CHECK(rig.store.left_out().size() == 250);
  rig.next_pass();
  CHECK(rig.store.left_out().size() == 250);

  // Of those that are still tried and of those that were given up, half go while nobody follows the history.
  for (std::size_t i = 0; i < ids.size(); i += 4) {
    rig.erase(ids[i]);
    unreadable.erase(ids[i]);
  }
  rig.mailbox().expire_history();
  int failures = 0;
  for (bool done = false; !done && failures < 10;) {
    try {
      rig.next_pass();
      done = true;
    } catch (const kruxos::ProxyError&) {
      ++failures;
    }
  }
  CHECK(failures <= 3);
  CHECK(rig.store.left_out().size() == 125);
  unreadable.clear();
  rig.next_pass(7 * 86'400'000LL);
  CHECK(rig.store.left_out().empty());
  CHECK(rig.differences() == "");
}

TEST_CASE("a comparison ends though all that is missing cannot be read") {
  Rig rig;
  const auto ids = rig.arrive_many(60);
  std::set<std::string> unreadable;
  for (std::size_t i = 0; i < ids.size(); i += 3) unreadable.insert(ids[i]);
  rig.override_answer = answers_without_sense_to(unreadable);
  rig.pass();
  rig.next_pass(7 * 86'400'000LL);
  CHECK(rig.full_passes() == 2);
  CHECK(rig.replica_size() == 40);
  CHECK(rig.store.left_out().size() == 20);
}

TEST_CASE("answers without sense are the service's failure though many messages cannot be read already") {
  Rig rig;
  const auto ids = rig.arrive_many(2 * 210);
  std::set<std::string> unreadable;
  for (std::size_t i = 0; i < ids.size(); i += 2) unreadable.insert(ids[i]);
  rig.override_answer = answers_without_sense_to(unreadable);
  rig.pass();
  rig.arrive_many(30);
  rig.override_answer = [](const auto& request) -> std::optional<FakeAnswer> {
    if (request.url.find("?format=full") == std::string::npos) return std::nullopt;
    return FakeAnswer::with(200, "<html>Sign in to the hotel's network");
  };
  rig.host.clock.advance(120'000);
  CHECK(failure_of(rig) == ErrorKind::kUnavailable);
  CHECK(rig.store.left_out().size() == 210);
}

TEST_CASE("a message that is found to be too old once it is read is left out no longer") {
  gmail::SyncOptions options;
  options.keep_ms = 86'400'000;
  Rig rig(options);
  rig.arrive("Recent");
  rig.pass();
  const auto id = rig.arrive("Imported");
  const auto old = R"({"id":")" + id + R"(","threadId":"t","internalDate":"1"})";
  rig.override_answer = answer_to(id, FakeAnswer::with(200, "no"));
  rig.next_pass();
  CHECK(rig.store.left_out().size() == 1);
  rig.override_answer = answer_to(id, FakeAnswer::json(200, old));
  rig.next_pass();
  CHECK_FALSE(rig.replica(id));
  CHECK(rig.store.left_out().empty());
  CHECK(rig.store.reports.empty());
}

TEST_CASE("what there is of a message stays when it cannot be read again") {
  Rig rig;
  const auto ids = rig.arrive_many(3);
  rig.pass();
  rig.override_answer = answer_to(ids[1], FakeAnswer::with(200, "no"));
  rig.next_pass(7 * 86'400'000LL);
  CHECK(rig.replica(ids[1]));
  CHECK(rig.store.left_out().empty());
}

TEST_CASE("a message that is gone when it is fetched is no failure") {
  Rig rig;
  const auto ids = rig.arrive_many(5);
  rig.override_answer = answer_to(ids[2], FakeAnswer::json(404, "{}"));
  rig.pass();
  CHECK(rig.replica_size() == 4);
  CHECK(rig.store.reports.empty());
}

TEST_CASE("a message that the replica leaves out keeps nothing else out, and its label can go") {
  Rig rig;
  emu::Label label;
  label.name = "Trips";
  const auto id = rig.mailbox().add_label(label).id;
  const auto ids = rig.arrive_many(450);
  for (const auto& one : ids) rig.modify(one, {id}, {});
  rig.store.leave_out = [&](const krux_record& record) {
    return kruxos::from_abi(record.id) == ids[7] ? "it is left out" : "";
  };
  rig.pass();
  CHECK(rig.replica_size() == 449);
  CHECK(rig.store.left_out() == std::vector<std::string>{"messages " + ids[7] + ": it is left out"});
  CHECK(rig.store.reports.empty());
  rig.mailbox().erase_label(id);
  rig.store.leave_out = [&](const krux_record& record) {
    return kruxos::from_abi(record.id) == ids[449] ? "it is left out now" : "";
  };
  rig.next_pass(7 * 86'400'000LL);
  CHECK_FALSE(rig.replica(ids[449]));
  CHECK_FALSE(rig.replica(ids[0])->has(id));
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

}  // namespace KRUXOS_TEST_FILE
