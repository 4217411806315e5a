// What was fetched apart from a record: searched besides its text, and kept when the record is put again.
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

void put(ReplicaFixture& r, const Record& record) {
  const auto session = r.store->begin_session();
  session->put(record);
  session->commit();
}

void keep(ReplicaFixture& r, const std::string& id, const std::string& text) {
  const auto session = r.store->begin_session();
  session->keep_text("messages", id, text);
  session->commit();
}

}  // namespace

TEST_CASE("a kept text is searched besides the record's own, whatever the record becomes") {
  ReplicaFixture r;
  put(r, message("a", 1000, "Greetings from Ann"));
  put(r, message("b", 2000, "other"));
  keep(r, "a", "Die RECHNUNG liegt bei");
  CHECK(found(r, "rechnung") == Ids{"a"});
  CHECK(found(r, "greetings") == Ids{"a"});
  CHECK(found(r, "anndie").empty());
  CHECK(found(r,
              "ann\x1f"
              "die")
            .empty());

  put(r, message("a", 1000, "Greetings from Ann"));  // as it was
  put(r, message("a", 1000, "Regards from Bob", "another"));
  CHECK(found(r, "rechnung") == Ids{"a"});
  CHECK(found(r, "greetings").empty());
  CHECK(found(r, "regards") == Ids{"a"});
  put(r, message("a", 5000, "Longer regards from Bob"));  // in another place of the order
  CHECK(found(r, "rechnung") == Ids{"a"});
  CHECK(found(r, "regards") == Ids{"a"});
  put(r, message("a", 5000, ""));
  CHECK(found(r, "rechnung") == Ids{"a"});

  keep(r, "a", "Mahnung");
  CHECK(found(r, "rechnung").empty());
  CHECK(found(r, "mahnung") == Ids{"a"});
  check_index(r.file);
  keep(r, "a", "");
  CHECK(found(r, "mahnung").empty());
  put(r, message("a", 5000, "Regards"));
  keep(r, "a", "Mahnung");
  r.open();
  CHECK(found(r, "mahnung") == Ids{"a"});
  check_index(r.file);
}

TEST_CASE("a kept text comes with its record's commit and goes with its record") {
  ReplicaFixture r;
  const auto session = r.store->begin_session();
  session->keep_text("messages", "a", "early bird");
  session->put(message("a", 1000, "text"));
  session->put(message("b", 1000, "text"));
  session->keep_text("messages", "b", "replaced");
  session->keep_text("messages", "b", "late bird");
  session->keep_text("messages", "nobody", "no bird");
  CHECK(found(r, "bird").empty());
  session->commit();
  CHECK(found(r, "bird").size() == 2);
  CHECK(found(r, "replaced").empty());
  CHECK(session->changes().added == 2);
  CHECK(session->changes().updated == 0);

  session->erase("messages", "a");
  session->commit();
  CHECK(found(r, "bird") == Ids{"b"});
  put(r, message("a", 1000, "text"));
  CHECK(found(r, "bird") == Ids{"b"});
  session->keep_text("messages", "b", "never committed");
  session->close();
  CHECK(found(r, "bird") == Ids{"b"});
  check_index(r.file);
}

TEST_CASE("a kept text of what was not declared is refused") {
  ReplicaFixture r(
      {{"messages", 1, CollectionSpec::Order::kTime, true, {}}, {"plain", 1, CollectionSpec::Order::kKey, false, {}}});
  const auto session = r.store->begin_session();
  const auto why = [&](const std::string& collection, const std::string& id, const std::string& text) {
    return error_of([&] { session->keep_text(collection, id, text); });
  };
  CHECK_THAT(why("plain", "a", "x"), Catch::Contains("not declared as searchable"));
  CHECK_THAT(why("nothing", "a", "x"), Catch::Contains("no collection"));
  CHECK(why("messages", "a", std::string(1 << 20, 'x')).empty());
}

TEST_CASE("a read that fetches keeps bytes and text for the next one") {
  ReplicaFixture r;
  put(r, message("a", 1000, "hello"));
  const auto reader = r.store->fetching_reader();
  CHECK(ask(*reader, messages_where({})).ids == Ids{"a"});
  const std::string body(700'000, 'b');
  CHECK(reader->keep("messages", "a", {"raw", 700'000, from(body, 1000)}, "the body"));
  CHECK(blob_of(*reader, "a", "raw") == "<none>");  // its view is that of its first use
  CHECK(blob_of(*r.store->reader(), "a", "raw") == body);
  CHECK(found(r, "the body") == Ids{"a"});

  CHECK(reader->keep("messages", "a", {"raw", -1, from("short", 2)}, ""));
  CHECK(blob_of(*r.store->reader(), "a", "raw") == "short");
  CHECK(found(r, "the body") == Ids{"a"});  // an empty text leaves the one that is there
  CHECK(reader->keep("messages", "a", {}, "another body"));
  CHECK(blob_of(*r.store->reader(), "a", "raw") == "short");
  CHECK(found(r, "another body") == Ids{"a"});
}

TEST_CASE("a read that fetches keeps nothing of what fails or is gone") {
  ReplicaFixture r;
  put(r, message("a", 1000, "hello"));
  const auto reader = r.store->fetching_reader();
  CHECK_FALSE(reader->keep("messages", "gone", {"raw", -1, from("x", 1)}, "ghost"));
  CHECK(error_of([&] { reader->keep("messages", "a", {"raw", -1, from("abcdef", 2, 4)}, "ghost"); }) != "");
  CHECK_THAT(error_of([&] {
               reader->keep("messages", "a", {"raw", 7, from("abcdef", 2)}, "ghost");
             }),
             Catch::Contains("7 were announced"));
  CHECK(found(r, "ghost").empty());
  CHECK(blob_of(*r.store->reader(), "a", "raw") == "<none>");

  std::string type;
  CHECK_THAT(error_of([&] { r.store->reader()->keep("messages", "a", {}, "ghost"); }, &type),
             Catch::Contains("`fetches`"));
  CHECK(type == "Unsupported");
  r.store->remove();
  error_of([&] { reader->keep("messages", "a", {}, "ghost"); }, &type);
  CHECK(type == "NotConnected");
}

}  // namespace KRUXOS_TEST_FILE
