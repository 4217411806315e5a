// The first sync, and what the history brings after it.
#include "sync.hpp"

#include <catch2/catch.hpp>

#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using gmail::Rig;

namespace {

gmail::SyncOptions pages_of(int size) {
  gmail::SyncOptions options;
  options.page_size = size;
  options.side_by_side = 4;
  return options;
}

}  // namespace

TEST_CASE("the first pass brings every message and every label") {
  Rig rig(pages_of(7));
  rig.arrive_many(30);
  rig.arrive("Spam", {"SPAM"});
  rig.arrive("Trash", {"TRASH"});
  const auto done = rig.pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 32);
  CHECK(done.parts_done == 32);
  CHECK(done.complete_through_ms > 0);
  CHECK(rig.store.reports.empty());
}

TEST_CASE("an empty mailbox is in order") {
  Rig rig;
  rig.pass();
  CHECK(rig.differences() == "");
  rig.next_pass();
  CHECK(rig.differences() == "");
}

TEST_CASE("the newest messages come first") {
  Rig rig(pages_of(50));
  const auto ids = rig.arrive_many(20);
  rig.override_answer = [&](const auto& request) -> std::optional<kruxos::testing::FakeAnswer> {
    const bool enough = rig.calls("?format=full") > 8;
    if (enough && request.url.find("?format=full") != std::string::npos)
      return kruxos::testing::FakeAnswer::rate_limited(10);
    return std::nullopt;
  };
  CHECK(rig.step().next == KRUX_SYNC_WAIT);
  CHECK(rig.replica_size() == 8);
  CHECK(rig.replica(ids.back()));
  CHECK_FALSE(rig.replica(ids.front()));
}

TEST_CASE("a quiet mailbox costs two requests a pass") {
  Rig rig;
  rig.arrive_many(10);
  rig.pass();
  rig.reset_calls();
  rig.next_pass();
  CHECK(rig.host.requests.size() == 2);
  CHECK(rig.calls("gmail/v1/users/me/labels") == 1);
  CHECK(rig.calls("gmail/v1/users/me/history") == 1);
}

TEST_CASE("changes of labels need no message to be fetched, additions one each") {
  Rig rig(pages_of(3));
  const auto ids = rig.arrive_many(10);
  rig.pass();
  rig.reset_calls();
  for (const auto& id : ids) rig.modify(id, {"STARRED"}, {"UNREAD"});
  rig.modify(ids[0], {}, {"STARRED"});
  rig.erase(ids[1]);
  const auto added = rig.arrive("New");
  rig.modify(added, {"IMPORTANT"}, {});
  rig.next_pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 1);
}

TEST_CASE("a message that comes and goes between two passes is gone") {
  Rig rig;
  rig.arrive_many(3);
  rig.pass();
  rig.reset_calls();
  rig.erase(rig.arrive("Short"));
  const auto moved = rig.arrive("Moved");
  rig.modify(moved, {"TRASH"}, {"INBOX"});
  rig.next_pass();
  CHECK(rig.differences() == "");
  CHECK(rig.gets() == 1);
}

TEST_CASE("new mail appears while the first pass goes on, and its history does not grow old") {
  Rig rig(pages_of(10));
  rig.arrive_many(200);
  // Each request for a message takes a second.
  rig.override_answer = [&](const auto& request) -> std::optional<kruxos::testing::FakeAnswer> {
    if (request.url.find("?format=full") != std::string::npos) rig.host.clock.advance(1'000);
    return std::nullopt;
  };
  for (int i = 0; i < 6; ++i) rig.step();
  const auto early = rig.arrive("Early");
  bool seen = false;
  for (int i = 0; i < 20 && !seen; ++i) {
    rig.step();
    seen = rig.replica(early).has_value();
  }
  CHECK(seen);
  CHECK(rig.replica_size() < 200);
  rig.pass();
  CHECK(rig.differences() == "");
}

TEST_CASE("progress is told") {
  Rig rig(pages_of(10));
  rig.arrive_many(35);
  rig.override_answer = [&](const auto&) -> std::optional<kruxos::testing::FakeAnswer> {
    rig.host.clock.advance(1'000);
    return std::nullopt;
  };
  const auto first = rig.step();
  CHECK(first.parts_total == 35);
  CHECK(first.parts_done < 35);
}

TEST_CASE("a label that was deleted is on no message any more") {
  Rig rig;
  emu::Label label;
  label.name = "Clients";
  const auto id = rig.mailbox().add_label(label).id;
  for (int i = 0; i < 5; ++i) rig.arrive("Mail", {"INBOX", id});
  rig.pass();
  REQUIRE(rig.differences().empty());
  rig.mailbox().erase_label(id);
  rig.next_pass();
  CHECK(rig.differences() == "");
}

TEST_CASE("a label's new name is known with the next pass") {
  Rig rig;
  emu::Label label;
  label.name = "Clients";
  auto known = rig.mailbox().add_label(label);
  rig.pass();
  known.name = "Customers";
  rig.mailbox().change_label(known);
  rig.next_pass();
  const auto stored = gmail::label_from_record(rig.store.rows(gmail::kLabels).at(known.id).json);
  CHECK(stored->name == "Customers");
}

TEST_CASE("older messages are left out where the configuration says so") {
  auto options = pages_of(5);
  options.keep_ms = 86'400'000;
  Rig rig(options);
  const auto old = rig.arrive("Old");
  rig.host.clock.advance(2 * 86'400'000LL);
  const auto recent = rig.arrive("Recent");
  rig.pass();
  CHECK_FALSE(rig.replica(old));
  CHECK(rig.replica(recent));
  rig.modify(old, {"STARRED"}, {});
  rig.next_pass();
  CHECK_FALSE(rig.replica(old));
}

TEST_CASE("bodies come with the messages where the configuration says so") {
  gmail::SyncOptions options;
  options.fetch_bodies = true;
  Rig rig(options);
  const auto id = rig.arrive("Plans");
  rig.pass();
  CHECK(rig.store.reader().blob(gmail::kMessages, id, "body").value_or("").find("The text of mail 1.") !=
        std::string::npos);
  kruxos::Query query;
  query.collection = gmail::kMessages;
  query.where = kruxos::contains_text("text of mail");
  CHECK(rig.store.reader().query(query, [](const auto&) { return true; }).total == 1);
  rig.modify(id, {"STARRED"}, {});
  rig.next_pass();
  CHECK(rig.store.reader().query(query, [](const auto&) { return true; }).total == 1);
}

}  // namespace KRUXOS_TEST_FILE
