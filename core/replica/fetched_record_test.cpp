// Records that a fetching read puts, and blobs that a sync erases.
#include <catch2/catch.hpp>

#include "core/replica/replica_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

using Ids = std::vector<std::string>;

Ids found(ReplicaFixture& r, const std::string& text) {
  return ask(*r.store->reader(), messages_where(text_is(text))).ids;
}

Record seen(Record record, std::int64_t generation) {
  record.generation = generation;
  return record;
}

void put(ReplicaFixture& r, const Record& record) {
  const auto session = r.store->begin_session();
  CHECK(session->put(record).empty());
  session->commit();
}

void sweep(ReplicaFixture& r, std::int64_t generation) {
  const auto session = r.store->begin_session();
  session->sweep("messages", "", generation, INT64_MIN, INT64_MAX);
  session->commit();
}

std::function<std::int64_t(char*, std::size_t)> bytes_of(std::string text) {
  return [left = std::move(text)](char* buffer, std::size_t size) mutable {
    const auto count = left.copy(buffer, size);
    left.erase(0, count);
    return static_cast<std::int64_t>(count);
  };
}

bool has_blob(ReplicaFixture& r, const std::string& name) {
  return r.store->reader()->blob("messages", "a", name, [](std::string_view) { return true; });
}

}  // namespace

TEST_CASE("a fetched record is there for the next read, and stays as a sync has put it") {
  ReplicaFixture r;
  put(r, message("a", 1000, "as synced"));
  const auto reader = r.store->fetching_reader();
  CHECK(reader->put_fetched(message("b", 2000, "as fetched"), "").empty());
  CHECK(reader->put_fetched(message("a", 3000, "as fetched"), "").empty());
  CHECK(found(r, "as fetched") == Ids{"b"});
  CHECK(found(r, "as synced") == Ids{"a"});
  put(r, message("b", 2000, "as synced"));
  CHECK(found(r, "as fetched").empty());
  CHECK(r.store->counts()["messages"] == 2);
  r.open();
  CHECK(found(r, "as synced") == Ids{"b", "a"});
  check_index(r.file);
}

TEST_CASE("the pass that runs does not sweep a fetched record, the next one does") {
  ReplicaFixture r;
  put(r, seen(message("a", 1000, "text"), 4));
  const auto reader = r.store->fetching_reader();
  CHECK(reader->put_fetched(seen(message("b", 2000, "text"), 0), "").empty());
  put(r, seen(message("a", 1000, "text"), 5));  // the next pass begins
  CHECK(reader->put_fetched(seen(message("c", 3000, "text"), INT64_MAX), "").empty());
  sweep(r, 5);
  CHECK(found(r, "text") == Ids{"c", "a"});
  put(r, seen(message("a", 1000, "text"), 6));
  sweep(r, 6);
  CHECK(found(r, "text") == Ids{"a"});
}

TEST_CASE("a fetched record that cannot be taken is left out, unless it is there") {
  ReplicaFixture r;
  put(r, message("a", 1000, "text"));
  const auto reader = r.store->fetching_reader();
  auto bad = message("b", 2000, "text");
  bad.json = "oops";
  CHECK_THAT(reader->put_fetched(bad, ""), Catch::Contains("its json"));
  CHECK(reader->put_fetched(message("c", 2000, ""), "its JSON is too large") == "its JSON is too large");
  bad.id = "a";
  CHECK_THAT(reader->put_fetched(bad, ""), Catch::Contains("its json"));
  CHECK(found(r, "text") == Ids{"a"});
  CHECK(r.store->state().left_out == 2);
  auto undeclared = message("d", 1, "text");
  undeclared.fields = {{"colour", std::string("red")}};
  CHECK_THROWS_WITH(reader->put_fetched(undeclared, ""), Catch::Contains("no field"));
  undeclared.collection = "nothing";
  CHECK_THROWS_WITH(reader->put_fetched(undeclared, ""), Catch::Contains("nothing"));
  CHECK_THROWS_WITH(r.store->reader()->put_fetched(message("e", 1, "text"), ""), Catch::Contains("`fetches`"));
}

TEST_CASE("a blob is erased with the commit, and nothing else is") {
  ReplicaFixture r;
  put(r, message("a", 1000, "text"));
  const auto session = r.store->begin_session();
  for (const auto* name : {"one", "two", "three"}) session->put_blob("messages", "a", name, -1, bytes_of(name));
  session->commit();
  session->erase_blob("messages", "a", "one");
  session->erase_blob("messages", "a", "none");
  session->erase_blob("messages", "nobody", "one");
  session->erase_blob("messages", "a", "two");
  session->put_blob("messages", "a", "two", -1, bytes_of("anew"));
  session->put_blob("messages", "a", "three", -1, bytes_of("anew"));
  session->erase_blob("messages", "a", "three");
  CHECK(has_blob(r, "one"));
  session->commit();
  CHECK_FALSE(has_blob(r, "one"));
  CHECK(has_blob(r, "two"));
  CHECK_FALSE(has_blob(r, "three"));
  CHECK_THROWS(session->erase_blob("nothing", "a", "one"));
}

}  // namespace KRUXOS_TEST_FILE
