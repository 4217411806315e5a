// A record as adapters of several versions give it.
#include "host/plugins/abi_bridge/lent_record.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"
#include "host/plugins/abi_bridge/edge.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const std::vector<CollectionSpec>& collections() {
  static const auto all = parse_collections(
      R"({"collections": [{"name": "items", "searchable": true, "tags": true, "texts": [{"name": "subject"}]}]})");
  return all;
}

krux_record item() {
  krux_record record{};
  record.size = sizeof record;
  record.collection = to_abi("items");
  record.id = to_abi("i1");
  record.json = to_abi("{}");
  return record;
}

}  // namespace

TEST_CASE("A record that ends before its tags has none, whatever lies behind it") {
  auto record = item();
  record.size = offsetof(krux_record, tags);
  record.tag_count = record.text_count = 1;
  record.tags = reinterpret_cast<const krux_str*>(1);
  record.texts = reinterpret_cast<const krux_named_text*>(1);
  auto given = record_of(&record, collections());
  CHECK(given.record.tags.empty());
  CHECK(given.record.texts.empty());
  CHECK(given.too_large.empty());
  const auto tag = to_abi("red");
  record.size = offsetof(krux_record, texts);
  record.tags = &tag;
  given = record_of(&record, collections());
  CHECK(given.record.tags == std::vector<std::string>{"red"});
  CHECK(given.record.texts.empty());
  record.size = offsetof(krux_record, tags) - 1;
  CHECK_THROWS_AS(record_of(&record, collections()), Error);
  CHECK_THROWS_AS(record_of(nullptr, collections()), Error);
}

TEST_CASE("Tags and named texts beyond the boundary's limits leave the record out, and missing ones are refused") {
  using Catch::Contains;
  auto record = item();
  const std::vector<krux_str> tags(1025, to_abi("red"));
  record.tags = tags.data();
  record.tag_count = 1024;
  CHECK(record_of(&record, collections()).record.tags.size() == 1024);
  record.tag_count = 1025;
  CHECK_THAT(record_of(&record, collections()).too_large, Contains("1025 tags"));
  record.tags = nullptr;
  CHECK_THROWS_AS(record_of(&record, collections()), Error);
  record.tag_count = 0;
  const std::vector<krux_named_text> texts(10'001, {to_abi("subject"), to_abi("x")});
  record.texts = texts.data();
  record.text_count = 10'000;
  CHECK(record_of(&record, collections()).record.texts.size() == 10'000);
  record.text_count = 10'001;
  CHECK_THAT(record_of(&record, collections()).too_large, Contains("10001 values"));
  record.texts = nullptr;
  CHECK_THROWS_AS(record_of(&record, collections()), Error);
}

}  // namespace KRUXOS_TEST_FILE
