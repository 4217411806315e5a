#include "core/replica/collection.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using krux::CollectionSpec;
using krux::FieldSpec;
using krux::parse_collections;

namespace {

std::string refusal(const std::string& json) {
  try {
    parse_collections(json);
  } catch (const krux::ConfigError& e) {
    return e.what();
  }
  return {};
}

std::string with(const std::string& collection) {
  return "{\"collections\": [" + collection + "]}";
}

}  // namespace

TEST_CASE("collections are parsed with their defaults") {
  const auto all = parse_collections(with(
      R"({"name": "messages", "version": 3, "order": "time", "searchable": true,
          "fields": [{"name": "channel", "type": "text"}, {"name": "stars", "type": "integer"}, {"name": "x"}]},
         {"name": "people", "order": "key", "cursors": "people/"}, {"name": "bare"})"));
  REQUIRE(all.size() == 3);
  CHECK(all[0].version == 3);
  CHECK(all[0].searchable);
  REQUIRE(all[0].fields.size() == 3);
  CHECK(all[0].fields[1].type == FieldSpec::Type::kInteger);
  CHECK(all[0].fields[2].type == FieldSpec::Type::kText);
  CHECK(all[1].order == CollectionSpec::Order::kKey);
  CHECK(all[1].cursors == "people/");
  CHECK(all[2].cursors.empty());
  CHECK(all[2].order == CollectionSpec::Order::kTime);
  CHECK_FALSE(all[2].searchable);
  CHECK_FALSE(all[0].has_tags_or_texts());
  CHECK(parse_collections(R"({"collections": [], "other": {"is": "not ours"}})").empty());
}

TEST_CASE("a searchable collection may have tags and named texts") {
  const auto all = parse_collections(with(
      R"({"name": "a", "searchable": true, "tags": true, "texts": [{"name": "subject"}, {"name": "from", "exact": true}]},
         {"name": "b", "searchable": true, "tags": false, "texts": []})"));
  CHECK(all[0].tags);
  REQUIRE(all[0].texts.size() == 2);
  CHECK_FALSE(all[0].texts[0].exact);
  CHECK(all[0].texts[1].exact);
  CHECK(all[0].named_text("from") == 1);
  CHECK(all[0].named_text("to") == -1);
  CHECK_FALSE(all[1].has_tags_or_texts());
}

TEST_CASE("tags and named texts that make no sense are refused") {
  using Catch::Contains;
  const auto of = [](const std::string& members) {
    return refusal(with(R"({"name": "a", "searchable": true, )" + members + "}"));
  };
  CHECK_THAT(refusal(with(R"({"name": "a", "tags": true})")), Contains("for searchable collections"));
  CHECK_THAT(refusal(with(R"({"name": "a", "texts": [{"name": "x"}]})")), Contains("for searchable collections"));
  CHECK_THAT(of(R"("tags": 1)"), Contains("\"tags\" is true or false"));
  CHECK_THAT(of(R"("texts": {})"), Contains("\"texts\" is an array"));
  CHECK_THAT(of(R"("texts": ["x"])"), Contains("a named text is an object"));
  CHECK_THAT(of(R"("texts": [{"name": "X"}])"), Contains("does not fit"));
  CHECK_THAT(of(R"("texts": [{"name": "x", "exact": 1}])"), Contains("\"exact\" is true or false"));
  CHECK_THAT(of(R"("texts": [{"name": "x", "type": "text"}])"), Contains("\"type\" is not known"));
  CHECK_THAT(of(R"("texts": [{"name": "x"}, {"name": "x"}])"), Contains("\"x\" stands there twice"));
  std::string many;
  for (int i = 0; i < 17; ++i) many += (i ? ", " : "") + std::string("{\"name\": \"t") + std::to_string(i) + "\"}";
  CHECK_THAT(of("\"texts\": [" + many + "]"), Contains("at most 16"));
}

TEST_CASE("descriptions that make no sense are refused with a sentence for the author") {
  using Catch::Contains;
  CHECK_THAT(refusal("{"), Contains("not valid JSON"));
  CHECK_THAT(refusal("[]"), Contains("not a JSON object"));
  CHECK_THAT(refusal("{}"), Contains("\"collections\": it is missing"));
  CHECK_THAT(refusal(R"({"collections": {}})"), Contains("not an array"));
  CHECK_THAT(refusal(with("7")), Contains("each of them is an object"));
  CHECK_THAT(refusal(with("{}")), Contains("\"name\" is missing"));
  CHECK_THAT(refusal(with(R"({"name": "Messages"})")), Contains("does not fit"));
  CHECK_THAT(refusal(with(R"({"name": "m; DROP TABLE x"})")), Contains("does not fit"));
  CHECK_THAT(refusal(with(R"({"name": ")" + std::string(33, 'a') + "\"}")), Contains("does not fit"));
  CHECK_THAT(refusal(with(R"({"name": "a"}, {"name": "a"})")), Contains("\"a\" stands there twice"));
  CHECK_THAT(refusal(with(R"({"name": "a", "version": 0})")), Contains("from 1 on"));
  CHECK_THAT(refusal(with(R"({"name": "a", "version": "1"})")), Contains("from 1 on"));
  CHECK_THAT(refusal(with(R"({"name": "a", "order": "size"})")), Contains("\"time\" or \"key\""));
  CHECK_THAT(refusal(with(R"({"name": "a", "searchable": 1})")), Contains("true or false"));
  CHECK_THAT(refusal(with(R"({"name": "a", "cursors": ""})")), Contains("1 to 64 bytes"));
  CHECK_THAT(refusal(with(R"({"name": "a", "cursors": ["x"]})")), Contains("1 to 64 bytes"));
  CHECK_THAT(refusal(with(R"({"name": "a", "serchable": true})")), Contains("\"serchable\" is not known"));
  CHECK_THAT(refusal(with(R"({"name": "a", "fields": {}})")), Contains("is an array"));
  CHECK_THAT(refusal(with(R"({"name": "a", "fields": ["x"]})")), Contains("a field is an object"));
  CHECK_THAT(refusal(with(R"({"name": "a", "fields": [{"name": "x", "type": "date"}]})")),
             Contains("\"text\" or \"integer\""));
  CHECK_THAT(refusal(with(R"({"name": "a", "fields": [{"name": "x"}, {"name": "x"}]})")), Contains("twice"));
  std::string many, lots;
  for (int i = 0; i < 17; ++i) many += (i ? ", " : "") + std::string("{\"name\": \"f") + std::to_string(i) + "\"}";
  for (int i = 0; i < 33; ++i) lots += (i ? ", " : "") + std::string("{\"name\": \"c") + std::to_string(i) + "\"}";
  CHECK_THAT(refusal(with(R"({"name": "a", "fields": [)" + many + "]}")), Contains("at most 16"));
  CHECK_THAT(refusal(with(lots)), Contains("at most 32"));
}

}  // namespace KRUXOS_TEST_FILE
