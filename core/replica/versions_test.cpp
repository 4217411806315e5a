// Another version of a collection is built beside the one that is there, and takes its place at the end of a full pass.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>

#include "core/replica/replica_fixture.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

using Names = std::vector<std::string>;

/// Messages whose JSON and text say which version has put them.
void put_messages(SyncSession& session, int version, int from, int to) {
  for (int i = from; i < to; ++i) {
    auto record = message(std::to_string(i), 1000 + i, "version" + std::to_string(version) + " word");
    record.json = R"({"v":)" + std::to_string(version) + "}";
    session.put(std::move(record));
  }
  session.commit();
}

void put_person(SyncSession& session, const std::string& id) {
  Record person;
  person.collection = "people";
  person.id = person.order_key = id;
  person.json = "{}";
  session.put(std::move(person));
  session.commit();
}

/// A replica of version 1 that a full pass has filled.
struct Filled : ReplicaFixture {
  Filled() {
    auto session = store->begin_session();
    put_messages(*session, 1, 0, 5);
    put_person(*session, "ann");
    session->set_cursor("messages/general", "v1");
    session->set_cursor("people", "p1");
    session->put_blob("messages", "0", "body", -1, from("first", 3));
    session->commit();
    store->finish_pass(true, kThrough);
    clock.advance(60'000);
  }
  static constexpr std::int64_t kThrough = 12'345;
  std::int64_t synced_ms = clock.wall_ms();  ///< before the constructor moves the clock
};

/// What a read of everything shows: the versions that have put it, and how fresh that is.
struct Seen {
  std::size_t rows = 0;
  std::string json;  ///< of the last row
  ReplicaFreshness freshness;
};

Seen see(Replica& store, const Query& query = messages_where({})) {
  Seen seen;
  const auto reader = store.reader();
  reader->query(query, [&](const RowView& row) {
    ++seen.rows;
    seen.json = row.json;
    return true;
  });
  seen.freshness = reader->freshness();
  return seen;
}

Query people() {
  Query query;
  query.collection = "people";
  return query;
}

bool has_table(const ReplicaFixture& r, const std::string& name) {
  SQLite::Database db(r.file.string(), SQLite::OPEN_READONLY);
  return db.tableExists(name);
}

}  // namespace

TEST_CASE("before a full pass has ended nothing says how fresh the rows are") {
  ReplicaFixture r;
  put_messages(*r.store->begin_session(), 1, 0, 2);
  CHECK(see(*r.store).rows == 2);
  CHECK(see(*r.store).freshness.synced_ms == 0);
  CHECK_FALSE(r.store->state().whole);
  r.store->finish_pass(true, 77);
  CHECK(see(*r.store).freshness.complete_through_ms == 77);
  CHECK(r.store->state().whole);
}

TEST_CASE("a new version is built beside the old one, and takes its place at the end of the full pass") {
  Filled r;
  r.open(mail_collections(2));
  CHECK_FALSE(r.store->state().full_done);
  CHECK_FALSE(r.store->begin_session()->cursor("people"));
  const auto is_old = [&] {
    const auto seen = see(*r.store);
    return seen.rows == 5 && seen.json == R"({"v":1})" && seen.freshness.synced_ms == r.synced_ms &&
           seen.freshness.complete_through_ms == Filled::kThrough;
  };
  CHECK(is_old());
  auto session = r.store->begin_session();
  CHECK(ask(*session->reader(), messages_where({})).ids.empty());
  put_messages(*session, 2, 0, 3);
  CHECK(is_old());
  CHECK(ask(*session->reader(), messages_where({})).ids.size() == 3);
  CHECK(r.store->counts() == std::map<std::string, std::int64_t>{{"messages", 5}, {"people", 1}});
  CHECK(r.store->building() == std::map<std::string, std::int64_t>{{"messages", 3}});
  const auto before = r.store->reader();
  CHECK(ask(*before, messages_where(text_is("version1"))).ids.size() == 5);
  CHECK(ask(*r.store->reader(), messages_where(text_is("version2"))).ids.empty());
  put_messages(*session, 2, 3, 7);
  r.store->finish_pass(true, 99'999);
  CHECK(ask(*before, messages_where(text_is("version1"))).ids.size() == 5);
  CHECK(before->freshness().complete_through_ms == Filled::kThrough);
  CHECK(before->saw_other_version());
  const auto now = see(*r.store);
  CHECK(now.rows == 7);
  CHECK(now.json == R"({"v":2})");
  CHECK(now.freshness.synced_ms == r.clock.wall_ms());
  CHECK(now.freshness.complete_through_ms == 99'999);
  CHECK(r.store->counts().at("messages") == 7);
  CHECK(r.store->building().empty());
  CHECK(blob_of(*r.store->reader(), "0", "body") == "<none>");
  r.store->idle();
  CHECK_FALSE(has_table(r, "c_messages"));
  CHECK(ask(*before, messages_where(text_is("version1"))).ids.size() == 5);
  r.open(mail_collections(2));
  CHECK(see(*r.store).rows == 7);
  CHECK(ask(*r.store->reader(), messages_where(text_is("version2"))).ids.size() == 7);
  CHECK(r.store->state().full_done);
}

TEST_CASE("killed while a version is built, it goes on where it was") {
  Filled r;
  r.open(mail_collections(2));
  auto session = r.store->begin_session();
  put_messages(*session, 2, 0, 3);
  session->set_cursor("messages/general", "page 2");
  session->commit();
  session.reset();
  r.open(mail_collections(2));
  CHECK(r.store->begin_session()->cursor("messages/general") == "page 2");
  CHECK(r.store->building().at("messages") == 3);
  CHECK(see(*r.store).json == R"({"v":1})");
  put_messages(*r.store->begin_session(), 2, 3, 6);
  r.store->finish_pass(true, 99'999);
  CHECK(see(*r.store).rows == 6);
}

TEST_CASE("a kill at the end of the pass leaves the old version or the new one, whole") {
  const std::string point = GENERATE("sync.finish.before_commit", "sync.finish.after_commit");
  Filled r;
  r.store.reset();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Replica store(r.file, mail_collections(2), r.clock);
    put_messages(*store.begin_session(), 2, 0, 7);
    support::arm_fault(point);
    store.finish_pass(true, 99'999);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  r.open(mail_collections(2));
  const bool done = point == "sync.finish.after_commit";
  const auto seen = see(*r.store);
  CHECK(seen.rows == (done ? 7 : 5));
  CHECK(seen.freshness.complete_through_ms == (done ? 99'999 : Filled::kThrough));
  CHECK(r.store->state().full_done == done);
  r.store->finish_pass(true, 99'999);
  r.store->idle();
  CHECK(see(*r.store).rows == 7);
  CHECK_FALSE(has_table(r, "c_messages"));
}

TEST_CASE("an older version is built as a newer one is, and what was begun can be taken back") {
  Filled r;
  r.open(mail_collections(2));
  put_messages(*r.store->begin_session(), 2, 0, 3);
  SECTION("before it was done: the old rows are those of the old version") {
    auto session = r.store->begin_session();
    session->set_cursor("messages/general", "page 2");
    session->commit();
    session.reset();
    r.open(mail_collections(1));
    CHECK(see(*r.store).rows == 5);
    CHECK(see(*r.store).freshness.synced_ms == r.synced_ms);
    CHECK(r.store->building().empty());
    // They were not kept up while the other version was built.
    CHECK_FALSE(r.store->state().full_done);
    CHECK_FALSE(r.store->begin_session()->cursor("messages/general"));
    put_messages(*r.store->begin_session(), 1, 0, 6);
    CHECK(see(*r.store).rows == 6);
    r.store->finish_pass(true, 99'999);
    r.store->idle();
    CHECK(has_table(r, "c_messages"));
    CHECK_FALSE(has_table(r, "c_messages$2"));
  }
  SECTION("behind it: reads go on from the newer rows") {
    r.store->finish_pass(true, 50'000);
    r.open(mail_collections(1));
    CHECK(see(*r.store).json == R"({"v":2})");
    CHECK(see(*r.store).freshness.complete_through_ms == 50'000);
    put_messages(*r.store->begin_session(), 1, 0, 1);
    CHECK(see(*r.store).rows == 3);
    r.store->finish_pass(true, 99'999);
    CHECK(see(*r.store).json == R"({"v":1})");
    CHECK(see(*r.store).rows == 1);
  }
  SECTION("a third version: the second one, which never was whole, goes") {
    r.open(mail_collections(3));
    CHECK(see(*r.store).json == R"({"v":1})");
    CHECK(r.store->building().at("messages") == 0);
    put_messages(*r.store->begin_session(), 3, 0, 2);
    r.store->finish_pass(true, 99'999);
    CHECK(see(*r.store).json == R"({"v":3})");
  }
}

TEST_CASE("a version that never was whole is not kept") {
  ReplicaFixture r;
  put_messages(*r.store->begin_session(), 1, 0, 5);
  r.open(mail_collections(2));
  CHECK(see(*r.store).rows == 0);
  CHECK(see(*r.store).freshness.synced_ms == 0);
  CHECK(r.store->building().empty());
}

TEST_CASE("a new collection has no freshness, and leaves the others theirs") {
  Filled r;
  auto more = mail_collections();
  more.push_back({"labels", 1, CollectionSpec::Order::kKey, false, {}});
  r.open(more);
  CHECK_FALSE(r.store->state().whole);
  CHECK(see(*r.store).freshness.synced_ms == r.synced_ms);
  CHECK(see(*r.store, people()).freshness.complete_through_ms == Filled::kThrough);
  Query labels;
  labels.collection = "labels";
  CHECK(see(*r.store, labels).freshness.synced_ms == 0);
  const auto both = r.store->reader();
  ask(*both, people());
  CHECK_FALSE(both->get("labels", "x", [](const RowView&) { return true; }));
  CHECK(both->freshness().complete_through_ms == 0);
  CHECK(r.store->reader()->freshness().synced_ms == 0);  // of nothing in particular: of everything
  r.store->finish_pass(true, 99'999);
  CHECK(see(*r.store, labels).freshness.complete_through_ms == 99'999);
}

TEST_CASE("a collection that is no longer declared takes nothing else with it") {
  Filled r;
  auto fewer = mail_collections();
  fewer.pop_back();
  r.open(fewer);
  CHECK(r.store->state().full_done);
  CHECK(r.store->begin_session()->cursor("people") == "p1");
  CHECK(r.store->counts() == std::map<std::string, std::int64_t>{{"messages", 5}});
  CHECK(see(*r.store).freshness.synced_ms == r.synced_ms);
  r.store->idle();
  CHECK_FALSE(has_table(r, "c_people"));
  r.open();
  CHECK(see(*r.store, people()).rows == 0);
  CHECK(see(*r.store, people()).freshness.synced_ms == 0);
  CHECK_FALSE(r.store->state().full_done);
}

TEST_CASE("a collection that names its own cursors loses no others") {
  Filled r;
  auto specs = mail_collections(2);
  specs[0].cursors = "messages/";
  r.open(specs);
  CHECK_FALSE(r.store->begin_session()->cursor("messages/general"));
  CHECK(r.store->begin_session()->cursor("people") == "p1");
  CHECK_FALSE(r.store->state().full_done);
  specs.push_back({"labels", 1, CollectionSpec::Order::kKey, false, {}});  // it does not
  r.open(specs);
  CHECK_FALSE(r.store->begin_session()->cursor("people"));
}

TEST_CASE("what the old rows have no field for is answered from the new ones, which are not whole") {
  Filled r;
  auto specs = mail_collections(2);
  specs[0].fields.push_back({"mood", FieldSpec::Type::kText});
  specs[0].fields[2].type = FieldSpec::Type::kText;  // stars
  r.open(specs);
  auto session = r.store->begin_session();
  auto record = message("9", 9000, "version2");
  record.fields.emplace_back("mood", "fine");
  session->put(record);
  session->commit();
  CHECK(see(*r.store, messages_where(field_is("channel", "general"))).rows == 5);
  for (const auto& asks : {field_is("mood", "fine"), field_is("mood", "", Condition::Op::kNe),
                           group(Condition::Kind::kAnyOf, {field_is("channel", "x"), field_is("mood", "fine")})}) {
    const auto seen = see(*r.store, messages_where(asks));
    CHECK(seen.rows == 1);
    CHECK(seen.freshness.synced_ms == 0);
  }
  CHECK(see(*r.store, messages_where(field_is("stars", "", Condition::Op::kNe))).rows == 1);
  const auto reader = r.store->filled_reader();
  CHECK(ask(*reader, messages_where({})).ids == Names{"9"});
  CHECK(reader->freshness().synced_ms == 0);
  CHECK_FALSE(reader->saw_other_version());
}

TEST_CASE("what a read keeps while a version is built stays with the rows that are read") {
  Filled r;
  r.open(mail_collections(2));
  const auto keep = [&](const std::string& text) {
    return r.store->fetching_reader()->keep("messages", "1", {"body", -1, from(text, 2)}, "kept " + text);
  };
  CHECK(keep("old"));
  CHECK(blob_of(*r.store->reader(), "1", "body") == "old");
  CHECK(ask(*r.store->reader(), messages_where(text_is("kept old"))).ids == Names{"1"});
  auto session = r.store->begin_session();
  put_messages(*session, 2, 0, 3);
  session->put_blob("messages", "1", "body", -1, from("synced", 2));
  session->commit();
  CHECK(blob_of(*r.store->reader(), "1", "body") == "old");
  CHECK(blob_of(*session->reader(), "1", "body") == "synced");
  r.store->finish_pass(true, 99'999);
  CHECK(blob_of(*r.store->reader(), "1", "body") == "synced");
  CHECK(keep("new"));
  r.store->idle();
  CHECK(blob_of(*r.store->reader(), "1", "body") == "new");
  check_index_of(r.file, {"t_messages$2", "t_people"});
}

TEST_CASE("a replica of before there were sets is taken over as it is") {
  Filled r;
  r.store.reset();
  {
    SQLite::Database db(r.file.string(), SQLite::OPEN_READWRITE);
    db.exec(
        "CREATE TABLE before (name TEXT PRIMARY KEY, version INTEGER NOT NULL, shape TEXT NOT NULL, rows INTEGER "
        "NOT NULL DEFAULT 0) WITHOUT ROWID; INSERT INTO before SELECT name, version, shape, rows FROM collections; "
        "DROP TABLE collections; ALTER TABLE before RENAME TO collections; DROP TABLE left_out; "
        "PRAGMA user_version = 1");
  }
  r.open();
  CHECK(see(*r.store).rows == 5);
  CHECK(see(*r.store).freshness.synced_ms == r.synced_ms);
  CHECK(r.store->begin_session()->cursor("people") == "p1");
  CHECK(r.store->state().full_done);
}

}  // namespace KRUXOS_TEST_FILE
