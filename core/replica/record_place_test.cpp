// The order of records of one millisecond.
#include <catch2/catch.hpp>
#include <random>

#include "core/replica/record_key.hpp"
#include "core/replica/replica_fixture.hpp"

namespace krux::KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

Record at(const std::string& id, std::int64_t ms, const std::string& order_key, const std::string& text = "common") {
  auto record = message(id, ms, text);
  record.order_key = order_key;
  return record;
}

void put(ReplicaFixture& r, const std::vector<Record>& records) {
  auto session = r.store->begin_session();
  for (const auto& record : records) session->put(record);
  session->commit();
}

std::vector<std::string> found(ReplicaFixture& r, bool descending, Condition where = text_is("common")) {
  auto query = messages_where(std::move(where));
  query.descending = descending;
  return ask(*r.store->reader(), query).ids;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("records of one millisecond stand in the order of their keys, whenever they come") {
  ReplicaFixture r;
  put(r, {at("c", 5, "300"), at("a", 5, "100"), at("later", 6, "000"), at("before", 4, "999")});
  put(r, {at("b", 5, "200"), at("e", 5, "500"), at("d", 5, "400")});
  CHECK(found(r, true) == Ids{"later", "e", "d", "c", "b", "a", "before"});
  CHECK(found(r, false) == Ids{"before", "a", "b", "c", "d", "e", "later"});
  put(r, {at("a", 5, "350")});  // and where it changes
  CHECK(found(r, true) == Ids{"later", "e", "d", "a", "c", "b", "before"});
  check_index(r.file);
}

TEST_CASE("of one key those that came first are the newest, and those without a key the oldest") {
  ReplicaFixture r;
  put(r, {at("n1", 5, "")});
  put(r, {at("n2", 5, "")});
  put(r, {at("x1", 5, "7")});
  put(r, {at("x2", 5, "7")});
  put(r, {at("n3", 5, ""), at("x3", 5, "7")});
  CHECK(found(r, true) == Ids{"x1", "x2", "x3", "n1", "n2", "n3"});
  check_index(r.file);
}

TEST_CASE("rows without keys are brought into order as they are given keys") {
  ReplicaFixture r;
  std::vector<Record> records;
  for (int i = 0; i < 40; ++i) records.push_back(at("m" + std::to_string(10 + i), 5, ""));
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    INFO(round);
    r.open();
    auto session = r.store->begin_session();
    for (const auto& record : records) session->erase("messages", record.id);
    session->commit();
    std::shuffle(records.begin(), records.end(), random);
    put(r, records);
    auto keyed = records;
    for (auto& record : keyed) record.order_key = record.id;
    std::shuffle(keyed.begin(), keyed.end(), random);
    for (const auto& record : keyed) put(r, {record});
    auto ids = found(r, false);
    CHECK(ids.size() == 40);
    CHECK(std::is_sorted(ids.begin(), ids.end()));
    check_index(r.file);
  }
}

TEST_CASE("many of one millisecond are put in any order") {
  ReplicaFixture r;
  std::vector<int> numbers(1500);
  for (int i = 0; i < 1500; ++i) numbers[static_cast<std::size_t>(i)] = i;
  for (const bool shuffled : {false, true}) {
    if (shuffled) std::shuffle(numbers.begin(), numbers.end(), std::mt19937(3));
    std::vector<Record> records;
    for (const int i : numbers) {
      const auto number = std::to_string(10'000 + i);
      records.push_back(at((shuffled ? "s" : "a") + number, shuffled ? 5 : 6, number, ""));
    }
    put(r, records);
  }
  auto query = messages_where({});
  query.limit = 10'000;
  query.descending = false;
  const auto ids = ask(*r.store->reader(), query).ids;
  REQUIRE(ids.size() == 3000);
  CHECK(std::is_sorted(ids.begin(), ids.begin() + 1500));
  CHECK(std::is_sorted(ids.begin() + 1500, ids.end()));
  CHECK(ids.front().front() == 's');
}

TEST_CASE("a row that makes room keeps its fields, its kept text and its blobs") {
  ReplicaFixture r;
  put(r, {at("a", 5, ""), at("b", 5, "")});
  auto session = r.store->begin_session();
  session->keep_text("messages", "b", "kept words");
  session->put_blob("messages", "b", "body", -1, from("bytes", 2));
  session->commit();
  put(r, {at("new", 5, "5")});
  CHECK(found(r, true) == Ids{"new", "a", "b"});
  CHECK(found(r, true, text_is("kept words")) == Ids{"b"});
  CHECK(found(r, true, field_is("channel", "general")) == Ids{"new", "a", "b"});
  CHECK(blob_of(*r.store->reader(), "b", "body") == "bytes");
  check_index(r.file);
}

}  // namespace krux::KRUXOS_TEST_FILE
