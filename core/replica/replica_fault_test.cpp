// What must not be stored, and what must not be lost.
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/replica/open_replica.hpp"
#include "core/replica/replica_fixture.hpp"
#include "support/fault_vfs.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using Ids = std::vector<std::string>;

TEST_CASE("blobs arrive in parts, belong to their record, and are whole or not there") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  std::string body;
  for (int i = 0; i < 700'000; ++i) body += static_cast<char>(i * 7);
  session->put(message("a", 1, "x"));
  session->put_blob("messages", "a", "body", static_cast<std::int64_t>(body.size()), from(body, 1000));
  CHECK(blob_of(*r.store->reader(), "a", "body") == "<none>");
  session->commit();
  CHECK(blob_of(*r.store->reader(), "a", "body") == body);
  CHECK_THAT(error_of([&] { session->put_blob("messages", "a", "body", 9, from("short", 9)); }),
             Catch::Contains("has 5 bytes where 9 were announced"));
  CHECK_THAT(error_of([&] { session->put_blob("messages", "a", "body", -1, from("breaks", 2, 4)); }),
             Catch::Contains("failed before its end"));
  session->commit();
  CHECK(blob_of(*r.store->reader(), "a", "body") == body);
  session->put_blob("messages", "a", "body", 3, from("new", 9));
  session->put_blob("messages", "a", "empty", 0, from("", 9));
  session->put_blob("messages", "nobody", "body", -1, from("x", 9));
  session->commit();
  CHECK(blob_of(*r.store->reader(), "a", "body") == "new");
  CHECK(blob_of(*r.store->reader(), "a", "empty").empty());
  session->put_blob("messages", "a", "dropped", -1, from("x", 9));
  session.reset();
  r.store->begin_session()->commit();
  SQLite::Database db(r.file.string());
  CHECK(db.execAndGet("SELECT count(*) FROM blobs").getInt() == 2);
  CHECK(db.execAndGet("SELECT count(*) FROM blob_chunks").getInt() == 1);
  auto last = r.store->begin_session();
  last->erase("messages", "a");
  last->commit();
  CHECK(db.execAndGet("SELECT count(*) FROM blobs").getInt() == 0);
  CHECK(db.execAndGet("SELECT count(*) FROM blob_chunks").getInt() == 0);
}

TEST_CASE("a closed session stores nothing more") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1, "x"));
  session->close();
  std::string type;
  CHECK_FALSE(error_of([&] { session->commit(); }, &type).empty());
  CHECK(type == "Cancelled");
  CHECK_FALSE(error_of([&] { session->put(message("b", 1, "x")); }).empty());
  CHECK_FALSE(error_of([&] { session->report("p", KRUX_NETWORK, ""); }).empty());
  CHECK(everything(r).empty());
  CHECK(r.store->problems().empty());
}

TEST_CASE("what was not declared, and questions that do not fit, are refused with a sentence") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  using Catch::Contains;
  const auto refused = [&](const std::function<void(Record&)>& spoil) {
    auto record = message("the-id", 1000, "text");
    spoil(record);
    std::string type;
    const auto what = error_of([&] { session->put(record); }, &type);
    CHECK(type == "InvalidInput");
    return what;
  };
  CHECK_THAT(refused([](Record& x) { x.collection = "letters"; }), Contains("no collection \"letters\""));
  CHECK_THAT(refused([](Record& x) { x.fields = {{"color", std::string("red")}}; }), Contains("\"the-id\""));
  CHECK_THAT(refused([](Record& x) { x.fields = {{"color", std::string("red")}}; }), Contains("no field \"color\""));
  CHECK_THAT(refused([](Record& x) {
               x.fields = {{"stars", std::string("3")}};
             }),
             Contains("\"stars\" is of type integer"));
  CHECK_THAT(refused([](Record& x) {
               x.fields = {{"channel", std::int64_t{3}}};
             }),
             Contains("\"channel\" is of type text"));
  CHECK_THAT(refused([](Record& x) { x.fields.push_back(x.fields[0]); }), Contains("given twice"));
  session->commit();
  CHECK(everything(r).empty());
  CHECK_THAT(error_of([&] { session->set_cursor("", "x"); }), Contains("cursor"));
  CHECK_THAT(error_of([&] {
               const std::string big(1 << 19, 'j');
               for (int i = 0; i < 200; ++i) session->put(message(std::to_string(i), i, big));
             }),
             Contains("64 MiB"));

  auto reader = r.store->reader();
  const auto asked = [&](Condition where) { return error_of([&] { ask(*reader, messages_where(std::move(where))); }); };
  CHECK_THAT(asked(field_is("color", "red")), Contains("no field \"color\""));
  CHECK_THAT(asked(field_is("stars", "3", Condition::Op::kContains)), Contains("is an integer"));
  Condition deep;
  for (int i = 0; i < 40; ++i) deep = group(Condition::Kind::kNoneOf, {deep});
  CHECK_THAT(asked(deep), Contains("16 levels"));
  CHECK_THAT(asked(group(Condition::Kind::kAnyOf, std::vector<Condition>(1001, text_is("x")))), Contains("1000 parts"));
  Query elsewhere;
  elsewhere.collection = "letters";
  CHECK_THAT(error_of([&] { ask(*reader, elsewhere); }), Contains("no collection"));
  auto greedy = messages_where({});
  greedy.limit = 10'001;
  CHECK_THAT(error_of([&] { ask(*reader, greedy); }), Contains("at most 10000"));
}

TEST_CASE("a full disk loses the commit and nothing else") {
  support::FaultVfs disk;
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1, "x"));
  session->set_cursor("c", "1");
  session->commit();
  session->put(message("b", 2, "x"));
  session->set_cursor("c", "2");
  disk.fail_writes(SQLITE_FULL);
  CHECK_THAT(error_of([&] { session->commit(); }), Catch::Contains("disk is full"));
  CHECK(everything(r) == Ids{"a"});
  CHECK(r.store->counts().at("messages") == 1);
  disk.fail_writes(SQLITE_IOERR_WRITE);
  CHECK_THAT(error_of([&] { session->commit(); }), Catch::Contains("could not be read or written"));
  CHECK(session->cursor("c") == "1");
  disk.heal();
  session->commit();
  CHECK(everything(r) == Ids{"b", "a"});
  CHECK(session->cursor("c") == "2");
  r.store.reset();
  session.reset();
  r.open();
  CHECK(everything(r) == Ids{"b", "a"});
  check_index(r.file);
  r.store.reset();
}

TEST_CASE("a damaged, foreign or newer replica is refused") {
  ReplicaFixture r;
  {
    auto session = r.store->begin_session();
    for (int i = 0; i < 300; ++i)
      session->put(message(std::to_string(i), i, "text of some length " + std::to_string(i * 77)));
    session->commit();
  }
  r.store.reset();
  SECTION("damaged") {
    std::fstream file(r.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20'000);
    file << std::string(60'000, '\x33');
    file.close();
    CHECK_THAT(error_of([&] { r.open(); }), Catch::Contains("is damaged"));
    const auto opened = open_replica(r.file, mail_collections(), r.clock);
    CHECK(opened.store->counts().at("messages") == 0);
    CHECK_FALSE(opened.store->state().full_done);
    CHECK(std::filesystem::file_size(opened.set_aside) > 20'000);
  }
  SECTION("newer") {
    SQLite::Database(r.file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
    CHECK_THAT(error_of([&] { r.open(); }), Catch::Contains("newer version"));
  }
  SECTION("another kind") {
    SQLite::Database(r.file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA application_id = 5");
    CHECK_THAT(error_of([&] { r.open(); }), Catch::Contains("another kind"));
    CHECK_THAT(error_of([&] { open_replica(r.file, mail_collections(), r.clock); }), Catch::Contains("another kind"));
  }
}

TEST_CASE("a removed replica leaves no file, and says so to whoever comes late") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1, "x"));
  session->commit();
  auto reader = r.store->reader();
  CHECK(ask(*reader, messages_where({})).ids == Ids{"a"});
  r.store->remove();
  CHECK_FALSE(std::filesystem::exists(r.file));
  CHECK_FALSE(std::filesystem::exists(r.file.string() + "-wal"));
  CHECK(ask(*reader, messages_where({})).ids == Ids{"a"});
  std::string type;
  session->put(message("b", 1, "x"));
  CHECK_FALSE(error_of([&] { session->commit(); }, &type).empty());
  CHECK(type == "NotConnected");
  CHECK_FALSE(error_of([&] { r.store->reader(); }).empty());
  CHECK_FALSE(error_of([&] { r.store->next_generation(); }).empty());
  reader.reset();
  CHECK_FALSE(std::filesystem::exists(r.file.string() + "-shm"));
}

TEST_CASE("the log is empty after an idle moment") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1, "x"));
  session->commit();
  CHECK(std::filesystem::file_size(r.file.string() + "-wal") > 0);
  session.reset();
  r.store->idle();
  CHECK(std::filesystem::file_size(r.file.string() + "-wal") == 0);
}

TEST_CASE("whatever is gathered counts, and not its texts alone") {
  ReplicaFixture r;
  const auto session = r.store->begin_session();
  const std::string long_text(1000, 's');
  const auto what = GENERATE(as<std::string>(), "left out", "swept", "erased", "cursor");
  const auto gather = [&](int i) {
    if (what == "swept") return session->sweep("messages", long_text, i, 0, 1);
    if (what == "erased") return session->erase("messages", std::to_string(i));
    if (what == "cursor") return session->set_cursor(std::to_string(i), "1");
    auto record = message(std::to_string(i), i, "");
    record.scope = long_text;
    session->leave_out(std::move(record), long_text);
  };
  const int most = what == "left out" ? 30'000 : what == "swept" ? 50'000 : 150'000;
  CHECK_THAT(error_of([&] {
               for (int i = 0; i < most; ++i) gather(i);
             }),
             Catch::Contains("64 MiB"));
}

}  // namespace KRUXOS_TEST_FILE
