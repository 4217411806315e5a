#include <kruxos/kit/search.hpp>
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;

TEST_CASE("a search asks for what its inputs say, and no more") {
  const auto full = search_query("notes", parse(R"({"query":"milk","limit":5,"offset":10})"));
  CHECK((full.collection == "notes" && full.limit == 5 && full.offset == 10));
  REQUIRE(full.where.children.size() == 1);
  CHECK((full.where.children[0].kind == KRUX_TEXT && full.where.children[0].text == "milk"));
  const auto bare = search_query("notes", parse(R"({"query":"","limit":"many"})"));
  CHECK((bare.where.children.empty() && bare.limit == 20 && bare.offset == 0));
  const auto odd = search_query("notes", parse(R"({"limit":-1,"offset":99999999999})"));
  CHECK((odd.limit == 0 && odd.offset == 0));
  CHECK(search_query("notes", parse("nonsense")).limit == 20);
}

TEST_CASE("a query is words, and phrases in quotation marks") {
  using Words = std::vector<std::string>;
  CHECK(words_of("").empty());
  CHECK(words_of(" \t\n").empty());
  CHECK(words_of("train") == Words{"train"});
  CHECK(words_of("  release  train\n") == Words{"release", "train"});
  CHECK(words_of("\"release train\"") == Words{"release train"});
  CHECK(words_of("\" release train \" late") == Words{"release train", "late"});
  CHECK(words_of("print(\"a b\")") == Words{"print(", "a b", ")"});
  CHECK(words_of("late late \"late\" Late") == Words{"late", "Late"});
  CHECK(words_of("gr\u00FC\u00DFe -not a:b") == Words{"gr\u00FC\u00DFe", "-not", "a:b"});
  CHECK(words_of("\x1b[31mred\r\n\x01") == Words{"\x1b[31mred", "\x01"});
  for (const char* bad : {"\"", "a \"", "\"a b", "\"\"", "a \"  \" b", "\"a\" \"b"}) {
    INFO(bad);
    try {
      words_of(bad);
      FAIL("taken");
    } catch (const kruxos::ProxyError& error) {
      CHECK((error.type() == "InvalidInput" && error.has_no_effect()));
      CHECK_THAT(error.what(), Catch::Contains("quotation"));
    }
  }
}

TEST_CASE("one word or phrase is one condition, several are all of them, none is everything") {
  const auto one = contains_words("\"release train\"");
  CHECK((one.kind == KRUX_TEXT && one.text == "release train"));
  const auto two = contains_words("train release");
  CHECK(two.kind == KRUX_ALL_OF);
  REQUIRE(two.children.size() == 2);
  CHECK((two.children[0].kind == KRUX_TEXT && two.children[0].text == "train" && two.children[1].text == "release"));
  CHECK((contains_words("").kind == KRUX_ALL_OF && contains_words("").children.empty()));
}

TEST_CASE("tags are taken from a list of texts, and what can be none is passed over") {
  kruxos::Record record;
  const auto json = parse(R"({"labels":["work",7,"","to do",null],"state":"open","long":[")" + std::string(257, 'x') +
                          R"(","short"]})");
  for (const char* name : {"labels", "state", "long", "missing"}) add_tags(record, json, name);
  CHECK(record.tags == std::vector<std::string>{"work", "to do", "short"});
  add_tags(record, parse("[]"), "labels");
  CHECK(record.tags.size() == 3);
}

TEST_CASE("a search answers with its rows and how many there are") {
  kruxos::testing::FakeClock clock;
  kruxos::testing::FakeStore store(clock, {{"notes", 1, kruxos::Order::kTime, true}});
  auto face = store.store();
  for (const char* id : {"a", "b", "c"}) {
    kruxos::Record record;
    record.collection = "notes";
    record.id = id;
    record.json = "{\"id\":" + quoted(id) + "}";
    record.text = "Milk";
    record.order_ms = static_cast<unsigned char>(id[0]);
    face.put(record);
  }
  face.commit();
  const auto query = search_query("notes", parse(R"({"query":"MILK","limit":2,"offset":0})"));
  CHECK(search_page(store.reader(), query, "notes") ==
        R"({"notes":[{"id":"c"},{"id":"b"}],"total":3,"next_offset":2})");
}

}  // namespace KRUXOS_TEST_FILE
