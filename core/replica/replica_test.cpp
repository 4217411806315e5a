#include "core/replica/replica.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/replica/replica_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using Ids = std::vector<std::string>;

TEST_CASE("a page and its cursor become visible together") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1000, "Hello"));
  session->set_cursor("general", "c1");
  CHECK(everything(r).empty());
  CHECK_FALSE(session->cursor("general"));
  session->commit();
  CHECK(everything(r) == Ids{"a"});
  CHECK(session->cursor("general") == "c1");
  CHECK(ask(*session->reader(), messages_where({})).ids == Ids{"a"});
  session->put(message("b", 2000, "Lost"));
  session->set_cursor("general", "");
  session.reset();
  CHECK(everything(r) == Ids{"a"});
  r.open();
  CHECK(everything(r) == Ids{"a"});
  auto next = r.store->begin_session();
  CHECK(next->cursor("general") == "c1");
  next->set_cursor("general", "");
  next->commit();
  CHECK_FALSE(next->cursor("general"));
}

TEST_CASE("the search index takes a page at once, and follows what changes and goes") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  for (int i = 0; i < 100; ++i) session->put(message("m" + std::to_string(i), 1000 + i, "word" + std::to_string(i)));
  session->commit();
  {
    SQLite::Database db(r.file.string(), SQLite::OPEN_READONLY);
    CHECK(db.execAndGet("SELECT count(DISTINCT segid) FROM t_messages_idx").getInt() == 1);
  }
  for (int i = 0; i < 100; i += 2) session->put(message("m" + std::to_string(i), 1000 + i, "other"));
  for (int i = 1; i < 100; i += 4) session->erase("messages", "m" + std::to_string(i));
  session->commit();
  check_index(r.file);
}

TEST_CASE("a reader keeps its view, and outlives the store") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1000, "one"));
  session->commit();
  auto before = r.store->reader();
  CHECK(ask(*before, messages_where({})).ids == Ids{"a"});
  session->put(message("b", 2000, "two"));
  session->commit();
  CHECK(ask(*before, messages_where({})).ids == Ids{"a"});
  CHECK(everything(r) == Ids{"b", "a"});
  session.reset();
  r.store.reset();
  CHECK(ask(*before, messages_where({})).ids == Ids{"a"});
}

TEST_CASE("a session's reader sees each commit, also when it was asked for before") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  const auto reader = session->reader();
  CHECK(ask(*reader, messages_where({})).ids.empty());
  session->put(message("a", 1000, "one"));
  CHECK(ask(*reader, messages_where({})).ids.empty());
  session->commit();
  CHECK(ask(*reader, messages_where({})).ids == Ids{"a"});
}

TEST_CASE("a reader may be used again from within its own callback") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  for (int i = 0; i < 5; ++i) session->put(message(std::to_string(i), i, "text"));
  session->commit();
  auto reader = r.store->reader();
  Ids seen;
  reader->query(messages_where(text_is("text")), [&](const RowView& row) {
    CHECK(ask(*reader, messages_where(text_is("text"))).ids.size() == 5);
    CHECK(reader->get("messages", "0", [](const RowView&) { return true; }));
    seen.emplace_back(row.id);
    return true;
  });
  CHECK(seen == Ids{"4", "3", "2", "1", "0"});
}

TEST_CASE("what a put changes is counted, and what it leaves as it was is only marked as seen") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  const auto put = [&](Record record) {
    const auto before = session->changes();
    session->put(std::move(record));
    session->commit();
    const auto after = session->changes();
    return std::array{after.added - before.added, after.updated - before.updated, after.unchanged - before.unchanged};
  };
  using Counted = std::array<std::uint64_t, 3>;
  CHECK(put(message("a", 1000, "one")) == Counted{1, 0, 0});
  r.clock.advance(5000);
  CHECK(put(message("a", 1000, "one", "general", 2)) == Counted{0, 0, 1});
  std::int64_t synced = 0;
  r.store->reader()->get("messages", "a", [&](const RowView& row) {
    synced = row.synced_at_ms;
    return true;
  });
  CHECK(synced == r.clock.wall_ms());
  CHECK(put(message("a", 1000, "two")) == Counted{0, 1, 0});
  CHECK(put(message("a", 1000, "two", "random")) == Counted{0, 1, 0});
  CHECK(put(message("a", 999, "two", "random")) == Counted{0, 1, 0});
  CHECK(r.store->counts().at("messages") == 1);
  CHECK(ask(*r.store->reader(), messages_where(text_is("one"))).ids.empty());
  CHECK(ask(*r.store->reader(), messages_where(text_is("two"))).ids == Ids{"a"});
  session->put(message("b", 5, "x"));
  session->erase("messages", "a");
  session->erase("messages", "never there");
  session->commit();
  CHECK(session->changes().removed == 1);
  CHECK(everything(r) == Ids{"b"});
  r.open();
  CHECK(r.store->counts().at("messages") == 1);
  check_index(r.file);
}

TEST_CASE("the last change of a record within a commit counts") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1, "first"));
  session->erase("messages", "a");
  session->put(message("a", 2, "second"));
  session->put(message("b", 3, "third"));
  session->erase("messages", "b");
  session->commit();
  CHECK(everything(r) == Ids{"a"});
  CHECK(ask(*r.store->reader(), messages_where(text_is("second"))).ids == Ids{"a"});
}

TEST_CASE("order is exact to the millisecond, with room for many in one") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("b", 1'700'000'000'001, "x"));
  session->put(message("d", 1'699'999'999'999, "x"));
  session->put(message("a", 1'700'000'000'002, "x"));
  session->put(message("c", 1'700'000'000'000, "x"));
  session->put(message("old", -5'000'000'000'000, "x"));
  session->commit();
  CHECK(everything(r) == Ids{"a", "b", "c", "d", "old"});
  auto query = messages_where({});
  query.descending = false;
  CHECK(ask(*r.store->reader(), query).ids == Ids{"old", "d", "c", "b", "a"});
  query.from_ms = 1'700'000'000'000;
  query.to_ms = 1'700'000'000'001;
  CHECK(ask(*r.store->reader(), query).ids == Ids{"c", "b"});
  for (int i = 0; i < 3000; ++i) session->put(message("same" + std::to_string(i), 7, "x"));
  session->commit();
  query.from_ms = query.to_ms = 7;
  CHECK(ask(*r.store->reader(), query).result.total == 1000);
  CHECK(ask(*r.store->reader(), query).result.total_is_lower_bound);
}

TEST_CASE("a sweep removes what a pass did not see, in its scope and range alone") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  for (int i = 0; i < 6; ++i) session->put(message("g" + std::to_string(i), 1000 + i, "text", "general", 1));
  session->put(message("r0", 1002, "text", "random", 1));
  session->commit();
  session->put(message("g2", 1002, "text", "general", 2));
  session->sweep("messages", "general", 2, 1001, 1004);
  session->put(message("late", 1003, "text", "general", 1));
  session->commit();
  CHECK(everything(r) == Ids{"g5", "late", "g2", "r0", "g0"});
  CHECK(session->changes().removed == 3);
  session->sweep("messages", "", 2, INT64_MIN, INT64_MAX);
  session->commit();
  CHECK(everything(r) == Ids{"g2"});
  session->sweep("messages", "general", 99, 5, 4);
  session->commit();
  CHECK(everything(r) == Ids{"g2"});
  CHECK(r.store->counts().at("messages") == 1);
  check_index(r.file);
}

TEST_CASE("a collection ordered by key") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  for (const auto* name : {"mia", "Ann", "zoe", "bob"}) {
    Record person;
    person.collection = "people";
    person.id = person.order_key = person.text = name;
    person.json = "{}";
    person.fields = {{"team", std::string(name[0] < 'c' ? "red" : "blue")}};
    session->put(person);
  }
  session->commit();
  Query q;
  q.collection = "people";
  q.descending = false;
  CHECK(ask(*r.store->reader(), q).ids == Ids{"Ann", "bob", "mia", "zoe"});
  q.where = field_is("team", "red");
  q.descending = true;
  CHECK(ask(*r.store->reader(), q).ids == Ids{"bob", "Ann"});
  q.where = text_is("O");
  CHECK(ask(*r.store->reader(), q).ids == Ids{"zoe", "bob"});
  q.offset = 1;
  CHECK(ask(*r.store->reader(), q).ids == Ids{"bob"});
}

TEST_CASE("a changed version or shape asks for a full pass, and no cursor stays") {
  ReplicaFixture r;
  {
    auto session = r.store->begin_session();
    session->put(message("a", 1, "x"));
    Record person;
    person.collection = "people";
    person.id = "p";
    person.json = "{}";
    session->put(person);
    session->set_cursor("c", "v");
    session->put_blob("messages", "a", "body", -1, from("bytes", 2));
    session->commit();
  }
  CHECK(r.store->next_generation() == 1);
  r.clock.advance(1000);
  r.store->finish_pass(true, 77);
  r.open();
  CHECK(r.store->state().full_done);
  CHECK(r.store->state().complete_through_ms == 77);
  CHECK(r.store->state().last_sync_ms == r.clock.wall_ms());
  r.open(mail_collections(2));
  CHECK_FALSE(r.store->state().full_done);
  CHECK(everything(r) == Ids{"a"});
  CHECK(r.store->counts() == std::map<std::string, std::int64_t>{{"messages", 1}, {"people", 1}});
  CHECK_FALSE(r.store->begin_session()->cursor("c"));
  CHECK(r.store->next_generation() == 2);
  r.store->finish_pass(true, 78);
  CHECK(everything(r).empty());
  CHECK(blob_of(*r.store->reader(), "a", "body") == "<none>");
  auto fewer = mail_collections(2);
  fewer.pop_back();
  fewer[0].fields.pop_back();
  r.open(fewer);
  CHECK_FALSE(r.store->state().full_done);
  CHECK(r.store->counts() == std::map<std::string, std::int64_t>{{"messages", 0}});
}

TEST_CASE("a cursor that expired asks for a full pass and keeps the rows") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1, "x"));
  session->set_cursor("c", "v");
  session->commit();
  r.store->finish_pass(true, 5);
  r.store->require_full_sync();
  CHECK_FALSE(r.store->state().full_done);
  CHECK_FALSE(session->cursor("c"));
  CHECK(everything(r) == Ids{"a"});
}

TEST_CASE("problems of parts are durable until the part works again") {
  ReplicaFixture r;
  const auto start = r.clock.wall_ms();
  r.store->begin_session()->report("C1", KRUX_NETWORK, "no answer");
  r.clock.advance(1000);
  r.open();
  auto session = r.store->begin_session();
  session->report("C1", KRUX_RATE_LIMITED, std::string("bad \xff bytes"));
  session->report("C2", KRUX_OK, "");
  const auto problems = r.store->problems();
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].status == KRUX_RATE_LIMITED);
  CHECK(problems[0].since_ms == start);
  CHECK(problems[0].seen_ms == start + 1000);
  CHECK(problems[0].message == "bad \\xff bytes");
  session->report("C1", KRUX_OK, "");
  CHECK(r.store->problems().empty());
  r.open();
  CHECK(r.store->problems().empty());
}

TEST_CASE("problems of no more than 5000 parts are kept") {
  ReplicaFixture r;
  const auto session = r.store->begin_session();
  for (int i = 0; i < 5010; ++i) session->report("C" + std::to_string(i), KRUX_NETWORK, "no answer");
  CHECK(r.store->problems().size() == 5000);
  session->report("C7", KRUX_RATE_LIMITED, "too fast");  // known ones are told of as before
  session->report("C8", KRUX_OK, "");
  session->report("C5001", KRUX_NETWORK, "no answer");
  const auto problems = r.store->problems();
  CHECK(problems.size() == 5000);
  const auto status_of = [&](const char* part) {
    const auto found = std::find_if(problems.begin(), problems.end(), [&](const auto& p) { return p.part == part; });
    return found == problems.end() ? KRUX_OK : found->status;
  };
  CHECK(status_of("C7") == KRUX_RATE_LIMITED);
  CHECK(status_of("C8") == KRUX_OK);
  CHECK(status_of("C5001") == KRUX_NETWORK);
}

}  // namespace KRUXOS_TEST_FILE
