// What was known is not fetched again: after a kill, after the history was lost, and when the mailbox is compared.
#include <catch2/catch.hpp>

#include "sync.hpp"
#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using gmail::Rig;
using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;

namespace {

gmail::SyncOptions pages_of(int size) {
  gmail::SyncOptions options;
  options.page_size = size;
  options.side_by_side = 3;
  return options;
}

/// Every other list or history is refused as one that no longer exists.
std::function<std::optional<FakeAnswer>(const kruxos::testing::FakeRequest&)> without_history(int times) {
  return [left = times](const kruxos::testing::FakeRequest& request) mutable -> std::optional<FakeAnswer> {
    if (left == 0 || request.url.find("gmail/v1/users/me/history") == std::string::npos) return std::nullopt;
    --left;
    return FakeAnswer::json(404, R"({"error":{"code":404,"status":"NOT_FOUND","errors":[{"reason":"notFound"}]}})");
  };
}

}  // namespace

TEST_CASE("a pass that is killed at any step fetches each message once") {
  Rig rig(pages_of(10));
  rig.arrive_many(60);
  rig.override_answer = [&](const auto&) -> std::optional<FakeAnswer> {
    rig.host.clock.advance(400);
    return std::nullopt;
  };
  for (int i = 0; i < 200; ++i) {
    const auto step = rig.step();
    if (step.next == KRUX_SYNC_DONE) break;
    rig.restart();
  }
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 60);
}

TEST_CASE("a page of the list is asked for once, however many steps it takes to fetch it") {
  Rig rig(pages_of(50));
  rig.arrive_many(120);
  rig.override_answer = [&](const auto&) -> std::optional<FakeAnswer> {
    rig.host.clock.advance(1'000);
    return std::nullopt;
  };
  rig.pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 120);
  CHECK(rig.calls("users/me/messages?") == 3);
}

TEST_CASE("messages that come fast are committed by pages, slow ones as they come") {
  Rig rig(pages_of(500));
  rig.arrive_many(600);
  rig.pass();
  CHECK(rig.store.largest_commit >= 200);
  CHECK(rig.store.largest_commit < 250);
  CHECK(rig.store.commits < 20);
  CHECK(rig.differences() == "");

  Rig slow(pages_of(500));
  slow.arrive_many(60);
  slow.override_answer = [&](const auto&) -> std::optional<FakeAnswer> {
    slow.host.clock.advance(700);
    return std::nullopt;
  };
  slow.pass();
  CHECK(slow.store.commits > 20);
  CHECK(slow.differences() == "");
}

TEST_CASE("what was fetched before a refusal is not fetched again") {
  Rig rig(pages_of(50));
  const auto ids = rig.arrive_many(40);
  rig.override_answer = [&](const auto& request) -> std::optional<FakeAnswer> {
    if (request.url.find("messages/" + ids[5]) == std::string::npos) return std::nullopt;
    return FakeAnswer::json(429, R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}})");
  };
  rig.step();
  const auto known = rig.replica_size();
  CHECK(known >= 30);
  rig.override_answer = nullptr;
  rig.restart();
  rig.reset_calls();
  rig.pass();
  CHECK(rig.gets() == 40 - known);
  CHECK(rig.differences() == "");
}

TEST_CASE("a lost history is met by comparing, and no known message is fetched") {
  Rig rig(pages_of(10));
  const auto ids = rig.arrive_many(40);
  rig.pass();
  rig.reset_calls();
  for (int i = 0; i < 20; ++i) rig.modify(ids[static_cast<std::size_t>(i)], {"STARRED"}, {"UNREAD", "INBOX"});
  rig.erase(ids[39]);
  rig.arrive("New");
  rig.mailbox().expire_history();
  rig.next_pass();
  CHECK(rig.full_passes() == 1);
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 1);
}

TEST_CASE("a lost history is met by comparing though the host is killed in the midst of it") {
  Rig rig(pages_of(10));
  rig.arrive_many(5);
  rig.pass();
  rig.arrive("New");
  rig.mailbox().expire_history();
  rig.host.clock.advance(120'000);
  rig.step();
  rig.restart();
  rig.pass();
  CHECK(rig.differences() == "");
}

TEST_CASE("what changes while the mailbox is compared is not undone by it") {
  auto options = pages_of(5);
  Rig rig(options);
  const auto ids = rig.arrive_many(40);
  rig.pass();
  rig.mailbox().expire_history();
  int changes = 0;
  rig.override_answer = [&](const auto& request) -> std::optional<FakeAnswer> {
    rig.host.clock.advance(30'000);
    if (request.url.find("gmail/v1/users/me/messages?") == std::string::npos) return std::nullopt;
    const auto& id = ids[static_cast<std::size_t>(++changes) % ids.size()];
    rig.modify(id, {changes % 2 ? "STARRED" : "IMPORTANT"}, {changes % 3 ? "UNREAD" : "INBOX"});
    if (changes % 5 == 0) rig.arrive("During", {"INBOX", "STARRED"});
    return std::nullopt;
  };
  rig.next_pass();
  rig.override_answer = nullptr;
  CHECK(changes > 10);
  rig.next_pass();
  CHECK(rig.differences() == "");
}

TEST_CASE("a history that is lost in the first pass begins it anew, without fetching again") {
  Rig rig(pages_of(10));
  rig.arrive_many(50);
  rig.override_answer = [&](const auto&) -> std::optional<FakeAnswer> {
    rig.host.clock.advance(1'000);
    return std::nullopt;
  };
  rig.step();
  rig.step();
  REQUIRE(rig.replica_size() > 0);
  REQUIRE(rig.replica_size() < 50);
  rig.arrive("New");
  rig.mailbox().expire_history();
  rig.pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 51);
}

TEST_CASE("a history that is never there ends the pass, and is not compared for ever") {
  Rig rig(pages_of(10));
  rig.arrive_many(5);
  rig.override_answer = without_history(-1);
  CHECK_THROWS_AS(rig.pass(), kruxos::ProxyError);
  const auto lists = rig.calls("gmail/v1/users/me/messages?");
  CHECK(lists < 80);
  // And once it is there again, all is well.
  rig.override_answer = nullptr;
  rig.next_pass();
  CHECK(rig.differences() == "");
}

TEST_CASE("a history that is lost again and again is compared seldom") {
  Rig rig(pages_of(10));
  rig.arrive_many(5);
  rig.pass();
  int compared = 0;
  for (int passes = 0; passes < 72; ++passes) {  // a day, every 20 minutes
    rig.override_answer = without_history(1);
    const auto before = rig.full_passes();
    try {
      rig.next_pass(20 * 60'000);
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == ErrorKind::kUnavailable);
    }
    compared += rig.full_passes() != before;
  }
  CHECK(compared >= 2);
  CHECK(compared <= 6);
}

TEST_CASE("the mailbox is compared once a week, and what the history did not tell is made good") {
  Rig rig(pages_of(10));
  const auto ids = rig.arrive_many(20);
  rig.pass();
  // Changed behind the history's back.
  auto damaged = *rig.replica(ids[3]);
  damaged.labels = {"TRASH"};
  auto to = rig.store.store();
  to.put(gmail::message_record(damaged));
  to.erase(gmail::kMessages, ids[4]);
  to.commit();
  rig.next_pass();
  CHECK_FALSE(rig.differences().empty());
  rig.reset_calls();
  rig.next_pass(7 * 86'400'000LL);
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 1);
}

TEST_CASE("a page's token that is no longer known begins the list anew") {
  Rig rig(pages_of(5));
  rig.arrive_many(30);
  int refused = 0;
  rig.override_answer = [&](const auto& request) -> std::optional<FakeAnswer> {
    const bool page = request.url.find("gmail/v1/users/me/messages?") != std::string::npos &&
                      request.url.find("pageToken") != std::string::npos;
    if (!page || ++refused != 3) return std::nullopt;
    return FakeAnswer::json(400, R"({"error":{"code":400,"message":"Invalid pageToken"}})");
  };
  rig.pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 30);
}

TEST_CASE("pages that do not advance end the pass") {
  Rig rig(pages_of(5));
  rig.override_answer = [&](const auto& request) -> std::optional<FakeAnswer> {
    if (request.url.find("gmail/v1/users/me/messages?") == std::string::npos) return std::nullopt;
    return FakeAnswer::json(200, R"({"messages":[],"nextPageToken":"same"})");
  };
  CHECK_THROWS_AS(rig.pass(), kruxos::ProxyError);
}

namespace {

/// Lists of all messages lack this one `times`, and each time another one is deleted meanwhile.
std::function<std::optional<FakeAnswer>(const kruxos::testing::FakeRequest&)> skipping(
    Rig& rig, std::string id, std::vector<std::string> deleted) {
  return [&rig, id, deleted](const kruxos::testing::FakeRequest& request) mutable -> std::optional<FakeAnswer> {
    const bool lists_all = request.url.find("gmail/v1/users/me/messages?") != std::string::npos &&
                           request.url.find("labelIds") == std::string::npos;
    if (!lists_all || deleted.empty()) return std::nullopt;
    rig.erase(deleted.back());
    deleted.pop_back();
    std::string ids;
    for (const auto& [key, message] : rig.mailbox().newest_first()) {
      if (const auto one = gmail::hex_of(message->id); one != id)
        ids += (ids.empty() ? "" : ",") + ("{\"id\":\"" + one) + "\"}";
    }
    return FakeAnswer::json(200, "{\"messages\":[" + ids + "]}");
  };
}

}  // namespace

TEST_CASE("a list that skipped a message while another was deleted is read again") {
  Rig rig;
  const auto ids = rig.arrive_many(10);
  rig.override_answer = skipping(rig, ids[3], {ids[7]});
  rig.pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 9);
}

TEST_CASE("a message that lists skip again and again is asked for before it is erased") {
  Rig rig;
  const auto ids = rig.arrive_many(10);
  rig.pass();
  const auto gone = rig.arrive("Deleted while the history was lost");
  rig.next_pass();
  rig.erase(gone);
  rig.mailbox().expire_history();
  rig.reset_calls();
  rig.override_answer = skipping(rig, ids[3], {ids[7], ids[8], ids[9]});
  rig.next_pass();
  CHECK(rig.differences() == "");
  CHECK(rig.replica(ids[3]));
  CHECK(rig.gets() <= 2);
}

}  // namespace KRUXOS_TEST_FILE
